"""Whether this process may fork a background driver.

A test or a server calls commands as well. A fork of it would have half of what it does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_programs: dict[str, Callable[[], int]] = {}


def offer_program(name: str, main: Callable[[], int]) -> None:
    """Said by whoever was started as a command, and is nothing else."""
    _programs[name] = main


def find_program(name: str) -> Callable[[], int] | None:
    return _programs.get(name)
