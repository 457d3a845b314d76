"""Why an agent has to finish an update: what the engine's own try came to."""

from collections.abc import Mapping
from typing import Any

from porch.machine.effects import AskAgent
from porch.machine.path_values import latest_path, look_up_path
from porch.run.agents.world import World


def find_update_trouble(world: World, effect: AskAgent) -> Mapping[str, Any]:
    """The last conflict or regression of the instance's update; empty where there was none."""
    protocol, state = world.definition().protocol, world.state()
    standing = state.positions.get(effect.position)
    interrupt = protocol.part_of(standing.state).interrupt if standing else None
    if interrupt is None or standing is None:
        return {}
    paths = [f"{interrupt.state}.{exit_}" for exit_ in ("conflict", "refused")]
    path = latest_path(protocol, state, standing, paths)
    found: Mapping[str, Any] = look_up_path(protocol, state, standing, path) if path else {}
    return found
