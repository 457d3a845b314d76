"""One writer a run. The kernel frees a dead holder's lock at once, which no pid file can."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import time

from porch.system import atomic, crash_points
from porch.system.regular_file import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from porch.errors import BusyError

_PAUSE_S = 0.02
# Whoever asks who holds a lock holds it himself for an instant, which is no reason to give up.
_GRACE_S = 0.1


class LockHolder:
    """Who has the lock, by their own word; pid 0 where they have not said.

    A queued holder is a driver that waits until fewer runs of this project work.
    """

    __slots__ = ("boot", "host", "is_queued", "pid", "since", "what")

    def __init__(
        self,
        pid: int = 0,
        host: str = "",
        boot: str = "",
        since: str = "",
        what: str = "",
        is_queued: bool = False,
    ):
        self.pid = pid
        self.host = host
        self.boot = boot
        self.since = since
        self.what = what
        self.is_queued = is_queued


class RunLock:
    """Taken with acquire; leaving the context, or dying, gives it back."""

    __slots__ = ("_fd", "path")

    def __init__(self, path: str):
        self.path = path
        self._fd = -1

    def acquire(self, what: str, wait_s: float) -> bool:
        """Whether the lock could be had in that time; what is the command that holds it."""
        if self._fd >= 0:
            raise RuntimeError(f"{self.path} is held by this very object")
        deadline = time.monotonic() + max(wait_s, _GRACE_S)
        while not self._take():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        crash_points.reach_point("lock.after-take")
        self._sign(what)
        crash_points.reach_point("lock.after-sign")
        return True

    def _take(self) -> bool:
        atomic.ensure_directory(os.path.dirname(self.path))
        try:
            fd = open_regular(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise atomic.disk_error(self.path, "open", error) from error
        if _try_flock(fd, self.path, fcntl.LOCK_EX) and _is_still_at(fd, self.path):
            self._fd = fd
            return True
        os.close(fd)
        return False

    def _sign(self, what: str) -> None:
        _write_signature(self._fd, what)

    def release(self) -> None:
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        atomic.try_os_call(os.ftruncate, fd, 0)
        os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def sign_held_lock(path: str, what: str, is_queued: bool = False) -> None:
    """The holder of a lock does something else from now on."""
    try:
        fd = open_regular(path, os.O_WRONLY)
    except OSError:
        return
    try:
        _write_signature(fd, what, is_queued)
    finally:
        os.close(fd)


def _write_signature(fd: int, what: str, is_queued: bool = False) -> None:
    signature = {
        "pid": os.getpid(),
        "host": host_name(),
        "boot": read_boot_id(),
        "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "what": what,
        "queued": is_queued,
    }
    line = json.dumps(signature).encode() + b"\n"
    # The lock is the kernel's; a full disk only keeps the holder anonymous. In this order a
    # reader, who stops at the end of line, never sees an empty file.
    if atomic.try_os_call(os.pwrite, fd, line, 0):
        atomic.try_os_call(os.ftruncate, fd, len(line))


def _try_flock(fd: int, path: str, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(fd)
        raise atomic.disk_error(path, "lock", error) from error
    return True


def _is_still_at(fd: int, path: str) -> bool:
    """A lock on a file that was removed meanwhile keeps nobody out."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(fd))


def read_lock_holder(path: str) -> LockHolder | None:
    """Who holds the lock now; None if nobody does, whatever the file says."""
    try:
        fd = open_regular(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _parse_signature(os.pread(fd, 4096, 0))
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _parse_signature(data: bytes) -> LockHolder:
    try:
        said = json.loads(data.partition(b"\n")[0].decode())
        texts = {key: str(said[key]) for key in ("host", "boot", "since", "what")}
        return LockHolder(int(said["pid"]), **texts, is_queued=said.get("queued") is True)
    except (ValueError, TypeError, KeyError):
        return LockHolder()


def run_busy_error(name: str, by: LockHolder | None) -> BusyError:
    from porch.errors import BusyError

    # A command of a plan is over soon, and there is no driver that could be stopped.
    is_short = by is not None and by.what.startswith("envoy")
    fix = (
        f"watch it: `porch status {name} --watch`; wait until it needs you: `porch wait {name}`; "
        f"see what it asks you: `porch pending {name}`; or stop it first: `porch stop {name}`"
    )
    return BusyError(
        f"run {name} is already running ({_describe_holder(by)})",
        fix="wait a moment, then run the same command again" if is_short else fix,
    )


def _describe_holder(by: LockHolder | None) -> str:
    if by is None or not by.pid:
        return "by an unknown process"
    where = "" if by.host == host_name() else f" on {by.host}"
    return f"{by.what}, pid {by.pid}{where}, since {_format_local_time(by.since)}"


def _format_local_time(since: str) -> str:
    from datetime import datetime

    try:
        then = datetime.fromisoformat(since).astimezone()
    except ValueError:
        return since
    today = datetime.now().astimezone().date()
    return then.strftime("%H:%M" if then.date() == today else "%Y-%m-%d %H:%M")


def host_name() -> str:
    return os.uname().nodename


_BOOT_ID = "/proc/sys/kernel/random/boot_id"


@functools.cache
def read_boot_id() -> str:
    """What changes when the machine starts anew, so that an old pid is not taken for a new one."""
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return _ask_boot_id()


def _ask_boot_id() -> str:
    """On macOS each start has a name; other systems only say when it was."""
    import subprocess

    import psutil

    command = ["sysctl", "-n", "kern.bootsessionuuid"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return f"{psutil.boot_time():.0f}"
    return done.stdout.strip() or f"{psutil.boot_time():.0f}"
