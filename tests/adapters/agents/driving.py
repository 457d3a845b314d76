"""One turn of any agent, as the runner drives it: prepare, start, follow, finish."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porch.adapters import process
from porch.adapters.agents import base
from porch.adapters.agents.events import Event, Listener
from porch.adapters.follow import Follower, tail

ERRORS_READ = 8192


@dataclass(slots=True)
class Driver:
    """Turns of one agent in one workspace; every process carries a mark that begins with `mark`."""

    agent: base.Agent
    workspace: Path
    place: Path
    mark: str
    events: list[Event] = field(default_factory=list)
    turns: int = 0

    def turn(self, prompt: str, **more: Any) -> base.Turn:
        """A turn with a directory of its own; `more` are fields of Turn."""
        self.turns += 1
        directory = self.place / f"turn-{self.turns}"
        directory.mkdir(parents=True)
        given = {"effect": f"effect-{self.turns}", "request": {}, "workspace": str(self.workspace)}
        return base.Turn(**{**given, "prompt": prompt, "directory": str(directory), **more})

    def play(
        self,
        prompt: str,
        wall_s: float = 60,
        idle_s: float | None = None,
        stop_when: Callable[[], bool] | None = None,
        **more: Any,
    ) -> base.Outcome:
        """To the outcome; `events` are those of this turn, `stop_when` ends it from outside."""
        return asyncio.run(self._play(self.turn(prompt, **more), wall_s, idle_s, stop_when))

    def left(self) -> list[process.Marked]:
        """Whoever is still running of all turns."""
        return process.marked(self.mark)

    async def _play(
        self,
        turn: base.Turn,
        wall_s: float,
        idle_s: float | None,
        stop_when: Callable[[], bool] | None,
    ) -> base.Outcome:
        self.events = []
        ready = self.agent.prepare(turn)
        listener = Listener(self.agent.feed, self.events.append)
        follower = Follower(ready.output, listener.take)
        running = await process.start(_command(turn, ready, self.mark))
        stops: list[asyncio.Task[None]] = []

        def look() -> bool:
            if stop_when is not None and not stops and stop_when():
                stops.append(asyncio.ensure_future(running.stop()))
            return follower.poll()

        ended = await running.wait(idle_s, wall_s, look, is_busy=listener.is_busy)
        await asyncio.gather(*stops)
        follower.drain()
        errors = tail(ready.errors, ERRORS_READ)
        return base.finish(self.agent, listener.summary, ended, errors)


def _command(turn: base.Turn, ready: base.Prepared, mark: str) -> process.Command:
    return process.Command(
        argv=ready.argv,
        shell=None,
        cwd=turn.workspace,
        env=ready.env,
        stdin_file=ready.stdin_file,
        output=ready.output,
        errors=ready.errors,
        mark=mark,
    )


def mark_for(place: Path) -> str:
    """A mark that no other test has."""
    return f"porch-test-{os.getpid()}-{place.name}"
