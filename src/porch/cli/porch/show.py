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
    from porch.run.engine.caller import find_agent_sign
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    if args.hook:
        return _show_hook_lines(where)
    is_person = not (args.json or find_agent_sign(os.environ))
    return make_pending_view(where, args.id, is_person=is_person)


def _show_hook_lines(where: "ProjectPaths") -> View:
    from porch.show import board

    asked, _, runs = _read_pending(where)
    text = "\n".join([board.render_hook_lines(asked).rstrip("\n"), *map(str, runs.troubles)])
    data = {"decisions": asked, **_trouble_findings(runs)}
    return View(text.strip("\n"), data, _exit_code(runs), is_prose=True)


def make_pending_view(where: "ProjectPaths", word: str = "", *, is_person: bool = True) -> View:
    """What people are asked: about one run, or here and in the repositories that they list."""
    from porch.cli.terminal_width import table_width
    from porch.fleet.fleet_rows import find_other_projects
    from porch.show import board

    asked, notes, runs = _read_pending(where)
    if word:
        asked = _keep_decisions_of(where, word, asked, is_person=is_person)
    others = [] if word else find_other_projects(where, os.environ)
    texts = [] if _is_project(where) else [_describe_no_project(bool(others))]
    decisions, code, elsewhere = [*asked], _exit_code(runs), list[str]()
    for _, project in others:
        theirs, _, found = _read_pending(project)
        told = board.render_pending_decisions(theirs, table_width()) if theirs else ""
        elsewhere += [f"In {project.root} (run its commands there):\n\n{told}"] if told else []
        elsewhere += map(str, found.troubles)
        decisions += [{**each, "repository": project.root} for each in theirs]
        code = max(code, _exit_code(found))
    if asked or len(decisions) == 0:
        texts.append(board.render_pending_decisions(asked, table_width()).rstrip("\n"))
    here = "\n".join([*notes, *map(str, runs.troubles)])
    if here and asked:
        texts[-1] += f"\n{here}"
    elif here:
        texts.append(here)
    data = {"decisions": decisions, **_trouble_findings(runs)}
    return View("\n\n".join([*texts, *elsewhere]).rstrip("\n"), data, code, is_prose=True)


def _read_pending(
    where: "ProjectPaths",
) -> "tuple[list[DecisionShape], list[str], overview.RunOverview]":
    """The decisions of one project; runs that ask nothing and do not go on; what is wrong."""
    from porch.plan.gate_files.pending_problems import add_form_problems
    from porch.run.verbs import overview
    from porch.run.verbs.liveness import LiveRows
    from porch.run.verbs.setting_changes import add_setting_changes

    runs = overview.list_all_runs(where)
    live = LiveRows(where, runs.rows)
    decisions = live.decisions()
    add_form_problems(where, decisions)
    add_setting_changes(where, decisions)
    return decisions, [*live.describe_alone(), *_describe_lost_runs(where)], runs


def _is_project(where: "ProjectPaths") -> bool:
    return bool(where.common_dir) or os.path.isdir(where.state_dir)


def _describe_no_project(has_others: bool) -> str:
    return "This directory is in no repository and has no runs. " + (
        "Shown are the repositories under [af] repositories in your config.toml."
        if has_others
        else "List your repositories under [af] repositories in your config.toml to see theirs."
    )


def _keep_decisions_of(
    where: "ProjectPaths", word: str, decisions: "list[DecisionShape]", *, is_person: bool
) -> "list[DecisionShape]":
    """Those of one run, with what changed in their files: so an approval is for these files."""
    from porch.run.decisions.shown_files import add_changes
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run

    run = find_run(where, word)
    kept = [each for each in decisions if each["run"] == run]
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
