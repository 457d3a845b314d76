"""The definition that governs new runs here: the protocol's files under the project's settings."""

import math
from dataclasses import replace

from porch.adapters import library, settings
from porch.adapters.library import Loaded
from porch.adapters.where import Where
from porch.model.definition import Definition
from porch.model.protocol import Panel, State


def current(where: Where, name: str) -> Loaded:
    """Find and read a protocol; the project's own list of reviewers stands in for the file's."""
    loaded = library.load(library.find(where, name).file)
    models = settings.load(where.root).models
    if loaded.definition is None or not models:
        return loaded
    definition = _with_reviewers(loaded.definition, models)
    return replace(loaded, definition=definition, digest=library.digest(definition))


def _with_reviewers(definition: Definition, models: tuple[str, ...]) -> Definition:
    protocol = definition.protocol
    states = {name: _reviewed(state, models) for name, state in protocol.states.items()}
    return replace(definition, protocol=replace(protocol, states=states))


def _reviewed(state: State, models: tuple[str, ...]) -> State:
    if not isinstance(state.actor, Panel):
        return state
    quorum = math.ceil(2 * len(models) / 3)
    return replace(state, actor=replace(state.actor, reviewers=models, quorum=quorum))
