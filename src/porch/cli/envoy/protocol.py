"""`envoy protocol`: the steps that agents follow, and where they came from."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from porch.errors import Finding


def answer_in_envelope(run: Callable[[Args], View]) -> Callable[[Args], View]:
    """With --json both what came of it and what went wrong have the shape of `envoy`."""

    def answered(args: Args) -> View:
        if not args.json:
            return run(args)
        from porch.cli import json_envelope
        from porch.errors import PorchError

        try:
            view = run(args)
        except PorchError as error:
            return View(
                data=json_envelope.make_failure_envelope(error.findings), code=error.exit_code
            )
        return View(data=json_envelope.make_success_envelope(view.data), code=view.code)

    return answered


def _show_protocol(args: Args) -> View:
    from porch.cli.input_options import parse_inputs
    from porch.run.definitions import step_protocols
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    form = _read_form_flag(args)
    if not args.name:
        return _list_protocols(args, step_protocols.list_step_protocols(where))
    given = parse_inputs(args.input) if args.input else None
    if form == "check":
        return _view_findings(args, step_protocols.check_steps(where, args.name, args.lenient))
    shown = step_protocols.show_steps(
        where, args.name, form=form, lenient=args.lenient, given=given
    )
    _print_notes(shown.notes)
    return View(shown.text, shown.data)


def _read_form_flag(args: Args) -> str:
    wanted = [form for form in ("raw", "explain", "check") if getattr(args, form)]
    if len(wanted) > 1:
        from porch.errors import UsageError

        both = " and ".join(f"--{form}" for form in wanted)
        raise UsageError(f"{both} cannot be used together", fix="use only one of them")
    return wanted[0] if wanted else "text"


def _list_protocols(args: Args, rows: Sequence[dict[str, str]]) -> View:
    if args.raw or args.explain or args.check or args.input:
        from porch.errors import UsageError

        raise UsageError(
            "the name of a protocol is missing",
            fix="envoy protocol NAME; without options it lists all",
        )
    from porch.show.board import list_with_files

    return View("\n".join(list_with_files(rows)), {"protocols": list(rows)}, is_prose=True)


def _view_findings(args: Args, findings: "Sequence[Finding]") -> View:
    from porch.errors import EXIT_INPUT, DefinitionError, errors_in

    if args.json and errors_in(findings):
        raise DefinitionError([*errors_in(findings), *_other_findings(findings)])
    text = "\n".join(map(str, findings)) or "no problems found"
    data = {"findings": [finding.as_json() for finding in findings]}
    return View(text, data, EXIT_INPUT if errors_in(findings) else 0)


def _other_findings(findings: "Sequence[Finding]") -> "list[Finding]":
    return [finding for finding in findings if finding.severity != "error"]


def _print_notes(findings: "Sequence[Finding]") -> None:
    """Beside the steps, never among them: the agent follows what stands on standard output."""
    for finding in findings:
        sys.stderr.write(f"{make_printable(str(finding))}\n")


_ARGUMENTS = (
    make_argument("name", nargs="?", help="a step protocol; without a name, all are listed"),
    make_argument(
        "--raw", action="store_true", help="the texts unchanged: references keep their numbers"
    ),
    make_argument("--explain", action="store_true", help="show where each step comes from"),
    make_argument("--check", action="store_true", help="show all problems in files and references"),
    make_argument("--lenient", action="store_true", help="allow appending to a missing step"),
    make_argument(
        "--input", action="append", metavar="K=V", help="an input, checked and filled in"
    ),
)

_PROTOCOL = Verb(answer_in_envelope(_show_protocol), _ARGUMENTS)
COMMANDS: Verbs = {"protocol": _PROTOCOL, "plan protocol": _PROTOCOL}
