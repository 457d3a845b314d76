"""Merged protocols of steps, ready to print, kept by the stamps of all files that decide them."""

from __future__ import annotations

import os

from porch import __version__
from porch.adapters import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from porch.adapters.where import Where


def cached(where: Where, name: str) -> dict[str, Any] | None:
    """The forms of a protocol, if no file of its chain changed, came or went since."""
    import json

    try:
        with open(_path(where, name), encoding="utf-8") as file:
            kept = json.load(file)
        is_same = kept["version"] == __version__ and compiled.are_as_they_were(kept["files"])
        forms: dict[str, Any] = kept["forms"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return forms if is_same and isinstance(forms, dict) else None


def keep(where: Where, name: str, stamps: list[compiled.Stamp], forms: dict[str, Any]) -> None:
    """Only beside a repository: elsewhere a reading command would leave a directory behind."""
    import json

    if not where.common_dir:
        return
    path = _path(where, name)
    draft = f"{path}.{os.getpid()}.tmp"
    kept = {"version": __version__, "files": stamps, "forms": forms}
    try:
        for directory in (where.state_dir, os.path.dirname(path)):
            # One by one: makedirs would give only the last of them this mode.
            os.makedirs(directory, mode=0o700, exist_ok=True)
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(draft, path)
    except OSError:
        return


def _path(where: Where, name: str) -> str:
    return os.path.join(where.state_dir, "cache", f"steps-{name}.json")
