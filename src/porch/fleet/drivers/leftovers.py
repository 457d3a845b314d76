"""What a kickoff leaves that dies before it has said which run it drives.

Its worktree is taken back if the run did not begin. If it did, the run gets a log of its own, by
which the next look at it starts its driver again.
"""

import os

from porch.fleet.drivers.kickoff_logs import LOG, list_kickoff_logs, remove_if_dead
from porch.fleet.drivers.revive import find_last_driver
from porch.run.worktrees.take_back import UnbegunWorktree, take_back_unbegun
from porch.store.where import ProjectPaths
from porch.system import atomic


def take_back_leftovers(where: ProjectPaths) -> list[str]:
    """Clean up behind kickoffs that died; what was taken back, in words."""
    dead = [path for path in list_kickoff_logs(where) if remove_if_dead(path)]
    return take_back_kickoff(where) if dead else []


def take_back_kickoff(where: ProjectPaths) -> list[str]:
    """The same behind one of which it is known that it died."""
    found = take_back_unbegun(where)
    for name in where.runs():
        _claim_run(where, name)
    return [_describe(each) for each in found]


def _describe(found: UnbegunWorktree) -> str:
    died = f"{found.name}: its kickoff died before the run began"
    if found.is_gone:
        return f"{died}, and the worktree was taken back"
    return f"{died}; files of the set-up are in {found.path}; the same kickoff goes on with it"


def _claim_run(where: ProjectPaths, name: str) -> None:
    """A driver that was kicked off has a log; this one died before it could put it there."""
    path = os.path.join(where.run_dir(name), LOG)
    if not os.path.exists(path) and find_last_driver(where, name).get("detached"):
        atomic.replace_file(path, b"", sync=False)
