"""The rows of all runs: from their files where these cover the journal, else from each journal.

Loads nothing but os as long as all rows are up to date. One that is not costs its own
run, and once: what was folded is kept, so that a run that nobody takes up again is not folded anew
by everybody who looks.
"""

from __future__ import annotations

import os

from porch.store import picture_cache, run_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from porch.errors import PorchError
    from porch.store.where import ProjectPaths

    Fold = Callable[[str], run_rows.Row | PorchError]


class RunRows:
    """What can be shown of each run, by its name in order, and what is wrong with the others."""

    __slots__ = ("rows", "troubles")

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}
        self.troubles: list[PorchError] = []


def every_row(where: ProjectPaths, part: run_rows.Part = "decisions") -> RunRows:
    """One damaged journal must not hide the other runs, and an old row not slow them down."""
    found, fold = RunRows(), None
    directory = os.path.join(where.state_dir, "runs")
    for name, row in run_rows.covering_rows(directory, where.names(), part):
        if row is not None:
            found.rows[name] = row
        elif (drawn_row := picture_cache.read_current_picture(where.run_dir(name))) is not None:
            found.rows[name] = drawn_row
        elif where.has_begun(name):
            fold = fold or _make_folder(where)
            _add_row(found, name, fold(name))
    return found


def _add_row(found: RunRows, name: str, folded: run_rows.Row | PorchError) -> None:
    if isinstance(folded, dict):
        found.rows[name] = folded
    else:
        found.troubles.append(folded)


def _make_folder(where: ProjectPaths) -> Fold:
    """Loaded late: most of the time nobody needs it."""
    from porch.system.msgspec_import import load_msgspec

    load_msgspec()
    from porch.errors import PorchError
    from porch.run.verbs.read_run import RunReader

    reader = RunReader(where)

    def fold(name: str) -> run_rows.Row | PorchError:
        try:
            row = reader.read(name).row()
        except PorchError as error:
            return error
        run_rows.keep_row(where.run_dir(name), row)
        return row

    return fold
