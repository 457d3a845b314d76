"""Git's lock of an index, held by porch: meanwhile nobody else writes that index, nor commits.

Git only looks whether the file is there, so its content is ours: a line that says who made it. Its
maker also holds it by flock, which the kernel frees when the maker dies. So a lock with our line
that nobody holds is of a dead porch. It is taken over as it lies there, never removed and made
again: two that meet it cannot take each other's. The lock of a git is waited for and then named; it
is removed only in a worktree of porch's own, and only if no git is at work there.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

from porch.git.command import lock_error
from porch.system import atomic
from porch.system.processes import list_pids, read_directory, read_name
from porch.system.regular_file import open_regular
from porch.system.scratch import copy_with_times

WAIT_S = 3.0
_PAUSE_S = 0.05
_MARK = b"porch "


class HeldIndex:
    """The index that takes the place of the old one, once it is published."""

    __slots__ = ("_index", "copy")

    def __init__(self, index: str) -> None:
        self._index = index
        self.copy = f"{index}.porch"

    def publish(self) -> None:
        """A renaming, which needs no space on the disk."""
        os.replace(self.copy, self._index)


@contextlib.contextmanager
def hold_index(index: str) -> Iterator[HeldIndex]:
    """Hold git's lock of an index; without `publish` the index stays as it is."""
    held, fd = HeldIndex(index), _take_lock(f"{index}.lock")
    try:
        _wait_for_orphan(f"{held.copy}.lock")
        with contextlib.suppress(FileNotFoundError):
            copy_with_times(index, held.copy)
        yield held
    except OSError as error:
        raise atomic.disk_error(index, "write", error) from error
    finally:
        _release(index, fd)


def is_lock_of_dead_porch(index: str) -> bool:
    """Whether nobody holds the lock that a porch left; nothing is changed."""
    fd = _take_over(f"{index}.lock")
    if fd is not None:
        os.close(fd)
    return fd is not None


def remove_dead_lock(index: str) -> bool:
    """Whether a dead porch had left a lock, which is gone now."""
    fd = _take_over(f"{index}.lock")
    if fd is not None:
        _release(index, fd)
    return fd is not None


def clear_index_lock(index: str, own_worktree: str = "") -> None:
    """Have no lock of the dead on an index; one that lives gets its time first."""
    lock, deadline = f"{index}.lock", time.monotonic() + WAIT_S
    while os.path.lexists(lock) and not remove_dead_lock(index):
        if time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
        elif own_worktree and not _is_git_at_work(own_worktree):
            atomic.try_os_call(os.unlink, lock)
        else:
            return


def _take_lock(lock: str) -> int:
    deadline = time.monotonic() + WAIT_S
    while True:
        fd = _make_lock(lock)
        fd = _take_over(lock) if fd is None else fd
        if fd is not None:
            return fd
        if time.monotonic() >= deadline:
            raise lock_error(lock, "update-index")
        time.sleep(_PAUSE_S)


def _make_lock(lock: str) -> int | None:
    try:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return None
    except OSError as error:
        raise atomic.disk_error(lock, "write", error) from error
    try:
        # Whoever looks meanwhile has it for an instant, finds no line of ours, and lets go.
        fcntl.flock(fd, fcntl.LOCK_EX)
        atomic.write_all(fd, _MARK + b"%d\n" % os.getpid())
    except OSError as error:
        os.unlink(lock)
        os.close(fd)
        raise atomic.disk_error(lock, "write", error) from error
    return fd


def _take_over(lock: str) -> int | None:
    """The lock of a dead porch, held by us from now on; None if it is anything else."""
    try:
        fd = open_regular(lock, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_ours = os.pread(fd, len(_MARK), 0) == _MARK
        if is_ours and os.path.samestat(os.lstat(lock), os.fstat(fd)):
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


def _release(index: str, fd: int) -> None:
    copy = f"{index}.porch"
    for path in (f"{copy}.lock", copy, f"{index}.lock"):
        atomic.try_os_call(os.unlink, path)
    os.close(fd)


def _wait_for_orphan(lock: str) -> None:
    """A git that outlived the porch that started it may still write the copy of that one."""
    deadline = time.monotonic() + WAIT_S
    while os.path.lexists(lock) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
    atomic.try_os_call(os.unlink, lock)


def _is_git_at_work(place: str) -> bool:
    """Whether a git of anybody works in a directory, such as one that waits for an editor."""
    top = os.path.realpath(place)
    return any(_is_git_in(pid, top) for pid in list_pids())


def _is_git_in(pid: int, top: str) -> bool:
    return read_name(pid) == "git" and f"{read_directory(pid)}/".startswith(f"{top}/")
