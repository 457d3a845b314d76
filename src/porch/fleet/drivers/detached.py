"""The side of a driver that was kicked off: it says when its run is there, and shares places.

Whoever kicked it off listens at a pipe until then. Its output moves beside the run. The places that
kicked-off runs of a project share are files under flock, which a dead one frees. A driver that
finds none writes into its lock that it waits. So views know it without asking it.
"""

import fcntl
import os
from functools import partial

from msgspec.structs import replace

from porch.fleet.drivers.kickoff_logs import LOG
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch
from porch.run.engine.driver import DriveManner
from porch.run.settings import load_settings
from porch.store.lock import sign_held_lock
from porch.store.where import ProjectPaths
from porch.system import atomic

# The rest is in the log of the driver.
_MOST_NOTES = 20
DRIVES = "porch run"


class SharedPlace:
    """One of so many places, once it can be had."""

    def __init__(self, directory: str, number: int, lock: str):
        self._directory = directory
        self._number = number
        self._lock = lock
        self._fd = -1
        self._is_waiting = False

    def take(self) -> bool:
        """Whether there is a place for this run; what is held already stays held."""
        if self._fd < 0:
            self._fd = self._take_free_place()
        is_waiting = self._fd < 0
        if is_waiting != self._is_waiting:
            self._is_waiting = is_waiting
            what = self._describe_wait() if is_waiting else DRIVES
            sign_held_lock(self._lock, what, is_waiting)
        return not is_waiting

    def _describe_wait(self) -> str:
        runs = "1 run works" if self._number == 1 else f"{self._number} runs work"
        return f"waits for a free place ({runs}, [af] max_runs)"

    def _take_free_place(self) -> int:
        atomic.ensure_directory(self._directory)
        for number in range(1, self._number + 1):
            path = os.path.join(self._directory, str(number))
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(fd)
            else:
                return fd
        return -1

    def give_back(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def open_place(where: ProjectPaths, number: int, run: str) -> SharedPlace:
    """A place for the run of this directory, of so many that the project has."""
    directory = os.path.join(where.state_dir, "places")
    return SharedPlace(directory, number, os.path.join(run, "lock"))


class KickoffReport:
    """Told once, with the first record of the drive: under the lock, so the run is driven.

    With it goes what people should know before anything is paid for: whoever kicked the run off
    sits in front of a terminal, and the driver does not.
    """

    def __init__(self, where: ProjectPaths, told: str):
        number, _, self._log = told.partition(":")
        self._where = where
        self._fd = int(number)
        self._notes: list[str] = []

    def hear(self, note: str) -> None:
        if self._fd >= 0:
            self._notes += note.splitlines()

    def tell(self, name: str, worktree: str) -> None:
        if self._fd < 0:
            return
        _move_log(self._log, os.path.join(self._where.run_dir(name), LOG))
        # Whoever kicked it off may have gone; the run goes on all the same.
        atomic.try_os_call(os.write, self._fd, self._write_told(name, worktree))
        os.close(self._fd)
        self._fd = -1

    def _write_told(self, name: str, worktree: str) -> bytes:
        told = "".join(f"{line}\n" for line in (name, worktree, *self._notes[:_MOST_NOTES]))
        return told.encode("utf-8", "surrogateescape")


def _move_log(source: str, to: str) -> None:
    if source == to:
        return
    try:
        os.replace(source, to)
    except OSError:
        return


def detach_drive(
    where: ProjectPaths, told: str, manner: DriveManner, watch: DriveWatch
) -> tuple[DriveManner, DriveWatch]:
    """The same drive for a process that nobody sits in front of."""
    report = KickoffReport(where, told)

    def record(record: JournalRecord, state: RunState) -> None:
        watch.record(record, state)
        report.tell(state.run.name, state.run.worktree)

    def notice(text: str) -> None:
        watch.notice(text)
        report.hear(text)

    number = load_settings(where.root).max_runs
    place = partial(open_place, where, number)
    return replace(manner, wait=True, open_place=place), replace(
        watch, record=record, notice=notice
    )
