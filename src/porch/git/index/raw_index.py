"""What git's index holds as bytes: a few entries out of very many, found without reading all.

Version 2 of the format, which is the one that our own git directory asks for.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

_HEADER = 12
_ALIGNED = 8
_FIRST = _HEADER % _ALIGNED
_MODE_AT = 24
_OWNER_AT = 28
_ID_AT = 40
SHA1_BYTES = 20
# Only a later version of the format has the flag of a sparse checkout.
_PLAIN_VERSION = 2
_OVERLOOKED = 0x80
_LONGEST = 0xFFF
_LINK_TO_COMMIT = 0o160000
# An index may leave a part of its entries to another file, which it names under this word.
_SHARED = b"link"
_TREES = b"TREE"
_PLAIN_FRONT = b"DIRC" + _PLAIN_VERSION.to_bytes(4, "big")
# The length of a name, and no flag before it.
_PLAIN_FLAGS = _LONGEST >> 8
_FILE_MODES = frozenset(mode.to_bytes(4, "big") for mode in (0o100644, 0o100755, 0o120000))
_NO_TIMES = bytes(_MODE_AT)
_NO_OWNER = bytes(_ID_AT - _OWNER_AT)
# Of so many entries one is few.
_MANY = 4
_MODES = (0o100644, 0o100755, 0o120000, _LINK_TO_COMMIT)


class IndexEntry(Struct, frozen=True):
    """One path of the index: what it is, and the id of its content."""

    mode: int
    id: str
    name: str


def find_changed_in(data: bytes, id_bytes: int, first: int, last: int) -> list[tuple[int, bytes]]:
    """Where entries begin whose status changed in one of these seconds, each with its name."""
    return [
        found
        for second in range(first, last + 1)
        for found in _find_changed_in(data, id_bytes, second.to_bytes(4, "big"))
    ]


def zero_stats(data: bytes, id_bytes: int, starts: Sequence[int]) -> bytes:
    """The index without what it knows of the files of these entries but their content.

    Git reads a file again of which it knows nothing.
    """
    changed = bytearray(data)
    for start in starts:
        changed[start : start + _MODE_AT] = _NO_TIMES
        changed[start + _OWNER_AT : start + _ID_AT] = _NO_OWNER
    from porch.text.sha1 import sha1  # short commands read an index and write none
    from porch.text.sha256 import sha256

    sum_ = sha1 if id_bytes == SHA1_BYTES else sha256
    body = bytes(changed[:-id_bytes])
    return body + sum_(body, usedforsecurity=False).digest()


def _find_changed_in(data: bytes, id_bytes: int, second: bytes) -> Iterator[tuple[int, bytes]]:
    """A few are searched for, many are gone through."""
    count, name_at = int.from_bytes(data[8:_HEADER], "big"), _ID_AT + id_bytes + 2
    if data.count(second) * _MANY < count:
        starts = (start for start, _ in _find_entries(data, id_bytes, second, 0))
        yield from ((at, data[at + name_at : data.index(b"\0", at + name_at)]) for at in starts)
        return
    for start, end in _iterate_spans(data, id_bytes):
        if data[start : start + 4] == second:
            yield start, data[start + name_at : end]


class NotPlainError(ValueError):
    """An index that only git can read, or that says more of files than what they are."""


def iterate_plain_entries(data: bytes, id_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Where each entry begins, and its name; all at once would be more objects than all of porch.

    NotPlainError, also after many, if one is no plain file or may be overlooked, if only git can
    read on, or if it says more than the ids of its trees.
    """
    if data[:8] != _PLAIN_FRONT:
        raise NotPlainError
    flags_at, at, find_end = _ID_AT + id_bytes, _HEADER, data.find
    name_at = flags_at + 2
    # Spelt out here: of a large worktree these few lines are much of the first measurement.
    for _ in range(int.from_bytes(data[8:_HEADER], "big")):
        end = find_end(b"\0", at + name_at)
        is_file = data[at + _MODE_AT : at + _OWNER_AT] in _FILE_MODES
        if end < 0 or not is_file or data[at + flags_at] > _PLAIN_FLAGS:
            raise NotPlainError
        yield at, data[at + name_at : end]
        at += ((end - at) // _ALIGNED + 1) * _ALIGNED
    if not _has_only_trees(data, id_bytes, at):
        raise NotPlainError


def _has_only_trees(data: bytes, id_bytes: int, at: int) -> bool:
    """Whether nothing follows the entries but the ids of directories, and the sum of it all."""
    if data[at : at + 4] == _TREES:
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "big")
    return at + id_bytes == len(data)


def read_root_tree(data: bytes, id_bytes: int, last: tuple[int, bytes]) -> str | None:
    """The tree that all entries make, if git has noted it behind the last one, which is given."""
    start, name = last
    at = start + (_ID_AT + id_bytes + 2 + len(name)) // _ALIGNED * _ALIGNED + _ALIGNED
    if data[at : at + 4] != _TREES or data[at + 8 : at + 9] != b"\0":
        return None
    counts, _, rest = data[at + 9 :].partition(b"\n")
    # A count below zero: something was added since.
    return None if counts.startswith(b"-") else rest[:id_bytes].hex()


def find_repository_entries(data: bytes, id_bytes: int) -> Iterator[IndexEntry]:
    """Repositories inside the worktree, of which git keeps only the commit they are at."""
    found = _find_entries(data, id_bytes, _LINK_TO_COMMIT.to_bytes(4, "big"), _MODE_AT)
    yield from (entry for _, entry in found)


def may_have_repositories(data: bytes) -> bool:
    """Whether an index of any version may name a repository inside the worktree."""
    return _LINK_TO_COMMIT.to_bytes(4, "big") in data or _SHARED in data


def may_overlook_files(data: bytes, id_bytes: int) -> bool:
    """The same as `has_flags`, for the index of somebody else, which may have a second part."""
    return _SHARED in data or has_flags(data, id_bytes)


def has_flags(data: bytes, id_bytes: int) -> bool:
    """Whether git may have been told not to look at a file of this index."""
    if data[4:_HEADER] and int.from_bytes(data[4:8], "big") != _PLAIN_VERSION:
        return True
    start, flags_at = _HEADER, _ID_AT + id_bytes
    try:
        # Spelt out here: this is asked of every checkout before each commit in it.
        for _ in range(int.from_bytes(data[8:_HEADER], "big")):
            if data[start + flags_at] & _OVERLOOKED:
                return True
            start += ((data.index(b"\0", start + flags_at + 2) - start) // _ALIGNED + 1) * _ALIGNED
    except (IndexError, ValueError):
        # Cut short, or no index at all: git itself says what is wrong with it.
        return True
    return False


def list_few_names(data: bytes, id_bytes: int, most: int) -> set[bytes] | None:
    """All names in an index; None if these are too many, or if only git can read them."""
    count, version = int.from_bytes(data[8:_HEADER], "big"), int.from_bytes(data[4:8], "big")
    if count > most or version != _PLAIN_VERSION or _SHARED in data:
        return None
    flags_at = _ID_AT + id_bytes
    try:
        spans = _iterate_spans(data, id_bytes)
        return {data[start + flags_at + 2 : end] for start, end in spans}
    except ValueError:
        return None


def _iterate_spans(data: bytes, id_bytes: int) -> Iterator[tuple[int, int]]:
    """Where each entry begins, and where its name ends."""
    start, name_at = _HEADER, _ID_AT + id_bytes + 2
    for _ in range(int.from_bytes(data[8:_HEADER], "big")):
        # A name ends with one to eight zeros.
        end = data.index(b"\0", start + name_at)
        yield start, end
        start += ((end - start) // _ALIGNED + 1) * _ALIGNED


def _find_entries(
    data: bytes, id_bytes: int, wanted: bytes, offset: int
) -> Iterator[tuple[int, IndexEntry]]:
    # As a pattern: twice as fast as a search for bytes of which most are zero.
    search = re.compile(re.escape(wanted)).search
    found = search(data, _HEADER + offset)
    while found:
        start = found.start() - offset
        entry = _read_entry(data, start, id_bytes) if start % _ALIGNED == _FIRST else None
        if entry is not None:
            yield start, entry
        found = search(data, found.start() + 1)


def _read_entry(data: bytes, start: int, id_bytes: int) -> IndexEntry | None:
    """The entry that begins here; None where these bytes are something else.

    No name can pass for an entry, for an entry holds zeros.
    """
    mode = int.from_bytes(data[start + _MODE_AT : start + _MODE_AT + 4], "big")
    flags_at = start + _ID_AT + id_bytes
    name_at = flags_at + 2
    flags = int.from_bytes(data[flags_at:name_at], "big")
    name = data[name_at : data.find(b"\0", name_at)]
    # No stage, no extended flags: our index has neither.
    if mode not in _MODES or flags >> 12 or flags & _LONGEST != min(len(name), _LONGEST):
        return None
    id_ = data[start + _ID_AT : flags_at].hex()
    return IndexEntry(mode, id_, name.decode("utf-8", "surrogateescape"))
