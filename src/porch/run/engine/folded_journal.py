"""A journal folded to the state of its run: from a snapshot on where there is one, else whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from porch.errors import StateError
from porch.machine.state import RunState
from porch.store.journal import JournalScan, Seam, scan_journal, scan_journal_from
from porch.store.snapshots.snapshot import Snapshot, read_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from porch.machine.records import RawRecord


class FoldedJournal:
    """Where reading a journal began, the records that were read, and the state after them."""

    __slots__ = ("_path", "began", "found", "state")

    def __init__(self, path: str, began: Seam, found: JournalScan, state: RunState):
        self._path = path
        self.began = began
        self.found = found
        self.state = state

    def records_after(self, seq: int, now: int) -> Sequence[RawRecord]:
        """Records behind number `seq` of a journal that has come to number `now`."""
        if seq < self.began.seq:
            return self._earlier(seq, now)
        if now == self.found.seq:
            return self.found.records[seq - self.began.seq :]
        began = self.began
        more = scan_journal_from(self._path, began.length, began.seq, began.sum) or scan_journal(
            self._path
        )
        return [record for record in more.records if record["seq"] > seq]

    def _earlier(self, seq: int, now: int) -> Sequence[RawRecord]:
        """From before the snapshot: as far back as asked, and chained to it."""
        from porch.store import journal_tail

        known = (self.began.length, self.began.sum)
        tail = journal_tail.read_tail(self._path, now - seq, known) if seq else None
        if tail is not None and tail.earlier == seq:
            return tail.records
        return scan_journal(self._path).records[seq:]


class JournalReader:
    """Reads one journal, with the snapshot of its run as far as that can be believed."""

    def __init__(self, directory: str, run: str, is_whole: bool = False):
        self._path = os.path.join(directory, "journal.jsonl")
        self._known = None if is_whole else read_snapshot(directory, run)
        self._began = Seam()

    def scan(self, path: str) -> JournalScan:
        """What stands behind the snapshot; all of it if anything there is not as it should be."""
        known = self._known
        tail = _read_tail(path, known) if known else None
        if known is None or tail is None:
            self._known = None
            return scan_journal(path)
        self._began = known.seam
        return tail

    def fold(self, found: JournalScan | None = None) -> FoldedJournal:
        found = found or self.scan(self._path)
        state = self._known.state if self._known else RunState()
        return FoldedJournal(self._path, self._began, found, _fold_tail(self._path, state, found))


def _read_tail(path: str, known: Snapshot) -> JournalScan | None:
    seam = known.seam
    try:
        return scan_journal_from(path, seam.length, seam.seq, seam.sum)
    except StateError:
        # Who reads all of it finds the first damage, and that is what has to be said.
        return None


def _fold_tail(path: str, state: RunState, found: JournalScan) -> RunState:
    """Loaded late: behind a snapshot there is mostly nothing to fold."""
    if not found.records:
        return state
    from porch.run.engine.record_check import fold_checked

    return fold_checked(path, state, found.records)
