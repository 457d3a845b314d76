"""Opening what should be a file of ours or of the project: a regular one, and nothing else.

Whoever can write to a directory can put a link there, which leads a writer elsewhere, or a pipe or
a device, which holds a reader up for ever.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.errors import StateError

# The file's own fault: a link, a socket or a pipe without a writer, a directory.
_NOT_REGULAR = (errno.ELOOP, errno.ENXIO, errno.EISDIR)
_WAYS = os.O_NONBLOCK | os.O_CLOEXEC


class NotRegularFile(OSError):
    """There is something at a path, and it is no regular file."""

    def __init__(self, path: str):
        super().__init__(errno.EINVAL, "not a regular file", path)


def open_regular(path: str, flags: int, mode: int = 0o666) -> int:
    """The descriptor of a regular file, never through a link; fits `opener` of `open`."""
    return _open_checked(path, flags | os.O_NOFOLLOW, mode)


def open_followed(path: str, flags: int) -> int:
    """The same where a link is somebody's good right: files of git, protocols, settings."""
    return _open_checked(path, flags, 0o666)


def _open_checked(path: str, flags: int, mode: int) -> int:
    try:
        fd = os.open(path, flags | _WAYS, mode)
    except OSError as error:
        if error.errno in _NOT_REGULAR:
            raise NotRegularFile(path) from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise NotRegularFile(path)
    return fd


def read_whole_file(path: str) -> bytes:
    """The bytes of a regular file; whoever waits for a pipe waits for ever."""
    with open(path, "rb", opener=open_followed) as file:
        return file.read()


def open_fresh(path: str, flags: int, mode: int = 0o666) -> int:
    """A new file for a draft: what lies under its name is a leftover, or was planted, and goes."""
    flags = (flags & ~os.O_TRUNC) | os.O_CREAT | os.O_EXCL | _WAYS
    try:
        return os.open(path, flags, mode)
    except FileExistsError:
        os.unlink(path)
        return os.open(path, flags, mode)


def not_regular_error(path: str) -> StateError:
    from porch.errors import Place, StateError

    return StateError(
        f"{path} is not a regular file",
        fix="look at what it is (`ls -l`), move it away, then run the same command again",
        code="not-a-regular-file",
        place=Place(path),
    )


def require_regular(path: str) -> None:
    """Nothing, or a regular file: what stands there otherwise is nothing to read or write."""
    try:
        found = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise not_regular_error(path)


def require_directory_inside(root: str, directory: str) -> None:
    """A directory of the project, which no link leads out of it."""
    top, real = os.path.realpath(root), os.path.realpath(directory)
    if real == top or real.startswith(top.rstrip(os.sep) + os.sep):
        return
    from porch.errors import Place, StateError

    raise StateError(
        f"{directory} leads out of {root}, to {real}",
        fix="replace the link by a directory, then run the same command again",
        code="outside-the-project",
        place=Place(directory),
    )
