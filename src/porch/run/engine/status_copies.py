"""Copies of the status file that a run was adopted from; they stay beside the one that we draw."""

from __future__ import annotations

import os

from porch.system import atomic
from porch.system.regular_file import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def keep_status_copy(path: str, data: bytes) -> None:
    """Once: whoever comes again after a crash finds the copy, and makes no second one."""
    copies = list(_read_copies(path))
    if data not in copies:
        atomic.replace_file(_name_copy(path, len(copies) + 1), data, sync=True)


def has_status_copy(path: str, data: bytes) -> bool:
    """Whether a file says what a run was adopted from, so that nobody has edited it since."""
    return data in _read_copies(path)


def _read_copies(path: str) -> Iterator[bytes]:
    number = 1
    while os.path.exists(copy := _name_copy(path, number)):
        with open(copy, "rb", opener=open_regular) as file:
            yield file.read()
        number += 1


def _name_copy(path: str, number: int) -> str:
    return path.replace(".yaml", f".adopted-{number}.yaml")
