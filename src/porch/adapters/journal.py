"""An append-only file of records. A torn last line is a record that never happened."""

from __future__ import annotations

import os

from porch.adapters import atomic, chain, crash
from porch.adapters.chain import UPCASTS, Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from porch.adapters.chain import Trouble
    from porch.errors import StateError

__all__ = ["UPCASTS", "Journal", "Repaired", "Scan", "repair", "scan", "scan_from"]

_LOOKS = 3


class Repaired:
    """What a repair kept and lost; aside is empty where there was nothing to repair."""

    __slots__ = ("aside", "kept", "lost_bytes")

    def __init__(self, kept: int, lost_bytes: int, aside: str):
        self.kept = kept
        self.lost_bytes = lost_bytes
        self.aside = aside


def scan(path: str) -> Scan:
    """All records; a journal that is not there has none. Never cuts."""
    return _believed(path, 0, 0, chain.START)


def scan_from(path: str, offset: int, seq: int, sum: str) -> Scan | None:
    """The records behind the first seq, which end at offset with sum; length counts from 0.

    None if this journal has no such place (it was repaired, or is another one): read all of it.
    """
    seam = (sum + '"}\n').encode() if offset else b""
    if offset < len(seam) or _bytes(path, offset - len(seam), len(seam)) != seam:
        return None
    return _believed(path, offset, seq, sum)


def _believed(path: str, offset: int, seq: int, sum: str) -> Scan:
    """Damage counts when a second look shows the same: the holder may be cutting a tail."""
    data, looks = _bytes(path, offset), 1
    while True:
        found, trouble = chain.read(data, seq, sum)
        if trouble is None:
            found.length += offset
            return found
        seen, data, looks = data, _bytes(path, offset), looks + 1
        if seen == data or looks > _LOOKS:
            raise _untrusted(path, trouble)


def _bytes(path: str, offset: int = 0, size: int = -1) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(offset)
            return file.read(size) or b""
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise atomic.refusal(path, "read", error) from error


def _untrusted(path: str, trouble: Trouble) -> StateError:
    from porch.errors import Place, StateError

    place = Place(path, trouble.line, 1)
    if trouble.newer:
        return StateError(
            f"the journal was written by a newer release of porch: line {trouble.line} of {path} "
            f"{trouble.why}, this release reads up to {chain.VERSION}",
            fix="upgrade porch",
            code="journal-newer",
            place=place,
        )
    return StateError(
        f"the journal is damaged: line {trouble.line} of {path} {trouble.why}",
        fix=f"`porch repair` keeps the {trouble.line - 1} records before it, "
        "and the damaged file aside",
        code="journal-damaged",
        place=place,
    )


def _moved(path: str, what: str) -> StateError:
    from porch.errors import StateError

    fix = "run the same command again; it starts from what the journal holds now"
    return StateError(f"the journal {path} {what}", fix=fix, code="journal-moved")


class Journal:
    """The writing end, for the holder of the run's lock."""

    __slots__ = ("_fd", "length", "path", "seq", "sum")

    def __init__(self, path: str, fd: int, found: Scan):
        self.path = path
        self._fd = fd
        self.seq = found.seq
        self.length = found.length
        self.sum = found.sum

    @classmethod
    def open(cls, path: str) -> tuple[Journal, Scan]:
        """Open or create; what a crash left of an unfinished record is cut off."""
        atomic.ensure_directory(os.path.dirname(path))
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise atomic.refusal(path, "open", error) from error
        try:
            found = scan(path)
            journal = cls(path, fd, found)
            journal._settle(found)
        except BaseException:
            os.close(fd)
            raise
        return journal, found

    def _settle(self, found: Scan) -> None:
        if not found.length:
            # Asked of every empty file: who created it may have died before it came to this.
            crash.point("journal.after-create")
            atomic.sync_directory(os.path.dirname(self.path))
        if found.torn:
            crash.point("journal.before-cut")
            self._cut()
            crash.point("journal.after-cut")
            atomic.sync_file(self._fd, self.path)
            crash.point("journal.after-cut-sync")

    def append(self, expected_seq: int, body: Mapping[str, object]) -> None:
        """One record, on the disk when this returns; body is all of it but the sum."""
        self._refuse_unless_next(expected_seq)
        line, total = chain.line(expected_seq, self.sum, body)
        crash.point("journal.before-write")
        try:
            atomic.write_all(self._fd, line)
        except OSError as error:
            # Where that fails, the half record is torn to readers and its size stops appends.
            atomic.attempt(os.ftruncate, self._fd, self.length)
            raise atomic.refusal(self.path, "write", error) from error
        crash.point("journal.after-write")
        atomic.sync_file(self._fd, self.path)
        crash.point("journal.after-sync")
        self.seq, self.length, self.sum = expected_seq, self.length + len(line), total

    def _refuse_unless_next(self, expected_seq: int) -> None:
        if expected_seq != self.seq + 1:
            raise _moved(self.path, f"is at record {self.seq}, so {expected_seq} is not the next")
        now = os.fstat(self._fd)
        if now.st_nlink == 0:
            raise _moved(self.path, "was removed while this process was writing it")
        if now.st_size != self.length:
            raise _moved(self.path, "was changed by another process while this one was writing it")

    def _cut(self) -> None:
        try:
            os.ftruncate(self._fd, self.length)
        except OSError as error:
            raise atomic.refusal(self.path, "cut", error) from error

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def repair(path: str, note: Callable[[Repaired], Mapping[str, object]] | None = None) -> Repaired:
    """Keep the good records at the head, and the whole damaged file aside. For the lock holder.

    The note is the body of one more record; written here, it shares the rename, so no crash can
    leave a repaired journal that does not say so. At every instant path is the old file or the
    new one.
    """
    data = _bytes(path)
    found, trouble = chain.read(data)
    if trouble is None:
        return Repaired(found.seq, 0, "")
    if trouble.newer:
        raise _untrusted(path, trouble)
    repaired = Repaired(found.seq, len(data) - found.length, _set_aside(path, data))
    fresh = data[: found.length]
    if note is not None:
        fresh += chain.line(found.seq + 1, found.sum, note(repaired))[0]
    atomic.publish(path + ".tmp", path, fresh)
    crash.point("repair.after-replace")
    return repaired


def _set_aside(path: str, data: bytes) -> str:
    """A copy, not a move: a crash in between must not leave a run without its journal."""
    root, extension = os.path.splitext(path)
    number = 1
    while os.path.lexists(aside := f"{root}.broken-{number}{extension}"):
        if _bytes(aside) == data:
            return aside
        number += 1
    crash.point("repair.before-aside")
    atomic.publish(aside + ".tmp", aside, data)
    crash.point("repair.after-aside")
    return aside
