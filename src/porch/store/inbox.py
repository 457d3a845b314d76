"""Wishes: what those who do not hold the lock leave for the one who does, a file each."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys

from porch.store import chain
from porch.system import atomic, crash_points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    RawWish = dict[str, Any]

MAX_BYTES = 64 * 1024
# A wish goes into a record, which must stay readable itself.
MAX_DEPTH = chain.MAX_DEPTH // 2
REFUSED = "refused"
# The file's own fault; anything else (too many open files, a sick disk) is not a reason to put a
# person's wish away.
_ITS_OWN_FAULT = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EACCES, errno.EPERM)


class _NotAWish(Exception):
    """Why a file in the inbox is not a wish."""


class DeliveredWish:
    """A wish in the inbox: its file, what it says, and the user who owns the file."""

    __slots__ = ("owner", "path", "raw")

    def __init__(self, path: str, raw: RawWish, owner: int):
        self.path = path
        self.raw = raw
        self.owner = owner


def leave_wish(directory: str, wish: Mapping[str, object]) -> str:
    """Deliver a wish and return its id; it is on the disk then, and whole."""
    if "id" in wish:
        raise ValueError("the id of a wish is drawn when it is left")
    name = os.urandom(16).hex()
    data = chain.encode_json({"id": name, **wish})
    if len(data) > MAX_BYTES or chain.nesting_depth(wish) > MAX_DEPTH:
        from porch.errors import UsageError

        raise UsageError(
            f"the text is too long ({len(data)} bytes; at most {MAX_BYTES})",
            fix="make it shorter, or put the text into a file and give the name of the file",
            code="wish-too-large",
        )
    atomic.ensure_directory(directory)
    crash_points.reach_point("wish.before-write")
    atomic.publish_file(
        _path_in(directory, f".tmp-{name}"), _path_in(directory, f"{name}.json"), data
    )
    crash_points.reach_point("wish.after-rename")
    return name


def _path_in(directory: str, name: str) -> str:
    return os.path.join(directory, name)


def _warn_refused(path: str, why: str) -> None:
    sys.stderr.write(f"warning[wish-refused]: {path!r} is not a valid request: {why}\n")


def collect_wishes(
    directory: str, report: Callable[[str, str], None] = _warn_refused
) -> list[DeliveredWish]:
    """All wishes, by name; what is none is put into `refused/` and reported.

    For the lock holder: it moves files.
    """
    found: list[DeliveredWish] = []
    for name in _list_names(directory):
        path = _path_in(directory, name)
        try:
            found.append(_read_wish(path, _trusted_owners(directory)))
        except FileNotFoundError:
            continue
        except _NotAWish as why:
            report(_move_to_refused(directory, name), str(why))
        except OSError as error:
            report(path, f"it could not be read: {error.strerror}")
    return found


def _list_names(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise atomic.disk_error(directory, "read", error) from error
    return sorted(name for name in names if name != REFUSED and not name.startswith("."))


def _trusted_owners(directory: str) -> frozenset[int]:
    """Root, whoever holds the run, and whoever owns its inbox: nobody else can want anything."""
    return frozenset((0, os.geteuid(), os.stat(directory).st_uid))


def _read_wish(path: str, owners: frozenset[int]) -> DeliveredWish:
    name, extension = os.path.splitext(os.path.basename(path))
    if extension != ".json":
        raise _NotAWish("its name does not end in .json")
    data, owner = _read_small_file(path)
    if owner not in owners:
        raise _NotAWish(f"it belongs to another user (uid {owner})")
    wish = _parse_wish(data)
    if wish.get("id") != name:
        raise _NotAWish("its id and its file name differ")
    return DeliveredWish(path, wish, owner)


def _read_small_file(path: str) -> tuple[bytes, int]:
    """What the file holds, and who owns it."""
    try:
        # Without O_NONBLOCK a planted pipe would hold the runner for ever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _ITS_OWN_FAULT:
            raise _NotAWish(error.strerror) from error
        raise
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _NotAWish("it is not a file")
        data = os.read(fd, MAX_BYTES + 1)
    finally:
        os.close(fd)
    if len(data) > MAX_BYTES:
        raise _NotAWish(f"it is larger than {MAX_BYTES} bytes")
    return data, status.st_uid


def _parse_wish(data: bytes) -> RawWish:
    try:
        wish = json.loads(data.decode())
        # What cannot be encoded could not be answered in the journal either.
        chain.encode_json(wish)
    except (ValueError, RecursionError) as error:
        raise _NotAWish("it is not JSON") from error
    if not isinstance(wish, dict):
        raise _NotAWish("it is not a JSON object")
    if chain.nesting_depth(wish) > MAX_DEPTH:
        raise _NotAWish(f"it is nested deeper than {MAX_DEPTH}")
    return wish


def _move_to_refused(directory: str, name: str) -> str:
    """Where the file is now; where it was, if it cannot be moved."""
    path, refused = _path_in(directory, name), _path_in(directory, REFUSED)
    try:
        os.makedirs(refused, 0o700, exist_ok=True)
        target, number = _path_in(refused, name), 1
        while os.path.lexists(target):
            number += 1
            target = _path_in(refused, f"{name}.{number}")
        crash_points.reach_point("wish.before-refuse")
        os.rename(path, target)
        crash_points.reach_point("wish.after-refuse")
    except OSError:
        return path
    return target


def remove_wish(path: str) -> None:
    """Take an answered wish away; one that comes back after a crash is known to the journal."""
    crash_points.reach_point("wish.before-unlink")
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise atomic.disk_error(path, "remove", error) from error
    crash_points.reach_point("wish.after-unlink")
