"""The definition that governs new runs here: the protocol's files under the project's settings."""

import math
import os
from dataclasses import replace

from porch.adapters import compiled, library, settings
from porch.adapters.library import Loaded
from porch.adapters.where import Where
from porch.model.definition import Definition, digest
from porch.model.protocol import Panel, State


def current(where: Where, name: str) -> Loaded:
    """Find and read a protocol; the project's own list of reviewers stands in for the file's."""
    loaded = library.load(library.find(where, name).file, where)
    loaded = replace(loaded, files=(*loaded.files, *_also(where, name)))
    models = settings.load(where.root).models
    if loaded.definition is None or not models:
        return loaded
    definition = _with_reviewers(loaded.definition, models)
    return replace(loaded, definition=definition, digest=digest(definition))


def _also(where: Where, name: str) -> list[str]:
    """What else decides the definition: files that would win if they were there, and settings."""
    user = os.path.join(settings.user_directory(os.environ), settings.USER_FILE)
    project = os.path.join(where.root, settings.PROJECT_FILE)
    return [*compiled.candidates(where, name), project, user]


def _with_reviewers(definition: Definition, models: tuple[str, ...]) -> Definition:
    protocol = definition.protocol
    states = {name: _reviewed(state, models) for name, state in protocol.states.items()}
    return replace(definition, protocol=replace(protocol, states=states))


def _reviewed(state: State, models: tuple[str, ...]) -> State:
    if not isinstance(state.actor, Panel):
        return state
    quorum = math.ceil(2 * len(models) / 3)
    return replace(state, actor=replace(state.actor, reviewers=models, quorum=quorum))
