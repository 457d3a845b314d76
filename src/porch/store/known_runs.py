"""The names of all runs that a repository has had, beside the runs themselves.

Whoever deletes the directory of a run does not make it as if there had been none: a run that would
begin anew in its place, behind what was decided there, is said to be gone instead.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from porch.store.where import ProjectPaths

FILE = "known-runs"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


def list_known_runs(state_dir: str) -> list[str]:
    try:
        with open(os.path.join(state_dir, FILE), encoding="utf-8", errors="replace") as file:
            return list(dict.fromkeys(line for line in file.read().splitlines() if line))
    except OSError:
        return []


def list_lost_runs(where: ProjectPaths, shown: Container[str] = ()) -> list[str]:
    """The runs that were here and have no journal any more; those in `shown` have one."""
    known = list_known_runs(where.state_dir)
    return [name for name in known if name not in shown and not where.has_begun(name)]


def note_run(state_dir: str, name: str) -> None:
    """Each name once; a line that a crash cut short begins no other."""
    from porch.system import atomic

    path = os.path.join(state_dir, FILE)
    if name in list_known_runs(state_dir):
        return
    try:
        fd = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise atomic.disk_error(path, "write", error) from error
    try:
        atomic.write_all(fd, f"\n{name}\n".encode())
        atomic.sync_file(fd, path)
    finally:
        os.close(fd)
