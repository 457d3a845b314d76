"""Rows that do not cover their journals, made current without loading what folds a run.

A process that is killed leaves such a row, and so does one that writes faster than people look.
What is read is believed for the same reasons as when a run is folded: the snapshot has the mark of
the user, every record behind it is chained to it, and the definition has its digest. Where anything
is missing or unusual there is no row from here.
"""

from __future__ import annotations

import os

from porch.show.fleet.raw_row import RawRun, UnknownRow
from porch.store.chained_lines import count_chained
from porch.store.snapshots.signed_state import SignedState, read_signed_state
from porch.text.quick_json import parse_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from porch.store.where import ProjectPaths

# Whoever folds a run keeps its row, and this does not; with so many of them that is worth it.
MOST = 50
_LONGEST_TAIL = 1 << 20
_VERSIONS = (1, 2, 3)
_SEAM_LENGTH = 67
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


class StaleRows:
    """Makes rows of many runs of one project; a definition that several have is read once."""

    def __init__(self, where: ProjectPaths) -> None:
        self._where = where
        self._states: dict[str, Mapping[str, Any]] = {}
        self._left = MOST

    def make_row(self, name: str) -> dict[str, Any] | None:
        """What a list shows of a run; None where the run has to be folded."""
        if not self._left:
            return None
        self._left -= 1
        directory = self._where.run_dir(name)
        known = read_signed_state(directory, name)
        if known is None:
            return None
        try:
            return self._follow(directory, known)
        except (UnknownRow, OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _follow(self, directory: str, known: SignedState) -> dict[str, Any]:
        lines = _read_tail(directory, known)
        run = RawRun(parse_value(known.body.decode()))
        for seq, line in enumerate(lines, known.seq + 1):
            record = parse_value(line.decode())
            if record["seq"] != seq or record["v"] not in _VERSIONS:
                raise UnknownRow(seq)
            run.apply(record["moves"])
        row = run.make_row(self._read_states(directory, str(run.run["digest"])))
        return {"row": row}

    def _read_states(self, directory: str, digest: str) -> Mapping[str, Any]:
        """The states of a protocol by their names."""
        if digest not in self._states:
            from porch.text.sha256 import sha256

            with open(os.open(os.path.join(directory, "payloads", digest), _FLAGS), "rb") as file:
                data = file.read()
            if sha256(data).hexdigest() != digest:
                raise UnknownRow(digest)
            self._states[digest] = parse_value(data.decode())["protocol"]["states"]
        return self._states[digest]


def _read_tail(directory: str, known: SignedState) -> list[bytes]:
    """The lines behind the snapshot, each chained to the one before it."""
    fd = os.open(os.path.join(directory, "journal.jsonl"), _FLAGS)
    try:
        at = known.length - _SEAM_LENGTH
        data = os.pread(fd, _SEAM_LENGTH + _LONGEST_TAIL, at)
    finally:
        os.close(fd)
    seam, tail = data[:_SEAM_LENGTH], data[_SEAM_LENGTH:]
    *lines, rest = tail.split(b"\n")
    is_whole = not rest and len(tail) < _LONGEST_TAIL and seam == f'{known.sum}"}}\n'.encode()
    if not is_whole or count_chained(lines, known.sum.encode()) != len(lines):
        raise UnknownRow(directory)
    return lines
