"""`envoy plan` for specialists: what they found, approach by approach, and the designs they use."""

import os
from collections.abc import Callable
from typing import Any

from porch.adapters import where as places
from porch.errors import UsageError
from porch.model.prompt_ids import PromptId, parse
from porch.model.prompt_ids import specialist as valid
from porch.operations.plans import findings, opening, place
from porch.operations.plans.place import Plan
from porch.surfaces.cli.command import Args, Argument, Command, arg, text
from porch.surfaces.cli.enveloping import told

Told = dict[str, Any]


def _changed(args: Args, action: str, change: Callable[[Plan], Told], *, make: bool = True) -> Told:
    """Under the lock; a name that is none makes no plan."""
    valid(args.specialist)
    with opening.held(places.find(os.getcwd()), args.agent, make=make) as held:
        opening.demand_open(held)
        data = change(held.plan)
        held.note(action, args.specialist, **data)
        return {**data, "notes": held.notes}


def _plan() -> Plan:
    return place.demand(place.current(places.find(os.getcwd())))


def _id(args: Args) -> PromptId:
    return parse([args.number, args.variant or ""])


def _write_finding(args: Args) -> Told:
    return _changed(
        args,
        "write-finding",
        lambda plan: findings.write_finding(plan, args.specialist, args.notes, args.approaches),
    )


def _write_notes(args: Args) -> Told:
    if not args.notes.strip():
        fix = "give what holds for all approaches: --notes TEXT or --notes-file PATH"
        raise UsageError("there are no notes", fix, code="empty-content")
    return _changed(
        args,
        "write-notes",
        lambda plan: findings.write_notes(plan, args.specialist, args.notes),
    )


def _write_approach(args: Args) -> Told:
    id_ = _id(args)
    return _changed(
        args,
        "write-approach",
        lambda plan: findings.write_approach(
            plan,
            args.specialist,
            id_,
            description=args.description,
            context=args.context,
            files=args.files,
            questions=args.questions,
        ),
    )


def _clear_approach(args: Args) -> Told:
    id_ = _id(args)
    return _changed(
        args,
        "clear-approach",
        lambda plan: findings.clear_approach(plan, args.specialist, id_),
        make=False,
    )


def _get_approach(args: Args) -> Told:
    id_ = _id(args)
    return findings.get_approach(_plan(), args.specialist, id_)


def _get_findings(args: Args) -> Told:
    return findings.get_findings(_plan(), full=args.full)


def _manifest(args: Args) -> Told:
    return findings.read_design_manifest(_plan(), args.file or "")


_AGENT = arg("--agent", default="", metavar="NAME", help="who calls, for the log")
_SPECIALIST = arg("specialist", help="the name of the specialist, such as backend or backend_2")
_NUMBER = arg("number", help="the number of the approach; 2_A and 2A name a variant, too")
_LETTER = arg("variant", nargs="?", help="the letter of a variant")
_ONE = (_SPECIALIST, _NUMBER, _LETTER, _AGENT)
_APPROACH = (
    _SPECIALIST,
    _NUMBER,
    arg("--variant", metavar="LETTER", help="where a number has several ways to do it"),
    arg("--description", default="", metavar="TEXT", help="what it does, in a sentence or two"),
    *text("--context", metavar="TEXT", help="the whole approach; as it was if not given"),
    arg("--files", metavar="A,B", help="from the root of the project; as they were if not given"),
    arg("--questions", metavar="Q1|Q2", help="what only the user can answer; none if not given"),
    _AGENT,
)
_SHARED = text("--notes", default="", metavar="TEXT", help="what holds for all approaches")
_FINDING = (
    _SPECIALIST,
    *_SHARED,
    *text(
        "--approaches",
        default="[]",
        metavar="JSON",
        help="a list of {number, variant, description, context, relevant_files, questions}",
    ),
    _AGENT,
)
_NOTES = (_SPECIALIST, *_SHARED, _AGENT)
_FULL = (arg("--full", action="store_true", help="with notes, texts and answers"), _AGENT)
_FILE = (arg("file", nargs="?", help="one picture; without it all"), _AGENT)


def _command(
    name: str, help_: str, run: Callable[[Args], Told], arguments: tuple[Argument, ...]
) -> Command:
    return Command(f"plan {name}", help_, told(run), arguments)


COMMANDS: tuple[Command, ...] = (
    _command("write-finding", "all that a specialist found, anew", _write_finding, _FINDING),
    _command("write-notes", "what holds for all approaches", _write_notes, _NOTES),
    _command("write-approach", "one approach, new or again", _write_approach, _APPROACH),
    _command("clear-approach", "take an approach, or a whole number, out", _clear_approach, _ONE),
    _command("get-finding-approach", "one approach, or its variants", _get_approach, _ONE),
    _command("get-findings", "the approaches of all specialists", _get_findings, _FULL),
    _command("read-design-manifest", "the screenshots of the plan", _manifest, _FILE),
)
