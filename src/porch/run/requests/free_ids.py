"""The id of a run for which nobody named one: the next free number of the project."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from porch.errors import BusyError
from porch.run.requests.known_names import list_document_names
from porch.store.known_runs import list_known_runs
from porch.store.lock import RunLock
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.regular_file import open_regular
from porch.text.late_pattern import late_pattern

# Larger numbers are those of a tracker, or dates; counting on from them would help nobody.
_LARGEST = 9999
_ID = late_pattern(r"(?:[A-Za-z][A-Za-z0-9.-]*_)?(?P<id>[0-9]+)(?![A-Za-z0-9])")
_WAIT_S = 10.0


def draw_free_id(where: ProjectPaths) -> str:
    """A number that nobody has, and that nobody else is given.

    The last one is kept, because a run exists only some time after its id was drawn.
    """
    path = os.path.join(where.state_dir, "last-id")
    with RunLock(f"{path}.lock") as lock:
        if not lock.acquire("porch run", _WAIT_S):
            raise BusyError(
                "another porch process has been choosing an id for 10 seconds",
                fix="try again, or give an id yourself: porch run PROTOCOL 0001 ...",
                code="ids-busy",
            )
        names = (*where.names(), *list_known_runs(where.state_dir), *list_document_names(where))
        number = next_free_number(names, _read_last(path))
        atomic.replace_file(path, str(number).encode(), sync=False)
    return f"{number:04}"


@contextmanager
def given_back_if_unused(where: ProjectPaths, id_: str) -> Iterator[None]:
    """An id that was drawn for a run that was refused is free again; `id_` may be none at all."""
    try:
        yield
    except BaseException:
        if id_.isdecimal() and not any(_has_number(name, int(id_)) for name in where.names()):
            _give_back(where, int(id_))
        raise


def _give_back(where: ProjectPaths, number: int) -> None:
    """Only the last one: somebody who drew after us has another, and keeps it."""
    path = os.path.join(where.state_dir, "last-id")
    with RunLock(f"{path}.lock") as lock:
        if lock.acquire("porch run", _WAIT_S) and _read_last(path) == number:
            atomic.replace_file(path, str(number - 1).encode(), sync=False)


def _has_number(name: str, number: int) -> bool:
    found = _ID.match(name)
    return found is not None and int(found["id"]) == number


def next_free_number(names: Iterable[str], last: int = 0) -> int:
    """One more than the largest number of at most four digits, and nobody's."""
    taken = {int(found["id"]) for name in names if (found := _ID.match(name))}
    number = max((last, *(each for each in taken if each <= _LARGEST))) + 1
    while number in taken:
        number += 1
    return number


def _read_last(path: str) -> int:
    try:
        with open(path, encoding="ascii", opener=open_regular) as file:
            return int(file.read(16))
    except (OSError, ValueError):
        return 0
