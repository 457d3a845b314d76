"""Which run somebody means: an id, an unpadded id, a directory name, or where they stand."""

import os

from porch.adapters.where import Where
from porch.errors import UsageError


def find_run(where: Where, word: str) -> str:
    """The name of the one run that fits; several or none is refused with the list."""
    known = where.runs()
    fits = matching(known, word) if word else standing_in(where, known)
    if len(fits) == 1:
        return fits[0]
    names = ", ".join(fits or known) or "none yet"
    if not fits:
        what = f"no run fits '{word}'" if word else "no run belongs to this directory"
        raise UsageError(what, fix=f"runs here: {names}", code="unknown-run")
    raise UsageError(
        f"'{word}' fits several runs", fix=f"name one of: {names}", code="ambiguous-run"
    )


def matching(known: list[str], word: str) -> list[str]:
    if word in known:
        return [word]
    return [name for name in known if _id_of(name) == word or _same_number(_id_of(name), word)]


def _id_of(name: str) -> str:
    """`0073` of 0073-user-auth, tick_0073_add-feature and bugfix_142 alike."""
    front, dash, _ = name.partition("-")
    if dash and "_" not in front:
        return front
    parts = name.split("_")
    return parts[1] if len(parts) > 1 else name


def _same_number(known: str, word: str) -> bool:
    return known.isdigit() and word.isdigit() and int(known) == int(word)


def standing_in(where: Where, known: list[str]) -> list[str]:
    """The run whose worktree or project directory we stand in; alone, the only run there is."""
    here = os.path.basename(where.workspace)
    inside = [name for name in known if f"{os.sep}{name}" in os.getcwd() or name == here]
    return inside or (known if len(known) == 1 else [])
