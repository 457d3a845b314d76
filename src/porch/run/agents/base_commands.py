"""Whether the commands of the settings have to run before work begins that somebody pays for."""

import os

from porch.machine import base_commands as machine
from porch.machine import facts as f
from porch.machine.evolve import PAID
from porch.machine.state import InHand, RunState
from porch.model.protocol import Protocol
from porch.run.agents.world import World
from porch.run.settings import Settings
from porch.text.sha256 import sha256

# Where the results of earlier trials lie, beside the runs of a project.
TRIALS = "command-trials"


def digest_commands(known: Settings) -> dict[str, str]:
    """Their names, and by what one sees that a text changed; a text may hold a secret."""
    return {name: sha256(text.encode()).hexdigest()[:16] for name, text in known.commands.items()}


def has_known_trials(world: World, state: RunState) -> bool:
    """Whether something may be known to a run of the scripted agent, which tries nothing."""
    is_new = not state.turns and not state.outcome and not machine.has_tried(state)
    state_dir = os.path.dirname(os.path.dirname(world.directory))
    return (
        is_new
        and world.in_git
        and world.roster.is_scripted
        and bool(world.settings.commands)
        and os.path.isdir(os.path.join(state_dir, TRIALS))
    )


def check_base_commands(
    world: World, protocol: Protocol, state: RunState, hand: InHand
) -> f.CommandsDue | bool:
    """Whether an effect may begin; else what has to be recorded, unless it is being tried."""
    if hand.kind not in PAID or not machine.is_ours(protocol):
        return True
    if machine.is_open(state):
        return False
    commands = digest_commands(world.settings)
    if not commands or not world.in_git or world.roster.is_scripted or state.turns or state.costs:
        # A run that somebody has paid for already is past its base.
        return True
    # An upgrade may have changed them since.
    return machine.tried_commands(state) == commands or f.CommandsDue(commands=commands)
