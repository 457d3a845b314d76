"""Records that are chained and still cannot be read: which one, and what it says wrong."""

import os
from collections.abc import Iterable, Iterator

from porch.errors import PorchError, StateError
from porch.machine.evolve import fold_records
from porch.machine.records import JournalRecord, MalformedRecord, RawRecord, decode_record
from porch.machine.state import RunState
from porch.store.chain import UnreadableRecord
from porch.store.journal import scan_journal, untrusted_journal_error
from porch.store.where import ProjectPaths


class _RecordCounter:
    """Decodes one record after the other and knows which one was the last."""

    def __init__(self, raws: Iterable[RawRecord]):
        self._raws = raws
        self.seq = 0

    def __iter__(self) -> Iterator[JournalRecord]:
        for raw in self._raws:
            self.seq = int(raw["seq"])
            yield decode_record(raw)


def fold_checked(path: str, state: RunState, raws: Iterable[RawRecord]) -> RunState:
    """The state after these records; one that cannot be read is damage at its line."""
    records = _RecordCounter(raws)
    try:
        return fold_records(state, records)
    except MalformedRecord as error:
        raise untrusted_journal_error(path, UnreadableRecord(error.seq, error.why)) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        why = f"does not follow from the records before it ({type(error).__name__}: {error})"
        raise untrusted_journal_error(path, UnreadableRecord(records.seq, why)) from error


def count_readable_records(path: str) -> int | None:
    """How many records come before the first that is chained and cannot be read; None if all can.

    Damage of the chain itself is not looked at here.
    """
    try:
        fold_checked(path, RunState(), scan_journal(path).records)
    except StateError as error:
        place = error.findings[0].place
        return place.line - 1 if place is not None and place.line else None
    return None


def find_journal_trouble(where: ProjectPaths) -> PorchError | None:
    """What is wrong with the first journal here that cannot be read.

    For a command that fell over something that it did not expect: what only shows records does not
    check all that they say.
    """
    for name in where.runs():
        path = os.path.join(where.run_dir(name), "journal.jsonl")
        try:
            fold_checked(path, RunState(), scan_journal(path).records)
        except PorchError as error:
            return error
    return None
