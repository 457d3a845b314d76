"""`porch log`: the last lines, all of them, one turn of an agent, or what comes while one looks."""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from porch.cli.command import Args, View
from porch.cli.terminal_width import listing_width, terminal_style
from porch.errors import UsageError
from porch.machine.records import RawRecord
from porch.machine.state import RunState
from porch.run.agents import turn_activity as doing
from porch.run.agents import turn_numbers
from porch.run.verbs import run_log
from porch.run.verbs.run_lookup import find_run
from porch.show import activity
from porch.show.board import format_moment, lay_out_table, one_line
from porch.show.place_words import PlaceWords
from porch.show.records import log_text
from porch.store import journal, journal_tail
from porch.store import where as places
from porch.store.where import ProjectPaths

_EVERY_S = 0.25
# The number of a turn is what `porch log --turn` takes.
_COLUMNS = ("TURN", "POSITION", "AGENT", "OUTCOME", "BEGAN", "TOOK", "COST")
# What gives way first on a narrow terminal; the number of a turn never does.
_SHRINKING = ((4, 0), (3, 10), (1, 12), (2, 6), (5, 0), (6, 4), (3, 6), (1, 6))


def show_log(args: Args) -> View:
    """What the options ask for: turns, a tail, all of it, or all that is still to come."""
    where = places.find_project(os.getcwd())
    name = find_run(where, args.id)
    if not run_log.is_drawn_whole(where, name):
        _require_readable(where, name)
    if are_turns_asked(args):
        return view_turns(where, name, args)
    count = _read_line_count(args)
    path = os.path.join(where.run_dir(name), "journal.jsonl")
    words, look = run_log.words_of(where, name, args.verbose), terminal_style()
    if args.lost:
        records = run_log.read_lost_records(where, name)
        lines = log_text.shown_lines(records, words, look if not args.json else None)
        return View("\n".join(lines), {"run": name, "records": records})
    if args.follow:
        return _follow_journal(path, args.json, count, words)
    if count is None:
        return _view_whole_log(where, name, args.json, words)
    tail = run_log.read_last_records(where, name, count) or _read_tail(path, count)
    text = log_text.tail_text(args.id or name, tail.records, tail.earlier, words, look=look)
    if look and not args.json:
        print(text)
        return View()
    return View(text, {"run": name, "records": tail.records})


def _require_readable(where: ProjectPaths, name: str) -> None:
    from porch.run.engine.record_check import fold_checked

    path = os.path.join(where.run_dir(name), "journal.jsonl")
    fold_checked(path, RunState(), journal.scan_journal(path).records)


def _read_line_count(args: Args) -> int | None:
    """How many of the last records are wanted; None is all: programs get all unless they ask."""
    if args.last and args.all:
        raise UsageError("--all and --last cannot be used together", fix="use only one of them")
    if not args.last:
        return None if args.all or args.json else run_log.LINES_SHOWN
    if not args.last.isdecimal() or int(args.last) < 1:
        raise UsageError(
            f"--last {args.last} is not a number of lines", fix="give a number, 1 or more"
        )
    return int(args.last)


def _view_whole_log(
    where: places.ProjectPaths, name: str, as_json: bool, words: PlaceWords
) -> View:
    """Printed as it is read: a long run needs no more memory than a short one."""
    pieces = run_log.iterate_log_pieces(where, name, as_json, words, look=terminal_style())
    if pieces is None:
        records = journal.scan_journal(os.path.join(where.run_dir(name), "journal.jsonl")).records
        return View(
            "\n".join(log_text.shown_lines(records, words, terminal_style())),
            {"run": name, "records": records},
        )
    for piece in pieces:
        sys.stdout.write(piece)
    return View()


def _read_tail(path: str, count: int) -> journal_tail.Tail:
    """From the whole journal, which says what is wrong with it if something is."""
    records = journal.scan_journal(path).records
    return journal_tail.Tail(records[-count:], max(len(records) - count, 0))


def _follow_journal(path: str, as_json: bool, count: int | None, words: PlaceWords) -> View:
    """Until the run is over or the reader has had enough."""
    found = journal.scan_journal(path)
    _print_records(found.records[-count:] if count else found.records, as_json, words)
    while not any(_is_end(record) for record in found.records):
        time.sleep(_EVERY_S)
        more = journal.scan_journal_from(path, found.length, found.seq, found.sum)
        if more is None or not more.records:
            continue
        found = more
        _print_records(found.records, as_json, words)
    return View()


def _print_records(records: list[RawRecord], as_json: bool, words: PlaceWords) -> None:
    for record in records:
        lines = (
            [_render_json(record)]
            if as_json
            else log_text.shown_lines([record], words, terminal_style())
        )
        for line in lines:
            print(line, flush=True)


def _render_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_end(record: RawRecord) -> bool:
    return any(move.get("is") == "Ended" for move in record["moves"])


def are_turns_asked(args: Args) -> bool:
    return bool(args.turns or args.turn or args.raw)


def view_turns(where: ProjectPaths, name: str, args: Args) -> View:
    """One of the two; asking for what does not go together is refused, not guessed at."""
    if args.follow or bool(args.turns) == bool(args.turn) or (args.raw and args.turns):
        raise UsageError(
            "--turns, --turn N and --follow cannot be used together, and --raw needs --turn",
            fix="list the turns with --turns, then show one with --turn N [--raw]",
        )
    if args.turns:
        known = [turn.as_json() for turn in turn_numbers.list_turns(where, name)]
        return View(render_turns(known), {"run": name, "turns": known})
    return _view_turn(name, turn_numbers.find_turn(where, name, args.turn), args)


def _view_turn(name: str, turn: turn_numbers.NumberedTurn, args: Args) -> View:
    front = {"run": name, "turn": turn.as_json()}
    if args.raw:
        lines = list(doing.iterate_raw_lines(turn))
        return View("\n".join(lines), {**front, "lines": lines})
    if args.json:
        return View("", {**front, "parts": doing.turn_parts_json(turn)})
    head = [(activity.NOTE, f"turn {turn.number}: {turn.position}, {turn.outcome}")]
    return View(
        "\n".join(
            activity.render_activity_lines([*head, *doing.iterate_activity(turn)], _output_width())
        )
    )


def _output_width() -> int:
    """A pipe gets the same whatever terminal it was started from."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else activity.WIDTH


def render_turns(turns: Iterable[Mapping[str, Any]]) -> str:
    """One line for each; in a pipe nothing is clipped, because positions are there to be copied."""
    table = [_COLUMNS, *(_turn_cells(turn) for turn in turns)]
    if len(table) == 1:
        return "No agent has worked in this run yet.\n"
    return "".join([f"{line}\n" for line in lay_out_table(table, listing_width(), _SHRINKING)])


def _turn_cells(turn: Mapping[str, Any]) -> tuple[str, ...]:
    parts = f" ({turn['parts']} parts)" if turn["parts"] > 1 else ""
    cells = (
        f"{turn['number']}{parts}",
        turn["position"],
        turn["agent"] or "-",
        turn["outcome"],
        format_moment(turn["began_at"]),
        "-" if turn["seconds"] is None else f"{turn['seconds']:.1f} s",
        _format_cost(turn["usd"], turn["tokens"]),
    )
    return tuple(one_line(cell) for cell in cells)


def _format_cost(usd: float, tokens: int) -> str:
    if usd:
        return f"${usd:.4f}"
    return f"{tokens:,} tokens" if tokens else "-"
