"""`envoy plan` for specialists: what they found, approach by approach, and the designs they use."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from porch.cli.command import Args, Argument, Verb, Verbs, make_argument, make_text_arguments
from porch.cli.envoy.envelope import answer_in_envelope

if TYPE_CHECKING:
    from msgspec import Struct

    from porch.machine.plan.prompt_ids import PromptId
    from porch.plan.files.plan_location import Plan
    from porch.plan.findings.findings_results import WrittenFinding

Changed = TypeVar("Changed", bound="WrittenFinding")


def _change_findings(
    args: Args, action: str, change: "Callable[[Plan], Changed]", *, make: bool = True
) -> Changed:
    """Under the lock; a name that is none makes no plan."""
    from msgspec.structs import replace

    from porch.machine.plan.prompt_ids import require_specialist_name as valid
    from porch.plan.files import locked_plan
    from porch.plan.session import plan_session
    from porch.store import where as places

    valid(args.specialist)
    with plan_session.hold_plan(places.find_project(os.getcwd()), args.agent, make=make) as held:
        locked_plan.require_open_plan(held)
        data = change(held.plan)
        held.note(action, args.specialist, **_log_data(data))
        return replace(data, notes=held.notes)


def _log_data(data: "WrittenFinding") -> Mapping[str, Any]:
    """What the log says of it; what was noticed on the way is not yet part of it."""
    from msgspec import to_builtins

    known: Mapping[str, Any] = to_builtins(data)
    return known


def _find_plan() -> "Plan":
    from porch.plan.files import plan_location
    from porch.store import where as places

    return plan_location.require_plan(
        plan_location.find_current_plan(places.find_project(os.getcwd()))
    )


def _read_id(args: Args) -> "PromptId":
    from porch.machine.plan.prompt_ids import parse_prompt_id

    return parse_prompt_id([args.number, args.variant or ""])


def _write_finding(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    return _change_findings(
        args,
        "write-finding",
        lambda plan: findings_files.write_finding(
            plan, args.specialist, args.notes, args.approaches
        ),
    )


def _write_notes(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    if not args.notes.strip():
        from porch.errors import UsageError

        fix = "give the notes for all approaches: --notes TEXT or --notes-file PATH"
        raise UsageError("the notes are empty", fix, code="empty-content")
    return _change_findings(
        args,
        "write-notes",
        lambda plan: findings_files.write_notes(plan, args.specialist, args.notes),
    )


def _write_approach(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    id_ = _read_id(args)
    return _change_findings(
        args,
        "write-approach",
        lambda plan: findings_files.write_approach(
            plan,
            args.specialist,
            id_,
            description=args.description,
            context=args.context,
            files=args.files,
            questions=args.questions,
        ),
    )


def _clear_approach(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    id_ = _read_id(args)
    return _change_findings(
        args,
        "clear-approach",
        lambda plan: findings_files.clear_approach(plan, args.specialist, id_),
        make=False,
    )


def _get_approach(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    id_ = _read_id(args)
    return findings_files.get_approach(_find_plan(), args.specialist, id_)


def _get_findings(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    return findings_files.get_findings(_find_plan(), full=args.full)


def _get_design_manifest(args: Args) -> "Struct":
    from porch.plan.findings import findings_files

    return findings_files.read_design_manifest(_find_plan(), args.file or "")


_AGENT = make_argument("--agent", default="", metavar="NAME", help="who is calling, for the log")
_SPECIALIST = make_argument(
    "specialist", help="the name of the specialist, such as backend or backend_2"
)
_NUMBER = make_argument("number", help="the number of the approach; write a variant as 2_A or 2A")
_LETTER = make_argument("variant", nargs="?", help="the letter of a variant")
_ONE = (_SPECIALIST, _NUMBER, _LETTER, _AGENT)
_APPROACH = (
    _SPECIALIST,
    _NUMBER,
    make_argument("--variant", metavar="LETTER", help="for a number with several variants"),
    make_argument(
        "--description", default="", metavar="TEXT", help="what it does, in a sentence or two"
    ),
    *make_text_arguments(
        "--context", metavar="TEXT", help="the whole approach; default: unchanged"
    ),
    make_argument(
        "--files", metavar="A,B", help="its files, relative to the project root; default: unchanged"
    ),
    make_argument("--questions", metavar="Q1|Q2", help="questions for the user; default: none"),
    _AGENT,
)
_SHARED = make_text_arguments(
    "--notes", default="", metavar="TEXT", help="notes for all approaches"
)
_FINDING = (
    _SPECIALIST,
    *_SHARED,
    *make_text_arguments(
        "--approaches",
        default="[]",
        metavar="JSON",
        help="a list of {number, variant, description, context, relevant_files, questions}",
    ),
    _AGENT,
)
_NOTES = (_SPECIALIST, *_SHARED, _AGENT)
_FULL = (
    make_argument("--full", action="store_true", help="include notes, texts and answers"),
    _AGENT,
)
_FILE = (make_argument("file", nargs="?", help="one screenshot; default: all"), _AGENT)


def _make_verb(run: "Callable[[Args], Struct]", arguments: tuple[Argument, ...]) -> Verb:
    return Verb(answer_in_envelope(run), arguments)


COMMANDS: Verbs = {
    "plan write-finding": _make_verb(_write_finding, _FINDING),
    "plan write-notes": _make_verb(_write_notes, _NOTES),
    "plan write-approach": _make_verb(_write_approach, _APPROACH),
    "plan clear-approach": _make_verb(_clear_approach, _ONE),
    "plan get-finding-approach": _make_verb(_get_approach, _ONE),
    "plan get-findings": _make_verb(_get_findings, _FULL),
    "plan read-design-manifest": _make_verb(_get_design_manifest, _FILE),
}
