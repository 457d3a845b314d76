"""What exists here by name, for whoever must tell an id from a request."""

import os
from collections.abc import Iterable, Sequence

from porch.run.requests.request_words import KnownNames
from porch.store.where import ProjectPaths


def find_known_names(where: ProjectPaths, words: Sequence[str]) -> KnownNames:
    """Runs, projects, executions and specs, and which of the words are files."""
    names = (*where.runs(), *list_document_names(where))
    files = frozenset(word for word in words if _is_file(word))
    return KnownNames(tuple(dict.fromkeys(names)), files)


def list_document_names(where: ProjectPaths) -> Iterable[str]:
    """What the project keeps under codev/, by the names of directories and specs."""
    for top in dict.fromkeys((where.root, where.workspace)):
        for kind in ("projects", "executions", "specs"):
            for name in _list_directory(os.path.join(top, "codev", kind)):
                yield name.removesuffix(".md")


def _list_directory(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _is_file(word: str) -> bool:
    try:
        return os.path.isfile(word)
    except ValueError:  # a zero byte: the name of nothing
        return False
