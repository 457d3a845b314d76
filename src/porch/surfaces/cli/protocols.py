"""Protocols, plans and the demonstration from the command line."""

import os

from porch.adapters import where as places
from porch.errors import EXIT_INPUT
from porch.operations import catalogue
from porch.surfaces.cli.command import Args, Command, View, arg


def _list(_: Args) -> View:
    rows = catalogue.listed(places.find(os.getcwd()))
    width = max(len(row["name"]) for row in rows)
    lines = [f"{row['name']:<{width}}  {row['description']}\n  {row['file']}" for row in rows]
    return View("\n".join(lines), {"protocols": rows})


def _show(args: Args) -> View:
    shown = catalogue.shown(places.find(os.getcwd()), args.name)
    return View(shown["text"], shown["json"])


def _graph(args: Args) -> View:
    from porch.operations import drawing

    told = drawing.drawn(places.find(os.getcwd()), args.name, args.format)
    return View(told["picture"], told)


def _lint(args: Args) -> View:
    findings = catalogue.linted(args.file)
    failed = any(finding.severity == "error" for finding in findings)
    text = "\n".join(str(finding) for finding in findings) or "no findings"
    data = {"findings": [finding.as_json() for finding in findings]}
    return View(text, data, EXIT_INPUT if failed else 0)


def _schema(_: Args) -> View:
    import json

    schema = catalogue.schema()
    return View(json.dumps(schema, indent=2), schema)


def _plan_phases(args: Args) -> View:
    told = catalogue.plan_phases(args.plan)
    lines = [
        f"{phase['id']}: {phase['title']}\n  {phase['description']}" for phase in told["phases"]
    ]
    notes = [f"{finding['severity']}: {finding['message']}" for finding in told["findings"]]
    return View("\n".join([f"read from: {told['reading']}", *lines, *notes]), told)


def _demo(args: Args) -> View:
    from porch.surfaces.cli.demo import demo

    return demo(args.yes)


COMMANDS = (
    Command("protocols list", "the protocols that can be run here", _list),
    Command("protocols show", "one protocol: phases, gates, checks", _show, (arg("name"),)),
    Command(
        "protocols graph",
        "one protocol as a picture: states, exits, budgets, ways back",
        _graph,
        (
            arg("name", help="a protocol by name, or its file or directory"),
            arg(
                "--format",
                choices=("text", "mermaid", "dot", "svg"),
                default="text",
                help="text, mermaid, dot or svg; default: text",
            ),
        ),
    ),
    Command("protocols lint", "all findings of protocol files", _lint, (arg("file", nargs="+"),)),
    Command("protocols schema", "a JSON Schema of protocol.json, for editors", _schema),
    Command(
        "plan phases",
        "the phases that porch reads out of a plan",
        _plan_phases,
        (arg("plan", help="a Markdown plan"),),
    ),
    Command(
        "demo",
        "a whole project in a throw-away repository, with the scripted agent",
        _demo,
        (arg("--yes", action="store_true", help="approve the gates without asking"),),
    ),
)
