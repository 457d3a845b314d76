"""A picture that is drawn again and again: two files take turns under its name.

Creating one file and removing another for every drawing was a tenth of all that a record costs.
So the file that a drawing takes away is kept, in a directory of ours, and is the next to be
written; but only if nobody has it open or linked, for who reads must never see it change.
"""

from __future__ import annotations

import fcntl
import os
import stat

from porch.adapters import atomic, crash, swap

_LEASE = getattr(fcntl, "F_SETLEASE", None)
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def redraw(spare: str, path: str, data: bytes) -> os.stat_result:
    """Like `atomic.replace` without a sync, by way of a spare file on the same file system."""
    try:
        written = _written(spare, data)
        crash.point("atomic.before-rename")
        if written is None or not swap.swap(spare, path):
            return atomic.replace(path, data, sync=False)
    except OSError:
        # Whatever is wrong with the spare is no reason to draw nothing.
        atomic.attempt(os.unlink, spare)
        return atomic.replace(path, data, sync=False)
    crash.point("atomic.after-rename")
    return written


def _written(spare: str, data: bytes) -> os.stat_result | None:
    """The spare file with this content; None if it is not ours alone to write."""
    fd = os.open(spare, _FLAGS, 0o666)
    try:
        found = os.fstat(fd)
        if not _is_free(fd, found):
            os.unlink(spare)
            return None
        crash.point("atomic.before-write")
        atomic.write_all(fd, data)
        if found.st_size > len(data):
            os.ftruncate(fd, len(data))
        crash.point("atomic.after-write")
        return os.fstat(fd)
    finally:
        os.close(fd)


def _is_free(fd: int, found: os.stat_result) -> bool:
    """Whether no name but the spare's and nobody but us has hold of this file."""
    if _LEASE is None or not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return False
    # Granted only where nobody else has the file open; given back when it is closed.
    return atomic.attempt(fcntl.fcntl, fd, _LEASE, fcntl.F_WRLCK)
