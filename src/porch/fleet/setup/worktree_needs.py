"""What a new worktree lacks of this project: installed packages, which git does not have.

A link to the packages of the checkout costs nothing. But where packages of the project itself are
among them, tests in the worktree would use the files of the checkout: there they are installed.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from porch.fleet.setup.node_packages import INSTALLS, find_manager, has_workspaces, needs_packages
from porch.fleet.setup.project_commands import FoundCommand, list_parts
from porch.fleet.setup.python_commands import find_virtualenv

# Whoever starts tests by one of these has an environment for each directory.
_PYTHON_SETUPS = {"poetry run ": "poetry install --quiet", "pdm run ": "pdm install --quiet"}
_OWN_ENVIRONMENTS = ("uv run ", *_PYTHON_SETUPS)


class WorktreeNeeds(Struct, frozen=True):
    """What `[worktree]` shall say; both need the trust of a person."""

    link: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()


def find_needs(root: str, commands: Iterable[FoundCommand]) -> WorktreeNeeds:
    """For the top of the project and for its parts, as far as the commands use them."""
    texts = [each.command for each in commands]
    link: list[str] = []
    setup: list[str] = []
    for part in ("", *list_parts(root)):
        place = os.path.join(root, part)
        link += (os.path.join(part, name) for name in _list_links(place, texts))
        front = f"cd {part} && " if part else ""
        setup += (front + each for each in _list_setups(place, texts))
    return WorktreeNeeds(tuple(link), tuple(setup))


def _list_links(place: str, texts: Sequence[str]) -> Iterator[str]:
    virtualenv = find_virtualenv(place)
    if virtualenv and not any(word in text for text in texts for word in _OWN_ENVIRONMENTS):
        yield virtualenv
    modules = os.path.isdir(os.path.join(place, "node_modules"))
    if modules and needs_packages(place) and not has_workspaces(place):
        yield "node_modules"


def _list_setups(place: str, texts: Sequence[str]) -> Iterator[str]:
    for word, install in _PYTHON_SETUPS.items():
        lock = f"{word.partition(' ')[0]}.lock"
        has_lock = os.path.isfile(os.path.join(place, lock))
        if has_lock and any(word in text for text in texts):
            yield install
    modules = os.path.isdir(os.path.join(place, "node_modules"))
    if needs_packages(place) and (has_workspaces(place) or not modules):
        manager = find_manager(place)
        if manager:
            yield INSTALLS[manager]
