"""Protocols, plans and the demonstration from the command line."""

import os
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.show.shapes import DrawnProtocolShape
    from porch.store.where import ProjectPaths


def _list_protocols(_: Args) -> View:
    from porch.run.definitions import protocol_list
    from porch.show.board import list_with_files
    from porch.store import where as places

    rows = protocol_list.list_protocol_rows(places.find_project(os.getcwd()))
    return View("\n".join(list_with_files(rows)), {"protocols": rows}, is_prose=True)


def _show_protocol(args: Args) -> View:
    from porch.run.definitions import protocol_list
    from porch.store import where as places

    shown = protocol_list.show_protocol(places.find_project(os.getcwd()), args.name)
    return View(shown["text"], shown["json"], is_prose=True)


def _draw_protocol(args: Args) -> View:
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    if args.run:
        from porch.run.verbs import run_lookup, run_walk

        name = run_lookup.find_run(where, args.run)
        told = run_walk.draw_run_protocol(where, name, args.name or "", args.format)
    else:
        from porch.run.definitions import protocol_graph

        name = _require_name(args)
        told = _draw_track(where, name, args.format) or protocol_graph.draw_protocol(
            where, name, args.format
        )
    return View(told["picture"], told)


def _require_name(args: Args) -> str:
    if not args.name:
        from porch.errors import UsageError

        raise UsageError(
            "nothing says what to draw",
            fix="name a protocol, or a run: porch protocols graph --run ID",
        )
    return str(args.name)


def _draw_track(where: "ProjectPaths", word: str, form: str) -> "DrawnProtocolShape | None":
    """A track is drawn as people know it: its plan, and how far that is."""
    from porch.store.where import PLAN_FILES

    name = word if os.path.isdir(word) else os.path.dirname(word)
    has_plan = any(os.path.isfile(os.path.join(name, file)) for file in PLAN_FILES)
    if not name or not has_plan or os.path.basename(word) == "protocol.json":
        return None
    from porch.errors import DefinitionError, errors_in
    from porch.run.definitions import protocol_graph
    from porch.track import plan_graph, plan_view

    look = plan_view.look_at_track(where, word)
    if errors := errors_in(look.reading.findings):
        raise DefinitionError(errors)
    return protocol_graph.draw_as(plan_graph.make_plan_protocol(look), look.file, form)


def _lint_files(args: Args) -> View:
    from porch.errors import EXIT_INPUT
    from porch.run.definitions import protocol_list
    from porch.store import where as places

    findings = protocol_list.lint_protocols(places.find_project(os.getcwd()), args.file)
    failed = any(finding.severity == "error" for finding in findings)
    text = "\n".join(str(finding) for finding in findings) or "no problems found"
    data = {"findings": [finding.as_json() for finding in findings]}
    return View(text, data, EXIT_INPUT if failed else 0, is_prose=True)


def _copy_protocol(args: Args) -> View:
    from porch.fleet.setup import protocol_copies
    from porch.store.where import find_project

    root = find_project(os.getcwd()).workspace
    files = protocol_copies.copy_protocol(root, args.name)
    new = [each.path for each in files if each.is_change]
    lines = [f"new  {path}" for path in new] or ["everything is there already"]
    if new:
        lines.append("runs use this copy once it is committed; codev doctor says if it is outdated")
    return View("\n".join(lines), {"root": root, "files": [each.as_json() for each in files]})


def _show_schema(args: Args) -> View:
    import json

    from porch.run.definitions import protocol_list

    schema = protocol_list.read_schema(args.kind)
    return View(json.dumps(schema, indent=2), schema)


def _show_plan_phases(args: Args) -> View:
    from porch.run.definitions import protocol_list

    told = protocol_list.read_plan_phases(args.plan)
    lines = [
        f"{phase['id']}: {phase['title']}\n  {phase['description']}" for phase in told["phases"]
    ]
    notes = [
        f"{each['severity']}: {each['message']}"
        + (f"\n  fix: {each['fix']}" if each["fix"] else "")
        for each in told["findings"]
    ]
    return View("\n".join([f"read from: {told['reading']}", *lines, *notes]), told)


def _run_demo(args: Args) -> View:
    from porch.cli.porch.demo import run_demo

    return run_demo(args.yes)


_NAME_OR_PATH = "the name of a protocol, or its file or directory"

COMMANDS: Verbs = {
    "protocols list": Verb(_list_protocols),
    "protocols show": Verb(_show_protocol, (make_argument("name", help=_NAME_OR_PATH),)),
    "protocols graph": Verb(
        _draw_protocol,
        (
            make_argument("name", nargs="?", help=f"{_NAME_OR_PATH}; with --run not needed"),
            make_argument(
                "--format",
                choices=("text", "mermaid", "dot", "svg"),
                default="text",
                help="text, mermaid, dot or svg; default: text",
            ),
            make_argument(
                "--run",
                default="",
                metavar="RUN",
                help="draw where this run stands, and how often it took each way",
            ),
        ),
    ),
    "protocols lint": Verb(_lint_files, (make_argument("file", nargs="+", help=_NAME_OR_PATH),)),
    "protocols copy": Verb(
        _copy_protocol, (make_argument("name", help="the name of a packaged protocol"),)
    ),
    "protocols schema": Verb(
        _show_schema,
        (
            make_argument(
                "kind",
                nargs="?",
                choices=("phases", "graph"),
                default="phases",
                help="phases (protocol.json, the default) or graph (NAME.graph.yaml)",
            ),
        ),
    ),
    "plan phases": Verb(_show_plan_phases, (make_argument("plan", help="a Markdown plan"),)),
    "demo": Verb(
        _run_demo,
        (make_argument("--yes", action="store_true", help="approve all gates without asking"),),
    ),
}
