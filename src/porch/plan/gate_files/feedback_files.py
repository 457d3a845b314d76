"""The files in which people answer: made once, read whole, archived, and never written over."""

import errno
import itertools
import os
import stat
import time
from collections.abc import Iterable
from typing import NamedTuple

from porch.errors import DefinitionError, Finding, Place
from porch.plan.gate_files import file_versions
from porch.plan.gate_files.file_versions import FileStamp
from porch.system import atomic

# Far more than is read as an answer, so that even then the file can say what is wrong with it.
LARGEST = 4 * 1024 * 1024
QUIET_S = 0.1
SETTLED_AFTER_S = 2.0
_LOOK_S = 0.02
_READINGS = 3
_NO_FILES = (errno.ELOOP, errno.ENXIO)


class FileContent(NamedTuple):
    """Bytes that are no UTF-8 are kept as half characters: a reader refuses them, with a place."""

    text: str
    stamp: FileStamp


def ensure_feedback_file(path: str, text: str) -> bool:
    """Whether the file was made; what is there already, of whatever kind, stays as it is."""
    directory = os.path.dirname(path)
    atomic.ensure_directory(directory)
    if os.path.lexists(path):
        return False
    draft = file_versions.free_aside_name(path)
    try:
        file_versions.write_new(draft, _encode_text(text), 0o666)
        was_made = file_versions.give_name(draft, path)
    except OSError as error:
        atomic.try_os_call(os.unlink, draft)
        raise atomic.disk_error(path, "write", error) from error
    if not was_made:
        os.unlink(draft)
    atomic.sync_directory(directory)
    return was_made


def read_feedback_file(path: str, largest: int = LARGEST) -> FileContent | None:
    """The file as it is now; None if there is none. Raises DefinitionError if it is no such file.

    One that was written to while it was read is read again; if that goes on, its stamp is one that
    no version has, so that nothing can be replaced by mistake.
    """
    try:
        fd = os.open(path, file_versions.READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _NO_FILES:
            raise _no_file_error(path) from error
        raise atomic.disk_error(path, "read", error) from error
    try:
        data, stamp = _read_steadily(fd, path, largest)
    except OSError as error:
        raise atomic.disk_error(path, "read", error) from error
    finally:
        os.close(fd)
    return FileContent(data.decode("utf-8", "surrogateescape"), stamp)


def replace_if_unchanged(path: str, stamp: FileStamp, text: str) -> bool:
    """Whether the version of this stamp was still there, and is replaced; nothing newer is lost."""
    return file_versions.replace_version(path, stamp, _encode_text(text))


def archive_files(paths: Iterable[str], directory: str, stamp_name: str) -> list[str]:
    """Move files away under names that nobody has; returns these. What is not there is left out."""
    atomic.ensure_directory(directory)
    moved = [(path, _move_to_archive(path, directory, stamp_name)) for path in paths]
    for place in {directory, *(os.path.dirname(path) for path, name in moved if name)}:
        atomic.sync_directory(place)
    return [name for _, name in moved if name]


def wait_until_settled(
    path: str, quiet_s: float = QUIET_S, at_most_s: float = SETTLED_AFTER_S
) -> bool:
    """Wait until the file has not changed for a while: editors save in several steps.

    False if it went on changing all the time.
    """
    started = since = now = time.monotonic()
    seen = _stat_file(path)
    while now - since < quiet_s:
        if now - started >= at_most_s:
            return False
        time.sleep(min(_LOOK_S, quiet_s))
        now = time.monotonic()
        last, seen = seen, _stat_file(path)
        since = since if seen == last else now
    return True


def estimate_tokens(text: str) -> int:
    """About how many tokens a model would count; nobody's tokenizer is asked."""
    return (len(_encode_text(text)) + 3) // 4


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _read_steadily(fd: int, path: str, largest: int) -> tuple[bytes, FileStamp]:
    data = b""
    for _ in range(_READINGS):
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise _no_file_error(path)
        if before.st_size > largest:
            raise _too_large_error(path, largest)
        data = _read_bytes(fd, largest)
        stamp = file_versions.stamp_read_file(before, data)
        if stamp == file_versions.stamp_open_file(fd):
            return data, stamp
    return data, FileStamp(0, 0, len(data), "")


def _read_bytes(fd: int, largest: int) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb", closefd=False) as file:
        return file.read(largest)


def _move_to_archive(path: str, directory: str, stamp_name: str) -> str:
    """The new name; empty if there was nothing to move."""
    try:
        name = _reserve_name(directory, stamp_name, os.path.basename(path))
        target = os.path.join(directory, name)
        try:
            # Over the empty file of ours; whatever version is there at this moment is kept.
            os.rename(path, target)
        except FileNotFoundError:
            os.unlink(target)
            return ""
        except OSError:
            os.unlink(target)
            raise
    except OSError as error:
        raise atomic.disk_error(path, "archive", error) from error
    return name


def _reserve_name(directory: str, stamp_name: str, base: str) -> str:
    """A name that is ours from now on: an empty file has it."""
    numbers = (f"-{number}" if number > 1 else "" for number in itertools.count(1))
    names = (f"{stamp_name}{number}_{base}" for number in numbers)
    return next(name for name in names if _makes_new_file(os.path.join(directory, name)))


def _makes_new_file(path: str) -> bool:
    try:
        os.close(os.open(path, file_versions.NEW, 0o600))
    except FileExistsError:
        return False
    return True


def _stat_file(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _no_file_error(path: str) -> DefinitionError:
    message = "this is not a regular file; a link, a pipe or a directory is not read as an answer"
    fix = "move it away and run the same command again; it writes a new file"
    return DefinitionError([Finding("not-a-file", message, Place(path), fix)])


def _too_large_error(path: str, largest: int) -> DefinitionError:
    message = f"the file has more than {largest // 1024} KB"
    return DefinitionError([Finding("too-large", message, Place(path), "make it shorter")])
