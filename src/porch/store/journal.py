"""An append-only file of records. A torn last line is a record that never happened."""

from __future__ import annotations

import os

from porch.store import chain
from porch.store.chain import UPCASTS, JournalScan
from porch.system import atomic, crash_points
from porch.system.regular_file import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from porch.errors import StateError
    from porch.store.chain import UnreadableRecord

    Announce = Callable[[int, str], object]

__all__ = [
    "UPCASTS",
    "Journal",
    "JournalScan",
    "RepairResult",
    "Seam",
    "repair_journal",
    "scan_journal",
    "scan_journal_from",
    "untrusted_journal_error",
]

_LOOKS = 3
# So many bytes are hashed in a millisecond or two; nobody saves that by not looking.
SHORT = 1 << 18


class Seam:
    """A place between two records: how long the journal is there, its last number and sum."""

    __slots__ = ("length", "seq", "sum")

    def __init__(self, length: int = 0, seq: int = 0, sum: str = chain.START):
        self.length = length
        self.seq = seq
        self.sum = sum


class RepairResult:
    """What a repair kept and lost; aside is empty where there was nothing to repair."""

    __slots__ = ("aside", "kept", "lost_bytes")

    def __init__(self, kept: int, lost_bytes: int, aside: str):
        self.kept = kept
        self.lost_bytes = lost_bytes
        self.aside = aside


def scan_journal(path: str) -> JournalScan:
    """All records; a journal that is not there has none. Never cuts."""
    return _scan_confirmed(path, 0, 0, chain.START)


def scan_journal_from(path: str, offset: int, seq: int, sum: str) -> JournalScan | None:
    """The records behind the first seq, which end at offset with sum; length counts from 0.

    None if this journal has no such place (it was repaired, or is another one): read all of it.
    """
    seam = (sum + '"}\n').encode() if offset else b""
    if offset < len(seam) or _read_bytes(path, offset - len(seam), len(seam)) != seam:
        return None
    if 0 < offset <= SHORT and not chain.is_chained(_read_bytes(path, 0, offset), sum):
        return None
    return _scan_confirmed(path, offset, seq, sum)


def _scan_confirmed(path: str, offset: int, seq: int, sum: str) -> JournalScan:
    """Damage counts when a second look shows the same: the holder may be cutting a tail."""
    data, looks = _read_bytes(path, offset), 1
    while True:
        found, trouble = chain.parse_records(data, seq, sum)
        if trouble is None:
            found.length += offset
            return found
        seen, data, looks = data, _read_bytes(path, offset), looks + 1
        if seen == data or looks > _LOOKS:
            raise untrusted_journal_error(path, trouble)


def _read_bytes(path: str, offset: int = 0, size: int = -1) -> bytes:
    try:
        with open(path, "rb", buffering=0, opener=open_regular) as file:
            file.seek(offset)
            return file.read(size) or b""
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise atomic.disk_error(path, "read", error) from error


def untrusted_journal_error(path: str, trouble: UnreadableRecord) -> StateError:
    from porch.errors import Place, StateError

    place = Place(path, trouble.line, 1)
    if trouble.newer:
        return StateError(
            f"the journal was written by a newer version of porch: line {trouble.line} of {path} "
            f"{trouble.why}, this version reads formats up to {chain.VERSION}",
            fix="upgrade porch",
            code="journal-newer",
            place=place,
        )
    return StateError(
        f"the journal is damaged: line {trouble.line} of {path} {trouble.why}",
        fix=f"run `porch repair`: it keeps the {trouble.line - 1} records before that line, "
        "and a copy of the damaged file",
        code="journal-damaged",
        place=place,
    )


def _moved_error(path: str, what: str) -> StateError:
    from porch.errors import StateError

    fix = "run the same command again; it starts from the journal as it is now"
    return StateError(f"the journal {path} {what}", fix=fix, code="journal-moved")


class Journal:
    """The writing end, for the holder of the run's lock."""

    __slots__ = ("_fd", "length", "path", "seq", "sum")

    def __init__(self, path: str, fd: int, found: JournalScan):
        self.path = path
        self._fd = fd
        self.seq = found.seq
        self.length = found.length
        self.sum = found.sum

    @classmethod
    def open(
        cls, path: str, read: Callable[[str], JournalScan] = scan_journal
    ) -> tuple[Journal, JournalScan]:
        """Open or create; what a crash left of an unfinished record is cut off.

        `read` is for those who know how the journal begins and look only at how it goes on.
        """
        atomic.ensure_directory(os.path.dirname(path))
        try:
            fd = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise atomic.disk_error(path, "open", error) from error
        try:
            found = read(path)
            journal = cls(path, fd, found)
            journal._settle(found)
        except BaseException:
            os.close(fd)
            raise
        return journal, found

    def _settle(self, found: JournalScan) -> None:
        if not found.length:
            # Asked of every empty file: who created it may have died before it came to this.
            crash_points.reach_point("journal.after-create")
            atomic.sync_directory(os.path.dirname(self.path))
        if found.torn:
            crash_points.reach_point("journal.before-cut")
            self._cut()
            crash_points.reach_point("journal.after-cut")
            atomic.sync_file(self._fd, self.path)
            crash_points.reach_point("journal.after-cut-sync")

    def append(
        self, expected_seq: int, body: Mapping[str, object], announce: Announce | None = None
    ) -> None:
        """One record, on the disk when this returns; body is all of it but the sum.

        `announce` hears just before how long the journal will be, and its sum then.
        """
        self._refuse_unless_next(expected_seq)
        line, total = chain.render_record_line(expected_seq, self.sum, body)
        length = self.length + len(line)
        if announce is not None:
            announce(length, total)
        crash_points.reach_point("journal.before-write")
        try:
            atomic.write_all(self._fd, line)
        except OSError as error:
            # Where that fails, the half record is torn to readers and its size stops appends.
            atomic.try_os_call(os.ftruncate, self._fd, self.length)
            raise atomic.disk_error(self.path, "write", error) from error
        crash_points.reach_point("journal.after-write")
        atomic.sync_file(self._fd, self.path)
        crash_points.reach_point("journal.after-sync")
        self.seq, self.length, self.sum = expected_seq, length, total

    def _refuse_unless_next(self, expected_seq: int) -> None:
        if expected_seq != self.seq + 1:
            raise _moved_error(
                self.path, f"is at record {self.seq}; record {expected_seq} cannot come next"
            )
        now = os.fstat(self._fd)
        if now.st_nlink == 0:
            raise _moved_error(self.path, "was removed while this process was writing it")
        if now.st_size != self.length:
            raise _moved_error(
                self.path, "was changed by another process while this one was writing it"
            )

    def _cut(self) -> None:
        try:
            os.ftruncate(self._fd, self.length)
        except OSError as error:
            raise atomic.disk_error(self.path, "cut", error) from error

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def repair_journal(
    path: str,
    note: Callable[[RepairResult], Mapping[str, object]] | None = None,
    readable: int | None = None,
) -> RepairResult:
    """Keep the good records at the head, and the whole damaged file aside. For the lock holder.

    The note is the body of one more record; written here, it shares the rename, so no crash can
    leave a repaired journal that does not say so. At every instant path is the old file or the
    new one. `readable` is how many records can be read, if chained ones behind them cannot.
    """
    data = _read_bytes(path)
    found, trouble = chain.parse_records(data)
    is_readable = readable is None or readable >= found.seq
    if trouble is None and is_readable:
        return RepairResult(found.seq, 0, "")
    if not is_readable:
        found = chain.parse_records(b"".join(data.splitlines(keepends=True)[:readable]))[0]
    elif trouble is not None and trouble.newer:
        raise untrusted_journal_error(path, trouble)
    repaired = RepairResult(found.seq, len(data) - found.length, _copy_aside(path, data))
    fresh = data[: found.length]
    if note is not None:
        fresh += chain.render_record_line(found.seq + 1, found.sum, note(repaired))[0]
    atomic.publish_file(path + ".tmp", path, fresh)
    crash_points.reach_point("repair.after-replace")
    return repaired


def _copy_aside(path: str, data: bytes) -> str:
    """A copy, not a move: a crash in between must not leave a run without its journal."""
    root, extension = os.path.splitext(path)
    number = 1
    while os.path.lexists(aside := f"{root}.broken-{number}{extension}"):
        if _read_bytes(aside) == data:
            return aside
        number += 1
    crash_points.reach_point("repair.before-aside")
    atomic.publish_file(aside + ".tmp", aside, data)
    crash_points.reach_point("repair.after-aside")
    return aside
