"""What of a repository lies outside a worktree: refs, the files of another checkout, remotes.

Two stamps are taken, one before and one after somebody worked, and compared. Refs are read as
files, also those of remotes that lie on this machine. Of a checkout only the files that differ from
its HEAD are read: git's own index says which these are.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field

from porch.git import git_directory
from porch.git.command import run_git, try_git
from porch.git.git_directory import GitDirectory
from porch.git.moves.checkout_move import read_status
from porch.git.moves.own_refs import OWN
from porch.git.repository import exclude_from_add
from porch.text.sha256 import sha256

_KINDS = (("refs/heads/", "branch "), ("refs/tags/", "tag "))
_LARGEST_READ = 1 << 20
_MOST_READ = 2000
_SHORT = 12


class OutsideStamp(Struct, frozen=True):
    """Commits by the names of refs, digests by the names of files; a file that is not there has "".

    `dirty` are the files that differed from the HEAD of the checkout. They are looked for only if
    the stamp is to be whole; `unlisted` says why git could not name them.
    """

    refs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    dirty: tuple[str, ...] = ()
    is_whole: bool = True
    unlisted: str = ""


def stamp_refs(common: str) -> dict[str, str]:
    """All refs of a repository and of its remotes on this machine, without those of porch."""
    refs = {"HEAD of the main checkout": _read_head(common), **_read_refs(common)}
    for name, url in _list_local_remotes(common):
        place = next(filter(_is_repository, (os.path.join(url, ".git"), url)), "")
        refs |= {f"{ref} of {name}": commit for ref, commit in _read_refs(place).items()}
    return refs


def _read_head(common: str) -> str:
    with open(os.path.join(common, "HEAD"), encoding="utf-8", errors="replace") as file:
        return file.readline().strip().removeprefix("ref: refs/heads/")


def _is_repository(place: str) -> bool:
    return os.path.isfile(os.path.join(place, "HEAD"))


def _read_refs(common: str) -> dict[str, str]:
    if not common:
        return {}
    if os.path.isdir(os.path.join(common, "reftable")):
        words = ("for-each-ref", "--format=%(objectname) %(refname)")
        rows = (line.partition(" ") for line in run_git(common, *words).splitlines())
        refs = {ref: commit for commit, _, ref in rows}
    else:
        refs = git_directory.read_all_refs(GitDirectory(common, common))
    return {name_ref(ref): commit for ref, commit in refs.items() if not ref.startswith(OWN)}


def name_ref(ref: str) -> str:
    """As people call it: `branch main`, `tag v1`, `refs/remotes/origin/main`."""
    kind = next((each for each in _KINDS if ref.startswith(each[0])), ("", ""))
    return kind[1] + ref.removeprefix(kind[0])


def _list_local_remotes(common: str) -> Iterator[tuple[str, str]]:
    for name, url in _ask_remotes(common, git_directory.stamp_file(os.path.join(common, "config"))):
        path = url.removeprefix("file://")
        if "://" not in path and os.path.isdir(os.path.join(common, "..", path)):
            yield name, os.path.join(common, "..", path)


@lru_cache(maxsize=4)
def _ask_remotes(common: str, _stamp: str) -> list[tuple[str, str]]:
    """Asked again once the file of the settings has changed."""
    words = ("config", "--local", "-z", "--get-regexp", r"^remote\..*\.(push)?url$")
    rows = (row.partition("\n") for row in try_git(common, *words).stdout.split("\0") if row)
    found = {(key.partition(".")[2].rpartition(".")[0], url) for key, _, url in rows}
    return sorted(found)


def list_dirty_files(checkout: str, exclude: Sequence[str]) -> tuple[str, ...]:
    """The files that differ from HEAD, untracked ones too."""
    globs = [each for glob in exclude for each in (glob, f"{glob.rstrip('/')}/**")]
    rows = read_status(checkout, "--", ":/", *map(exclude_from_add, globs))
    return tuple(sorted({name for _, name in rows}))


def digest_files(directory: str, names: Iterable[str]) -> dict[str, str]:
    """Of each file what it holds; of very large ones, and of very many, only size and time."""
    listed = list(dict.fromkeys(names))
    most = _LARGEST_READ if len(listed) <= _MOST_READ else 0
    return {name: digest_file(os.path.join(directory, name), most) for name in listed}


def digest_file(path: str, most: int = _LARGEST_READ) -> str:
    try:
        seen = os.lstat(path)
        if stat.S_ISLNK(seen.st_mode):
            return f"link {os.readlink(path)}"
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > most:
            return f"{seen.st_mode:o} {seen.st_size} {seen.st_mtime_ns}"
        with open(path, "rb") as file:
            return f"{seen.st_mode:o} {sha256(file.read()).hexdigest()}"
    except OSError:
        return ""


def describe_changes(before: OutsideStamp, now: OutsideStamp, own: Iterable[str]) -> list[str]:
    """One line for each ref that moved, and one for all files; branches in `own` may move."""
    mine = {f"branch {name}" for name in own}
    names = dict.fromkeys((*before.refs, *now.refs))
    lines = [
        f"{name}: {_shorten(before.refs.get(name))} -> {_shorten(now.refs.get(name))}"
        for name in names
        if name not in mine and before.refs.get(name) != now.refs.get(name)
    ]
    both = dict.fromkeys((*before.files, *now.files))
    lines += (name for name in both if before.files.get(name) != now.files.get(name))
    if why := now.unlisted or before.unlisted:
        lines.append(f"other files of the main checkout: could not be compared: {why}")
    return lines


def _shorten(commit: str | None) -> str:
    return commit[:_SHORT] if commit and git_directory.is_whole_hash(commit) else commit or "none"


def list_shared_commits(checkout: str, branch: str, before: str, heads: Sequence[str]) -> list[str]:
    """What came to a branch since `before` and is on one of these heads, too; a line for each."""
    since = () if not before else (f"^{before}",)
    theirs = run_git(checkout, "rev-list", *heads, *since).split()
    rows = run_git(checkout, "log", "--no-show-signature", "--format=%H %s", branch, *since)
    own = set(theirs)
    return [row for row in rows.splitlines() if row.partition(" ")[0] in own]
