"""What git keeps in plain files, read as files: where a worktree belongs, and what its refs say.

A git process costs three milliseconds, and a tree of instances asks such things dozens of times for
every state. Whatever is not plainly there is left to git itself.
"""

import os
import stat
from collections.abc import Iterator
from typing import Final, NamedTuple

from porch.system.regular_file import open_followed

_HASH_LENGTHS = (40, 64)
_DIGITS = "0123456789abcdef"
_HEAD = 200
_LONGEST = 64 * 1024
# No path is longer than half of it.
_LONGEST_LINE = 8192
# To read so many commits takes as long as to start git.
_NEAR = 32
# Of so many commits a long run remembers on what they were made.
_MOST_PARENTS = 20_000
# Of so many worktrees a process remembers where their files are.
_MOST_LINKED = 10_000
_BRANCHES = "refs/heads/"
# Without anything that means a parent, a time or another place.
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"
# Those of porch and the branches of the repository: commits, and shared by all worktrees.
_SHARED = (_BRANCHES, "refs/porch/")
_OWN = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD")


class Unknown:
    """Not to be told from files alone; ask git."""


UNKNOWN: Final = Unknown()


def is_whole_hash(text: str) -> bool:
    """Whether it is the whole name of an object; a pattern would have to be compiled first."""
    return len(text) in _HASH_LENGTHS and not text.strip(_DIGITS)


class GitDirectory(NamedTuple):
    """The directory of one worktree's own files, and that of everything it shares."""

    own: str
    common: str


def find_git_directory(toplevel: str) -> GitDirectory | None:
    """Where the top of a worktree keeps its files; None if this is no such top."""
    place = os.path.join(toplevel, ".git")
    try:
        seen = os.stat(place)
    except OSError:
        return None
    if stat.S_ISDIR(seen.st_mode):
        return GitDirectory(place, place) if os.path.isfile(os.path.join(place, "HEAD")) else None
    # Read once, as long as it is the same file: each member asks hundreds of times.
    stamp = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_ctime_ns)
    known = _linked.get(toplevel)
    if known is None or known[0] != stamp:
        found = _read_git_file(toplevel, place)
        if found is None:
            return None
        known = stamp, found
        if os.path.isabs(toplevel) and len(_linked) < _MOST_LINKED:
            _linked[toplevel] = known
    return known[1] if os.path.isfile(os.path.join(known[1].own, "HEAD")) else None


_linked: dict[str, tuple[tuple[int, ...], GitDirectory]] = {}


def _read_git_file(toplevel: str, place: str) -> GitDirectory | None:
    text = _read_first_line(place)
    if not text.startswith("gitdir: "):
        return None
    own = os.path.normpath(os.path.join(toplevel, text.removeprefix("gitdir: ")))
    common = _read_first_line(os.path.join(own, "commondir"))
    return GitDirectory(own, os.path.normpath(os.path.join(own, common))) if common else None


def find_other_place(toplevel: str) -> str:
    """Where the worktree really is that a directory says it is; empty if that is here, or gone."""
    found = find_git_directory(toplevel)
    back = _read_first_line(os.path.join(found.own, "gitdir")) if found else ""
    if not os.path.exists(back):
        return ""
    is_here = os.path.realpath(back) == os.path.realpath(os.path.join(toplevel, ".git"))
    return "" if is_here else os.path.dirname(back)


def read_git_file(toplevel: str) -> str:
    """The line by which a linked worktree names its git directory; empty where there is none."""
    return _read_first_line(os.path.join(toplevel, ".git"))


def is_registered(toplevel: str, found: GitDirectory) -> bool:
    """Whether the repository knows this worktree at this place, and it is not half made."""
    back = _read_first_line(os.path.join(found.own, "gitdir"))
    is_here = os.path.realpath(back) == os.path.realpath(os.path.join(toplevel, ".git"))
    return bool(back) and is_here and not os.path.exists(os.path.join(found.own, "locked"))


# What is said of a lock for which nobody gave a reason.
NO_REASON = "nobody said why"


class LinkedWorktree(NamedTuple):
    """A worktree that the repository knows of, whether or not its directory is still there."""

    path: str
    branch: str | None
    locked: str
    own: str  # where the repository keeps what it knows of it


def list_linked_worktrees(common: str) -> list[LinkedWorktree]:
    """All linked worktrees of this repository, by their files."""
    place = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    found = [GitDirectory(os.path.join(place, name), common) for name in names]
    linked = [
        _read_linked_worktree(each)
        for each in found
        if _read_first_line(os.path.join(each.own, "gitdir"))
    ]
    return [each for each in linked if not _is_of_other_repository(each)]


def _is_of_other_repository(linked: LinkedWorktree) -> bool:
    """A copy of a repository names the worktrees of the original, which do not name the copy."""
    line = read_git_file(linked.path)
    named = os.path.join(linked.path, line.removeprefix("gitdir: "))
    if not line.startswith("gitdir: ") or not os.path.exists(named):
        return False
    return not os.path.samefile(named, linked.own)


def _read_linked_worktree(found: GitDirectory) -> LinkedWorktree:
    path = os.path.join(found.own, _read_first_line(os.path.join(found.own, "gitdir")))
    lock = os.path.join(found.own, "locked")
    # A person may lock it without a word; the file alone is what counts.
    locked = _read_first_line(lock) or (NO_REASON if os.path.lexists(lock) else "")
    place = os.path.dirname(os.path.normpath(path))
    return LinkedWorktree(place, read_branch(found), locked, found.own)


def read_branch(found: GitDirectory) -> str | None:
    """The branch that a worktree stands on; None if it stands on none."""
    text = _read_first_line(os.path.join(found.own, "HEAD"))
    front = f"ref: {_BRANCHES}"
    return text.removeprefix(front) if text.startswith(front) else None


def read_ref(toplevel: str, name: str) -> str | Unknown | None:
    """The commit of a ref; None where it is certain that there is none."""
    found = find_git_directory(toplevel)
    if found is None or os.path.isdir(os.path.join(found.common, "reftable")):
        return UNKNOWN
    if name == "HEAD":
        text = _read_first_line(os.path.join(found.own, "HEAD"))
        return (
            _read_shared_ref(found, text.removeprefix("ref: "))
            if text.startswith("ref: ")
            else _parse_hash(text)
        )
    if name in _OWN:
        text = _read_first_line(os.path.join(found.own, name))
        return _parse_hash(text) if text else None
    return _read_shared_ref(found, name)


def list_own_refs(toplevel: str, directory: str) -> list[str] | Unknown:
    """The refs of porch under a directory of them, such as refs/porch/entry/."""
    found = find_git_directory(toplevel)
    is_ours = directory.startswith(_SHARED[1]) and ".." not in directory
    if found is None or not is_ours or os.path.isdir(os.path.join(found.common, "reftable")):
        return UNKNOWN
    return _list_refs_below(found, directory)


def is_free_branch(toplevel: str, branch: str) -> bool:
    """Whether it is certain that there is no such branch, and none below it."""
    ref, found = _BRANCHES + branch, find_git_directory(toplevel)
    return (
        found is not None and read_ref(toplevel, ref) is None and not _list_refs_below(found, ref)
    )


def _list_refs_below(found: GitDirectory, directory: str) -> list[str]:
    front = f"{directory.rstrip('/')}/"
    packed = (ref for _, ref in _iterate_packed_refs(found) if ref.startswith(front))
    return sorted({*_list_loose_refs(found.common, front), *packed})


def read_all_refs(found: GitDirectory) -> dict[str, str]:
    """Every ref of a repository that keeps them in files, with what its file says."""
    packed = {ref: commit for commit, ref in _iterate_packed_refs(found) if ref.startswith("refs/")}
    loose = _list_loose_refs(found.common, "refs")
    return packed | {ref: _read_first_line(os.path.join(found.common, ref)) for ref in loose}


def _list_loose_refs(common: str, front: str) -> Iterator[str]:
    for directory, _, names in os.walk(os.path.join(common, front)):
        inside = os.path.relpath(directory, common)
        yield from (f"{inside}/{name}" for name in names if not name.endswith(".lock"))


def read_loose_tree(toplevel: str, commit: str) -> str | None:
    """The tree of a commit that lies in a file of its own, as each does when it is new."""
    return _parse_tree(_read_loose_commit(toplevel, commit, _HEAD))


def _parse_tree(data: bytes) -> str | None:
    """From the first line of a commit, behind git's own word for what the object is."""
    kind, _, rest = data.partition(b"\0")
    line, end, _ = rest.partition(b"\n")
    word, _, tree = line.decode("ascii", "replace").partition(" ")
    is_commit = kind.startswith(b"commit ") and kind[7:].isdigit() and word == "tree"
    return tree if end and is_commit and is_whole_hash(tree) else None


def read_loose_parents(toplevel: str, commit: str) -> tuple[str, ...] | None:
    """The commits on which such a commit was made; None if it lies elsewhere, or has very many."""
    data = _read_loose_commit(toplevel, commit, _LONGEST)
    head, gap, _ = data.partition(b"\nauthor ")
    if not gap or _parse_tree(head + b"\n") is None:
        return None
    lines = head.decode("ascii", "replace").split("\n")[1:]
    return tuple(line.removeprefix("parent ") for line in lines)


def _recall_parents(toplevel: str, commit: str) -> tuple[str, ...]:
    """The same, read once: on what a commit was made never changes."""
    known = _parents.get(commit)
    if known is None:
        known = read_loose_parents(toplevel, commit) or ()
        if known and len(_parents) < _MOST_PARENTS:
            _parents[commit] = known
    return known


_parents: dict[str, tuple[str, ...]] = {}


def has_near_ancestor(toplevel: str, commit: str, ancestor: str) -> bool:
    """Whether one is found behind the other among new commits; if not, git has to say."""
    seen, ahead = {commit}, [commit]
    while ahead and len(seen) <= _NEAR:
        parents = _recall_parents(toplevel, ahead.pop(0))
        if ancestor in parents:
            return True
        ahead += [parent for parent in parents if parent not in seen]
        seen.update(parents)
    return False


def read_loose_message(toplevel: str, commit: str) -> str | None:
    """What stands in such a commit behind its first empty line; None if it lies elsewhere."""
    data = _read_loose_commit(toplevel, commit, _LONGEST)
    _, gap, message = data.partition(b"\n\n")
    # An encoding of its own is git's business, and so is a commit that was cut here.
    is_plain = gap and data.startswith(b"commit ") and b"\nencoding " not in data
    return message.decode("utf-8", "replace") if is_plain and len(data) < _LONGEST else None


def _read_loose_commit(toplevel: str, commit: str, most: int) -> bytes:
    found = find_git_directory(toplevel) if is_whole_hash(commit) else None
    if found is None:
        return b""
    import zlib

    try:
        with open(
            os.path.join(found.common, "objects", commit[:2], commit[2:]),
            "rb",
            opener=open_followed,
        ) as file:
            return zlib.decompressobj().decompress(file.read(), most)
    except (OSError, zlib.error):
        return b""


def _read_shared_ref(found: GitDirectory, name: str) -> str | Unknown | None:
    if not name.startswith(_SHARED) or not is_plain_ref(name):
        return UNKNOWN
    text = _read_first_line(os.path.join(found.common, name))
    return _parse_hash(text) if text else _read_packed_ref(found, name)


def is_plain_ref(name: str) -> bool:
    """Whether its file lies under its name, wherever that is asked."""
    # Taking these off both ends leaves nothing only if there is nothing else.
    return not name.strip(_PLAIN) and not name.endswith(("/", ".lock")) and ".." not in name


def is_packed_ref(toplevel: str, name: str) -> bool:
    """Whether a ref lies in the file of all packed ones; it may have one of its own, too."""
    found = find_git_directory(toplevel)
    return found is not None and _read_packed_ref(found, name) is not None


def _read_packed_ref(found: GitDirectory, name: str) -> str | None:
    return next((commit for commit, ref in _iterate_packed_refs(found) if ref == name), None)


def _iterate_packed_refs(found: GitDirectory) -> Iterator[tuple[str, str]]:
    try:
        with open(
            os.path.join(found.common, "packed-refs"), encoding="utf-8", opener=open_followed
        ) as file:
            for line in file:
                commit, _, ref = line.rstrip("\n").partition(" ")
                yield commit, ref
    except OSError:
        return


def _parse_hash(text: str) -> str | Unknown:
    return text if is_whole_hash(text) else UNKNOWN


def _read_first_line(path: str) -> str:
    """By descriptor: a file object costs double, and each member reads hundreds of these."""
    try:
        file = open_followed(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        data = os.read(file, _LONGEST_LINE)
    except OSError:
        return ""
    finally:
        os.close(file)
    return data.partition(b"\n")[0].decode("utf-8", "surrogateescape")


def stamp_file(path: str) -> str:
    """Another text whenever a file was written again."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return "none"
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
