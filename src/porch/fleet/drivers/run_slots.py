"""The places that kicked-off runs of a project share: files under flock, which a dead one frees.

A driver that finds none writes into its lock that it waits. So views know it without asking it.
"""

import fcntl
import os

from porch.store.lock import sign_held_lock
from porch.store.run_drivers import QUEUED
from porch.store.where import ProjectPaths
from porch.system import atomic

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
            sign_held_lock(self._lock, self._describe_wait() if is_waiting else DRIVES)
        return not is_waiting

    def _describe_wait(self) -> str:
        runs = "1 run works" if self._number == 1 else f"{self._number} runs work"
        return f"{QUEUED} ({runs}, [af] max_runs)"

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
