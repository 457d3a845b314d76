"""The world that the handlers of a run see; apart from its session, for who decides needs none."""

import contextlib
import os
import secrets
from collections.abc import Callable

from porch.adapters import atomic, payloads
from porch.adapters.settings import Settings
from porch.adapters.where import Where
from porch.machine.state import State
from porch.model.definition import Definition
from porch.operations.session import mark_of, payload_directory, workspace_of
from porch.runtime.clock import Clock
from porch.runtime.roster import Roster
from porch.runtime.world import Progress, World


def world_of(
    where: Where,
    name: str,
    settings: Settings,
    state: Callable[[], State],
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
        subject_text=payloads.get(store, run.subject).decode() if run.subject else "",
        in_git=bool(where.common_dir),
        secret=_secret(where.run_dir(name)) if settings.nonce else "",
    )


def _secret(directory: str) -> str:
    """A word of the run's own, so that nobody could write a signal of it down beforehand."""
    path = os.path.join(directory, "secret")
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        return file.read()
    atomic.publish(f"{path}.tmp", path, secrets.token_hex(16).encode())
    return _secret(directory)
