"""What differs between two trees that are new, read from their files and not told by a process.

The bytes of every object are hashed, so nobody can put other words into its file. Whatever is not
plainly there, packed or very large, is left to git.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from porch.git.git_directory import is_whole_hash
from porch.system.regular_file import open_followed
from porch.text.sha1 import sha1
from porch.text.sha256 import sha256

_MOST_BYTES = 1 << 20
# To read so many objects takes as long as to start git.
_MOST_OBJECTS = 64
_TREE = b"40000"


class UnreadObject(Exception):
    """Ask git: it lies elsewhere, or is not what its name says."""


class _Entry(NamedTuple):
    mode: bytes
    id: str


def compare_loose_trees(stores: Sequence[str], old: str, new: str) -> str | None:
    """As `git diff-tree -r --raw -z --no-renames` prints it; None if git has to be asked.

    `stores` are directories of objects; both names may be those of commits.
    """
    if not (is_whole_hash(old) and is_whole_hash(new)):
        return None
    reader = _TreeReader(stores)
    try:
        rows = list(reader.compare(reader.find_tree(old), reader.find_tree(new), b""))
    except UnreadObject:
        return None
    return b"".join(rows).decode("utf-8", "surrogateescape")


class _TreeReader:
    """Reads trees out of some stores, and not too many of them."""

    def __init__(self, stores: Sequence[str]):
        self._stores = stores
        self._left = _MOST_OBJECTS

    def find_tree(self, name: str) -> str:
        kind, body = self._read(name)
        if kind == b"tree":
            return name
        word, _, tree = body.partition(b"\n")[0].partition(b" ")
        if kind != b"commit" or word != b"tree":
            raise UnreadObject(name)
        return tree.decode("ascii")

    def compare(self, old: str, new: str, front: bytes) -> Iterator[bytes]:
        if old == new:
            return
        before, after = self._list_entries(old), self._list_entries(new)
        for key in sorted({*before, *after}):
            one, other = before.get(key), after.get(key)
            if one == other:
                continue
            if key.endswith(b"/"):
                yield from self.compare(
                    one.id if one else "", other.id if other else "", front + key
                )
            else:
                yield _make_row(one, other, len(old or new), front + key)

    def _list_entries(self, tree: str) -> dict[bytes, _Entry]:
        """By name; that of a directory ends with a slash, by which git sorts it."""
        kind, data = self._read(tree) if tree else (b"tree", b"")
        if kind != b"tree":
            raise UnreadObject(tree)
        found, size = {}, len(tree) // 2
        while data:
            mode, _, rest = data.partition(b" ")
            name, _, rest = rest.partition(b"\0")
            found[name + (b"/" if mode == _TREE else b"")] = _Entry(mode, rest[:size].hex())
            data = rest[size:]
        return found

    def _read(self, name: str) -> tuple[bytes, bytes]:
        self._left -= 1
        for store in self._stores if self._left > 0 else ():
            data = _read_object(os.path.join(store, name[:2], name[2:]))
            hashed = (sha1 if len(name) == 40 else sha256)(data)
            if hashed.hexdigest() == name:
                head, _, body = data.partition(b"\0")
                return head.partition(b" ")[0], body
        raise UnreadObject(name)


def _read_object(path: str) -> bytes:
    import zlib

    try:
        with open(path, "rb", opener=open_followed) as file:
            return zlib.decompressobj().decompress(file.read(), _MOST_BYTES)
    except (OSError, zlib.error):
        return b""


def _make_row(one: _Entry | None, other: _Entry | None, digits: int, path: bytes) -> bytes:
    modes = [each.mode.decode() if each else "000000" for each in (one, other)]
    ids = [each.id if each else "0" * digits for each in (one, other)]
    letter = "M" if one and other else "D" if one else "A"
    if one and other and stat.S_IFMT(int(one.mode, 8)) != stat.S_IFMT(int(other.mode, 8)):
        letter = "T"
    return f":{modes[0]} {modes[1]} {ids[0]} {ids[1]} {letter}\0".encode() + path + b"\0"
