"""One turn of any agent, as the runner drives it: prepare, start, follow, finish."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porch.agents import port
from porch.agents.events import Event
from porch.agents.transcripts import TranscriptListener
from porch.system import process
from porch.system.growing_file import FileFollower, read_tail

ERRORS_READ = 8192


@dataclass(slots=True)
class Driver:
    """Turns of one agent in one workspace; every process carries a mark that begins with `mark`."""

    agent: port.AgentPort
    workspace: Path
    place: Path
    mark: str
    events: list[Event] = field(default_factory=list)
    turns: int = 0

    def turn(self, prompt: str, **more: Any) -> port.Turn:
        """A turn with a directory of its own; `more` are fields of Turn."""
        self.turns += 1
        directory = self.place / f"turn-{self.turns}"
        directory.mkdir(parents=True)
        given = {"effect": f"effect-{self.turns}", "request": {}, "workspace": str(self.workspace)}
        return port.Turn(**{**given, "prompt": prompt, "directory": str(directory), **more})

    def play(
        self,
        prompt: str,
        wall_s: float = 200,
        idle_s: float | None = None,
        stop_when: Callable[[], bool] | None = None,
        **more: Any,
    ) -> port.Outcome:
        """To the outcome; `events` are those of this turn, `stop_when` ends it from outside."""
        return asyncio.run(self._play(self.turn(prompt, **more), wall_s, idle_s, stop_when))

    def left(self) -> list[process.MarkedProcess]:
        """Whoever is still running of all turns."""
        return process.list_marked_processes(self.mark)

    async def _play(
        self,
        turn: port.Turn,
        wall_s: float,
        idle_s: float | None,
        stop_when: Callable[[], bool] | None,
    ) -> port.Outcome:
        self.events = []
        ready = self.agent.prepare(turn)
        listener = TranscriptListener(self.agent.feed, self.events.append)
        follower = FileFollower(ready.output, listener.take)
        running = await process.start_command(_command(turn, ready, self.mark))
        stops: list[asyncio.Task[None]] = []

        def look() -> bool:
            if stop_when is not None and not stops and stop_when():
                stops.append(asyncio.ensure_future(running.stop()))
            return follower.poll()

        ended = await running.wait(idle_s, wall_s, look, is_busy=listener.is_busy)
        await asyncio.gather(*stops)
        follower.drain()
        errors = read_tail(ready.errors, ERRORS_READ)
        return port.derive_outcome(self.agent, listener.summary, ended, errors)


def _command(turn: port.Turn, ready: port.PreparedTurn, mark: str) -> process.OutsideCommand:
    return process.OutsideCommand(
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
