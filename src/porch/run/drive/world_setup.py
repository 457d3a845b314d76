"""The world that the handlers of a run see; apart from its session, for who decides needs none."""

import contextlib
import os
from collections.abc import Callable

from porch.machine.state import RunState
from porch.model.definition import Definition
from porch.run.agents.roster import Roster
from porch.run.agents.world import Progress, World
from porch.run.engine.pinned_definition import read_request_text
from porch.run.engine.run_places import mark_of, payload_directory, workspace_of
from porch.run.settings import Settings
from porch.store.where import ProjectPaths
from porch.store.worktree_records import find_record_of
from porch.system import atomic
from porch.system.clock import Clock
from porch.system.regular_file import open_regular


def make_world(
    where: ProjectPaths,
    name: str,
    settings: Settings,
    *,
    state: Callable[[], RunState],
    definition: Callable[[], Definition],
    progress: Progress = lambda _effect, _text: None,
    script: str = "",
    agent: str = "",
) -> World:
    """The world that handlers see."""
    run = state().run
    store = payload_directory(where, name)
    return World(
        workspace=workspace_of(where, state()),
        directory=where.run_dir(name),
        mark=mark_of(where, name),
        settings=settings,
        roster=Roster(settings, agent or run.agent),
        clock=Clock(),
        state=state,
        definition=definition,
        progress=progress,
        script=script,
        subject_text=read_request_text(store, run) or run.heading,
        in_git=bool(where.common_dir),
        secret=_ensure_secret(where.run_dir(name)) if settings.nonce else "",
        worktree=find_record_of(where, workspace_of(where, state())) if run.own_worktree else None,
        root="" if where.is_bare else where.root,
    )


def _ensure_secret(directory: str) -> str:
    """A word of the run's own, so that nobody could write a signal of it down beforehand."""
    path = os.path.join(directory, "secret")
    with (
        contextlib.suppress(FileNotFoundError),
        open(path, encoding="ascii", opener=open_regular) as file,
    ):
        return file.read()
    import secrets

    atomic.publish_file(f"{path}.tmp", path, secrets.token_hex(16).encode())
    return _ensure_secret(directory)
