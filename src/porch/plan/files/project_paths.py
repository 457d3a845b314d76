"""Paths that agents name: inside the project, and the same in every worktree."""

import os
from collections.abc import Sequence

from porch.errors import DefinitionError, Finding
from porch.store.where import ProjectPaths


def check_project_paths(where: ProjectPaths, names: Sequence[str]) -> list[str]:
    """Each as seen from the root of the project; those that lead out are refused, all at once."""
    found = [(name, _path_in_project(where, name.strip())) for name in names if name.strip()]
    wrong = [name for name, path in found if path is None]
    if wrong:
        fix = "write paths from the root of the project, such as src/app.py"
        raise DefinitionError(
            [
                Finding("bad-path", f"{name!r} is not a path in the project", None, fix)
                for name in wrong
            ]
        )
    return list(dict.fromkeys(path for _, path in found if path))


def _path_in_project(where: ProjectPaths, name: str) -> str | None:
    if "\0" in name or "\n" in name:
        return None
    is_whole = os.path.isabs(name)
    path = os.path.normpath(name if is_whole else os.path.join(where.workspace, name))
    # A path that is given whole may lie in the main checkout; a way up out of a worktree may not.
    for root in (where.workspace, where.root) if is_whole else (where.workspace,):
        relative = os.path.relpath(path, root)
        if not relative.startswith("..") and relative != ".":
            return None if ".git" in relative.split(os.sep) else relative.replace(os.sep, "/")
    return None
