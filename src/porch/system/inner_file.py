"""Reading a file below a directory without ever leaving it: no link on the way is followed.

Whoever writes below the directory may exchange any part of the way at any instant. So each part is
opened from the one before it, and never by its whole name.
"""

import os
import stat

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class InnerFile:
    """A regular file below a directory: its size, and its bytes if they are not too many."""

    __slots__ = ("data", "size")

    def __init__(self, size: int, data: bytes | None):
        self.size = size
        self.data = data


def read_inner_file(root: str, path: str, most: int) -> InnerFile | None:
    """None if there is no such file, or if the way to it is not one of plain directories."""
    parts = path.split("/")
    if not all(part and part not in (".", "..") and "\0" not in part for part in parts):
        return None
    held: list[int] = []
    try:
        held.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for part in parts[:-1]:
            held.append(os.open(part, _DIRECTORY, dir_fd=held[-1]))
        held.append(os.open(parts[-1], _FILE, dir_fd=held[-1]))
        return _read_regular(held[-1], most)
    except OSError:
        return None
    finally:
        for fd in held:
            os.close(fd)


def _read_regular(fd: int, most: int) -> InnerFile | None:
    known = os.fstat(fd)
    if not stat.S_ISREG(known.st_mode):
        return None
    if known.st_size > most:
        return InnerFile(known.st_size, None)
    with open(fd, "rb", closefd=False) as file:
        data = file.read(most + 1)
    return InnerFile(len(data), data if len(data) <= most else None)
