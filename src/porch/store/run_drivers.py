"""Who drives a run, by its lock, whose holder the kernel knows; with os and fcntl only.

Lists ask this of every run that is not over, so it costs one open and one flock each.
"""

from __future__ import annotations

import fcntl
import os
import time

from porch.system.processes import is_suspended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from porch.show.shapes import DriverShape
    from porch.store.lock import LockHolder

_BEAT_S = 10.0
_TRY = fcntl.LOCK_SH | fcntl.LOCK_NB
_MINUTES: dict[int, str] = {}  # lists say the same few minutes over and over
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


class RunDriver:
    """Who holds a run, or since when (in seconds) nobody does."""

    __slots__ = ("alone_since", "holder")

    def __init__(self, holder: LockHolder | None, alone_since: float = 0.0) -> None:
        self.holder = holder
        self.alone_since = alone_since

    @property
    def is_queued(self) -> bool:
        return self.holder is not None and self.holder.is_queued

    @property
    def is_moving(self) -> bool:
        return self.holder is not None and not self.is_suspended

    @property
    def is_suspended(self) -> bool:
        """Its process was halted, for example with Ctrl-Z: it holds the run and does nothing."""
        by = self.holder
        return by is not None and by.host == os.uname().nodename and is_suspended(by.pid)


class Pulse:
    """The sign of life of a driver: without it nobody could say when a killed one was gone."""

    __slots__ = ("_every_s", "_last", "_path")

    def __init__(self, directory: str, every_s: float = _BEAT_S) -> None:
        self._path = os.path.join(directory, "lock")
        self._every_s = every_s
        self._last = time.monotonic()

    def beat(self) -> None:
        if time.monotonic() - self._last < self._every_s:
            return
        self._last = time.monotonic()
        try:
            os.utime(self._path)
        except OSError:
            return


def find_driver(directory: str) -> RunDriver:
    """Who drives the run of this directory."""
    runs, name = os.path.split(directory)
    return find_drivers(runs, (name,))[name]


def find_drivers(runs: str, names: Iterable[str]) -> dict[str, RunDriver]:
    """The same for many runs: who drives each of them."""
    try:
        # Names under it are looked up more quickly than whole paths.
        top = os.open(runs, _FLAGS | os.O_DIRECTORY)
    except OSError:
        return {name: RunDriver(None) for name in names}
    try:
        return {name: _probe_lock(top, runs, name) for name in names}
    finally:
        os.close(top)


def _probe_lock(top: int, runs: str, name: str) -> RunDriver:
    try:
        fd = os.open(f"{name}/lock", _FLAGS, dir_fd=top)
    except OSError:
        return RunDriver(None, _last_change(f"{runs}/{name}/journal.jsonl"))
    try:
        fcntl.flock(fd, _TRY)
        # Whoever leaves a lock, or only lives on with it, changes the file.
        return RunDriver(None, os.fstat(fd).st_mtime)
    except OSError:
        # Somebody holds it, and who, is worth a second look; or nobody can say.
        from porch.store.lock import read_lock_holder

        return RunDriver(read_lock_holder(f"{runs}/{name}/lock"), os.fstat(fd).st_mtime)
    finally:
        os.close(fd)


def _last_change(path: str) -> float:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def describe_driver(driver: RunDriver, word: str, program: str = "porch") -> str:
    """For people; `word` means this run and no other, and `program` is what they have called."""
    if driver.holder is None:
        return f"{describe_nobody(driver)}. Start it again: {program} resume {word}"
    halted = f": kill -CONT {driver.holder.pid}" if driver.is_suspended else ""
    return f"{describe_holder(driver)}{halted}"


def describe_holder(driver: RunDriver) -> str:
    """The same without what to do."""
    by = driver.holder
    if by is None:
        return describe_nobody(driver)
    who = f"{by.what}, pid {by.pid}" if by.pid else "an unknown process"
    where = f" on {by.host}" if by.pid and by.host != os.uname().nodename else ""
    halted = "; it is suspended" if driver.is_suspended else ""
    return f"{who}{where}, since {format_clock(parse_instant(by.since))}{halted}"


def describe_nobody(driver: RunDriver) -> str:
    since = f" since {format_clock(driver.alone_since)}" if driver.alone_since else ""
    return f"not running{since}"


def make_driver_data(driver: RunDriver) -> DriverShape | None:
    """The same for programs: nothing if nobody drives it."""
    by = driver.holder
    return {"pid": by.pid, "host": by.host, "since": by.since, "what": by.what} if by else None


def parse_instant(text: str) -> float:
    """Seconds of an instant like 2026-01-19T10:41:00Z; without the modules that read dates."""
    try:
        parts = [int(text[a:b]) for a, b in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19))]
        return time.mktime((*parts, 0, 0, 0)) - time.timezone  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return 0.0


def format_clock(seconds: float) -> str:
    """The time of day for people here; with the date if it was another day."""
    if not seconds:
        return "an unknown time"
    minute = int(seconds // 60)
    if minute not in _MINUTES:
        then, today = time.localtime(seconds), time.localtime()
        form = "%H:%M" if then[:3] == today[:3] else "%Y-%m-%d %H:%M"
        _MINUTES.clear()
        _MINUTES[minute] = time.strftime(form, then)
    return _MINUTES[minute]
