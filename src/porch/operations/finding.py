"""Which run somebody means: an id, an unpadded id, a directory name, or where they stand."""

import os

from porch.adapters import drawn
from porch.adapters.where import Where
from porch.errors import UsageError
from porch.operations.matching import matching


def find_run(where: Where, word: str) -> str:
    """The name of the one run that fits; several or none is refused with the list."""
    known = where.runs()
    fits = standing_in(where, known) if word in ("", ".") else matching(known, word)
    if len(fits) == 1:
        return fits[0]
    names = ", ".join(fits or known) or "none yet"
    if not fits:
        is_here = word in ("", ".")
        what = "no run belongs to this directory" if is_here else f"no run fits '{word}'"
        raise UsageError(what, fix=f"runs here: {names}", code="unknown-run")
    raise UsageError(
        f"'{word}' fits several runs", fix=f"name one of: {names}", code="ambiguous-run"
    )


def standing_in(where: Where, known: list[str]) -> list[str]:
    """The run whose worktree or project directory we stand in; alone, the only run there is."""
    parts = os.getcwd().split(os.sep)
    inside = [name for name in known if name in parts]
    if not inside and where.workspace != where.root:
        inside = [name for name in known if _works_in(where, name)]
    return inside or (known if len(known) == 1 else [])


def _works_in(where: Where, name: str) -> bool:
    picture = drawn.covering(where.run_dir(name)) or {}
    worktree = picture.get("status", {}).get("worktree") or "."
    return os.path.realpath(os.path.join(where.base, worktree)) == os.path.realpath(where.workspace)
