"""One turn of an agent command line: prepare, start, follow, and never leave anything running."""

import asyncio
import os
from dataclasses import dataclass, replace

from porch.adapters import crash, process
from porch.adapters.agents import base
from porch.adapters.follow import Follower, compact
from porch.runtime.world import World
from porch.views.text import printable

TRANSCRIPT_KEPT = 1 << 20
DETAIL_KEPT = 1000
SAID_KEPT = 2000
# Where an agent does not say when its limit is over.
RATE_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn was stopped from outside; what it cost until then is known."""

    usd: float = 0
    tokens: int = 0
    session: str = ""


async def take(
    world: World, turn: base.Turn, wall_s: float, idle_s: float
) -> base.Outcome | Stopped:
    """Run one turn to its outcome; cancelling it stops every process it started."""
    prepared = world.agent.prepare(turn)
    listener = base.Listener(world.agent.feed, lambda event: _tell(world, turn.effect, event))
    follower = Follower(prepared.output, listener.take)
    crash.point("turn.before-spawn")
    running = await process.start(_command(world, turn, prepared))
    crash.point("turn.after-spawn")
    try:
        ended = await running.wait(
            idle_s or None, wall_s or None, follower.poll, is_busy=listener.is_busy
        )
    except asyncio.CancelledError:
        await running.stop()
        follower.drain()
        # An agent that had come to its end when the stop came is not run again for nothing.
        return left_behind(world, turn.effect) or _stopped(listener.summary)
    crash.point("turn.after-end")
    follower.drain()
    outcome = world.agent.finish(listener.summary, ended)
    compact(prepared.output, TRANSCRIPT_KEPT)
    return _clean(outcome)


def _stopped(summary: base.Summary) -> Stopped:
    return Stopped(summary.usd, summary.tokens, summary.session)


def _clean(outcome: base.Outcome) -> base.Outcome:
    """Half a character cannot be written to any file; what an agent says must not break a run."""
    final, detail = (
        text.encode("utf-8", "replace").decode() for text in (outcome.final, outcome.detail)
    )
    return replace(outcome, final=final, detail=detail[:DETAIL_KEPT])


def _command(world: World, turn: base.Turn, prepared: base.Prepared) -> process.Command:
    return process.Command(
        argv=prepared.argv,
        shell=None,
        cwd=turn.workspace,
        env=prepared.env,
        stdin_file=prepared.stdin_file,
        output=prepared.output,
        errors=prepared.errors,
        mark=world.effect_mark(turn.effect),
    )


def left_behind(world: World, effect: str) -> base.Outcome | None:
    """What an agent said after its runner died, if it came to an end."""
    path = os.path.join(world.turn_directory(effect), "transcript.jsonl")
    outcome = world.agent.from_transcript(path) if os.path.exists(path) else None
    return _clean(outcome) if outcome else None


def seen(world: World, effect: str) -> base.Summary:
    """What an interrupted agent had told: its cost, and by which name its conversation goes on."""
    path = os.path.join(world.turn_directory(effect), "transcript.jsonl")
    return base.summary_of(path, world.agent.feed)


def _tell(world: World, effect: str, event: base.Event) -> None:
    match event:
        case base.Said(text=text) | base.Warned(text=text) | base.Failed(text=text):
            world.progress(effect, printable(text))
        case base.ToolStarted(name=name):
            world.progress(effect, printable(f"[{name}]"))
        case _:
            # The final message was said already; it is read, not shown again.
            return
