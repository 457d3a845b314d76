"""`envoy plan`: making a plan, writing its prompts, and carrying them out."""

import os
from typing import Any

from porch.adapters import where as places
from porch.adapters.where import Where
from porch.operations.plans import (
    documenting,
    homecoming,
    ordering,
    planning,
    prompting,
    verifying,
    working,
)
from porch.surfaces.cli.command import Args, Argument, Command, arg, text
from porch.surfaces.cli.enveloping import told
from porch.surfaces.cli.plan_words import AGENT, FORCE, PROMPT, numbers, paths, prompt_of


def _here() -> Where:
    return places.find(os.getcwd())


def _init(args: Args) -> dict[str, Any]:
    return planning.init(_here(), args.agent)


def _status(_: Args) -> dict[str, Any]:
    return planning.status(_here())


def _check(_: Args) -> dict[str, Any]:
    return planning.check(_here())


def _write_plan(args: Args) -> dict[str, Any]:
    return planning.write_plan(_here(), args.title, args.objective, args.context, args.agent)


def _full(_: Args) -> dict[str, Any]:
    return planning.full_plan(_here())


def _append(args: Args) -> dict[str, Any]:
    return planning.append_user_input(_here(), args.text, args.agent)


def _write_prompt(args: Args) -> dict[str, Any]:
    given = prompting.Written(
        files=None if args.files is None else paths(args.files),
        depends_on=None if args.depends_on is None else numbers(args.depends_on),
        debug=True if args.debug else None,
        criteria=args.criteria,
        context=args.context,
        requires_testing=True if args.requires_testing else None,
        description=args.description,
    )
    here, id_ = _here(), prompt_of(args)
    return prompting.write_prompt(here, id_, given, force=args.force, caller=args.agent)


def _read_prompt(args: Args) -> dict[str, Any]:
    return prompting.read_prompt(_here(), prompt_of(args))


def _clear_prompt(args: Args) -> dict[str, Any]:
    return prompting.clear_prompt(_here(), prompt_of(args), force=args.force, caller=args.agent)


def _validate(_: Args) -> dict[str, Any]:
    return ordering.validate_dependencies(_here())


def _update(args: Args) -> dict[str, Any]:
    wanted = numbers(args.depends_on)
    here, id_ = _here(), prompt_of(args)
    return ordering.update_dependencies(here, id_, wanted, force=args.force, caller=args.agent)


def _next(args: Args) -> dict[str, Any]:
    return ordering.following(_here(), args.n)


def _start(args: Args) -> dict[str, Any]:
    return working.start_prompt(
        _here(),
        prompt_of(args),
        args.specialist,
        args.worktree,
        take_over=args.take_over,
        force=args.force,
        caller=args.agent,
    )


def _record(args: Args) -> dict[str, Any]:
    return working.record_implementation(
        _here(),
        prompt_of(args),
        args.walkthrough,
        args.iteration,
        args.refinement_reason,
        args.type,
        force=args.force,
        caller=args.agent,
    )


def _complete_prompt(args: Args) -> dict[str, Any]:
    return working.complete_prompt(_here(), prompt_of(args), force=args.force, caller=args.agent)


def _verify(args: Args) -> dict[str, Any]:
    return verifying.verify(_here(), prompt_of(args), args.claim, args.branch)


def _release(args: Args) -> dict[str, Any]:
    return working.release_all(_here(), force=args.force, caller=args.agent)


def _give_back(args: Args) -> dict[str, Any]:
    here, id_ = _here(), prompt_of(args)
    return working.release(here, id_, args.reason, force=args.force, caller=args.agent)


def _walkthrough(args: Args) -> dict[str, Any]:
    return documenting.walkthrough_of(_here(), prompt_of(args))


def _walkthroughs(_: Args) -> dict[str, Any]:
    return documenting.all_walkthroughs(_here())


def _extracted(args: Args) -> dict[str, Any]:
    return documenting.mark_extracted(_here(), prompt_of(args), args.agent)


def _documented(args: Args) -> dict[str, Any]:
    return documenting.mark_all(_here(), args.agent)


def _merge(args: Args) -> dict[str, Any]:
    return homecoming.merge_worktree(_here(), prompt_of(args), force=args.force, caller=args.agent)


def _complete(args: Args) -> dict[str, Any]:
    wanted = homecoming.Request(args.title, args.body, args.draft) if args.pr else None
    here, summary = _here(), args.summary
    return homecoming.complete(here, summary, wanted, force=args.force, caller=args.agent)


_DEPENDS = arg("--depends-on", metavar="N,N", help="numbers of prompts that must be merged before")
_WRITTEN = (
    arg("--files", metavar="PATH,PATH", help="what it touches, from the root of the project"),
    _DEPENDS,
    arg("--debug", action="store_true", help="it mends a fault: logs first, then the fix"),
    arg("--criteria", metavar="TEXT", help="when it is done"),
    *text("--context", metavar="TEXT", help="the whole approach; the text of the prompt"),
    arg("--requires-testing", action="store_true", help="a person tries it before it is merged"),
    arg("--description", metavar="TEXT", help="about three sentences"),
)
_CLAIM = (
    arg("--specialist", required=True, metavar="NAME", help="who works on it"),
    arg("--worktree", default="", metavar="BRANCH", help="by default FEATURE--implementation-N-V"),
    arg("--take-over", action="store_true", help="whoever had it is gone; it is logged"),
)
_TOLD = (
    *text("--walkthrough", required=True, metavar="TEXT", help="what was done: Markdown or JSON"),
    arg("--iteration", required=True, type=int, metavar="N", help="from 1 on, without gaps"),
    arg("--refinement-reason", default="", metavar="TEXT", help="why there is another iteration"),
    arg("--type", default="", help="initial, review-refinement or testing-refinement"),
)
_SAID = text("text", "--file", required=True, nargs="?", help="what the user said")
_PLAN = (
    arg("--title", required=True),
    arg("--objective", required=True, help="what will be so afterwards"),
    *text("--context", required=True, help="what whoever carries it out has to know"),
)


def _command(name: str, help_: str, run: Any, *arguments: Argument) -> Command:
    return Command(name, help_, told(run), (*arguments, AGENT))


COMMANDS: tuple[Command, ...] = (
    _command("plan init", "make the directory of this branch's plan", _init),
    _command("plan status", "whether this branch has a plan", _status),
    _command("plan check", "what is to be known before going on with the plan", _check),
    _command("plan write-plan", "the words of the plan", _write_plan, *_PLAN),
    _command("plan get-full-plan", "everything in the plan", _full),
    _command("plan append-user-input", "keep what the user said", _append, *_SAID),
    _command(
        "plan write-prompt",
        "a prompt, or its new version",
        _write_prompt,
        *PROMPT,
        *_WRITTEN,
        FORCE,
    ),
    _command("plan read-prompt", "all of a prompt", _read_prompt, *PROMPT),
    _command("plan clear-prompt", "take a prompt out of the plan", _clear_prompt, *PROMPT, FORCE),
    _command("plan validate-dependencies", "stale, missing and circular ones", _validate),
    _command(
        "plan update-prompt-dependencies",
        "what a prompt depends on",
        _update,
        *PROMPT,
        arg("--depends-on", required=True, metavar="N,N", help="empty for none"),
        FORCE,
    ),
    _command(
        "plan next",
        "what can be started now",
        _next,
        arg("-n", type=int, default=None, metavar="K", help="so many numbers; N_PARALLEL_WORKERS"),
    ),
    _command("plan start-prompt", "claim a prompt", _start, *PROMPT, *_CLAIM, FORCE),
    _command("plan record-implementation", "what was done", _record, *PROMPT, *_TOLD, FORCE),
    _command("plan complete-prompt", "done with a prompt", _complete_prompt, *PROMPT, FORCE),
    _command(
        "plan verify-prompt",
        "whether what is said about a prompt is so; exit 1 if not",
        _verify,
        *PROMPT,
        arg("--claim", choices=verifying.CLAIMS, default="merged", help="by default: merged"),
        arg("--branch", default="", metavar="FEATURE", help="of the plan; by default this one"),
    ),
    _command(
        "plan release-all-prompts", "free the prompts of workers that are gone", _release, FORCE
    ),
    _command(
        "plan release-prompt",
        "give a prompt back that could not be finished",
        _give_back,
        *PROMPT,
        arg("--reason", default="", metavar="TEXT", help="what stopped it"),
        FORCE,
    ),
    _command("plan get-prompt-walkthrough", "what was done for a prompt", _walkthrough, *PROMPT),
    _command("plan get-all-walkthroughs", "of all that are not written up", _walkthroughs),
    _command("plan mark-prompt-extracted", "a prompt is written up", _extracted, *PROMPT),
    _command("plan mark-all-documented", "every merged prompt is written up", _documented),
    _command(
        "git merge-worktree", "merge a prompt into its feature branch", _merge, *PROMPT, FORCE
    ),
    _command(
        "plan complete",
        "the end of the plan, with a summary",
        _complete,
        arg("--summary", default="", metavar="TEXT", help="by default made of the walkthroughs"),
        arg("--pr", action="store_true", help="push the branch and open a pull request"),
        arg("--title", default="", help="of the pull request; by default that of the plan"),
        arg("--body", default="", help="of the pull request; by default the summary"),
        arg("--draft", action="store_true", help="as a draft"),
        FORCE,
    ),
)
