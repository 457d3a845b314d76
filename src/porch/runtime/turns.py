"""One turn of an agent command line: prepare, start, follow, and never leave anything running."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from porch.adapters import atomic, crash, process
from porch.adapters.agents import AGENTS, base, events
from porch.adapters.follow import Follower, compact, tail
from porch.adapters.redaction import Redactor, secrets_of
from porch.runtime import usage
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
_KIND, _TERMS = "agent", "turn.json"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn was stopped from outside; what it cost until then is known."""

    usd: float = 0
    tokens: int = 0
    session: str = ""
    seconds: float = 0


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
    _write_down(post, turn)
    redactor = Redactor(secrets_of(_known(prepared)))
    voice = Voice(lambda text: world.progress(turn.effect, redactor.text(text)))
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
        return _cut_short(world, post, turn, prepared, time.monotonic() - began)
    crash.point("turn.after-end")
    follower.drain()
    voice.finish()
    errors = tail(prepared.errors, ERRORS_READ)
    outcome = steps.judged(base.finish(post.agent, listener.summary, ended, errors))
    await asyncio.to_thread(put_away, prepared.output, _known(prepared))
    seconds = round(time.monotonic() - began, 3)
    counted = _counted(world, post, turn.directory, outcome)
    return Taken(_clean(_waiting(world, counted), redactor), seconds)


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


def put_away(transcript: str, env: Mapping[str, str]) -> Redactor:
    """A transcript stays for people to read: no larger than that takes, and without secrets."""
    redactor = Redactor(secrets_of(env))
    for path in (transcript, os.path.join(os.path.dirname(transcript), "errors.txt")):
        if os.path.exists(path):
            # A flood first; then secrets before the cut, which might leave half of one.
            compact(path, FLOOD)
            redactor.file(path)
            compact(path, TRANSCRIPT_KEPT)
    return redactor


def _cut_short(
    world: World, post: Post, turn: base.Turn, prepared: base.Prepared, seconds: float
) -> Taken | Stopped:
    # An agent that had come to its end when the stop came is not run again for nothing.
    outcome = _ended_well(world, turn.directory)
    if outcome is not None:
        return Taken(outcome, round(seconds, 3))
    told = _seen(world, post, turn.directory)
    put_away(prepared.output, _known(prepared))
    return Stopped(told.usd, told.tokens, told.session, round(seconds, 3))


def _write_down(post: Post, turn: base.Turn) -> None:
    """Who is asked, and on what terms: for whoever takes over, and whoever reads the transcript."""
    terms = {"name": post.name, "model": post.model, "fork": turn.fork, "max_usd": turn.max_usd}
    more = {"permissions": post.permissions.texts(), "prices": post.prices}
    told = {**terms, **more, "place": turn.workspace}
    for name, text in ((_KIND, post.kind), (_TERMS, json.dumps(told))):
        atomic.replace(turn.file(name), f"{text}\n".encode(), sync=False)


def post_of(world: World, directory: str) -> tuple[Post, Mapping[str, Any]]:
    """Who was asked in a turn, whatever the settings say by now."""
    try:
        with open(os.path.join(directory, _TERMS), encoding="utf-8") as file:
            terms = json.load(file)
        with open(os.path.join(directory, _KIND), encoding="utf-8") as file:
            kind = file.read().strip()
    except (OSError, ValueError):
        terms, kind = {}, ""
    name, prices = str(terms.get("name", kind)), tuple(terms.get("prices", ()))
    post = Post(name, kind, AGENTS[kind]) if kind in AGENTS else world.roster.worker("", "")
    return replace(post, prices=prices), terms


def _counted(world: World, post: Post, directory: str, outcome: base.Outcome) -> base.Outcome:
    told = usage.Usage(outcome.usd, outcome.tokens, outcome.cached, outcome.output)
    used = _of_turn(world, post, directory, outcome.session, told)
    return replace(outcome, usd=used.usd, tokens=used.tokens)


def _of_turn(
    world: World, post: Post, directory: str, session: str, told: usage.Usage
) -> usage.Usage:
    _, terms = post_of(world, directory)
    origin, place = str(terms.get("fork", "")), str(terms.get("place", ""))
    return usage.of_turn(post, world.directory, session, origin, told, place)


def _clean(outcome: base.Outcome, redactor: Redactor) -> base.Outcome:
    """Half a character cannot be written to any file; what an agent says must not break a run."""
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
        answer=_without_secrets(outcome.answer, redactor),
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
    if outcome is None and os.path.exists(os.path.join(directory, TRANSCRIPT)):
        put_away(os.path.join(directory, TRANSCRIPT), os.environ)
    return outcome


def _ended_well(world: World, directory: str) -> base.Outcome | None:
    path = os.path.join(directory, TRANSCRIPT)
    if not os.path.exists(path):
        return None
    post, _ = post_of(world, directory)
    outcome = base.from_transcript(post.agent, path)
    if outcome is None:
        return None
    redactor = put_away(path, os.environ)
    return _clean(_counted(world, post, directory, outcome), redactor)


def seen(world: World, directory: str) -> Stopped:
    """What an interrupted agent had told: its cost, and by which name its conversation goes on."""
    post, terms = post_of(world, directory)
    told = _seen(world, post, directory)
    if not told.tokens and not told.usd and os.path.exists(os.path.join(directory, _TERMS)):
        # It may have spent anything up to its limit; nobody will ever know.
        return replace(told, usd=float(terms.get("max_usd") or 0))
    return told


def _seen(world: World, post: Post, directory: str) -> Stopped:
    summary = events.summary_of(os.path.join(directory, TRANSCRIPT), post.agent.feed)
    told = usage.Usage(summary.usd, summary.tokens, summary.cached, summary.output)
    used = _of_turn(world, post, directory, summary.session, told)
    return Stopped(used.usd, used.tokens, summary.session)
