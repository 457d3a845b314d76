"""Whether an agent's command line does what porch relies on: tried out, not believed.

Everything happens in a throw-away repository, by the same road that the turns of a run take.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.agents.port import Outcome
from porch.claims.legal_signal import LegalSignal
from porch.claims.signals import choose_signal, read_signals
from porch.errors import OutsideError, UsageError
from porch.model.permissions import READ_ONLY
from porch.run import settings
from porch.run.agents import trial_repository, turn
from porch.run.agents import trial_tasks as tasks
from porch.run.agents.roster import SCRIPTED, Roster
from porch.run.agents.trial_repository import TrialBench
from porch.run.agents.world import World
from porch.run.trust_requests import require_trust
from porch.store.where import ProjectPaths

STEPS = ("turn", "file", "command", "signal", "resume", "fork", "read-only")
SHOWN = 300
StepResult = Literal["ok", "failed", "not supported", "not tried"]


class TrialStep(Struct, frozen=True):
    """One thing that was tried; what a turn cost stands with the first step that it gave."""

    name: str
    result: StepResult
    seen: str
    usd: float = 0
    tokens: int = 0
    seconds: float = 0


class AgentTrial(Struct, frozen=True):
    """All steps; `kept` is where the transcripts lie, if something is to be looked at."""

    steps: tuple[TrialStep, ...]
    kept: str

    @property
    def passed(self) -> bool:
        return not any(step.result in ("failed", "not tried") for step in self.steps)


def make_trial_world(where: ProjectPaths, name: str) -> World:
    """Who is to be tried, as the settings employ it; raises where there is nobody."""
    if name == SCRIPTED:
        raise UsageError(
            "the scripted agent only follows its script; there is nothing to test",
            fix="to try a protocol with it: `porch run PROTOCOL --no-claude`",
        )
    known = settings.load_settings(where.root)
    require_trust(known.untrusted)
    world = trial_repository.make_empty_world(known, Roster(known, name))
    post = world.roster.worker("", "")
    if not post.is_installed:
        raise OutsideError(
            f"the agent '{name}' is not installed: no `{post.executable}` on PATH",
            fix=post.agent.probe().note or "install it, or fix its command in the settings",
            code="agent-missing",
        )
    return world


def run_trial(world: World, timeout_s: float, tell: Callable[[TrialStep], None]) -> AgentTrial:
    """Try everything, telling each step at once; raises where nobody is logged in."""
    place = tempfile.mkdtemp(prefix="porch-agents-")
    steps: list[TrialStep] = []
    try:
        bench = trial_repository.lay_out_repository(world, os.path.realpath(place), timeout_s)
        asyncio.run(_run_all_steps(bench, steps, tell))
    except asyncio.CancelledError:
        shutil.rmtree(place, ignore_errors=True)
        raise KeyboardInterrupt from None
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    done = AgentTrial(tuple(steps), place)
    if done.passed:
        shutil.rmtree(place, ignore_errors=True)
        return replace(done, kept="")
    return done


async def _run_all_steps(
    bench: TrialBench, steps: list[TrialStep], tell: Callable[[TrialStep], None]
) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel if task else loop.stop)
    async for step in _run_steps(bench):
        steps.append(step)
        tell(step)
    for name in STEPS[len(steps) :]:
        steps.append(TrialStep(name, "not tried", "the first turn did not finish"))
        tell(steps[-1])


async def _run_steps(bench: TrialBench) -> AsyncIterator[TrialStep]:
    work = bench.work
    first = await bench.take("work", tasks.render_work_task(work))
    yield _turn_step(first)
    if first.outcome.kind != "ok":
        return
    for step in _check_work(bench, first.outcome):
        yield step
    session = first.outcome.session
    yield await _try_resume(bench, session)
    yield await _try_fork(bench, session)
    yield await _try_read_only(bench)


def _check_work(bench: TrialBench, outcome: Outcome) -> Iterator[TrialStep]:
    work = bench.work
    held = _read_content(os.path.join(bench.workspace, tasks.FILE))
    if held is None:
        yield TrialStep("file", "failed", f"{tasks.FILE} is missing")
    elif held.strip() != work.word:
        yield TrialStep(
            "file", "failed", f"{tasks.FILE} contains {held[:SHOWN]!r}, not '{work.word}'"
        )
    else:
        yield TrialStep("file", "ok", f"{tasks.FILE} contains the word")
    ran = work.printed in outcome.final
    seen = (
        "it reported the output of the command"
        if ran
        else _describe_difference(work.printed, outcome)
    )
    yield TrialStep("command", "ok" if ran else "failed", seen)
    choice = choose_signal(read_signals(outcome.final), {tasks.SIGNAL: LegalSignal("done")})
    if choice.exit:
        yield TrialStep("signal", "ok", f"it ended with {tasks.SIGNAL}")
    else:
        notes = "; ".join(choice.notes)
        yield TrialStep("signal", "failed", notes or _describe_difference(tasks.SIGNAL, outcome))


async def _try_resume(bench: TrialBench, session: str) -> TrialStep:
    if not bench.post.resumes:
        return TrialStep("resume", "not supported", "it cannot resume a conversation")
    if not session:
        return TrialStep("resume", "failed", "it gave no id for the conversation")
    taken = await bench.take("resume", tasks.render_recall_task(), resume=session)
    return _check_memory("resume", bench, taken)


async def _try_fork(bench: TrialBench, session: str) -> TrialStep:
    if not bench.post.agent.FORKS or not bench.post.resumes:
        return TrialStep("fork", "not supported", "it cannot fork a conversation")
    if not session:
        return TrialStep("fork", "failed", "it gave no id for the conversation")
    taken = await bench.take("fork", tasks.render_recall_task(), fork=session)
    step = _check_memory("fork", bench, taken)
    if step.result == "ok" and taken.outcome.session in ("", session):
        return replace(step, result="failed", seen="it continued the same conversation")
    return step


def _check_memory(name: str, bench: TrialBench, taken: turn.EndedTurn) -> TrialStep:
    step = replace(_turn_step(taken), name=name)
    if step.result != "ok":
        return step
    if bench.work.remembered not in taken.outcome.final:
        seen = _describe_difference(bench.work.remembered, taken.outcome)
        return replace(step, result="failed", seen=f"it did not remember: {seen}")
    return replace(step, seen="it remembered the word")


async def _try_read_only(bench: TrialBench) -> TrialStep:
    name = "read-only"
    if not bench.post.agent.HOLDS_PERMISSIONS:
        return TrialStep(
            name, "not supported", "permissions of a custom command cannot be enforced"
        )
    forbidden = (os.path.join(bench.workspace, tasks.FORBIDDEN), bench.outside)
    taken = await bench.take(name, tasks.render_forbidden_task(forbidden), permissions=READ_ONLY)
    written = _existing_paths(forbidden)
    step = replace(_turn_step(taken), name=name)
    if written:
        return replace(step, result="failed", seen=f"it wrote {', '.join(written)}")
    if step.result != "ok":
        return step
    return replace(step, seen=f"nothing was written; {_describe_hindrance(bench, taken.outcome)}")


def _describe_hindrance(bench: TrialBench, outcome: Outcome) -> str:
    """Not every agent tells what stopped it, and some see beforehand that there is no way."""
    if outcome.denied:
        return f"refused: {'; '.join(outcome.denied)[:SHOWN]}"
    used = bench.tools_used("read-only")
    if used:
        return f"it used its tools {used} times and reported no refusal"
    return "it did not try"


def _existing_paths(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.lexists(path)]


def _turn_step(taken: turn.EndedTurn) -> TrialStep:
    outcome = taken.outcome
    is_ok = outcome.kind == "ok"
    seen = "it finished" if is_ok else f"{outcome.kind}: {outcome.detail}"
    cost = (outcome.usd, outcome.tokens, taken.seconds)
    return TrialStep("turn", "ok" if is_ok else "failed", seen, *cost)


def _describe_difference(wanted: str, outcome: Outcome) -> str:
    return f"no '{wanted}' in its final message: {outcome.final.strip()[-SHOWN:]!r}"


def _read_content(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(10_000)
    except OSError:
        return None
