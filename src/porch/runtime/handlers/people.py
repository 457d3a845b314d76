"""Opening decisions over artifacts as they are, and waiting."""

from porch.machine import facts as f
from porch.machine.effects import AskPerson, StartTimer
from porch.runtime.artifacts import digest_of, sums
from porch.runtime.queue import PATIENT
from porch.runtime.world import World


def ask(world: World, effect: AskPerson) -> f.DecisionAsked:
    known = sums(world.workspace, world.state().run.project_dir, effect.artifacts)
    return f.DecisionAsked(effect.id, digest_of(known), known)


async def wait(world: World, effect: StartTimer) -> f.TimerFired:
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
    return f.TimerFired(effect.id)
