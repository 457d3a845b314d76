"""Showing runs when the pictures alone do not answer, and everything that needs the machine."""

import json
import os
import sys
import time
from typing import Any

from porch.adapters import journal, settings
from porch.adapters import where as places
from porch.machine.explain import explain
from porch.operations import overview
from porch.operations.finding import find_run
from porch.operations.reading import read
from porch.surfaces.cli import turns
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.views import board, timeline, tree

_ID = arg(
    "id", nargs="?", default="", help="the run: id, unpadded id or directory name; default: here"
)
_MAYBE_ID = arg("id", nargs="?", default="", help="a run; without one, all of them")
_EVERY_S = 0.5


def _status(args: Args) -> View:
    where = places.find(os.getcwd())
    show = _tree_view if args.tree else _status_view
    view = show(where, args.id)
    shown = None
    while args.watch:
        # A pipe gets a line only when there is news; a terminal is drawn anew in any case.
        if view != shown or sys.stdout.isatty():
            _redraw(view, args.json)
        shown = view
        time.sleep(_EVERY_S)
        view = show(where, args.id)
    return view


def _tree_view(where: places.Where, word: str) -> View:
    found = read(where, find_run(where, word))
    protocol = found.definition.protocol
    text = "\n".join(tree.lines(protocol, found.state))
    return View(text, {"tree": tree.data(protocol, found.state)})


def _redraw(view: View, as_json: bool) -> None:
    front = "\x1b[2J\x1b[H" if sys.stdout.isatty() and not as_json else ""
    text = json.dumps(view.data, ensure_ascii=False) if as_json else view.text
    print(front + text, flush=True)


def _status_view(where: places.Where, word: str) -> View:
    if not word:
        runs = overview.every(where)
        pictures = runs.pictures
        foreign = overview.foreign(where)
        lines = [board.rows(pictures), *(f"{path}: no journal here" for path in foreign)]
        rows = [picture["row"] for picture in pictures]
        lines += [str(trouble) for trouble in runs.troubles]
        data = {"runs": rows, "without_journal": foreign, **_troubles(runs)}
        return View("\n".join(filter(None, lines)), data, _code(runs))
    shown = overview.one(where, word)
    return View(shown.text, shown.data)


def _pending(args: Args) -> View:
    where = places.find(os.getcwd())
    runs = overview.every(where)
    decisions = [d for picture in runs.pictures for d in picture["decisions"]]
    decisions.sort(key=lambda decision: str(decision["asked_at"]))
    text = board.hook(decisions) if args.hook else board.pending(decisions)
    told = "\n".join([text, *map(str, runs.troubles)]).strip("\n")
    return View(told, {"decisions": decisions, **_troubles(runs)}, _code(runs))


def _troubles(runs: overview.Runs) -> dict[str, Any]:
    """Only where there are any: the forms that programs read stay as they are."""
    findings = [f.as_json() for trouble in runs.troubles for f in trouble.findings]
    return {"findings": findings} if findings else {}


def _code(runs: overview.Runs) -> int:
    """What can be shown is shown, and the worst of the rest is the exit code."""
    return max((trouble.exit_code for trouble in runs.troubles), default=0)


def _log(args: Args) -> View:
    where = places.find(os.getcwd())
    name = find_run(where, args.id)
    if turns.is_asked(args):
        return turns.view(where, name, args)
    found = journal.scan(os.path.join(where.run_dir(name), "journal.jsonl"))
    if not args.follow:
        text = "\n".join(timeline.lines(found.records))
        return View(text, {"run": name, "records": found.records})
    return _follow(os.path.join(where.run_dir(name), "journal.jsonl"), args.json)


def _follow(path: str, as_json: bool) -> View:
    """Until the run is over or the reader has had enough."""
    found = journal.scan(path)
    _tell(found.records, as_json)
    while not any(_is_end(record) for record in found.records):
        time.sleep(_EVERY_S / 2)
        more = journal.scan_from(path, found.length, found.seq, found.sum)
        if more is None or not more.records:
            continue
        found = more
        _tell(found.records, as_json)
    return View()


def _tell(records: list[dict[str, Any]], as_json: bool) -> None:
    for record in records:
        lines = [json.dumps(record, ensure_ascii=False)] if as_json else timeline.lines([record])
        for line in lines:
            print(line, flush=True)


def _is_end(record: dict[str, Any]) -> bool:
    return any(move.get("is") == "Ended" for move in record["moves"])


def _explain(args: Args) -> View:
    where = places.find(os.getcwd())
    found = read(where, find_run(where, args.id))
    sentences = explain(found.definition.protocol, found.state)
    return View("\n".join(sentences), {"run": found.name, "sentences": list(sentences)})


def _settings(_: Args) -> View:
    where = places.find(os.getcwd())
    rows = settings.load(where.root).rows()
    width = max(len(key) for key, _, _ in rows)
    text = "\n".join(f"{key:<{width}}  {value}  ({origin})" for key, value, origin in rows)
    data = [{"key": key, "value": value, "from": origin} for key, value, origin in rows]
    return View(text, {"settings": data})


COMMANDS = (
    Command(
        "status",
        "where runs stand",
        _status,
        (
            _MAYBE_ID,
            arg("--tree", action="store_true", help="the tree of its instances"),
            arg("--watch", action="store_true", help="show it again and again"),
        ),
    ),
    Command(
        "pending",
        "everything that waits for a person, oldest first",
        _pending,
        (arg("--hook", action="store_true", help="one line each, for the hook of an agent"),),
    ),
    Command(
        "log",
        "what happened, record by record",
        _log,
        (
            _ID,
            arg("--follow", action="store_true", help="go on while the run does"),
            *turns.ARGUMENTS,
        ),
    ),
    Command("explain", "why the run stands where it stands", _explain, (_ID,)),
    Command("settings", "what holds here, and where it comes from", _settings),
)
