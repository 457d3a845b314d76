"""All runs at once, and one run whole: pictures where they cover the journal, a fold where not."""

import os
from dataclasses import dataclass
from typing import Any

from porch.adapters import drawn
from porch.adapters.where import Where
from porch.dialects import status_file
from porch.dialects.status_file import ForeignStatus
from porch.errors import PorchError
from porch.machine import plans
from porch.operations.defining import current
from porch.operations.finding import find_run
from porch.operations.matching import matching
from porch.operations.reading import Read, read


@dataclass(frozen=True, slots=True)
class Shown:
    """What `porch status ID` says, as text and as data."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ForeignRun:
    """A directory with a status file and no journal here; the directory names the run."""

    directory: str
    status: ForeignStatus

    @property
    def title(self) -> str:
        """As the directory has it, not as the file words it: it is the same run."""
        parts = self.directory.split("_", 2)
        return parts[2] if len(parts) == 3 else ""


@dataclass(frozen=True, slots=True)
class Runs:
    """All that can be shown, and what is wrong with the others."""

    pictures: list[dict[str, Any]]
    troubles: list[PorchError]


def every(where: Where) -> Runs:
    """One damaged journal must not hide the other runs."""
    shown, troubles = [], []
    for name in where.runs():
        try:
            shown.append(picture_of(where, name))
        except PorchError as error:
            troubles.append(error)
    return Runs(shown, troubles)


def picture_of(where: Where, name: str) -> dict[str, Any]:
    """The drawn picture if it covers the journal as it is; otherwise a fresh one, not written."""
    return drawn.covering(where.run_dir(name)) or read(where, name).picture()


def one(where: Where, word: str) -> Shown:
    """A run by its journal, else a status file that has none; nothing is changed."""
    known = without_journal(where, word)
    if known is not None:
        return _no_journal(known.status)
    run = read(where, find_run(where, word))
    changed = definition_changed(where, run)
    picture = run.picture(changed)
    data = {
        **picture["status"],
        "positions": picture["positions"],
        "decisions": picture["decisions"],
        "journal": True,
        "cost": picture["cost"],
        "definition_changed": changed,
    }
    return Shown("\n".join(picture["text"]), data)


def definition_changed(where: Where, run: Read) -> bool:
    """Whether the files would give another definition today; unreadable ones would, too."""
    if run.definition.protocol.subject == plans.NAME:
        return False
    try:
        loaded = current(where, run.state.run.protocol)
    except PorchError:
        return True
    return loaded.digest != run.state.run.digest


def foreign(where: Where) -> list[str]:
    """Status files that belong to no journal here."""
    known = set(where.runs())
    found = []
    for kind in ("projects", "executions"):
        directory = os.path.join(where.root, "codev", kind)
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
            path = os.path.join("codev", kind, name, "status.yaml")
            if name not in known and os.path.exists(os.path.join(where.root, path)):
                found.append(path)
    return found


def without_journal(where: Where, word: str) -> ForeignRun | None:
    """A status file that nobody here has a journal for, if this word means it."""
    if matching(where.runs(), word):
        return None
    names = {os.path.basename(os.path.dirname(path)): path for path in foreign(where)}
    fits = matching(sorted(names), word)
    if len(fits) != 1:
        return None
    with open(os.path.join(where.root, names[fits[0]]), encoding="utf-8", errors="replace") as file:
        return ForeignRun(fits[0], status_file.read(file.read(), names[fits[0]]))


def _no_journal(known: ForeignStatus) -> Shown:
    said = f"{known.id} {known.title}: {known.state}\nno journal here; `porch run` would adopt it"
    data = {
        "id": known.id,
        "title": known.title,
        "protocol": known.protocol,
        "state": known.state,
        "positions": [],
        "decisions": [],
        "journal": False,
    }
    return Shown(said, data)
