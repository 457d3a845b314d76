"""Where things of a run lie, and the mark that its processes carry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from porch.text.sha256 import sha256

if TYPE_CHECKING:
    from porch.machine.state import RunState
    from porch.store.where import ProjectPaths


def payload_directory(where: ProjectPaths, name: str) -> str:
    return os.path.join(where.run_dir(name), "payloads")


def workspace_of(where: ProjectPaths, state: RunState) -> str:
    """The directory in which a run's agents and checks work."""
    return os.path.normpath(os.path.join(where.base, state.run.worktree or "."))


def mark_of(where: ProjectPaths, name: str) -> str:
    """What every process of a run carries; two projects may have runs of one name."""
    place = os.path.join(os.path.realpath(where.state_dir), name)
    return f"porch-{sha256(place.encode()).hexdigest()[:16]}"
