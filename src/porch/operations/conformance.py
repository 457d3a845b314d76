"""Whether an agent's command line does what porch relies on: tried out, not believed.

Everything happens in a throw-away repository, by the same road that the turns of a run take.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from porch.adapters import settings
from porch.adapters.agents.base import Outcome
from porch.adapters.where import Where
from porch.errors import OutsideError, UsageError
from porch.machine.signals import LegalSignal, choose, read_signals
from porch.model.permissions import READ_ONLY
from porch.operations import trial_tasks as tasks
from porch.operations import workbench
from porch.operations.workbench import Bench
from porch.runtime import turns
from porch.runtime.roster import SCRIPTED, Roster
from porch.runtime.world import World

STEPS = ("turn", "file", "command", "signal", "resume", "fork", "read-only")
# Nothing holds these to permissions, so there is nothing to be tried.
UNHELD = ("command", SCRIPTED)
SHOWN = 300
Result = Literal["ok", "failed", "not supported", "not tried"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was tried; what a turn cost stands with the first step that it gave."""

    name: str
    result: Result
    seen: str
    usd: float = 0
    tokens: int = 0
    seconds: float = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """All steps; `kept` is where the transcripts lie, if something is to be looked at."""

    steps: tuple[Step, ...]
    kept: str

    @property
    def passed(self) -> bool:
        return not any(step.result in ("failed", "not tried") for step in self.steps)


def candidate(where: Where, name: str) -> World:
    """Who is to be tried, as the settings employ it; raises where there is nobody."""
    if name == SCRIPTED:
        raise UsageError(
            "the scripted agent says what its script says; there is nothing to test",
            fix="`porch run PROTOCOL --no-claude` tries a protocol out with it",
        )
    known = settings.load(where.root)
    world = workbench.world(known, Roster(known, name))
    post = world.roster.worker("", "")
    if not post.is_installed:
        raise OutsideError(
            f"the agent '{name}' is not there: no `{post.executable}` on PATH",
            fix=post.agent.probe().note or "install it, or mend its command in the settings",
            code="agent-missing",
        )
    return world


def trial(world: World, timeout_s: float, tell: Callable[[Step], None]) -> Trial:
    """Try everything, telling each step at once; raises where nobody is logged in."""
    place = tempfile.mkdtemp(prefix="porch-agents-")
    steps: list[Step] = []
    try:
        bench = workbench.laid_out(world, os.path.realpath(place), timeout_s)
        asyncio.run(_all(bench, steps, tell))
    except asyncio.CancelledError:
        shutil.rmtree(place, ignore_errors=True)
        raise KeyboardInterrupt from None
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    done = Trial(tuple(steps), place)
    if done.passed:
        shutil.rmtree(place, ignore_errors=True)
        return replace(done, kept="")
    return done


async def _all(bench: Bench, steps: list[Step], tell: Callable[[Step], None]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel if task else loop.stop)
    async for step in _steps(bench):
        steps.append(step)
        tell(step)
    for name in STEPS[len(steps) :]:
        steps.append(Step(name, "not tried", "the first turn did not come to its end"))
        tell(steps[-1])


async def _steps(bench: Bench) -> AsyncIterator[Step]:
    work = bench.work
    first = await bench.take("work", tasks.work(work))
    yield _turn_step(first)
    if first.outcome.kind != "ok":
        return
    for step in _of_work(bench, first.outcome):
        yield step
    session = first.outcome.session
    yield await _resumed(bench, session)
    yield await _forked(bench, session)
    yield await _read_only(bench)


def _of_work(bench: Bench, outcome: Outcome) -> Iterator[Step]:
    work = bench.work
    held = _content(os.path.join(bench.workspace, tasks.FILE))
    if held is None:
        yield Step("file", "failed", f"{tasks.FILE} is not there")
    elif held.strip() != work.word:
        yield Step("file", "failed", f"{tasks.FILE} holds {held[:SHOWN]!r}, not '{work.word}'")
    else:
        yield Step("file", "ok", f"{tasks.FILE} holds the word")
    ran = work.printed in outcome.final
    seen = "it told what the command prints" if ran else _unlike(work.printed, outcome)
    yield Step("command", "ok" if ran else "failed", seen)
    choice = choose(read_signals(outcome.final), {tasks.SIGNAL: LegalSignal("done")})
    if choice.exit:
        yield Step("signal", "ok", f"it ended with {tasks.SIGNAL}")
    else:
        notes = "; ".join(choice.notes)
        yield Step("signal", "failed", notes or _unlike(tasks.SIGNAL, outcome))


async def _resumed(bench: Bench, session: str) -> Step:
    if not bench.post.resumes:
        return Step("resume", "not supported", "it cannot go on with a conversation")
    if not session:
        return Step("resume", "failed", "it never said by which name the conversation goes on")
    taken = await bench.take("resume", tasks.recall(), resume=session)
    return _remembered("resume", bench, taken)


async def _forked(bench: Bench, session: str) -> Step:
    if not bench.post.agent.FORKS or not bench.post.resumes:
        return Step("fork", "not supported", "it cannot continue a conversation twice")
    if not session:
        return Step("fork", "failed", "it never said by which name the conversation goes on")
    taken = await bench.take("fork", tasks.recall(), fork=session)
    step = _remembered("fork", bench, taken)
    if step.result == "ok" and taken.outcome.session in ("", session):
        return replace(step, result="failed", seen="it went on in the same conversation")
    return step


def _remembered(name: str, bench: Bench, taken: turns.Taken) -> Step:
    step = replace(_turn_step(taken), name=name)
    if step.result != "ok":
        return step
    if bench.work.remembered not in taken.outcome.final:
        seen = _unlike(bench.work.remembered, taken.outcome)
        return replace(step, result="failed", seen=f"it did not remember: {seen}")
    return replace(step, seen="it remembered the word")


async def _read_only(bench: Bench) -> Step:
    name = "read-only"
    if bench.post.kind in UNHELD:
        return Step(name, "not supported", "nothing holds a command of your own to permissions")
    forbidden = (os.path.join(bench.workspace, tasks.FORBIDDEN), bench.outside)
    taken = await bench.take(name, tasks.forbidden(forbidden), permissions=READ_ONLY)
    written = _existing(forbidden)
    step = replace(_turn_step(taken), name=name)
    if written:
        return replace(step, result="failed", seen=f"it wrote {', '.join(written)}")
    if step.result != "ok":
        return step
    return replace(step, seen=f"nothing was written; {_hindrance(bench, taken.outcome)}")


def _hindrance(bench: Bench, outcome: Outcome) -> str:
    """Not every agent tells what stopped it, and some see beforehand that there is no way."""
    if outcome.denied:
        return f"refused: {'; '.join(outcome.denied)[:SHOWN]}"
    used = bench.tools_used("read-only")
    if used:
        return f"it used its tools {used} times, and told of no refusal"
    return "it did not try"


def _existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.lexists(path)]


def _turn_step(taken: turns.Taken) -> Step:
    outcome = taken.outcome
    is_ok = outcome.kind == "ok"
    seen = "it came to its end" if is_ok else f"{outcome.kind}: {outcome.detail}"
    cost = (outcome.usd, outcome.tokens, taken.seconds)
    return Step("turn", "ok" if is_ok else "failed", seen, *cost)


def _unlike(wanted: str, outcome: Outcome) -> str:
    return f"no '{wanted}' in its final message: {outcome.final.strip()[-SHOWN:]!r}"


def _content(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(10_000)
    except OSError:
        return None
