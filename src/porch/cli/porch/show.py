"""Showing runs when the pictures alone do not answer, and everything that needs the machine."""

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from porch.cli.command import Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.run.verbs import overview
    from porch.show.shapes import DecisionShape
    from porch.store.where import ProjectPaths

_ID = make_argument(
    "id", nargs="?", default="", help="the run: id, short id or directory name; default: here"
)
_MAYBE_ID = make_argument("id", nargs="?", default="", help="a run; default: all runs")
_SHOWN_ID = make_argument(
    "id",
    nargs="?",
    default="",
    help="a run: only its decisions, with what changed in their files since porch asked; "
    "default: all runs",
)
_EVERY_S = 0.5


def _show_status(args: Args) -> View:
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    show = _tree_view if args.tree else _status_view
    view = show(where, args.id)
    shown = None
    while args.watch:
        # A pipe gets a line only when there is news; a terminal is drawn anew in any case.
        if view != shown or sys.stdout.isatty():
            _redraw_view(view, args.json)
        shown = view
        time.sleep(_EVERY_S)
        view = show(where, args.id)
    return view


def _tree_view(where: "ProjectPaths", word: str) -> View:
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run
    from porch.tree import tree_view

    found = read_run(where, find_run(where, word))
    protocol = found.definition.protocol
    text = "\n".join(tree_view.render_tree(protocol, found.state))
    return View(text, {"tree": tree_view.make_tree_data(protocol, found.state)})


def _redraw_view(view: View, as_json: bool) -> None:
    front = "\x1b[2J\x1b[H" if sys.stdout.isatty() and not as_json else ""
    text = _render_json(view.data) if as_json else view.text
    print(front + text, flush=True)


def _status_view(where: "ProjectPaths", word: str) -> View:
    from porch.cli.terminal_width import line_sign, table_width
    from porch.run.verbs import overview
    from porch.run.verbs.liveness import LiveRows
    from porch.show import board
    from porch.store.foreign_status import list_foreign_files
    from porch.text.printable import make_printable

    if not word:
        runs = overview.list_all_runs(where)
        live = LiveRows(where, runs.rows)
        foreign = list_foreign_files(where.root, where.runs())
        table = board.render_board(live.board_rows(), table_width(), line_sign())
        notes = [
            *foreign.describe(),
            *_describe_lost_runs(where),
            *(str(trouble) for trouble in runs.troubles),
        ]
        text = "\n".join([table, *map(make_printable, notes)])
        data = {
            "runs": live.data_rows(),
            "without_journal": foreign.paths,
            **foreign.as_json(),
            **_trouble_findings(runs),
        }
        return View(text, data, _exit_code(runs), is_painted=True)
    shown = overview.show_run(where, word)
    return View(shown.text, shown.data, is_prose=True)


def _show_pending(args: Args) -> View:
    from porch.cli.terminal_width import table_width
    from porch.plan.gate_files.pending_problems import add_form_problems
    from porch.run.verbs import overview
    from porch.run.verbs.liveness import LiveRows
    from porch.run.verbs.setting_changes import add_setting_changes
    from porch.show import board
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    if not args.hook and not (where.common_dir or os.path.isdir(where.state_dir)):
        return _show_pending_elsewhere(where)
    runs = overview.list_all_runs(where)
    live = LiveRows(where, runs.rows)
    decisions = live.decisions()
    if args.id:
        decisions = _keep_decisions_of(where, args, decisions)
    add_form_problems(where, decisions)
    add_setting_changes(where, decisions)
    text = (
        board.render_hook_lines(decisions)
        if args.hook
        else board.render_pending_decisions(decisions, table_width())
    )
    more = [] if args.hook else [*live.describe_alone(), *_describe_lost_runs(where)]
    told = "\n".join([text.rstrip("\n"), *more, *map(str, runs.troubles)]).strip("\n")
    return View(
        told, {"decisions": decisions, **_trouble_findings(runs)}, _exit_code(runs), is_prose=True
    )


def _show_pending_elsewhere(where: "ProjectPaths") -> View:
    """Outside of every project: what waits in the repositories that the person's settings list."""
    from porch.cli.terminal_width import table_width
    from porch.fleet.fleet_rows import find_other_projects
    from porch.plan.gate_files.pending_problems import add_form_problems
    from porch.run.verbs import overview
    from porch.run.verbs.liveness import LiveRows
    from porch.show import board

    texts, decisions, code = [], [], 0
    listed = find_other_projects(where, os.environ)
    for _, project in listed:
        runs = overview.list_all_runs(project)
        asked = LiveRows(project, runs.rows).decisions()
        add_form_problems(project, asked)
        decisions += [{**each, "repository": project.root} for each in asked]
        told = board.render_pending_decisions(asked, table_width()) if asked else ""
        texts += [f"In {project.root} (run its commands there):\n\n{told}"] if told else []
        texts += map(str, runs.troubles)
        code = max(code, _exit_code(runs))
    front = "This directory is in no repository and has no runs. " + (
        "Shown are the repositories under [af] repositories in your config.toml."
        if listed
        else "List your repositories under [af] repositories in your config.toml to see theirs."
    )
    text = "\n\n".join([front, *(texts or ["No decision is waiting for you."])])
    return View(text.rstrip("\n"), {"decisions": decisions}, code, is_prose=True)


def _keep_decisions_of(
    where: "ProjectPaths", args: Args, decisions: "list[DecisionShape]"
) -> "list[DecisionShape]":
    """Those of one run, with what changed in their files: so an approval is for these files."""
    from porch.run.decisions.shown_files import add_changes
    from porch.run.engine.caller import find_agent_sign
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run

    run = find_run(where, args.id)
    kept = [each for each in decisions if each["run"] == run]
    is_person = not (args.json or args.hook or find_agent_sign(os.environ))
    add_changes(where, read_run(where, run).state, kept, is_person=is_person)
    return kept


def _describe_lost_runs(where: "ProjectPaths") -> list[str]:
    """What they waited for, nobody can say any more."""
    from porch.store.known_runs import list_lost_runs

    return [f"{name}: there was a run, but its journal is gone" for name in list_lost_runs(where)]


def _trouble_findings(runs: "overview.RunOverview") -> dict[str, Any]:
    """Only where there are any: the forms that programs read stay as they are."""
    findings = [f.as_json() for trouble in runs.troubles for f in trouble.findings]
    return {"findings": findings} if findings else {}


def _exit_code(runs: "overview.RunOverview") -> int:
    """What can be shown is shown, and the worst of the rest is the exit code."""
    return max((trouble.exit_code for trouble in runs.troubles), default=0)


def _render_json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _explain_run(args: Args) -> View:
    from porch.machine.explain import explain_positions
    from porch.run.verbs.liveness import describe_explained_driver
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run
    from porch.show.answer_effects import list_effect_sentences
    from porch.store import where as places
    from porch.store.flaky_checks import describe_flaky_checks

    where = places.find_project(os.getcwd())
    found = read_run(where, find_run(where, args.id))
    flaky = describe_flaky_checks(where.state_dir, found.state.run.protocol)
    driven = describe_explained_driver(where, found)
    protocol = found.definition.protocol
    asked = found.picture()["decisions"] if found.state.decisions else ()
    stands = explain_positions(protocol, found.state, not driven)
    sentences = (*driven, *stands, *list_effect_sentences(asked), *flaky)
    notes = _start_notes(where.run_dir(found.name)) if args.verbose else []
    data = {"run": found.name, "sentences": list(sentences)}
    return View("\n".join([*sentences, *notes]), data, is_prose=True)


def _start_notes(directory: str) -> list[str]:
    from porch.run.drive.start_notes import kept_notes

    return kept_notes(directory)


def _show_settings(args: Args) -> View:
    if args.schema:
        return _settings_schema_view()
    from porch.run import settings
    from porch.show.board import pad_text, text_width
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    rows = settings.read_written_settings(where.root).rows()
    width = max(text_width(key) for key, _, _ in rows)
    lines = [f"{pad_text(key, width)}  {value}  ({origin})" for key, value, origin in rows]
    text = "\n".join(lines)
    data = [{"key": key, "value": value, "from": origin} for key, value, origin in rows]
    return View(text, {"settings": data}, is_prose=True)


def _settings_schema_view() -> View:
    import json

    from porch.run.settings_schema import make_settings_schema

    schema = make_settings_schema()
    return View(json.dumps(schema, indent=2), schema)


COMMANDS: Verbs = {
    "status": Verb(
        _show_status,
        (
            _MAYBE_ID,
            make_argument("--tree", action="store_true", help="show the tree of its parts"),
            make_argument("--watch", action="store_true", help="keep showing it, updated"),
        ),
    ),
    "pending": Verb(
        _show_pending,
        (
            _SHOWN_ID,
            make_argument("--hook", action="store_true", help="one line each, for an agent's hook"),
        ),
    ),
    "explain": Verb(
        _explain_run,
        (
            _ID,
            make_argument(
                "--verbose", action="store_true", help="also the notes on cost and permissions"
            ),
        ),
    ),
    "settings": Verb(
        _show_settings,
        (
            make_argument(
                "--schema", action="store_true", help="print the JSON Schema of config.toml"
            ),
        ),
    ),
}
