"""Wishes: what those who do not hold the lock leave for the one who does, a file each."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys

from porch.adapters import atomic, chain, crash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Wish = dict[str, Any]

MAX_BYTES = 64 * 1024
# A wish goes into a record, which must stay readable itself.
MAX_DEPTH = chain.MAX_DEPTH // 2
REFUSED = "refused"
# The file's own fault; anything else (too many open files, a sick disk) is not a reason to put a
# person's wish away.
_ITS_OWN_FAULT = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EACCES, errno.EPERM)


class _Unreadable(Exception):
    """Why a file in the inbox is not a wish."""


def leave(directory: str, wish: Mapping[str, object]) -> str:
    """Deliver a wish and return its id; it is on the disk then, and whole."""
    if "id" in wish:
        raise ValueError("the id of a wish is drawn when it is left")
    name = os.urandom(16).hex()
    data = chain.encode({"id": name, **wish})
    if len(data) > MAX_BYTES or chain.depth(wish) > MAX_DEPTH:
        from porch.errors import UsageError

        raise UsageError(
            f"this is too large to deliver ({len(data)} bytes, {MAX_BYTES} at most)",
            fix="say it shorter, or put the text into a file and name the file",
            code="wish-too-large",
        )
    atomic.ensure_directory(directory)
    crash.point("wish.before-write")
    atomic.publish(_in(directory, f".tmp-{name}"), _in(directory, f"{name}.json"), data)
    crash.point("wish.after-rename")
    return name


def _in(directory: str, name: str) -> str:
    return os.path.join(directory, name)


def _tell(path: str, why: str) -> None:
    sys.stderr.write(f"warning[wish-refused]: {path!r} is not a wish: {why}\n")


def waiting(directory: str, report: Callable[[str, str], None] = _tell) -> list[tuple[str, Wish]]:
    """All wishes and their paths, by name; what is none is put into `refused/` and reported.

    For the lock holder: it moves files.
    """
    found: list[tuple[str, Wish]] = []
    for name in _names(directory):
        path = _in(directory, name)
        try:
            found.append((path, _read(path)))
        except FileNotFoundError:
            continue
        except _Unreadable as why:
            report(_put_away(directory, name), str(why))
        except OSError as error:
            report(path, f"it could not be read now: {error.strerror}")
    return found


def _names(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise atomic.refusal(directory, "read", error) from error
    return sorted(name for name in names if name != REFUSED and not name.startswith("."))


def _read(path: str) -> Wish:
    name, extension = os.path.splitext(os.path.basename(path))
    if extension != ".json":
        raise _Unreadable("its name does not end in .json")
    wish = _parsed(_content(path))
    if wish.get("id") != name:
        raise _Unreadable("its id is not its name")
    return wish


def _content(path: str) -> bytes:
    try:
        # Without O_NONBLOCK a planted pipe would hold the runner for ever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _ITS_OWN_FAULT:
            raise _Unreadable(error.strerror) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _Unreadable("it is not a file")
        data = os.read(fd, MAX_BYTES + 1)
    finally:
        os.close(fd)
    if len(data) > MAX_BYTES:
        raise _Unreadable(f"it is larger than {MAX_BYTES} bytes")
    return data


def _parsed(data: bytes) -> Wish:
    try:
        wish = json.loads(data.decode())
        # What cannot be encoded could not be answered in the journal either.
        chain.encode(wish)
    except (ValueError, RecursionError) as error:
        raise _Unreadable("it is not JSON") from error
    if not isinstance(wish, dict):
        raise _Unreadable("it is not a JSON object")
    if chain.depth(wish) > MAX_DEPTH:
        raise _Unreadable(f"it is nested deeper than {MAX_DEPTH}")
    return wish


def _put_away(directory: str, name: str) -> str:
    """Where the file is now; where it was, if it cannot be moved."""
    path, refused = _in(directory, name), _in(directory, REFUSED)
    try:
        os.makedirs(refused, 0o700, exist_ok=True)
        target, number = _in(refused, name), 1
        while os.path.lexists(target):
            number += 1
            target = _in(refused, f"{name}.{number}")
        crash.point("wish.before-refuse")
        os.rename(path, target)
        crash.point("wish.after-refuse")
    except OSError:
        return path
    return target


def remove(path: str) -> None:
    """Take an answered wish away; one that comes back after a crash is known to the journal."""
    crash.point("wish.before-unlink")
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise atomic.refusal(path, "remove", error) from error
    crash.point("wish.after-unlink")
