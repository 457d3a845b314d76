"""Which run somebody means: an id, an unpadded id, a directory name, or where they stand."""

import os

from porch.errors import UsageError, suggest_name
from porch.store.run_names import match_run_names, unique_word
from porch.store.where import ProjectPaths

_START = 'porch run spider "what you want"'


def find_run(where: ProjectPaths, word: str, verb: str = "") -> str:
    """The name of the one run that fits; several or none is refused with the list.

    `verb` is the command that needs it, if it can be given without a run.
    """
    known = where.runs()
    fits = (
        list_runs_standing_in(where, known) if word in ("", ".") else match_run_names(known, word)
    )
    if len(fits) == 1:
        return fits[0]
    names = ", ".join(fits or known) or f"none yet; to start one: {_START}"
    if not fits:
        _refuse_lost_run(where, word)
        is_here = word in ("", ".")
        if is_here and verb and (open_ := _list_open_runs(where)):
            raise UsageError(
                f"several runs are here: say which one to {verb}",
                fix="; ".join(f"porch {verb} {each}" for each in open_),
                code="unknown-run",
            )
        what = "there is no run for this directory" if is_here else f"there is no run '{word}'"
        near = suggest_name(
            word, [unique_word(known, name, name.partition("-")[0]) for name in known]
        )
        raise UsageError(what, fix=f"{near}known runs: {names}", code="unknown-run")
    raise UsageError(
        f"'{word}' matches several runs", fix=f"use one of: {names}", code="ambiguous-run"
    )


def _list_open_runs(where: ProjectPaths) -> list[str]:
    """What names each run that is not over in a command."""
    from porch.run.verbs.liveness import LiveRows
    from porch.run.verbs.run_list import every_row
    from porch.show.board import waits_on

    rows = every_row(where, "told").rows
    words = LiveRows(where, rows).words
    told = {name: row["row"] for name, row in rows.items()}
    return [words[n] for n in told if told[n]["waiting"] and not waits_on(told[n], "finish")]


def _refuse_lost_run(where: ProjectPaths, word: str) -> None:
    from porch.store.known_runs import list_known_runs

    gone = match_run_names(list_known_runs(where.state_dir), word) if word else []
    if len(gone) == 1:
        from porch.run.verbs.adopt import lost_run_error

        raise lost_run_error(where, gone[0])


def list_runs_standing_in(where: ProjectPaths, known: list[str]) -> list[str]:
    """The run whose worktree or project directory we stand in; alone, the only run there is."""
    parts = os.getcwd().split(os.sep)
    inside = [name for name in known if name in parts]
    if not inside and where.workspace != where.root:
        inside = [name for name in known if _works_in(where, name)]
    return inside or (known if len(known) == 1 else [])


def _works_in(where: ProjectPaths, name: str) -> bool:
    from porch.store import picture_cache

    picture = picture_cache.read_current_picture(where.run_dir(name))
    worktree = (picture["status"].get("worktree") if picture else "") or "."
    return os.path.realpath(os.path.join(where.base, worktree)) == os.path.realpath(where.workspace)
