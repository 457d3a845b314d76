"""What git keeps in plain files, read as files: where a worktree belongs, and what its refs say.

A git process costs three milliseconds, and a tree of instances asks such things dozens of times for
every state. Whatever is not plainly there is left to git itself.
"""

import os
import re
import zlib
from typing import Final, NamedTuple

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# The first line of a commit, behind git's own word for what the object is.
_TREE = re.compile(rb"commit [0-9]+\0tree ([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")
_HEAD = 200
_BRANCHES = "refs/heads/"
# Without anything that means a parent, a time or another place.
_PLAIN = re.compile(r"[\w./-]*[\w.-]", re.ASCII)
# Those of porch and the branches of the repository: commits, and shared by all worktrees.
_SHARED = (_BRANCHES, "refs/porch/")
_OWN = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD")


class Unknown:
    """Not to be told from files alone; ask git."""


UNKNOWN: Final = Unknown()


class Gitdir(NamedTuple):
    """The directory of one worktree's own files, and that of everything it shares."""

    own: str
    common: str


def of(toplevel: str) -> Gitdir | None:
    """Where the top of a worktree keeps its files; None if this is no such top."""
    place = os.path.join(toplevel, ".git")
    if os.path.isdir(place):
        return Gitdir(place, place) if os.path.isfile(os.path.join(place, "HEAD")) else None
    text = _line(place)
    if not text.startswith("gitdir: "):
        return None
    own = os.path.normpath(os.path.join(toplevel, text.removeprefix("gitdir: ")))
    common = _line(os.path.join(own, "commondir"))
    if not common or not os.path.isfile(os.path.join(own, "HEAD")):
        return None
    return Gitdir(own, os.path.normpath(os.path.join(own, common)))


def is_registered(toplevel: str, found: Gitdir) -> bool:
    """Whether the repository knows this worktree at this place, and it is not half made."""
    back = _line(os.path.join(found.own, "gitdir"))
    is_here = os.path.realpath(back) == os.path.realpath(os.path.join(toplevel, ".git"))
    return bool(back) and is_here and not os.path.exists(os.path.join(found.own, "locked"))


class Worktree(NamedTuple):
    """A worktree that the repository knows of, whether or not its directory is still there."""

    path: str
    branch: str | None
    locked: str


def worktrees(common: str) -> list[Worktree]:
    """All linked worktrees, by their files."""
    place = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    found = [Gitdir(os.path.join(place, name), common) for name in names]
    return [_worktree(each) for each in found if _line(os.path.join(each.own, "gitdir"))]


def _worktree(found: Gitdir) -> Worktree:
    path = os.path.join(found.own, _line(os.path.join(found.own, "gitdir")))
    locked = _line(os.path.join(found.own, "locked"))
    return Worktree(os.path.dirname(os.path.normpath(path)), branch(found), locked)


def branch(found: Gitdir) -> str | None:
    """The branch that a worktree stands on; None if it stands on none."""
    text = _line(os.path.join(found.own, "HEAD"))
    front = f"ref: {_BRANCHES}"
    return text.removeprefix(front) if text.startswith(front) else None


def resolve(toplevel: str, name: str) -> str | Unknown | None:
    """The commit of a ref; None where it is certain that there is none."""
    found = of(toplevel)
    if found is None or os.path.isdir(os.path.join(found.common, "reftable")):
        return UNKNOWN
    if name == "HEAD":
        text = _line(os.path.join(found.own, "HEAD"))
        return _ref(found, text.removeprefix("ref: ")) if text.startswith("ref: ") else _hash(text)
    if name in _OWN:
        text = _line(os.path.join(found.own, name))
        return _hash(text) if text else None
    return _ref(found, name)


def tree_of(toplevel: str, commit: str) -> str | None:
    """The tree of a commit that lies in a file of its own, as each does when it is new."""
    found = of(toplevel)
    if found is None:
        return None
    try:
        with open(os.path.join(found.common, "objects", commit[:2], commit[2:]), "rb") as file:
            text = zlib.decompressobj().decompress(file.read(), _HEAD)
    except (OSError, zlib.error):
        return None
    told = _TREE.match(text)
    return told[1].decode() if told else None


def _ref(found: Gitdir, name: str) -> str | Unknown | None:
    if not name.startswith(_SHARED) or not _PLAIN.fullmatch(name) or ".." in name:
        return UNKNOWN
    text = _line(os.path.join(found.common, name))
    return _hash(text) if text else _packed(found, name)


def _packed(found: Gitdir, name: str) -> str | None:
    try:
        with open(os.path.join(found.common, "packed-refs"), encoding="utf-8") as file:
            rows = (line.rstrip("\n").partition(" ") for line in file)
            return next((commit for commit, _, ref in rows if ref == name), None)
    except OSError:
        return None


def _hash(text: str) -> str | Unknown:
    return text if _HASH.fullmatch(text) else UNKNOWN


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""
