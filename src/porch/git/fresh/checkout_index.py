"""What git noted of the files of a worktree while it wrote them, kept until the first measurement.

So the first measurement need not read them all again. Git compares times in whole seconds, and a
whole worktree is made in less than that. Here they are compared as exactly as the system keeps
them: the number of each file, and the time of its last change, which nobody can set back. Whatever
is touched after we were here has a later one, because we wait until the clock of the file system
has moved on.

Nothing of this lies on the disk meanwhile: commands of the set-up could write there.
"""

import contextlib
import os
import time
from collections.abc import Iterator

from msgspec import Struct

from porch.git import git_directory
from porch.git.fresh.plain_checkout import writes_plain_files
from porch.git.fresh.touched_files import SECOND_NS, FileClock, find_touched
from porch.git.index.raw_index import NotPlainError, iterate_plain_entries, zero_stats
from porch.system import atomic

# A file system whose clock stands still for longer counts in whole seconds or worse.
_PATIENCE_S = 0.05
_NAP_S = 0.001


class FreshIndex(Struct, frozen=True):
    """The index that git wrote, with its stamp, and an instant at which all files were there."""

    data: bytes
    stamp: str
    since: FileClock


# By the real path of the worktree; each is taken once.
_known: dict[str, FreshIndex] = {}


def remember_checkout(toplevel: str) -> None:
    """Keep what git knows of a worktree that it has just made, before anybody works in it."""
    forget_checkout(toplevel)
    found = git_directory.find_git_directory(toplevel)
    if found is None:
        return
    path = os.path.join(found.own, "index")
    try:
        with open(path, "rb") as file:
            data, seen = file.read(), os.fstat(file.fileno())
        if not writes_plain_files(toplevel, found, data):
            return
        since = _wait_for_later_instant(toplevel, seen)
    except OSError:
        return  # then everything is read
    if since:
        _known[os.path.realpath(toplevel)] = FreshIndex(data, git_directory.stamp_file(path), since)


def _wait_for_later_instant(toplevel: str, last: os.stat_result) -> FileClock | None:
    """A time of change that this file system gives only now, later than all before.

    The index was written behind all files, so its time is the latest. The file that is touched is
    git's own, and nobody measures it.
    """
    probe = os.path.join(toplevel, ".git")
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        os.utime(probe)
        seen = os.stat(probe)
        if seen.st_dev != last.st_dev:
            return None
        if seen.st_ctime_ns > last.st_ctime_ns:
            return FileClock(seen.st_ctime_ns, seen.st_dev)
        time.sleep(_NAP_S)
    return None


def take_fresh_index(toplevel: str) -> FreshIndex | None:
    """What was kept of this worktree, if anything was; the next one who asks gets nothing."""
    return _known.pop(os.path.realpath(toplevel), None)


def forget_checkout(toplevel: str) -> None:
    """Keep nothing of a worktree that is gone or that nobody has measured."""
    _known.pop(os.path.realpath(toplevel), None)


def put_fresh_index(fresh: FreshIndex, path: str) -> None:
    """Have at `path` the index of all files as they were."""
    _put_index(fresh, path, fresh.data)


def forget_touched(toplevel: str, fresh: FreshIndex, id_bytes: int, path: str) -> list[str] | None:
    """Which files were touched since; of these the index then knows nothing but what they were.

    None, and no file, if it is no plain index.
    """
    try:
        entries = iterate_plain_entries(fresh.data, id_bytes)
        touched = find_touched(toplevel, fresh.data, entries, fresh.since)
    except NotPlainError:
        os.unlink(path)
        return None
    if touched:
        _put_index(fresh, path, zero_stats(fresh.data, id_bytes, list(touched)))
    return [name.decode("utf-8", "surrogateescape") for name in touched.values()]


def _put_index(fresh: FreshIndex, path: str, data: bytes) -> None:
    atomic.replace_file(path, data, sync=False)
    # Git reads files again that are as young as the index. None that it still knows was touched.
    later = fresh.since.ns + SECOND_NS
    os.utime(path, ns=(later, later))


@contextlib.contextmanager
def keep_date(path: str) -> Iterator[None]:
    """Have an index dated as before: git reads all files again that are as young as their index.

    What changes while we measure is forgotten before the next measurement, whatever the date.
    """
    before = os.stat(path).st_mtime_ns
    yield
    os.utime(path, ns=(before, before))
