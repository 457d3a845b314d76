"""One turn of an agent command line: prepare, start, follow, and never leave anything running."""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from porch.adapters import crash, process
from porch.adapters.agents import base, events
from porch.adapters.follow import Follower, compact, tail
from porch.adapters.redaction import Redactor, secrets_of
from porch.errors import PorchError
from porch.runtime import conversations, terms, usage
from porch.runtime.roster import Post
from porch.runtime.steps import Steps
from porch.runtime.voice import Voice
from porch.runtime.world import World

TRANSCRIPT = "transcript.jsonl"
TRANSCRIPT_KEPT = 1 << 20
FLOOD = 8 * TRANSCRIPT_KEPT
ERRORS_READ = 8192
DETAIL_KEPT = 1000
SAID_KEPT = 2000
# Where an agent does not say when its limit is over.
RATE_LIMIT_S = 60.0
# Trying again changes nothing; a person has to do something first.
HOPELESS = ("auth", "bad_request", "max_turns", "refused")


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn was stopped from outside; what it cost until then is known."""

    usd: float = 0
    tokens: int = 0
    session: str = ""
    seconds: float = 0
    is_free: bool = False  # it cannot have cost anything


@dataclass(frozen=True, slots=True)
class Taken:
    """A turn that came to an end, and how long that took."""

    outcome: base.Outcome
    seconds: float


async def take(
    world: World, post: Post, turn: base.Turn, wall_s: float, idle_s: float
) -> Taken | Stopped:
    """Run one turn to its outcome; cancelling it stops every process it started."""
    began = time.monotonic()
    prepared = post.agent.prepare(turn)
    written = _write_down(world, post, turn, prepared)
    shown = Redactor(secrets_of(_known(prepared)))
    voice = Voice(lambda text: world.progress(turn.effect, shown.text(text)))
    listener = events.Listener(post.agent.feed, voice.tell)
    follower = Follower(prepared.output, listener.take)
    crash.point("turn.before-spawn")
    running = await process.start(_command(world, turn, prepared))
    crash.point("turn.after-spawn")
    steps = Steps(turn.max_steps, running.stop)
    listener.on_event = partial(_each, (voice.tell, steps.count))
    wall = post.wall_s or wall_s
    idle = idle_s if post.idle_s is None else post.idle_s
    try:
        ended = await running.wait(
            idle or None,
            wall or None,
            follower.poll,
            is_busy=listener.is_busy,
            is_over=listener.is_over,
        )
    except asyncio.CancelledError:
        await running.stop()
        follower.drain()
        return _cut_short(world, turn, prepared, round(time.monotonic() - began, 3))
    crash.point("turn.after-end")
    follower.drain()
    voice.finish()
    errors = tail(prepared.errors, ERRORS_READ)
    outcome = steps.judged(base.finish(post.agent, listener.summary, ended, errors))
    taken = _taken(world, post, written, outcome, prepared.env, began)
    await _tidied(prepared)
    return taken


async def _tidied(prepared: base.Prepared) -> None:
    """Not to be cut short, and no reason to fail: what was paid for is told, whoever stops us."""
    tidying = asyncio.ensure_future(asyncio.to_thread(put_away, prepared.output, _known(prepared)))
    with contextlib.suppress(OSError, PorchError):
        try:
            await asyncio.shield(tidying)
        except asyncio.CancelledError:
            await tidying


def _taken(
    world: World,
    post: Post,
    written: terms.Terms,
    outcome: base.Outcome,
    given: Mapping[str, str],
    began: float,
) -> Taken:
    counted = _counted(world, post, written, _waiting(world, outcome))
    clean = _clean(counted, {**os.environ, **given}, secrets_of(given))
    return Taken(clean, round(time.monotonic() - began, 3))


def _known(prepared: base.Prepared) -> Mapping[str, str]:
    """Whose secrets are hidden: an agent may come upon those in files that it was not given."""
    return {**os.environ, **prepared.env}


def _waiting(world: World, outcome: base.Outcome) -> base.Outcome:
    """What a vendor says about its own limit is kept to the second; our guess is ours to scale."""
    if outcome.kind != "rate_limit" or outcome.wait_s:
        return outcome
    # Not nothing, however short: a wait is what tells a limit from a failure.
    return replace(outcome, wait_s=max(0.001, RATE_LIMIT_S * world.settings.back_off))


def _each(told: Iterable[Callable[[events.Event], None]], event: events.Event) -> None:
    for tell in told:
        tell(event)


def put_away(transcript: str, env: Mapping[str, str]) -> None:
    """A transcript stays for people to read: no larger than that takes, and without secrets."""
    redactor = Redactor(secrets_of(env))
    for path in (transcript, os.path.join(os.path.dirname(transcript), "errors.txt")):
        if os.path.exists(path):
            # A flood first; then secrets before the cut, which might leave half of one.
            compact(path, FLOOD)
            redactor.file(path)
            compact(path, TRANSCRIPT_KEPT)


def _cut_short(
    world: World, turn: base.Turn, prepared: base.Prepared, seconds: float
) -> Taken | Stopped:
    # An agent that had come to its end when the stop came is not run again for nothing.
    outcome = _ended_well(world, turn.directory)
    seen_ = told(world, turn.directory)
    with contextlib.suppress(OSError, PorchError):
        put_away(prepared.output, _known(prepared))
    if outcome is not None:
        return Taken(outcome, seconds)
    return Stopped(seen_.usd, seen_.tokens, seen_.session, seconds)


def _write_down(world: World, post: Post, turn: base.Turn, prepared: base.Prepared) -> terms.Terms:
    told = terms.Terms(
        kind=post.kind,
        name=post.name,
        model=post.model,
        place=turn.workspace,
        fork=turn.fork,
        max_usd=turn.max_usd,
        prices=post.prices,
        permissions=post.permissions.texts(),
        before=conversations.used(world.directory, turn.resume or turn.fork),
        hidden=terms.secret_names(prepared.env),
    )
    terms.write(turn.directory, told)
    return told


def _counted(world: World, post: Post, written: terms.Terms, outcome: base.Outcome) -> base.Outcome:
    told = usage.Usage(outcome.usd, outcome.tokens, outcome.cached, outcome.output)
    conversations.keep(world.directory, outcome.session, post, written.place, told)
    used = usage.of_turn(post, told, written.before)
    return replace(outcome, usd=used.usd, tokens=used.tokens)


def _clean(outcome: base.Outcome, environ: Mapping[str, str], given: Iterable[str]) -> base.Outcome:
    """Half a character cannot be written to any file; what an agent says must not break a run.

    In a typed answer only what the agent was given is hidden: a path in it must stay what it is.
    """
    redactor = Redactor(secrets_of(environ))
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


def left_behind(world: World, directory: str) -> base.Outcome | None:
    """What an agent said after its runner died, if it came to an end."""
    outcome = _ended_well(world, directory)
    path = os.path.join(directory, TRANSCRIPT)
    with contextlib.suppress(OSError, PorchError):
        put_away(path, os.environ)
    return outcome


def _ended_well(world: World, directory: str) -> base.Outcome | None:
    path, written = os.path.join(directory, TRANSCRIPT), terms.read(directory)
    post = written.post(world.roster)
    outcome = base.from_transcript(post.agent, path) if os.path.exists(path) else None
    if outcome is None:
        return None
    counted = _counted(world, post, written, outcome)
    return _clean(counted, os.environ, written.secrets(os.environ))


def seen(world: World, directory: str) -> Stopped:
    """What an interrupted agent had told: its cost, and by which name its conversation goes on.

    One that told no money may have spent anything up to its limit, unless it never started or said
    itself that it came to nothing.
    """
    known = told(world, directory)
    path = os.path.join(directory, TRANSCRIPT)
    with contextlib.suppress(OSError, PorchError):
        put_away(path, os.environ)
    if known.usd or known.is_free:
        return known
    return replace(known, usd=terms.read(directory).max_usd)


def told(world: World, directory: str) -> Stopped:
    """What the transcript of a turn tells of its cost, and no more."""
    written = terms.read(directory)
    post = written.post(world.roster)
    summary = events.summary_of(os.path.join(directory, TRANSCRIPT), post.agent.feed)
    total = usage.Usage(summary.usd, summary.tokens, summary.cached, summary.output)
    conversations.keep(world.directory, summary.session, post, written.place, total)
    used = usage.of_turn(post, total, written.before)
    is_answered = bool(summary.said or summary.tools or summary.final)
    has_failed = summary.failure is not None and not is_answered
    is_free = has_failed or not os.path.exists(os.path.join(directory, TRANSCRIPT))
    return Stopped(used.usd, used.tokens, summary.session, is_free=is_free)
