"""`envoy plan`: making a plan, writing its prompts, and carrying them out."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from porch.cli.command import Args, Argument, Verb, Verbs, make_argument, make_text_arguments
from porch.cli.envoy.envelope import answer_in_envelope
from porch.cli.envoy.plan_arguments import (
    AGENT,
    FORCE,
    PROMPT,
    parse_numbers,
    parse_paths,
    read_prompt_id,
)

if TYPE_CHECKING:
    from msgspec import Struct

    from porch.store.where import ProjectPaths


def _find_project() -> "ProjectPaths":
    from porch.store import where as places

    return places.find_project(os.getcwd())


def _init_plan(args: Args) -> "Struct":
    from porch.plan.prompts import plan_document

    return plan_document.init_plan(_find_project(), args.agent)


def _show_status(_: Args) -> "Struct":
    from porch.plan.prompts import plan_document

    return plan_document.read_plan_status(_find_project())


def _check_plan(_: Args) -> "Struct":
    from porch.plan.prompts import plan_document

    return plan_document.check_plan(_find_project())


def _write_plan(args: Args) -> "Struct":
    from porch.plan.prompts import plan_document

    return plan_document.write_plan(
        _find_project(), args.title, args.objective, args.context, caller=args.agent
    )


def _get_full_plan(_: Args) -> "Struct":
    from porch.plan.prompts import plan_document

    return plan_document.read_full_plan(_find_project())


def _append_user_input(args: Args) -> "Struct":
    from porch.plan.prompts import plan_document

    return plan_document.append_user_input(_find_project(), args.text, args.agent)


def _write_prompt(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_edits

    given = prompt_edits.PromptWords(
        files=None if args.files is None else parse_paths(args.files),
        depends_on=None if args.depends_on is None else parse_numbers(args.depends_on),
        debug=True if args.debug else None,
        criteria=args.criteria,
        context=args.context,
        requires_testing=True if args.requires_testing else None,
        description=args.description,
    )
    here, id_ = _find_project(), read_prompt_id(args)
    return prompt_edits.write_prompt(here, id_, given, force=args.force, caller=args.agent)


def _read_prompt(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_edits

    return prompt_edits.read_prompt(_find_project(), read_prompt_id(args))


def _clear_prompt(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_edits

    return prompt_edits.clear_prompt(
        _find_project(), read_prompt_id(args), force=args.force, caller=args.agent
    )


def _validate_dependencies(_: Args) -> "Struct":
    from porch.plan.prompts import prompt_queue

    return prompt_queue.validate_dependencies(_find_project())


def _update_dependencies(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_queue

    wanted = parse_numbers(args.depends_on)
    here, id_ = _find_project(), read_prompt_id(args)
    return prompt_queue.update_dependencies(here, id_, wanted, force=args.force, caller=args.agent)


def _audit_plan(_: Args) -> "Struct":
    from porch.plan.prompts.plan_audit import audit_current_plan

    return audit_current_plan(_find_project())


def _list_next_prompts(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_queue

    return prompt_queue.list_next_prompts(_find_project(), args.n)


def _start_prompt(args: Args) -> "Struct":
    from porch.plan.claims import prompt_claims

    return prompt_claims.start_prompt(
        _find_project(),
        read_prompt_id(args),
        args.specialist,
        args.worktree,
        take_over=args.take_over,
        force=args.force,
        caller=args.agent,
    )


def _make_worktree(args: Args) -> "Struct":
    from porch.plan.claims.prompt_worktree import make_prompt_worktree

    return make_prompt_worktree(
        _find_project(),
        read_prompt_id(args),
        args.specialist,
        take_over=args.take_over,
        force=args.force,
        caller=args.agent,
    )


def _record_implementation(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_work

    return prompt_work.record_implementation(
        _find_project(),
        read_prompt_id(args),
        args.walkthrough,
        args.iteration,
        reason=args.refinement_reason,
        type_=args.type,
        force=args.force,
        caller=args.agent,
    )


def _complete_prompt(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_work

    return prompt_work.complete_prompt(
        _find_project(), read_prompt_id(args), force=args.force, caller=args.agent
    )


def _verify_prompt(args: Args) -> "Struct":
    from porch.plan.prompts import prompt_work

    return prompt_work.verify_prompt(_find_project(), read_prompt_id(args), args.claim, args.branch)


def _release_all_prompts(args: Args) -> "Struct":
    from porch.plan.claims import prompt_claims

    return prompt_claims.release_all_prompts(_find_project(), force=args.force, caller=args.agent)


def _release_prompt(args: Args) -> "Struct":
    from porch.plan.claims import prompt_claims

    here, id_ = _find_project(), read_prompt_id(args)
    return prompt_claims.release_prompt(here, id_, args.reason, force=args.force, caller=args.agent)


def _get_walkthrough(args: Args) -> "Struct":
    from porch.plan.prompts import walkthroughs

    return walkthroughs.read_walkthrough(_find_project(), read_prompt_id(args))


def _get_all_walkthroughs(_: Args) -> "Struct":
    from porch.plan.prompts import walkthroughs

    return walkthroughs.read_all_walkthroughs(_find_project())


def _mark_extracted(args: Args) -> "Struct":
    from porch.plan.prompts import walkthroughs

    return walkthroughs.mark_prompt_extracted(_find_project(), read_prompt_id(args), args.agent)


def _mark_all_documented(args: Args) -> "Struct":
    from porch.plan.prompts import walkthroughs

    return walkthroughs.mark_all_documented(_find_project(), args.agent)


def _merge_worktree(args: Args) -> "Struct":
    from porch.plan.prompts import plan_merge

    return plan_merge.merge_worktree(
        _find_project(), read_prompt_id(args), force=args.force, caller=args.agent
    )


def _complete_plan(args: Args) -> "Struct":
    from porch.plan.prompts import plan_merge

    wanted = plan_merge.PullRequestWords(args.title, args.body, args.draft) if args.pr else None
    here, summary = _find_project(), args.summary
    return plan_merge.complete_plan(here, summary, wanted, force=args.force, caller=args.agent)


_DEPENDS = make_argument("--depends-on", metavar="N,N", help="prompts that must be merged first")
_WRITTEN = (
    make_argument(
        "--files", metavar="PATH,PATH", help="the files it changes, relative to the project root"
    ),
    _DEPENDS,
    make_argument("--debug", action="store_true", help="it fixes a bug: first logs, then the fix"),
    make_argument("--criteria", metavar="TEXT", help="how to know that it is done"),
    *make_text_arguments(
        "--context", metavar="TEXT", help="the whole approach: the text of the prompt"
    ),
    make_argument(
        "--requires-testing", action="store_true", help="a person must test it before it is merged"
    ),
    make_argument("--description", metavar="TEXT", help="about three sentences"),
)
# Said here, too, so that the help of a command does not load plans.
_CLAIMS = ("merged", "put-aside")
_CLAIM = (
    make_argument("--specialist", required=True, metavar="NAME", help="who works on it"),
    make_argument(
        "--worktree",
        default="",
        metavar="BRANCH",
        help="its branch; default: FEATURE--implementation-N-V",
    ),
    make_argument(
        "--take-over",
        action="store_true",
        help="take it from a worker that is gone; this is logged",
    ),
)
_TOLD = (
    *make_text_arguments(
        "--walkthrough", required=True, metavar="TEXT", help="what was done: Markdown or JSON"
    ),
    make_argument("--iteration", required=True, type=int, metavar="N", help="1, 2, 3 and so on"),
    make_argument(
        "--refinement-reason", default="", metavar="TEXT", help="why another iteration is needed"
    ),
    make_argument("--type", default="", help="initial, review-refinement or testing-refinement"),
)
_SAID = make_text_arguments("text", "--file", required=True, nargs="?", help="what the user said")
_PLAN = (
    make_argument("--title", required=True),
    make_argument("--objective", required=True, help="the goal of the plan"),
    *make_text_arguments("--context", required=True, help="what the implementer needs to know"),
)


def _make_verb(run: "Callable[[Args], Struct]", *arguments: Argument) -> Verb:
    return Verb(run, (*arguments, AGENT), answer_in_envelope)


COMMANDS: Verbs = {
    "plan init": _make_verb(_init_plan),
    "plan status": _make_verb(_show_status),
    "plan check": _make_verb(_check_plan),
    "plan write-plan": _make_verb(_write_plan, *_PLAN),
    "plan get-full-plan": _make_verb(_get_full_plan),
    "plan append-user-input": _make_verb(_append_user_input, *_SAID),
    "plan write-prompt": _make_verb(_write_prompt, *PROMPT, *_WRITTEN, FORCE),
    "plan read-prompt": _make_verb(_read_prompt, *PROMPT),
    "plan clear-prompt": _make_verb(_clear_prompt, *PROMPT, FORCE),
    "plan validate-dependencies": _make_verb(_validate_dependencies),
    "plan update-prompt-dependencies": _make_verb(
        _update_dependencies,
        *PROMPT,
        make_argument(
            "--depends-on", required=True, metavar="N,N", help="the numbers; empty for none"
        ),
        FORCE,
    ),
    "plan next": _make_verb(
        _list_next_prompts,
        make_argument(
            "-n", type=int, default=None, metavar="K", help="how many; default: N_PARALLEL_WORKERS"
        ),
    ),
    "plan start-prompt": _make_verb(_start_prompt, *PROMPT, *_CLAIM, FORCE),
    "plan worktree": _make_verb(_make_worktree, *PROMPT, _CLAIM[0], _CLAIM[2], FORCE),
    "plan audit": _make_verb(_audit_plan),
    "plan record-implementation": _make_verb(_record_implementation, *PROMPT, *_TOLD, FORCE),
    "plan complete-prompt": _make_verb(_complete_prompt, *PROMPT, FORCE),
    "plan verify-prompt": _make_verb(
        _verify_prompt,
        *PROMPT,
        make_argument(
            "--claim", choices=_CLAIMS, default="merged", help="what to verify; default: merged"
        ),
        make_argument(
            "--branch",
            default="",
            metavar="FEATURE",
            help="the branch of the plan; default: this one",
        ),
    ),
    "plan release-all-prompts": _make_verb(_release_all_prompts, FORCE),
    "plan release-prompt": _make_verb(
        _release_prompt,
        *PROMPT,
        make_argument("--reason", default="", metavar="TEXT", help="why it could not be finished"),
        FORCE,
    ),
    "plan get-prompt-walkthrough": _make_verb(_get_walkthrough, *PROMPT),
    "plan get-all-walkthroughs": _make_verb(_get_all_walkthroughs),
    "plan mark-prompt-extracted": _make_verb(_mark_extracted, *PROMPT),
    "plan mark-all-documented": _make_verb(_mark_all_documented),
    "git merge-worktree": _make_verb(_merge_worktree, *PROMPT, FORCE),
    "plan complete": _make_verb(
        _complete_plan,
        make_argument(
            "--summary", default="", metavar="TEXT", help="default: made from the walkthroughs"
        ),
        make_argument("--pr", action="store_true", help="push the branch and open a pull request"),
        make_argument(
            "--title", default="", help="title of the pull request; default: that of the plan"
        ),
        make_argument("--body", default="", help="text of the pull request; default: the summary"),
        make_argument("--draft", action="store_true", help="open it as a draft"),
        FORCE,
    ),
}
