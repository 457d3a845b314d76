"""Files of steps by name: the project's own in the main checkout, then those in the package."""

import os
import re
from collections.abc import Iterator, Sequence

import porch
from porch.adapters.where import Where
from porch.dialects import tree
from porch.dialects.nodes import Node
from porch.dialects.steps import Fetch
from porch.errors import DefinitionError, Finding, Place, UsageError

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
ENDING = ".yaml"
PACKAGED = os.path.join(os.path.dirname(porch.__file__), "protocols", "steps")


def own_directory(where: Where) -> str:
    return os.path.join(where.root, ".claude", "protocols")


def directories(where: Where) -> list[tuple[str, str]]:
    """The first that has a file of the name wins."""
    return [(own_directory(where), "project"), (PACKAGED, "packaged")]


def candidates(where: Where, name: str) -> list[str]:
    """Every file that a name can mean, the winner first; also those that are not there yet."""
    return [os.path.join(directory, name + ENDING) for directory, _ in directories(where)]


def checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a protocol",
            fix="use small letters, digits, '-' and '_'; begin with a letter or a digit",
            code="invalid-name",
        )
    return name


def listed(where: Where) -> Iterator[tuple[str, str, str]]:
    """Name, file and source of each protocol; hidden ones are left out."""
    seen: set[str] = set()
    for directory, source in directories(where):
        for name in names(directory):
            if name not in seen:
                seen.add(name)
                yield name, os.path.join(directory, name + ENDING), source


def names(directory: str) -> list[str]:
    """The protocols in a directory; files whose name is none are nobody's protocol."""
    try:
        entries = sorted(os.listdir(directory))
    except OSError:
        return []
    stems = [entry.removesuffix(ENDING) for entry in entries if entry.endswith(ENDING)]
    return [stem for stem in stems if NAME.fullmatch(stem)]


def find(where: Where, name: str) -> str | None:
    """The file of a name that is one; whoever asks by `extends` has checked it."""
    return _first(candidates(where, name))


def _first(files: Sequence[str]) -> str | None:
    """A link that leads nowhere is there: it shall be complained about, not passed over."""
    return next((file for file in files if os.path.lexists(file)), None)


def fetcher(file: str, where: Where | None, seen: list[str]) -> Fetch:
    """Looks up what a file extends, and notes every file that has a say in it.

    Of a file that was named by its path nothing is known but its neighbours.
    """

    def fetch(name: str) -> Node | None:
        beside = [os.path.join(os.path.dirname(file), name + ENDING)]
        known = candidates(where, name) if where else [*beside, *_packaged(name)]
        seen.extend(path for path in known if path not in seen)
        found = _first(known)
        return read(found) if found else None

    return fetch


def _packaged(name: str) -> list[str]:
    return [os.path.join(PACKAGED, name + ENDING)]


def demand(where: Where, name: str) -> str:
    file = find(where, checked_name(name))
    if file is None:
        known = ", ".join(sorted(each for each, _, _ in listed(where)))
        raise UsageError(
            f"there is no protocol of steps called '{name}'",
            fix=f"known: {known}; a new one is a file .claude/protocols/{name}.yaml",
            code="unknown-protocol",
        )
    return file


def read(file: str) -> Node:
    """The tree of a file, or why there is none."""
    try:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except UnicodeDecodeError as error:
        finding = Finding("not-utf8", f"the file is not UTF-8 text: {error.reason}", Place(file))
        raise DefinitionError([finding]) from error
    except OSError as error:
        finding = Finding("unreadable", f"cannot read: {error.strerror or error}", Place(file))
        raise DefinitionError([finding]) from error
    return tree.read(text, file)
