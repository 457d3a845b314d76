"""The files in which people answer: made once, read whole, archived, and never written over."""

import errno
import itertools
import os
import stat
import time
from collections.abc import Iterable
from typing import NamedTuple

from porch.adapters import atomic, file_versions
from porch.adapters.file_versions import Stamp
from porch.errors import DefinitionError, Finding, Place

# Far more than is read as an answer, so that even then the file can say what is wrong with it.
LARGEST = 4 * 1024 * 1024
QUIET_S = 0.1
SETTLED_AFTER_S = 2.0
_LOOK_S = 0.02
_READINGS = 3
_NO_FILES = (errno.ELOOP, errno.ENXIO)


class Content(NamedTuple):
    """Bytes that are no UTF-8 are kept as half characters: a reader refuses them, with a place."""

    text: str
    stamp: Stamp


def ensure(path: str, text: str) -> bool:
    """Whether the file was made; what is there already, of whatever kind, stays as it is."""
    directory = os.path.dirname(path)
    atomic.ensure_directory(directory)
    if os.path.lexists(path):
        return False
    draft = file_versions.aside(path)
    try:
        file_versions.write_new(draft, _encoded(text), 0o666)
        was_made = file_versions.give_name(draft, path)
    except OSError as error:
        atomic.attempt(os.unlink, draft)
        raise atomic.refusal(path, "write", error) from error
    if not was_made:
        os.unlink(draft)
    atomic.sync_directory(directory)
    return was_made


def content(path: str, largest: int = LARGEST) -> Content | None:
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
            raise _no_file(path) from error
        raise atomic.refusal(path, "read", error) from error
    try:
        data, stamp = _steady(fd, path, largest)
    except OSError as error:
        raise atomic.refusal(path, "read", error) from error
    finally:
        os.close(fd)
    return Content(data.decode("utf-8", "surrogateescape"), stamp)


def replace_if_unchanged(path: str, stamp: Stamp, text: str) -> bool:
    """Whether the version of this stamp was still there, and is replaced; nothing newer is lost."""
    return file_versions.replace(path, stamp, _encoded(text))


def archive(paths: Iterable[str], directory: str, stamp_name: str) -> list[str]:
    """Move files away under names that nobody has; returns these. What is not there is left out."""
    atomic.ensure_directory(directory)
    moved = [(path, _moved(path, directory, stamp_name)) for path in paths]
    for place in {directory, *(os.path.dirname(path) for path, name in moved if name)}:
        atomic.sync_directory(place)
    return [name for _, name in moved if name]


def settle(path: str, quiet_s: float = QUIET_S, at_most_s: float = SETTLED_AFTER_S) -> bool:
    """Wait until the file has not changed for a while: editors save in several steps.

    False if it went on changing all the time.
    """
    started = since = now = time.monotonic()
    seen = _glance(path)
    while now - since < quiet_s:
        if now - started >= at_most_s:
            return False
        time.sleep(min(_LOOK_S, quiet_s))
        now = time.monotonic()
        last, seen = seen, _glance(path)
        since = since if seen == last else now
    return True


def estimated_tokens(text: str) -> int:
    """About how many tokens a model would count."""
    from porch.adapters.knowledge.indexing import tokens

    return tokens(_encoded(text))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _steady(fd: int, path: str, largest: int) -> tuple[bytes, Stamp]:
    data = b""
    for _ in range(_READINGS):
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise _no_file(path)
        if before.st_size > largest:
            raise _too_large(path, largest)
        data = _read(fd, largest)
        stamp = file_versions.stamp_for(before, data)
        if stamp == file_versions.stamp_of(fd):
            return data, stamp
    return data, Stamp(0, 0, len(data), "")


def _read(fd: int, largest: int) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb", closefd=False) as file:
        return file.read(largest)


def _moved(path: str, directory: str, stamp_name: str) -> str:
    """The new name; empty if there was nothing to move."""
    try:
        name = _reserved(directory, stamp_name, os.path.basename(path))
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
        raise atomic.refusal(path, "archive", error) from error
    return name


def _reserved(directory: str, stamp_name: str, base: str) -> str:
    """A name that is ours from now on: an empty file has it."""
    numbers = (f"-{number}" if number > 1 else "" for number in itertools.count(1))
    names = (f"{stamp_name}{number}_{base}" for number in numbers)
    return next(name for name in names if _is_made(os.path.join(directory, name)))


def _is_made(path: str) -> bool:
    try:
        os.close(os.open(path, file_versions.NEW, 0o600))
    except FileExistsError:
        return False
    return True


def _glance(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _no_file(path: str) -> DefinitionError:
    message = "this is no regular file: a link, a pipe or a directory is not read as an answer"
    fix = "move it away and run the same command again, which writes a new file"
    return DefinitionError([Finding("not-a-file", message, Place(path), fix)])


def _too_large(path: str, largest: int) -> DefinitionError:
    message = f"the file has more than {largest // 1024} KB"
    return DefinitionError([Finding("too-large", message, Place(path), "cut it to what matters")])
