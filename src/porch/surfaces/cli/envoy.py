"""The table of `envoy`: what agents call while they follow a protocol of steps."""

import os
import sys
from collections.abc import Callable, Sequence

from porch.adapters import where as places
from porch.errors import EXIT_INPUT, DefinitionError, Finding, PorchError, UsageError, errors_in
from porch.surfaces.cli.cleanup import COMMANDS as CLEANUP
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.surfaces.cli.envoy_git import COMMANDS as GIT
from porch.surfaces.cli.given import pairs
from porch.surfaces.cli.knowledge import COMMANDS as KNOWLEDGE
from porch.surfaces.cli.plan import COMMANDS as PLAN
from porch.surfaces.cli.plan_findings import COMMANDS as FINDINGS
from porch.surfaces.cli.plan_gates import COMMANDS as GATES
from porch.views import envelope
from porch.views.text import printable


def enveloped(run: Callable[[Args], View]) -> Callable[[Args], View]:
    """With --json both what came of it and what went wrong have the shape of `envoy`."""

    def answered(args: Args) -> View:
        if not args.json:
            return run(args)
        try:
            view = run(args)
        except PorchError as error:
            return View(data=envelope.failure(error.findings), code=error.exit_code)
        return View(data=envelope.success(view.data), code=view.code)

    return answered


def _protocol(args: Args) -> View:
    from porch.operations import steps

    where = places.find(os.getcwd())
    form = _form(args)
    if not args.name:
        return _list(args, steps.listed(where))
    given = pairs(args.input) if args.input else None
    if form == "check":
        return _checked(args, steps.checked(where, args.name, args.lenient))
    shown = steps.shown(where, args.name, form, args.lenient, given)
    _note(shown.notes)
    return View(shown.text, shown.data)


def _form(args: Args) -> str:
    wanted = [form for form in ("raw", "explain", "check") if getattr(args, form)]
    if len(wanted) > 1:
        both = " and ".join(f"--{form}" for form in wanted)
        raise UsageError(f"{both} exclude each other", fix="leave out all but one")
    return wanted[0] if wanted else "text"


def _list(args: Args, rows: Sequence[dict[str, str]]) -> View:
    if args.raw or args.explain or args.check or args.input:
        raise UsageError("no protocol is named", fix="envoy protocol NAME; without flags it lists")
    width = max(len(row["name"]) for row in rows)
    lines = [f"{row['name']:<{width}}  {row['description']}\n  {row['file']}" for row in rows]
    return View("\n".join(lines), {"protocols": list(rows)})


def _checked(args: Args, findings: Sequence[Finding]) -> View:
    if args.json and errors_in(findings):
        raise DefinitionError([*errors_in(findings), *_others(findings)])
    text = "\n".join(map(str, findings)) or "no findings"
    data = {"findings": [finding.as_json() for finding in findings]}
    return View(text, data, EXIT_INPUT if errors_in(findings) else 0)


def _others(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity != "error"]


def _note(findings: Sequence[Finding]) -> None:
    """Beside the steps, never among them: the agent follows what stands on standard output."""
    for finding in findings:
        sys.stderr.write(f"{printable(str(finding))}\n")


_ARGUMENTS = (
    arg("name", nargs="?", help="a protocol of steps; without one all are listed"),
    arg("--raw", action="store_true", help="the texts untouched: references keep their numbers"),
    arg("--explain", action="store_true", help="where each printed step came from"),
    arg("--check", action="store_true", help="all findings, of files and of references"),
    arg("--lenient", action="store_true", help="a step to append to may be missing"),
    arg("--input", action="append", metavar="K=V", help="an input; all are checked and filled in"),
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "protocol",
        "the numbered steps of a protocol, with its inputs and outputs",
        enveloped(_protocol),
        _ARGUMENTS,
    ),
    Command("plan protocol", "the same as `envoy protocol`", enveloped(_protocol), _ARGUMENTS),
    *PLAN,
    *FINDINGS,
    *GATES,
    *GIT,
    *KNOWLEDGE,
    *CLEANUP,
)
