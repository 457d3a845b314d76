"""A record as one line that carries the hash of all lines before it; pure, so that it can be cut.

v, seq, sum and the rule of the chain are the same in every release: a reader can tell a newer
record (chained, higher v) from a damaged one. What v counts is the rest of the record.
"""

from __future__ import annotations

import json
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from porch.machine.records import RawRecord

# A record is written with the lowest version that knows all of it, so that an older release
# refuses exactly the records that it would misread. Later versions only add, hence all of these
# are read as they are.
VERSIONS = (1, 2, 3)
VERSION = VERSIONS[-1]
START = "0" * 64
MAX_DEPTH = 200
# Brackets that even a deep record may have before its depth is worth measuring.
_FEW_BRACKETS = 150
_KEY = b',"sum":"'
_TAIL = len(_KEY) + 64 + len(b'"}')

# The record of an old version in, the same record one version later out.
UPCASTS: dict[int, Callable[[RawRecord], RawRecord]] = {}

# Records are trees, so nobody has to look for circles.
_FORM: dict[str, Any] = {
    "allow_nan": False,
    "check_circular": False,
    "separators": (",", ":"),
}
_to_text = json.JSONEncoder(ensure_ascii=False, **_FORM).encode
_to_ascii = json.JSONEncoder(ensure_ascii=True, **_FORM).encode


class JournalScan:
    """What whole records a journal holds, and where they end."""

    __slots__ = ("length", "records", "seq", "sum", "torn")

    def __init__(self, records: list[RawRecord], length: int, torn: bytes, sum: str, seq: int):
        self.records = records
        self.length = length
        self.torn = torn
        self.sum = sum
        self.seq = seq


class UnreadableRecord:
    """Why the record on a line cannot be believed."""

    __slots__ = ("line", "newer", "why")

    def __init__(self, line: int, why: str, newer: bool = False):
        self.line = line
        self.why = why
        self.newer = newer


def encode_json(value: object) -> bytes:
    """JSON that every reader of JSON can read back; ValueError if there is none for the value."""
    data = render_json(value)
    if data.count(b"[") + data.count(b"{") > _FEW_BRACKETS and nesting_depth(value) > MAX_DEPTH:
        raise ValueError(f"a value nested deeper than {MAX_DEPTH} could not be read back")
    return data


def render_json(value: object) -> bytes:
    """The same of a value that is known not to be nested too deeply."""
    try:
        return _to_text(value).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8, but it has an escape.
        return _to_ascii(value).encode()


def nesting_depth(value: object) -> int:
    deep, level = 1, [value]
    while children := _child_values(level):
        deep, level = deep + 1, children
    return deep


def _child_values(level: list[object]) -> list[object]:
    """All at once: most values have none, and are asked for none."""
    children: list[object] = []
    for value in level:
        if isinstance(value, dict):
            children += value.values()
        elif isinstance(value, list | tuple):
            children += value
    return children


def render_record_line(seq: int, previous: str, body: Mapping[str, object]) -> tuple[bytes, str]:
    """The line of a record, newline and all, and its sum."""
    record = {"v": VERSIONS[0], "seq": seq, **body}
    if record["v"] not in VERSIONS or record["seq"] != seq or "sum" in record:
        raise ValueError(f"record {seq} calls itself v={record['v']} seq={record['seq']}")
    whole = encode_json(record)
    total = _chain_sum(previous.encode(), whole)
    return whole[:-1] + _KEY + total + b'"}\n', total.decode()


def _chain_sum(previous: bytes, body: bytes) -> bytes:
    from porch.text.sha256 import sha256

    return sha256(previous + body).hexdigest().encode()


def parse_records(
    data: bytes, seq: int = 0, sum: str = START
) -> tuple[JournalScan, UnreadableRecord | None]:
    """The good records at the head of data, which follows record seq; and what ended them."""
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")
    lines.pop()
    torn = data[end:]
    good = _count_chained(lines, sum.encode())
    records, trouble = _parse_lines(lines[:good], seq)
    kept = len(records)
    total = lines[kept - 1][-66:-2].decode() if kept else sum
    length = len(b"\n".join(lines[:kept])) + 1 if kept else 0
    if trouble is None:
        torn, trouble = _classify_rest(lines[good:], torn, total, seq + kept + 1)
    return JournalScan(records, length, b"" if trouble else torn, total, seq + kept), trouble


def list_later_records(data: bytes, kept: int) -> list[RawRecord]:
    """Behind the first that was not kept: each that carries the sum it should.

    It is compared with the sum that the line before it claims, which may be all that is whole
    there.
    """
    lines = data.split(b"\n")
    found = (
        _parse_line(line, number)
        for number, (before, line) in enumerate(pairwise(lines), 2)
        if number > kept + 1 and _count_chained([line], before[-66:-2])
    )
    return [each for each in found if not isinstance(each, UnreadableRecord)]


def is_chained(data: bytes, sum: str) -> bool:
    """Whether these are whole lines from the first record on, and the last carries this sum."""
    lines = data.split(b"\n")
    is_whole = lines.pop() == b"" and lines[-1:] and lines[-1][-66:-2] == sum.encode()
    return bool(is_whole) and _count_chained(lines, START.encode()) == len(lines)


def _count_chained(lines: Sequence[bytes], previous: bytes) -> int:
    """How many lines from the first on carry the sum that they should."""
    if not lines:
        # What covers the whole journal is the common case, and needs no hash to be loaded.
        return 0
    from porch.text.sha256 import sha256

    for count, text in enumerate(lines):
        body = text[:-_TAIL]
        total = sha256(previous + body + b"}").hexdigest().encode()
        if text != body + _KEY + total + b'"}':
            return count
        previous = total
    return len(lines)


def _parse_lines(
    lines: Sequence[bytes], seq: int
) -> tuple[list[RawRecord], UnreadableRecord | None]:
    """One call for all of them takes two thirds of the time of one call for each."""
    numbers = list(range(seq + 1, seq + 1 + len(lines)))
    try:
        records: list[RawRecord] = json.loads((b"[" + b",".join(lines) + b"]").decode())
        is_known = all(each["v"] in VERSIONS for each in records)
        if is_known and [each["seq"] for each in records] == numbers:
            return records, None
    except (ValueError, TypeError, KeyError):
        pass
    return _parse_lines_singly(lines, seq)


def _parse_lines_singly(
    lines: Sequence[bytes], seq: int
) -> tuple[list[RawRecord], UnreadableRecord | None]:
    records: list[RawRecord] = []
    for number, text in enumerate(lines, seq + 1):
        found = _parse_line(text, number)
        if isinstance(found, UnreadableRecord):
            return records, found
        records.append(found)
    return records, None


def _parse_line(text: bytes, number: int) -> RawRecord | UnreadableRecord:
    try:
        record = json.loads(text.decode())
        seq, version = record["seq"], record["v"]
        if version > VERSION:
            return UnreadableRecord(number, f"has format {version}", newer=True)
        while record["v"] < VERSIONS[0]:
            record = UPCASTS[record["v"]](record)
    except (ValueError, TypeError, KeyError):
        return UnreadableRecord(number, "is not a record that this version of porch knows")
    if seq != number:
        return UnreadableRecord(number, f"has the wrong number {seq}")
    known: RawRecord = record
    return known


def _classify_rest(
    lines: Sequence[bytes], torn: bytes, sum: str, number: int
) -> tuple[bytes, UnreadableRecord | None]:
    """What follows the good records: a write that a crash cut short, or damage."""
    if lines:
        # A line that has its end was written whole, so it was damaged afterwards, not torn.
        return b"", UnreadableRecord(number, "has a wrong checksum")
    if _begins_with_a_record(torn, sum):
        # One write is torn at most, so a whole record with something behind it was acknowledged.
        return b"", UnreadableRecord(number, "has no line end")
    return torn, None


def _begins_with_a_record(data: bytes, sum: str) -> bool:
    at = data.find(_KEY)
    while at >= 0:
        if len(data) > at + _TAIL and _count_chained([data[: at + _TAIL]], sum.encode()):
            return True
        at = data.find(_KEY, at + 1)
    return False
