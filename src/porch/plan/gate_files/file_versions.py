"""Replacing a version of a file that others write too, without losing one of theirs.

They may save by writing into the file or by renaming another one over it, and at any moment. So
the names of two files are exchanged, and then what came out is looked at: if it is not the version
that was to be replaced, it goes back. What somebody may still be writing to is never removed.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import signal
import stat
from collections.abc import Iterator
from typing import NamedTuple

from porch.system import atomic, swap

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_LEASE = getattr(fcntl, "F_SETLEASE", None)
_EXCHANGES = 8


class FileStamp(NamedTuple):
    """One version of a file; the digest, because two savings can fall into one tick of a clock."""

    inode: int
    mtime_ns: int
    size: int
    digest: str


class _HeldFile(NamedTuple):
    """A file that nobody begins to write to for now; `has_writer` is None where nobody can tell."""

    stamp: FileStamp | None
    has_writer: bool | None

    def is_version(self, stamp: FileStamp | None) -> bool:
        return self.stamp is not None and self.stamp == stamp and not self.has_writer


def replace_version(path: str, old: FileStamp, data: bytes) -> bool:
    """Whether this version was there and has been replaced; otherwise nothing has happened."""
    try:
        with _hold_file(path) as found:
            if not found.is_version(old):
                return False
        was_replaced = _replace_held_version(path, old, data)
    except OSError as error:
        raise atomic.disk_error(path, "write", error) from error
    if was_replaced:
        atomic.sync_directory(os.path.dirname(path))
    return was_replaced


def _replace_held_version(path: str, old: FileStamp, data: bytes) -> bool:
    mode = _file_mode(path)
    draft = free_aside_name(path)
    ours = write_new(draft, data, mode)
    os.chmod(draft, mode)
    if swap.swap_files(draft, path):
        return _sort_out_swap(draft, path, old, ours)
    return _replace_with_a_gap(draft, path, old)


def _file_mode(path: str) -> int:
    """As open as the file that is replaced; for the owner alone if that has just gone."""
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return 0o600


def _sort_out_swap(
    draft: str, path: str, expected: FileStamp | None, placed: FileStamp | None
) -> bool:
    """Each exchange should bring out what the one before put there; anything else is newer."""
    ours = placed
    for turn in range(_EXCHANGES):
        with _hold_file(draft) as out:
            if out.is_version(expected):
                if turn == 0 or expected == ours:
                    _remove_if_unused(draft, out)
                return turn == 0
            stamp = out.stamp
        if not swap.swap_files(draft, path):
            # Somebody has removed the file meanwhile; theirs is the one that came out.
            give_name(draft, path)
            return False
        expected, placed = placed, stamp
    return False


def _replace_with_a_gap(draft: str, path: str, old: FileStamp) -> bool:
    """Where names cannot be exchanged: for a moment there is no file. Who saves then, wins."""
    taken = free_aside_name(path)
    was_replaced = False
    if atomic.try_os_call(os.rename, path, taken):
        with _hold_file(taken) as out:
            if out.is_version(old):
                was_replaced = give_name(draft, path)
                _remove_if_unused(taken, out)
            else:
                give_name(taken, path)
    if not was_replaced:
        os.unlink(draft)
    return was_replaced


def _remove_if_unused(path: str, held: _HeldFile) -> None:
    """Only what is known to have no writer: what is not removed can be found again."""
    if held.has_writer is False:
        os.unlink(path)


@contextlib.contextmanager
def _hold_file(path: str) -> Iterator[_HeldFile]:
    try:
        fd = os.open(path, READ)
    except OSError:
        yield _HeldFile(None, None)
        return
    try:
        has_writer = _has_writer(fd)
        yield _HeldFile(stamp_open_file(fd), has_writer)
    finally:
        os.close(fd)


def _has_writer(fd: int) -> bool | None:
    """A lease is granted where nobody has the file open for writing, and lasts until closing."""
    if _LEASE is None:
        return None
    try:
        # Whoever wants to write next is announced by a signal; the usual one would end us.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, _LEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def stamp_open_file(fd: int) -> FileStamp | None:
    """None for what is no regular file."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return None
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb", closefd=False) as file:
        return _make_stamp(found, hashlib.file_digest(file, "sha256").hexdigest())


def stamp_read_file(found: os.stat_result, data: bytes) -> FileStamp:
    """The stamp that a file has if this is all of it."""
    return _make_stamp(found, hashlib.sha256(data).hexdigest())


def _make_stamp(found: os.stat_result, digest: str) -> FileStamp:
    return FileStamp(found.st_ino, found.st_mtime_ns, found.st_size, digest)


def free_aside_name(path: str) -> str:
    """A name of nobody's in the same directory."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.{os.urandom(8).hex()}.aside")


def write_new(path: str, data: bytes, mode: int) -> FileStamp:
    """Write a file that is not there yet, down to the disk."""
    fd = os.open(path, NEW, mode)
    try:
        atomic.write_all(fd, data)
        atomic.sync_file(fd, path)
        found = os.fstat(fd)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(fd)
    return stamp_read_file(found, data)


def give_name(draft: str, path: str) -> bool:
    """Whether the file has its new name now; not if that is somebody else's."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            return False
        os.rename(draft, path)
        return True
    os.unlink(draft)
    return True
