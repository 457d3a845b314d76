"""Files for the output of drivers whose run nobody knows yet.

Such a file is held under flock through the output itself: by the driver, and by whoever waits for
it to begin. So a file that nobody holds is a kickoff that died.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.regular_file import open_regular

DIRECTORY = "kickoffs"
# Beside a run; also of one that was started again.
LOG = "driver.log"
# A process that starts several must not wait for itself.
_numbers = count(1)
# By log, the directories that were made for it, the innermost first.
_made: dict[str, list[str]] = {}


def open_kickoff_log(where: ProjectPaths) -> BinaryIO:
    """A file of our own, held for as long as anybody has it open."""
    directory = os.path.join(where.state_dir, DIRECTORY)
    path = os.path.join(directory, f"{os.getpid()}-{next(_numbers)}.log")
    while True:
        _made.setdefault(path, []).extend(_list_missing(directory))
        atomic.ensure_directory(directory)
        try:
            output = open(path, "ab", opener=open_regular)  # noqa: SIM115 - the caller closes it
        except FileNotFoundError:
            continue  # whoever cleaned up was a moment faster
        fcntl.flock(output, fcntl.LOCK_EX)
        if os.path.exists(path):
            return output
        output.close()


def _list_missing(directory: str) -> Iterator[str]:
    while not os.path.lexists(directory):
        yield directory
        directory = os.path.dirname(directory)


def remove_kickoff_log(path: str) -> None:
    """Of a kickoff that came to nothing, with the directories that were made only for it."""
    os.unlink(path)
    with contextlib.suppress(OSError):
        for directory in _made.pop(path, ()):
            os.rmdir(directory)


def list_kickoff_logs(where: ProjectPaths) -> Iterator[str]:
    directory = os.path.join(where.state_dir, DIRECTORY)
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    yield from (os.path.join(directory, name) for name in names)


def remove_if_dead(path: str) -> bool:
    """Whether nobody held it; then it is gone."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
    except OSError:
        return False
    return True
