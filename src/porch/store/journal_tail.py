"""The last records of a journal without reading the rest, and all of them without keeping them.

Whoever decides something reads and checks all of a journal (`adapters.journal`). This is for
people who look: what is shown is chained record to record, and to the picture of the run where
there is one; what stands before it is not looked at.
"""

from __future__ import annotations

import os

from porch.store import chain
from porch.system.regular_file import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from porch.machine.records import RawRecord
    from porch.store.chain import JournalScan, UnreadableRecord

_PIECE = 1 << 16
# So near to a line it is quicker to go from line to line.
_NEAR = 1 << 13
_SEAM_LENGTH = 67


class Tail:
    """The last records, and how many stand before them."""

    __slots__ = ("earlier", "records")

    def __init__(self, records: list[RawRecord], earlier: int):
        self.records = records
        self.earlier = earlier


def read_tail(path: str, count: int, known: tuple[int, str] | None = None) -> Tail | None:
    """The last `count` records; None if something is wrong: who reads all of it can say what.

    `known` is a length that the journal had, and its sum then.
    """
    try:
        with open(path, "rb", buffering=0, opener=open_regular) as file:
            data, is_whole = _last_lines(file.fileno(), count + 1)
            is_known = known is None or _has_seam(file.fileno(), *known)
    except OSError:
        return None
    if not is_known:
        return None
    found = _parse_chained(data, is_whole)
    if found is None or len(found.records) <= count:
        return found
    surplus = len(found.records) - count
    return Tail(found.records[surplus:], found.earlier + surplus)


def _last_lines(fd: int, count: int) -> tuple[bytes, bool]:
    """The file from so many lines before its end on, or from its start, and which of the two."""
    at = os.fstat(fd).st_size
    pieces: list[bytes] = []
    breaks = 0
    # One break more: that of the line before the first of them.
    while at > 0 and breaks <= count:
        size = min(_PIECE, at)
        at -= size
        piece = os.pread(fd, size, at)
        breaks += piece.count(b"\n")
        pieces.append(piece)
    data = b"".join(reversed(pieces))
    return (data, True) if at == 0 else (data[data.index(b"\n") + 1 :], False)


def _has_seam(fd: int, length: int, sum: str) -> bool:
    """Whether the journal had this sum when it was so long; a repaired one had not."""
    return os.pread(fd, _SEAM_LENGTH, length - _SEAM_LENGTH) == f'{sum}"}}\n'.encode()


def _parse_chained(data: bytes, is_whole: bool) -> Tail | None:
    """The records in data; the first of a part is only believed for its number and its sum."""
    seq, total = 0, chain.START
    if not is_whole:
        first, _, data = data.partition(b"\n")
        try:
            seq, total = _number_of(first), first[-66:-2].decode("ascii")
        except (ValueError, KeyError, TypeError):
            return None
    found, trouble = chain.parse_records(data, seq, total)
    return Tail(found.records, seq) if trouble is None else None


def _number_of(line: bytes) -> int:
    import json

    return int(json.loads(line)["seq"])


def read_pieces(path: str) -> Iterator[list[RawRecord]] | None:
    """All records, a few at a time; None if one of them cannot be believed.

    All are checked before the first is given, and what is given is what was checked: the file stays
    open, and its records never change.
    """
    try:
        fd = open_regular(path, os.O_RDONLY)
    except OSError:
        return None
    length = _checked_length(fd)
    if length is None:
        os.close(fd)
        return None
    return _iterate_records(fd, length)


def _checked_length(fd: int) -> int | None:
    length = 0
    try:
        for found, trouble in _iterate_scans(fd):
            if trouble is not None:
                return None
            length += found.length
    except OSError:
        return None
    return length


def _iterate_records(fd: int, length: int) -> Iterator[list[RawRecord]]:
    try:
        for found, _ in _iterate_scans(fd, length):
            yield found.records
    finally:
        os.close(fd)


def _iterate_scans(
    fd: int, length: int = -1
) -> Iterator[tuple[JournalScan, UnreadableRecord | None]]:
    """Piece by piece; the last may be what a crash cut short, or a record that lost its end."""
    seq, total, at, rest = 0, chain.START, 0, b""
    while piece := os.pread(fd, _PIECE * 4 if length < 0 else min(_PIECE * 4, length - at), at):
        at += len(piece)
        whole, line_end, rest = (rest + piece).rpartition(b"\n")
        found, trouble = chain.parse_records(whole + line_end, seq, total)
        seq, total = found.seq, found.sum
        yield found, trouble
    yield chain.parse_records(rest, seq, total)


def read_window(
    path: str, first: int, last: int, known: tuple[int, str] | None = None
) -> list[RawRecord] | None:
    """The records with these numbers, found by halving; None if something is wrong with them."""
    try:
        with open(path, "rb", buffering=0, opener=open_regular) as file:
            fd = file.fileno()
            if known is not None and not _has_seam(fd, *known):
                return None
            begin = _find_line(fd, max(first - 1, 1))
            data = _read_lines(fd, begin, last - max(first - 1, 1) + 1)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not data:
        return []
    found = _parse_chained(data, begin == 0)
    return None if found is None else [r for r in found.records if first <= r["seq"] <= last]


def _find_line(fd: int, number: int) -> int:
    """Where the record with this number begins; the beginning, if that is near."""
    low, high = 0, os.fstat(fd).st_size
    while high - low > _NEAR:
        middle = (low + high) // 2
        at, line = _next_line(fd, middle, high)
        if line and _number_of(line) <= number:
            low = at
        else:
            high = middle
    while (found := _next_line(fd, low, -1, is_start=True))[1] and _number_of(found[1]) < number:
        low += len(found[1]) + 1
    return low


def _next_line(fd: int, at: int, limit: int, is_start: bool = False) -> tuple[int, bytes]:
    """The first whole line that begins there or behind it, and where; empty if there is none."""
    data, begin = b"", 0 if is_start else -1
    while limit < 0 or at + max(begin, 0) < limit:
        piece = os.pread(fd, _NEAR, at + len(data))
        data += piece
        if begin < 0 and (cut := data.find(b"\n")) >= 0:
            begin = cut + 1
        end = data.find(b"\n", begin) if begin >= 0 else -1
        if end >= 0:
            return at + begin, data[begin:end]
        if not piece:
            break
    return at, b""


def _read_lines(fd: int, at: int, count: int) -> bytes:
    data = b""
    while data.count(b"\n") < count and (piece := os.pread(fd, _PIECE, at + len(data))):
        data += piece
    lines = data.split(b"\n", count)
    return b"".join(line + b"\n" for line in lines[:count]) if len(lines) > count else data
