"""All runs at once, and one run whole: pictures where they cover the journal, a fold where not."""

import os
from typing import Any

from msgspec import Struct

from porch.dialects import status_file
from porch.dialects.status_file import ForeignStatus
from porch.errors import PorchError
from porch.machine.budgets import DRIVERLESS
from porch.run.definitions.current_definition import (
    find_default_panel,
    load_current_definition,
    with_default_panel,
)
from porch.run.definitions.track_plans import find_track
from porch.run.verbs import run_list
from porch.run.verbs.liveness import complete_status
from porch.run.verbs.read_run import ReadRun, read_run
from porch.run.verbs.run_lookup import find_run
from porch.show.shapes import PictureShape, RunRowShape
from porch.store import picture_cache
from porch.store.foreign_status import list_foreign_files
from porch.store.known_runs import list_known_runs
from porch.store.run_names import match_run_names
from porch.store.where import ProjectPaths
from porch.system.regular_file import open_regular


class ShownRun(Struct, frozen=True):
    """What `porch status ID` says, as text and as data."""

    text: str
    data: dict[str, Any]


class ForeignRun(Struct, frozen=True):
    """A directory with a status file and no journal here; the directory names the run."""

    directory: str
    status: ForeignStatus

    @property
    def title(self) -> str:
        """As the directory has it, not as the file words it: it is the same run."""
        parts = self.directory.split("_", 2)
        return parts[2] if len(parts) == 3 else ""


class RunOverview(Struct, frozen=True):
    """All that can be shown, and what is wrong with the others."""

    rows: dict[str, RunRowShape]
    troubles: list[PorchError]


def list_all_runs(where: ProjectPaths) -> RunOverview:
    """All runs, as lists show them."""
    found = run_list.every_row(where)
    return RunOverview(found.rows, found.troubles)


def read_picture(where: ProjectPaths, name: str) -> PictureShape:
    """The drawn picture if it covers the journal as it is; otherwise a fresh one, not written."""
    return (
        picture_cache.read_current_picture(where.run_dir(name)) or read_run(where, name).picture()
    )


def show_run(where: ProjectPaths, word: str) -> ShownRun:
    """A run by its journal, else a status file that has none; nothing is changed."""
    known = find_run_without_journal(where, word)
    if known is not None:
        is_gone = known.directory in list_known_runs(where.state_dir)
        return _show_run_without_journal(known.status, is_gone)
    run = read_run(where, find_run(where, word))
    changed = has_definition_changed(where, run)
    picture = run.picture(changed)
    whole = complete_status(where, run.name, picture)
    data = {
        **picture["status"],
        "positions": picture["positions"],
        "outcomes": picture["outcomes"],
        "decisions": whole["decisions"],
        "journal": True,
        "cost": picture["cost"],
        "definition_changed": changed,
        **({"request": picture["request"]} if "request" in picture else {}),
        **whole["driver"],
    }
    return ShownRun("\n".join(whole["text"]), data)


def has_definition_changed(where: ProjectPaths, run: ReadRun) -> bool:
    """Whether the files would give another definition today; unreadable ones would, too."""
    if run.definition.protocol.subject in DRIVERLESS:
        return False
    try:
        track = find_track(where, run.state)
        loaded = load_current_definition(where, run.state.run.protocol, track)
        chosen = find_default_panel(run.definition.protocol) or ()
        loaded = with_default_panel(loaded, chosen)
    except PorchError:
        return True
    return loaded.digest != run.state.run.digest


def find_run_without_journal(where: ProjectPaths, word: str) -> ForeignRun | None:
    """A status file that nobody here has a journal for, if this word means it."""
    if match_run_names(where.runs(), word):
        return None
    paths = list_foreign_files(where.root, where.runs()).paths
    names = {os.path.basename(os.path.dirname(path)): path for path in paths}
    fits = match_run_names(sorted(names), word)
    if len(fits) != 1:
        return None
    with open(
        os.path.join(where.root, names[fits[0]]),
        encoding="utf-8",
        errors="replace",
        opener=open_regular,
    ) as file:
        return ForeignRun(fits[0], status_file.read_status_file(file.read(), names[fits[0]]))


def _show_run_without_journal(known: ForeignStatus, is_gone: bool) -> ShownRun:
    front = f"{known.id} {known.title}: {known.state}"
    said = f"{front}\nno journal here; `porch run` continues from the status file"
    if known.is_history:
        whose = "this project was finished before porch had it"
        if known.signed_seq is not None:
            whose = "a run of porch that has ended; its journal is not here"
        said = f"{front}\nhistory: {whose}"
    elif is_gone:
        said = (
            f"{front}\nthere was a run here, but its journal is gone; this is only its last picture"
        )
    data = {
        "id": known.id,
        "title": known.title,
        "protocol": known.protocol,
        "state": known.state,
        "positions": [],
        "decisions": [],
        "journal": False,
        **({"journal_gone": True} if is_gone else {}),
        **({"history": True} if known.is_history else {}),
    }
    return ShownRun(said, data)
