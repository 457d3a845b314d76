"""Write beside, sync, rename: what is read back is the old file or the new one, never half of one.

Typing, dataclasses and our errors are imported late here and in the modules on top of this one:
`porch status` uses them, and its whole budget is three bare interpreter starts.
"""

from __future__ import annotations

import errno
import os

from porch.system import crash_points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from porch.errors import PorchError


class _DiskRefusal:
    __slots__ = ("code", "fix", "text")

    def __init__(self, code: str, text: str, fix: str):
        self.code = code
        self.text = text
        self.fix = fix


_ROOM = "free some disk space, then run the same command again"
_DENIED = _DiskRefusal("disk-denied", "permission denied", "give this user permission to it")
DISK_REFUSALS = {
    errno.ENOSPC: _DiskRefusal("disk-full", "the disk is full", _ROOM),
    errno.EDQUOT: _DiskRefusal("disk-full", "the disk quota is used up", _ROOM),
    errno.EFBIG: _DiskRefusal(
        "disk-full", "the file would be larger than the limit", "raise the limit (`ulimit -f`)"
    ),
    errno.EROFS: _DiskRefusal("disk-denied", "the file system is read-only", "mount it writable"),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.ENOTDIR: _DiskRefusal(
        "disk", "part of this path is a file, not a directory", "move that file somewhere else"
    ),
}
_FULL_SYNC = "F_FULLFSYNC"
_NO_SYNC_OF_DIRECTORIES = (errno.EINVAL, errno.ENOTSUP)
# Spelt out, because a disk that fails to sync may fail to load the module that names it.
_EXIT_OUTSIDE = 6


def replace_file(path: str, data: bytes, *, sync: bool, mode: int = 0o666) -> os.stat_result:
    """Put data at path. Two writers of one path must not meet: both write `<name>.tmp`."""
    return publish_file(temporary_name(path), path, data, sync=sync, mode=mode)


def temporary_name(path: str) -> str:
    """Where a file is written before it takes the place of the old one; a kill leaves it there."""
    return path + ".tmp"


def publish_file(
    temporary: str, path: str, data: bytes, *, sync: bool = True, mode: int = 0o600
) -> os.stat_result:
    """Like replace, through a temporary name that the caller chooses; returns what lies there."""
    try:
        written = _write_beside(temporary, data, sync, mode)
        crash_points.reach_point("atomic.before-rename")
        os.replace(temporary, path)
    except OSError as error:
        try_os_call(os.unlink, temporary)
        raise disk_error(path, "write", error) from error
    crash_points.reach_point("atomic.after-rename")
    if sync:
        sync_directory(os.path.dirname(path))
        crash_points.reach_point("atomic.after-directory-sync")
    return written


def publish_new_file(temporary: str, path: str, data: bytes, *, mode: int) -> None:
    """The same where nothing lies yet; what somebody put there meanwhile stays."""
    try:
        _write_beside(temporary, data, sync=False, mode=mode)
        crash_points.reach_point("atomic.before-rename")
        try:
            os.link(temporary, path)
        except FileExistsError:
            return
        except OSError:
            # Some file systems know no second names.
            if not os.path.lexists(path):
                os.replace(temporary, path)
    except OSError as error:
        raise disk_error(path, "write", error) from error
    finally:
        try_os_call(os.unlink, temporary)
    crash_points.reach_point("atomic.after-rename")


def _write_beside(temporary: str, data: bytes, sync: bool, mode: int) -> os.stat_result:
    fd = _open_new(temporary, mode)
    try:
        crash_points.reach_point("atomic.before-write")
        write_all(fd, data)
        crash_points.reach_point("atomic.after-write")
        if sync:
            sync_file(fd, temporary)
            crash_points.reach_point("atomic.after-sync")
        return os.fstat(fd)
    finally:
        os.close(fd)


def _open_new(path: str, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(path, flags, mode)
    except FileExistsError:
        # A leftover of a crash, or a link that somebody planted: written through, it would
        # change a file elsewhere.
        os.unlink(path)
        return os.open(path, flags, mode)


def write_all(fd: int, data: bytes) -> None:
    written = os.write(fd, data)
    while written < len(data):
        # After a short write only the next one tells why.
        written += os.write(fd, data[written:])


def try_os_call(call: Callable[..., object], *arguments: object) -> bool:
    """For what is worth trying and costs nothing when it fails."""
    try:
        call(*arguments)
    except OSError:
        return False
    return True


def ensure_directory(path: str) -> None:
    """Make the directory and its parents, for the owner alone, and sync each new entry."""
    if not path or os.path.isdir(path):
        return
    parent = os.path.dirname(os.path.abspath(path))
    ensure_directory(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise disk_error(path, "create the directory", error) from error
    sync_directory(parent)


def sync_file(fd: int, path: str) -> None:
    """Data and size are on the disk afterwards; if that cannot be had, the process ends.

    After a failed fsync the kernel may call the same pages clean: a second try would succeed and
    prove nothing, so nobody in this process may go on believing in what it wrote.
    """
    try:
        _flush_to_disk(fd)
    except OSError as error:
        _exit_on_failed_sync(path, error)


def sync_directory(path: str) -> None:
    try:
        fd = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise disk_error(path, "open the directory", error) from error
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_SYNC_OF_DIRECTORIES:
            _exit_on_failed_sync(path, error)
    finally:
        os.close(fd)


def _flush_to_disk(fd: int) -> None:
    if hasattr(os, "fdatasync"):
        os.fdatasync(fd)
        return
    import fcntl

    try:
        # On macOS fsync stops at the drive's own cache.
        fcntl.fcntl(fd, getattr(fcntl, _FULL_SYNC))
    except (OSError, AttributeError):
        os.fsync(fd)


def _exit_on_failed_sync(path: str, error: OSError) -> NoReturn:
    text = (
        f"error[disk-sync]: {path} could not be saved safely to the disk: {error.strerror}\n"
        "  fix: check the disk, then run the same command again; it continues from the last"
        " saved record\n"
    )
    try:
        os.write(2, text.encode(errors="backslashreplace"))
    finally:
        os._exit(_EXIT_OUTSIDE)


def disk_error(path: str, doing: str, error: OSError) -> PorchError:
    """What the operating system refused, as an error that a person can act on."""
    from porch.errors import OutsideError
    from porch.system.regular_file import NotRegularFile, not_regular_error

    if isinstance(error, NotRegularFile):
        return not_regular_error(path)

    unknown = _DiskRefusal("disk", error.strerror or str(error), "check that path, then try again")
    why = DISK_REFUSALS.get(error.errno or 0, unknown)
    return OutsideError(f"could not {doing} {path}: {why.text}", fix=why.fix, code=why.code)
