"""A record as one line that carries the hash of all lines before it; pure, so that it can be cut.

v, seq, sum and the rule of the chain are the same in every release: a reader can tell a newer
record (chained, higher v) from a damaged one. What v counts is the rest of the record.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Record = dict[str, Any]

VERSION = 1
START = "0" * 64
MAX_DEPTH = 200
# Brackets that even a deep record may have before its depth is worth measuring.
_FEW_BRACKETS = 150
_KEY = b',"sum":"'
_TAIL = len(_KEY) + 64 + len(b'"}')

# The record of an old version in, the same record one version later out.
UPCASTS: dict[int, Callable[[Record], Record]] = {}

# Records are trees, so nobody has to look for circles.
_FORM: dict[str, Any] = {
    "allow_nan": False,
    "check_circular": False,
    "separators": (",", ":"),
}
_to_text = json.JSONEncoder(ensure_ascii=False, **_FORM).encode
_to_ascii = json.JSONEncoder(ensure_ascii=True, **_FORM).encode


class Scan:
    """What whole records a journal holds, and where they end."""

    __slots__ = ("length", "records", "seq", "sum", "torn")

    def __init__(self, records: list[Record], length: int, torn: bytes, sum: str, seq: int):
        self.records = records
        self.length = length
        self.torn = torn
        self.sum = sum
        self.seq = seq


class Trouble:
    """Why the record on a line cannot be believed."""

    __slots__ = ("line", "newer", "why")

    def __init__(self, line: int, why: str, newer: bool = False):
        self.line = line
        self.why = why
        self.newer = newer


def encode(value: object) -> bytes:
    """JSON that every reader of JSON can read back; ValueError if there is none for the value."""
    try:
        data = _to_text(value).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8, but it has an escape.
        data = _to_ascii(value).encode()
    if data.count(b"[") + data.count(b"{") > _FEW_BRACKETS and depth(value) > MAX_DEPTH:
        raise ValueError(f"a value nested deeper than {MAX_DEPTH} could not be read back")
    return data


def depth(value: object) -> int:
    deep, level = 0, [value]
    while level:
        deep += 1
        level = [child for parent in level for child in _children(parent)]
    return deep


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def line(seq: int, previous: str, body: Mapping[str, object]) -> tuple[bytes, str]:
    """The line of a record, newline and all, and its sum."""
    record = {"v": VERSION, "seq": seq, **body}
    if (record["v"], record["seq"]) != (VERSION, seq) or "sum" in record:
        raise ValueError(f"record {seq} calls itself v={record['v']} seq={record['seq']}")
    whole = encode(record)
    total = _sum(previous.encode(), whole)
    return whole[:-1] + _KEY + total + b'"}\n', total.decode()


def _sum(previous: bytes, body: bytes) -> bytes:
    from hashlib import sha256

    return sha256(previous + body).hexdigest().encode()


def read(data: bytes, seq: int = 0, sum: str = START) -> tuple[Scan, Trouble | None]:
    """The good records at the head of data, which follows record seq; and what ended them."""
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")
    lines.pop()
    torn = data[end:]
    good = _chained(lines, sum.encode())
    records, trouble = _parsed(lines[:good], seq)
    kept = len(records)
    total = lines[kept - 1][-66:-2].decode() if kept else sum
    length = len(b"\n".join(lines[:kept])) + 1 if kept else 0
    if trouble is None:
        torn, trouble = _rest(lines[good:], torn, total, seq + kept + 1)
    return Scan(records, length, b"" if trouble else torn, total, seq + kept), trouble


def _chained(lines: Sequence[bytes], previous: bytes) -> int:
    """How many lines from the first on carry the sum that they should."""
    if not lines:
        # A picture that covers the whole journal is the common case, and hashlib is slow to load.
        return 0
    from hashlib import sha256

    for count, text in enumerate(lines):
        body = text[:-_TAIL]
        total = sha256(previous + body + b"}").hexdigest().encode()
        if text != body + _KEY + total + b'"}':
            return count
        previous = total
    return len(lines)


def _parsed(lines: Sequence[bytes], seq: int) -> tuple[list[Record], Trouble | None]:
    """One call for all of them takes two thirds of the time of one call for each."""
    numbers = list(range(seq + 1, seq + 1 + len(lines)))
    try:
        records: list[Record] = json.loads((b"[" + b",".join(lines) + b"]").decode())
        if [(each["seq"], each["v"]) for each in records] == [(n, VERSION) for n in numbers]:
            return records, None
    except (ValueError, TypeError, KeyError):
        pass
    return _parsed_singly(lines, seq)


def _parsed_singly(lines: Sequence[bytes], seq: int) -> tuple[list[Record], Trouble | None]:
    records: list[Record] = []
    for number, text in enumerate(lines, seq + 1):
        found = _parsed_one(text, number)
        if isinstance(found, Trouble):
            return records, found
        records.append(found)
    return records, None


def _parsed_one(text: bytes, number: int) -> Record | Trouble:
    try:
        record = json.loads(text.decode())
        seq, version = record["seq"], record["v"]
        if version > VERSION:
            return Trouble(number, f"has format {version}", newer=True)
        while record["v"] < VERSION:
            record = UPCASTS[record["v"]](record)
    except (ValueError, TypeError, KeyError):
        return Trouble(number, "is not a record that this release knows")
    if seq != number:
        return Trouble(number, f"says that it is number {seq}")
    return dict(record)


def _rest(
    lines: Sequence[bytes], torn: bytes, sum: str, number: int
) -> tuple[bytes, Trouble | None]:
    """What follows the good records: a write that a crash cut short, or damage."""
    if lines:
        # A line that has its end was written whole, so it was damaged afterwards, not torn.
        return b"", Trouble(number, "does not carry the sum that it should")
    if _begins_with_a_record(torn, sum):
        # One write is torn at most, so a whole record with something behind it was acknowledged.
        return b"", Trouble(number, "has lost its end of line")
    return torn, None


def _begins_with_a_record(data: bytes, sum: str) -> bool:
    at = data.find(_KEY)
    while at >= 0:
        if len(data) > at + _TAIL and _chained([data[: at + _TAIL]], sum.encode()):
            return True
        at = data.find(_KEY, at + 1)
    return False
