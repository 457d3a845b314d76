"""Status files without a journal here, as far as lists need them; loads nothing but os.

A file that says that its project has ended is history: no run, no protocol, nothing to wait for.
"""

from __future__ import annotations

import os

from porch.dialects.ended_states import ENDED
from porch.system.regular_file import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

_KEYS = ("state", "current_state", "phase")


class ForeignFiles:
    """The status files that belong to no run here; those in `history` say that all is over."""

    __slots__ = ("history", "paths")

    def __init__(self, paths: list[str], history: dict[str, str]):
        self.paths = paths
        self.history = history

    def describe(self) -> list[str]:
        """What `porch status` says below its table."""
        live = [f"{path}: has no journal here" for path in self.paths if path not in self.history]
        return [*live, *self.describe_history()]

    def describe_history(self) -> list[str]:
        """One line for all of them: nobody has to do anything."""
        count = len(self.history)
        what = "1 project is" if count == 1 else f"{count} projects are"
        return [f"{what} history (porch status ID shows one)"] if count else []

    def as_json(self) -> dict[str, object]:
        """Only where there is any: the forms that programs read stay as they are."""
        return {"history": self.history} if self.history else {}


def list_foreign_files(root: str, known: Container[str]) -> ForeignFiles:
    paths: list[str] = []
    for kind in ("projects", "executions"):
        directory = os.path.join(root, "codev", kind)
        try:
            names = sorted(name for name in os.listdir(directory) if name not in known)
        except OSError:
            continue
        places = [os.path.join("codev", kind, name, "status.yaml") for name in names]
        paths += [path for path in places if os.path.exists(os.path.join(root, path))]
    states = {path: _read_state(os.path.join(root, path)) for path in paths}
    return ForeignFiles(paths, {path: state for path, state in states.items() if state in ENDED})


def _read_state(path: str) -> str:
    """As it stands at the start of a line; whoever goes on from the file reads all of it."""
    states: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
            for line in file:
                key, colon, value = line.partition(":")
                if colon and key in _KEYS:
                    states.setdefault(key, value.partition(" #")[0].strip().strip("'\""))
    except OSError:
        return ""
    return next((states[key] for key in _KEYS if states.get(key)), "")
