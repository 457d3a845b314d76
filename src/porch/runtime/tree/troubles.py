"""Why an agent has to finish an update: what the engine's own try came to."""

from collections.abc import Mapping
from typing import Any

from porch.machine.effects import AskAgent
from porch.machine.paths import latest, look
from porch.runtime.world import World


def trouble(world: World, effect: AskAgent) -> Mapping[str, Any]:
    """The last conflict or regression of the instance's update; empty where there was none."""
    protocol, state = world.definition().protocol, world.state()
    standing = state.positions.get(effect.position)
    if protocol.interrupt is None or standing is None:
        return {}
    paths = [f"{protocol.interrupt.state}.{exit_}" for exit_ in ("conflict", "refused")]
    path = latest(protocol, state, standing, paths)
    found: Mapping[str, Any] = look(protocol, state, standing, path) if path else {}
    return found
