"""Opening decisions over artifacts as they are, and waiting."""

from porch.machine import facts as f
from porch.machine.effects import PATIENT, AskPerson, StartTimer
from porch.run.agents.world import World
from porch.run.engine.person_question import open_question


def ask_person(world: World, effect: AskPerson) -> f.DecisionAsked:
    return open_question(world.workspace, world.payload_directory, world.state(), effect)


async def wait_for_timer(world: World, effect: StartTimer) -> f.TimerFired:
    """Deadlines for people are instants; a retry's delay is spent by a waking machine only."""
    if effect.kind == PATIENT:
        limit = effect.seconds or world.definition().protocol.limits.gate_wait_s
        await world.clock.until(effect.since, limit or world.settings.max_gate_wait)
    elif effect.name.startswith("limit-"):
        # The other side counts wall time, also while this machine sleeps.
        await world.clock.until(effect.since, effect.seconds)
    elif effect.since:
        await world.clock.sleep(effect.seconds)
    else:
        await world.clock.sleep(effect.seconds * world.settings.back_off)
    return f.TimerFired(effect=effect.id)
