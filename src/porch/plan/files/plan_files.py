"""The files of a plan: read as they are, replaced whole, and never half written."""

import contextlib
import os
import stat

from porch.errors import DefinitionError, Finding, Place
from porch.system import atomic
from porch.system.regular_file import open_regular

MOST = 1 << 22


def read_file_text(path: str) -> str | None:
    """The content of a regular file; None where there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable_error(path, error.strerror or str(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _unreadable_error(path, "it is not a file")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(MOST + 1)
    finally:
        os.close(fd)
    if len(data) > MOST:
        raise _unreadable_error(path, f"it is larger than {MOST} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable_error(path, f"it is not UTF-8 text: {error.reason}") from error


def _unreadable_error(path: str, why: str) -> DefinitionError:
    fix = "fix or move the file; nothing was written"
    return DefinitionError([Finding("unreadable", f"cannot be read: {why}", Place(path), fix)])


def write_file(path: str, content: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    atomic.replace_file(path, content.encode("utf-8", "replace"), sync=True)


def append_to_file(path: str, content: str, heading: str) -> None:
    """Behind what is there, which is not touched, in one write that is on the disk afterwards."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        size = os.fstat(fd).st_size
        torn = size and os.pread(fd, 1, size - 1) != b"\n"
        front = "" if size else heading
        atomic.write_all(
            fd, f"{chr(10) if torn else ''}{front}{content}".encode("utf-8", "replace")
        )
        atomic.sync_file(fd, path)
    finally:
        os.close(fd)


def list_file_names(directory: str, ending: str) -> list[str]:
    """The files of a directory with this ending, without it."""
    with contextlib.suppress(OSError):
        return sorted(
            name.removesuffix(ending)
            for name in os.listdir(directory)
            if name.endswith(ending) and not name.startswith((".", "_"))
        )
    return []


def copy_aside(path: str, directory: str) -> str:
    """A copy under a name that is free; what somebody wrote is never written over.

    The same bytes are kept once: whoever was killed after this comes again.
    """
    os.makedirs(directory, exist_ok=True)
    stem, ending = os.path.splitext(os.path.basename(path))
    with open(path, "rb", opener=open_regular) as file:
        data = file.read()
    number = 1
    while os.path.lexists(aside := os.path.join(directory, f"{stem}-{number}{ending}")):
        if _has_content(aside, data):
            return aside
        number += 1
    atomic.replace_file(aside, data, sync=True)
    return aside


def _has_content(path: str, data: bytes) -> bool:
    with contextlib.suppress(OSError), open(path, "rb", opener=open_regular) as file:
        return file.read(len(data) + 1) == data
    return False
