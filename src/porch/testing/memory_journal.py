"""A journal in memory, for tests that need no disk."""

from collections.abc import Callable, Mapping

from porch.errors import StateError
from porch.store import chain
from porch.store.journal import JournalScan


class MemoryJournal:
    """A journal in memory with the manners of the one on the disk, bytes and refusals alike."""

    def __init__(self) -> None:
        self.seq = 0
        self.sum = chain.START
        self.data = b""

    @property
    def length(self) -> int:
        return len(self.data)

    def append(
        self,
        expected_seq: int,
        body: Mapping[str, object],
        announce: Callable[[int, str], object] | None = None,
    ) -> None:
        if expected_seq != self.seq + 1:
            raise StateError(
                f"the journal is at record {self.seq}; record {expected_seq} cannot come next",
                code="journal-moved",
            )
        line, total = chain.render_record_line(expected_seq, self.sum, body)
        if announce is not None:
            announce(len(self.data) + len(line), total)
        self.seq, self.sum, self.data = expected_seq, total, self.data + line

    def scan(self) -> JournalScan:
        return chain.parse_records(self.data)[0]

    def close(self) -> None:
        """Nothing to give back; here so that it fits where the other one does."""
