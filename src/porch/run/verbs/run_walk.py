"""The ways that a run went through its protocol: counted from its journal, and drawn."""

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from porch.errors import UsageError
from porch.run.definitions.protocol_graph import FORMATS
from porch.run.verbs import run_log
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.graph.picture import ProtocolPicture, make_protocol_picture
from porch.show.graph.walked_ways import WalkCount, drop_idle_questions, make_walk, mark_walk
from porch.store.journal import scan_journal
from porch.store.journal_look import find_records
from porch.store.where import ProjectPaths

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import DrawnProtocolShape


class _MovedRecord(Struct, frozen=True):
    seq: int
    moves: tuple[dict[str, Any], ...] = ()


def count_walk(where: ProjectPaths, name: str, known: WalkCount | None = None) -> WalkCount:
    """All ways so far; of a count that is known only what came since is read."""
    if known is not None and known.seq:
        last = run_log.read_last_records(where, name, 1)
        fresh = last.records[-1]["seq"] - known.seq if last and last.records else -1
        tail = run_log.read_last_records(where, name, fresh) if fresh > 0 else None
        if tail is not None:
            known.add_records(tail.records)
        if fresh >= 0 and (tail is not None or not fresh):
            return known
    counted, path = WalkCount(), os.path.join(where.run_dir(name), "journal.jsonl")
    records = find_records(path, (b'"Entered"', b'"Left"'), _MovedRecord)
    counted.add_records(
        scan_journal(path).records
        if records is None
        else ({"seq": r.seq, "moves": r.moves} for r in records)
    )
    return counted


def draw_walk(found: ReadRun, counted: WalkCount, instance: str | None = None) -> ProtocolPicture:
    protocol = drop_idle_questions(found.definition.protocol, found.state)
    picture = make_protocol_picture(protocol)
    return mark_walk(picture, make_walk(found.state, counted.taken, instance))


def draw_run_protocol(where: ProjectPaths, name: str, word: str, form: str) -> "DrawnProtocolShape":
    """The protocol of a run as it was pinned; `word` is the protocol that somebody named too."""
    found = read_run(where, name)
    protocol = found.definition.protocol
    if word not in ("", protocol.name):
        raise UsageError(
            f"the run {name} follows the protocol '{protocol.name}', not '{word}'",
            fix=f"porch protocols graph {protocol.name} --run {found.state.run.id or name}",
            code="run-of-other-protocol",
        )
    drawn = draw_walk(found, count_walk(where, name))
    told = FORMATS[form](drawn)
    return {"name": protocol.name, "run": name, "format": form, "picture": told}
