"""One turn of an agent command line: prepare, start, follow, and never leave anything running."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.agents import events, port, transcripts
from porch.agents.clean_output import clean_output
from porch.agents.port import Outcome
from porch.agents.redaction import Redactor, find_secrets
from porch.errors import PorchError
from porch.git.repository import find_common_directory
from porch.run.agents import conversations, turn_record, usage
from porch.run.agents.live_output import LiveOutput
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.turn_grants import watch_grants
from porch.run.agents.world import World
from porch.system import atomic, crash_points, process
from porch.system.growing_file import FileFollower, drop_lines, read_tail
from porch.system.late_asyncio import asyncio
from porch.system.variables import read_environment

TRANSCRIPT = "transcript.jsonl"
TRANSCRIPT_KEPT = 1 << 20
ERRORS_READ = 8192
DETAIL_KEPT = 1000
SAID_KEPT = 2000
# Where an agent does not say when its limit is over.
RATE_LIMIT_S = 60.0
_LEAST_WAIT_S = 0.001
# Trying again changes nothing; a person has to do something first.
HOPELESS = ("auth", "bad_request", "max_turns", "refused")


class StoppedTurn(Struct, frozen=True):
    """The turn was stopped from outside; what it cost until then is known."""

    usd: float = 0
    tokens: int = 0
    session: str = ""
    seconds: float = 0
    is_free: bool = False  # it cannot have cost anything


class EndedTurn(Struct, frozen=True):
    """A turn that came to an end, and how long that took."""

    outcome: port.Outcome
    seconds: float


async def run_turn(
    world: World, post: EmployedAgent, turn: port.Turn, *, wall_s: float, idle_s: float
) -> EndedTurn | StoppedTurn:
    """Run one turn to its outcome; cancelling it stops every process it started."""
    with watch_grants(world, turn.effect) as grants:
        return await _run_watched_turn(
            world, post, turn, grants.before, wall_s=wall_s, idle_s=idle_s
        )


async def _run_watched_turn(
    world: World,
    post: EmployedAgent,
    turn: port.Turn,
    trusted: tuple[str, ...],
    *,
    wall_s: float,
    idle_s: float,
) -> EndedTurn | StoppedTurn:
    began = time.monotonic()
    turn = replace(
        turn,
        git_directory=find_common_directory(turn.workspace),
        # What somebody wrote into a file of the project goes to a vendor and stays in our files.
        prompt=Redactor(find_secrets(read_environment())).text(turn.prompt),
    )
    prepared = post.agent.prepare(turn)
    written = _record_terms(world, post, turn, prepared, trusted)
    shown = Redactor(find_secrets(_known_variables(prepared)))
    voice = LiveOutput(partial(_tell_lines, partial(world.progress, turn.effect), shown))
    listener = transcripts.TranscriptListener(post.agent.feed, voice.tell)
    follower = FileFollower(prepared.output, listener.take, events.LONGEST_TOLD_LINE)
    if turn.note:
        world.progress(turn.effect, turn.note)
        note = turn.note.encode("utf-8", "replace")
        atomic.replace_file(turn.file(transcripts.NOTE_FILE), note, sync=False)
    crash_points.reach_point("turn.before-spawn")
    running = await process.start_command(_turn_command(world, turn, prepared))
    crash_points.reach_point("turn.after-spawn")
    steps = ToolLimit(turn.max_steps, running.stop)
    if turn.max_steps:
        listener.on_event = partial(_tell_each, (voice.tell, steps.count))
    wall = post.wall_s or wall_s
    idle = idle_s if post.idle_s is None else post.idle_s
    try:
        ended = await running.wait(
            idle or None,
            wall or None,
            partial(_read_and_tell, follower, voice),
            is_busy=listener.is_busy,
            is_over=listener.is_over,
        )
    except asyncio.CancelledError:
        await running.stop()
        follower.drain()
        voice.flush()
        return _end_cut_turn(world, turn, prepared, round(time.monotonic() - began, 3))
    crash_points.reach_point("turn.after-end")
    follower.drain()
    voice.finish()
    errors = read_tail(prepared.errors, ERRORS_READ)
    outcome = steps.judged(port.derive_outcome(post.agent, listener.summary, ended, errors))
    outcome = _with_waiting_time(world, turn.effect, outcome)
    taken = _ended_turn(world, post, written, outcome, given=prepared.env, began=began)
    await _redact_transcript(prepared)
    return taken


async def _redact_transcript(prepared: port.PreparedTurn) -> None:
    """Not to be cut short, and no reason to fail: what was paid for is told, whoever stops us."""
    tidying = asyncio.ensure_future(
        asyncio.to_thread(redact_transcript_file, prepared.output, _known_variables(prepared))
    )
    with contextlib.suppress(OSError, PorchError):
        try:
            await asyncio.shield(tidying)
        except asyncio.CancelledError:
            await tidying


def _ended_turn(
    world: World,
    post: EmployedAgent,
    written: turn_record.TurnTerms,
    outcome: port.Outcome,
    *,
    given: Mapping[str, str],
    began: float,
) -> EndedTurn:
    counted = _count_usage(world, post, written, outcome)
    clean = _clean_outcome(counted, {**os.environ, **given}, find_secrets(given))
    return EndedTurn(clean, round(time.monotonic() - began, 3))


def _known_variables(prepared: port.PreparedTurn) -> Mapping[str, str]:
    """Whose secrets are hidden: an agent may come upon those in files that it was not given."""
    return {**os.environ, **prepared.env}


def _with_waiting_time(world: World, effect: str, outcome: port.Outcome) -> port.Outcome:
    """What a vendor says about its own limit is kept to the second; our guess is ours to scale."""
    if outcome.kind != "rate_limit" or outcome.wait_s:
        return outcome
    # A wait is what tells a limit from a failure. However short it is set, nothing but the waiting
    # keeps porch from asking for ever, so it doubles with every time.
    tries = effect.rpartition("/")[2]
    least = _LEAST_WAIT_S * 2 ** min(int(tries) if tries.isdecimal() else 0, 16)
    scaled = RATE_LIMIT_S * world.settings.back_off
    return replace(outcome, wait_s=max(min(least, RATE_LIMIT_S), scaled))


def _read_and_tell(follower: FileFollower, voice: LiveOutput) -> bool:
    """What is new, for whoever watches; answers whether there is more."""
    is_more = follower.poll()
    voice.flush()
    return is_more


def _tell_lines(tell: Callable[[str], object], redactor: Redactor, lines: Sequence[str]) -> None:
    for line in redactor.texts(lines):
        tell(line)


def _tell_each(told: Iterable[Callable[[events.Event], None]], event: events.Event) -> None:
    for tell in told:
        tell(event)


def redact_transcript_file(transcript: str, env: Mapping[str, str]) -> None:
    """A transcript stays for people to read: no larger than that takes, and without secrets."""
    redactor, directory = Redactor(find_secrets(env)), os.path.dirname(transcript)
    passing = transcripts.find_passing_lines(turn_record.read_terms(directory).kind)
    if passing and os.path.exists(transcript):
        drop_lines(transcript, passing)
    for path in (transcript, os.path.join(directory, "errors.txt")):
        if os.path.exists(path):
            clean_output(path, redactor, TRANSCRIPT_KEPT)


def _end_cut_turn(
    world: World, turn: port.Turn, prepared: port.PreparedTurn, seconds: float
) -> EndedTurn | StoppedTurn:
    # An agent that had come to its end when the stop came is not run again for nothing.
    outcome = _read_good_outcome(world, turn.directory)
    seen_ = read_turn_cost(world, turn.directory)
    with contextlib.suppress(OSError, PorchError):
        redact_transcript_file(prepared.output, _known_variables(prepared))
    if outcome is not None:
        return EndedTurn(outcome, seconds)
    return StoppedTurn(seen_.usd, seen_.tokens, seen_.session, seconds)


def _record_terms(
    world: World,
    post: EmployedAgent,
    turn: port.Turn,
    prepared: port.PreparedTurn,
    trusted: tuple[str, ...],
) -> turn_record.TurnTerms:
    told = turn_record.TurnTerms(
        kind=post.kind,
        name=post.name,
        model=post.model,
        place=turn.workspace,
        stamp=turn_record.stamp_worktree(turn.workspace),
        fork=turn.fork,
        max_usd=turn.max_usd,
        prices=post.prices,
        permissions=post.permissions.texts(),
        before=conversations.read_usage(world.directory, turn.resume or turn.fork),
        hidden=turn_record.secret_names(prepared.env),
        trusted=trusted,
    )
    turn_record.write_terms(turn.directory, told)
    return told


def _count_usage(
    world: World, post: EmployedAgent, written: turn_record.TurnTerms, outcome: port.Outcome
) -> port.Outcome:
    told = usage.Usage(outcome.usd, outcome.tokens, outcome.cached, outcome.output)
    conversations.record_conversation(
        world.directory, outcome.session, post, place=written.place, total=told
    )
    used = conversations.usage_of_turn(post, told, written.before)
    return replace(outcome, usd=used.usd, tokens=used.tokens)


def _clean_outcome(
    outcome: port.Outcome, environ: Mapping[str, str], given: Iterable[str]
) -> port.Outcome:
    """Half a character cannot be written to any file; what an agent says must not break a run.

    In a typed answer only what the agent was given is hidden: a path in it must stay what it is.
    """
    redactor = Redactor(find_secrets(environ))
    final, detail = (
        redactor.text(text.encode("utf-8", "replace").decode())
        for text in (outcome.final, outcome.detail)
    )
    denied = tuple(map(redactor.text, outcome.denied))
    return replace(
        outcome,
        final=final,
        detail=detail[:DETAIL_KEPT],
        denied=denied,
        answer=_without_secrets(outcome.answer, Redactor(given)),
    )


def _without_secrets(answer: events.Answered | None, redactor: Redactor) -> events.Answered | None:
    if answer is None:
        return None
    text = json.dumps(answer.payload)
    return replace(answer, payload=json.loads(redactor.line(text)))


def _turn_command(
    world: World, turn: port.Turn, prepared: port.PreparedTurn
) -> process.OutsideCommand:
    return process.OutsideCommand(
        argv=prepared.argv,
        shell=None,
        cwd=turn.workspace,
        env={**prepared.env, **world.port_environment()},
        stdin_file=prepared.stdin_file,
        output=prepared.output,
        errors=prepared.errors,
        mark=world.effect_mark(turn.effect),
    )


def read_left_outcome(world: World, directory: str) -> port.Outcome | None:
    """What an agent said after its runner died, if it came to an end."""
    outcome = _read_good_outcome(world, directory)
    path = os.path.join(directory, TRANSCRIPT)
    with contextlib.suppress(OSError, PorchError):
        redact_transcript_file(path, os.environ)
    return outcome


def _read_good_outcome(world: World, directory: str) -> port.Outcome | None:
    path, written = os.path.join(directory, TRANSCRIPT), turn_record.read_terms(directory)
    post = written.post(world.roster)
    outcome = transcripts.read_finished_outcome(post.agent, path) if os.path.exists(path) else None
    if outcome is None:
        return None
    counted = _count_usage(world, post, written, outcome)
    return _clean_outcome(counted, os.environ, written.secrets(os.environ))


def read_stopped_turn(world: World, directory: str) -> StoppedTurn:
    """What an interrupted agent had told: its cost, and by which name its conversation goes on.

    One that told no money may have spent anything up to its limit, unless it never started or said
    itself that it came to nothing.
    """
    known = read_turn_cost(world, directory)
    path = os.path.join(directory, TRANSCRIPT)
    with contextlib.suppress(OSError, PorchError):
        redact_transcript_file(path, os.environ)
    if known.usd or known.is_free:
        return known
    return replace(known, usd=turn_record.read_terms(directory).max_usd)


def read_turn_cost(world: World, directory: str) -> StoppedTurn:
    """What the transcript of a turn tells of its cost, and no more."""
    written = turn_record.read_terms(directory)
    post = written.post(world.roster)
    summary = transcripts.read_turn_summary(os.path.join(directory, TRANSCRIPT), post.agent.feed)
    total = usage.Usage(summary.usd, summary.tokens, summary.cached, summary.output)
    conversations.record_conversation(
        world.directory, summary.session, post, place=written.place, total=total
    )
    used = conversations.usage_of_turn(post, total, written.before)
    is_answered = bool(summary.said or summary.tools or summary.final)
    has_failed = summary.failure is not None and not is_answered
    is_free = has_failed or not os.path.exists(os.path.join(directory, TRANSCRIPT))
    return StoppedTurn(used.usd, used.tokens, summary.session, is_free=is_free)


class ToolLimit:
    """Counts the tools of one turn and stops it, once."""

    def __init__(self, most: int, stop: Callable[[], Coroutine[Any, Any, None]]):
        self._most = most
        self._stop = stop
        self._taken = 0
        self._stopping: asyncio.Task[None] | None = None

    def count(self, event: events.Event) -> None:
        self._taken += type(event) is events.ToolStarted
        if self._most and self._taken > self._most and self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop())

    def judged(self, outcome: Outcome) -> Outcome:
        if self._stopping is None or outcome.kind == "ok":
            return outcome
        return replace(outcome, kind="max_turns", detail=f"it used more than {self._most} tools")
