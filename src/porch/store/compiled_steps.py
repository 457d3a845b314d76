"""Merged protocols of steps, ready to print, kept by the stamps of all files that decide them."""

from __future__ import annotations

import os

from porch import __version__
from porch.store import compiled_protocols
from porch.system.regular_file import open_fresh, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.show.steps import StepFormsShape
    from porch.store.where import ProjectPaths


def read_cached_forms(where: ProjectPaths, name: str) -> StepFormsShape | None:
    """The forms of a protocol, if no file of its chain changed, came or went since."""
    import json

    try:
        with open(_cache_path(where, name), encoding="utf-8", opener=open_regular) as file:
            kept = json.load(file)
        is_same = kept["version"] == __version__ and compiled_protocols.are_files_unchanged(
            kept["files"]
        )
        forms: StepFormsShape = kept["forms"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return forms if is_same and isinstance(forms, dict) else None


def write_cached_forms(
    where: ProjectPaths, name: str, stamps: list[compiled_protocols.Stamp], forms: StepFormsShape
) -> None:
    """Only beside a repository: elsewhere a reading command would leave a directory behind."""
    import json

    if not where.common_dir:
        return
    path = _cache_path(where, name)
    draft = f"{path}.{os.getpid()}.tmp"
    kept = {"version": __version__, "files": stamps, "forms": forms}
    try:
        for directory in (where.state_dir, os.path.dirname(path)):
            # One by one: makedirs would give only the last of them this mode.
            os.makedirs(directory, mode=0o700, exist_ok=True)
        with open(draft, "w", encoding="utf-8", opener=open_fresh) as file:
            json.dump(kept, file)
        os.replace(draft, path)
    except OSError:
        return


def _cache_path(where: ProjectPaths, name: str) -> str:
    return os.path.join(where.state_dir, "cache", f"steps-{name}.json")
