"""What we add to a turn of an agent: all of it, less the agent's own time without us.

Bare is what the person would have started: the same words with the same environment, input and
output files. For a command of one's own that is the command alone, for the process that stands
above it is ours. Both are timed in turn, in one event loop, as a run takes its turns.
"""

import asyncio
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from bench.measure import Result, seconds
from porch.agents.port import PreparedTurn, Turn
from porch.run.agents import trial_repository
from porch.run.agents import turn as turns
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.agents.world import World
from porch.run.settings import Settings

LIMIT_MS = 50.0
SHARE = 0.15
# A busy machine moves single turns by more than we add. So rounds go on until the median is known
# this well, or until there were so many; how well it is known stands in the row.
CERTAIN_MS = 4.0
FEWEST, MOST = 12, 80
# A quick agent is the hardest to add little to: reads its prompt, thinks, answers, ends.
SCRIPT = ("sh", "-c", "cat > /dev/null; sleep 0.05; echo done")
# Our second look at what was left behind runs beside whatever follows; here that is nothing.
PAUSE_S = 0.1

Words = Callable[[Turn, PreparedTurn], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where turns are taken without a run, and by whom."""

    world: World
    post: EmployedAgent

    def turn(self, name: str) -> Turn:
        return Turn(
            effect=f"bench/{name}",
            prompt="Say done.",
            request={},
            workspace=self.world.workspace,
            directory=self.world.new_turn_directory(f"bench/{name}"),
            model=self.post.model,
            command=self.post.command,
            permissions=self.post.permissions,
        )

    async def take(self, turn: Turn) -> None:
        taken = await turns.run_turn(self.world, self.post, turn, wall_s=120, idle_s=0)
        if isinstance(taken, turns.StoppedTurn) or taken.outcome.kind != "ok":
            raise RuntimeError(f"a turn did not end well: {taken}")


def desk(place: Path, name: str, known: Settings) -> Desk:
    """In a place that is there and empty."""
    (place / "workspace").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", place / "workspace"], check=True)
    roster = Roster(known, name)
    empty = trial_repository.make_empty_world(known, roster)
    world = replace(empty, workspace=str(place / "workspace"), directory=str(place / "run"))
    return Desk(world, roster.worker("", ""))


def results(place: Path) -> list[Result]:
    return [_of_command(place / "command"), *_of_codex(place / "codex")]


def _of_command(place: Path) -> Result:
    known = Settings(agents={"script": {"command": SCRIPT}})
    times = asyncio.run(_taken(desk(place, "script", known), lambda turn, _: turn.command))
    return _result("what a turn of a command of one's own costs more", times)


def _of_codex(place: Path) -> Iterator[Result]:
    """The real one against the stand-in for its vendor, where it is installed."""
    from tests.real_agents import MODELS, enter_room
    from tests.standin.vendors import standing_in
    from tools import agents

    name = "what a turn of the real codex costs more"
    if agents.installed() is None:
        print(f"SKIPPED {name}: it is not installed; run `make agents`", file=sys.stderr)
        return
    known = Settings(agents={"codex": {"model": MODELS["codex"]}})
    with standing_in() as vendor:
        room = enter_room(place / "room", vendor)
        try:
            with environment(dict(room.environ)):
                times = asyncio.run(_taken(desk(place, "codex", known), _same))
        finally:
            room.clear()
    yield _result(name, times)


def _same(_: Turn, prepared: PreparedTurn) -> tuple[str, ...]:
    return prepared.argv


@contextmanager
def environment(wanted: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def _taken(at: Desk, words: Words) -> list[tuple[float, float]]:
    """The first round warms both up and does not count; then who goes first changes."""
    await _ours(at, 0)
    _bare(at, 0, words)
    found: list[tuple[float, float]] = []
    while len(found) < FEWEST or (_doubt_ms(found) > CERTAIN_MS and len(found) < MOST):
        number = len(found) + 1
        early = _bare(at, number, words) if number % 2 else 0
        ours = await _ours(at, number)
        found.append((ours, early or _bare(at, number, words)))
    return found


async def _ours(at: Desk, number: int) -> float:
    turn = at.turn(f"ours-{number}")
    began = time.perf_counter()
    await at.take(turn)
    took = time.perf_counter() - began
    await asyncio.sleep(PAUSE_S)
    return took


def _bare(at: Desk, number: int, words: Words) -> float:
    turn = at.turn(f"bare-{number}")
    prepared = at.post.agent.prepare(turn)
    return seconds(lambda: _run(words(turn, prepared), turn.workspace, prepared))


def _run(argv: tuple[str, ...], cwd: str, prepared: PreparedTurn) -> None:
    with (
        open(prepared.stdin_file or os.devnull, "rb") as asked,
        open(prepared.output, "ab") as output,
        open(prepared.errors, "ab") as errors,
    ):
        subprocess.run(
            argv,
            check=True,
            cwd=cwd,
            env=prepared.env,
            stdin=asked,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )


def _result(name: str, times: list[tuple[float, float]]) -> Result:
    """Of each pair the difference, for the machine's mood lasts longer than a pair."""
    more = statistics.median(_more_ms(times))
    bare = statistics.median(bare for _, bare in times) * 1000
    ours = statistics.median(ours for ours, _ in times) * 1000
    measured, reference = (
        f"{ours:.1f} ms",
        f"{bare:.1f} ms bare, give or take {_doubt_ms(times):.1f}",
    )
    limit = round(max(LIMIT_MS, SHARE * bare), 1)
    return Result(name, round(more, 1), limit, "ms", measured, reference, len(times))


def _more_ms(times: list[tuple[float, float]]) -> list[float]:
    return [1000 * (ours - bare) for ours, bare in times]


def _doubt_ms(times: list[tuple[float, float]]) -> float:
    """The standard error of the median, by the quartiles, which a few wild rounds do not move."""
    low, _, high = statistics.quantiles(_more_ms(times))
    return 1.25 * (high - low) / 1.35 / math.sqrt(len(times))
