"""The side of a driver that was kicked off: it says when its run is there, and shares places.

Whoever kicked it off listens at a pipe until then. Its output moves beside the run.
"""

import os
from functools import partial

from msgspec.structs import replace

from porch.fleet.drivers.kickoff_logs import LOG
from porch.fleet.drivers.run_slots import open_place
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch
from porch.run.engine.driver import DriveManner
from porch.run.settings import load_settings
from porch.store.where import ProjectPaths
from porch.system import atomic


class KickoffReport:
    """Told once, with the first record of the drive: under the lock, so the run is driven."""

    def __init__(self, where: ProjectPaths, told: str):
        number, _, self._log = told.partition(":")
        self._where = where
        self._fd = int(number)

    def tell(self, name: str, worktree: str) -> None:
        if self._fd < 0:
            return
        _move_log(self._log, os.path.join(self._where.run_dir(name), LOG))
        # Whoever kicked it off may have gone; the run goes on all the same.
        atomic.try_os_call(os.write, self._fd, f"{name}\n{worktree}\n".encode())
        os.close(self._fd)
        self._fd = -1


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

    number = load_settings(where.root).max_runs
    place = partial(open_place, where, number)
    return replace(manner, wait=True, open_place=place), replace(watch, record=record)
