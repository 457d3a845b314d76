"""Files of steps by name: the project's own in the main checkout, then those in the package."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import porch
from porch.errors import DefinitionError, Finding, Place, UsageError, suggest_name
from porch.store.where import ProjectPaths
from porch.system.document_file import read_document
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:
    from porch.dialects.steps import FetchTree
    from porch.text.nodes import Node

NAME = late_pattern(r"[a-z0-9][a-z0-9_-]*")
ENDING = ".yaml"
PACKAGED_PROTOCOLS = os.path.join(os.path.dirname(porch.__file__), "protocols")
PACKAGED = os.path.join(PACKAGED_PROTOCOLS, "steps")
SCRIPT = "script.yaml"  # beside a protocol: what the scripted agent answers


def own_directory(where: ProjectPaths) -> str:
    return os.path.join(where.root, ".claude", "protocols")


def list_directories(where: ProjectPaths) -> list[tuple[str, str]]:
    """The first that has a file of the name wins."""
    return [(own_directory(where), "project"), (PACKAGED, "packaged")]


def list_candidates(where: ProjectPaths, name: str) -> list[str]:
    """Every file that a name can mean, the winner first; also those that are not there yet."""
    return [os.path.join(directory, name + ENDING) for directory, _ in list_directories(where)]


def check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid protocol name",
            fix="use lower-case letters, digits, '-' and '_'; start with a letter or a digit",
            code="invalid-name",
        )
    return name


def list_step_files(where: ProjectPaths) -> Iterator[tuple[str, str, str]]:
    """Name, file and source of each protocol; hidden ones are left out."""
    seen: set[str] = set()
    for directory, source in list_directories(where):
        for name in list_names(directory):
            if name not in seen:
                seen.add(name)
                yield name, os.path.join(directory, name + ENDING), source


def list_names(directory: str) -> list[str]:
    """The protocols in a directory; files whose name is none are nobody's protocol."""
    try:
        entries = sorted(os.listdir(directory))
    except OSError:
        return []
    stems = [entry.removesuffix(ENDING) for entry in entries if entry.endswith(ENDING)]
    return [stem for stem in stems if NAME.fullmatch(stem)]


def find_step_file(where: ProjectPaths, name: str) -> str | None:
    """The file of a name that is one; whoever asks by `extends` has checked it."""
    return _first_existing(list_candidates(where, name))


def _first_existing(files: Sequence[str]) -> str | None:
    """A link that leads nowhere is there: it shall be complained about, not passed over."""
    return next((file for file in files if os.path.lexists(file)), None)


def make_fetcher(file: str, where: ProjectPaths | None, seen: list[str]) -> "FetchTree":
    """Looks up what a file extends, and notes every file that has a say in it.

    A file that lies elsewhere than in the places of the project has its neighbours, too. No file
    is given twice: whoever extends a protocol of its own name gets the one that it hides.
    """
    home = os.path.dirname(os.path.abspath(file))
    is_known = where is not None and home in [place for place, _ in list_directories(where)]
    given = {os.path.abspath(file)}

    def fetch(name: str) -> "Node | None":
        beside = [] if is_known else [os.path.join(os.path.dirname(file), name + ENDING)]
        known = [*beside, *(list_candidates(where, name) if where else _packaged_files(name))]
        seen.extend(path for path in known if path not in seen)
        found = _first_existing([path for path in known if os.path.abspath(path) not in given])
        if found is None:
            return None
        given.add(os.path.abspath(found))
        return read_step_file(found)

    return fetch


def _packaged_files(name: str) -> list[str]:
    return [os.path.join(PACKAGED, name + ENDING)]


def require_step_file(where: ProjectPaths, name: str) -> str:
    file = find_step_file(where, check_name(name))
    if file is None:
        known = sorted(each for each, _, _ in list_step_files(where))
        raise UsageError(
            f"there is no step protocol '{name}'",
            fix=f"{suggest_name(name, known)}known step protocols: {', '.join(known)}; "
            f"to add one, write .claude/protocols/{name}.yaml",
            code="unknown-protocol",
        )
    return file


def read_step_file(file: str) -> "Node":
    """The tree of a file, or why there is none."""
    from porch.text import formats

    try:
        text = read_document(file)
    except UnicodeDecodeError as error:
        finding = Finding("not-utf8", f"the file is not UTF-8 text: {error.reason}", Place(file))
        raise DefinitionError([finding]) from error
    except OSError as error:
        finding = Finding("unreadable", f"cannot read: {error.strerror or error}", Place(file))
        raise DefinitionError([finding]) from error
    return formats.read_tree(text, file)
