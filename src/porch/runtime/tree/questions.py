"""A typed question to an agent: prompt, turns, nudges and refusals, until one answer holds."""

import asyncio
import json
import os
import re
from dataclasses import dataclass, replace
from typing import Any

from porch.adapters import changes, git, refs, updating, worktrees
from porch.adapters.agents.base import Outcome, Turn
from porch.errors import OutsideError, PorchError
from porch.machine import facts as f
from porch.machine.effects import AskAgent
from porch.machine.paths import look
from porch.model import schema
from porch.model.permissions import READ_ONLY
from porch.model.protocol import Protocol
from porch.runtime import conversations, limits, turns
from porch.runtime.payloading import expand
from porch.runtime.roster import Post
from porch.runtime.tree import answering, places
from porch.runtime.tree.accepting import Accepted, accept, left_out
from porch.runtime.tree.places import Place
from porch.runtime.tree.troubles import trouble
from porch.runtime.world import World
from porch.views import jinja, question

MOST_REFUSALS = 3
JUDGED = "judged"
_TURN = re.compile(r"turn-[0-9]{1,9}")
DIFF_KEPT = 20_000


@dataclass(slots=True)
class Talk:
    """One effect's conversation: what it cost so far, and how often it had to be put right."""

    session: str = ""
    fork: str = ""
    first: str = ""
    usd: float = 0
    tokens: int = 0
    nudges: int = 0
    refusals: int = 0
    turn: int = 0

    seconds: float = 0

    def took(self, taken: turns.Taken | turns.Stopped) -> None:
        told = taken if isinstance(taken, turns.Stopped) else taken.outcome
        self.usd += told.usd
        self.tokens += told.tokens
        self.session = told.session or self.session
        self.seconds = round(self.seconds + taken.seconds, 3)


async def run(world: World, effect: AskAgent) -> f.EffectFact:
    """Until an answer holds; what cannot be had without a restart is a failure, not an attempt."""
    world.new_turn_directory(effect.id)
    async with places.opened(world, effect) as place:
        return await _asked(world, effect, place)


async def _asked(world: World, effect: AskAgent, place: Place) -> f.EffectFact:
    post = _post(world, effect)
    talk = Talk(*carried(world, effect, place, post))
    try:
        return await _talked(world, effect, place, post, talk)
    except asyncio.CancelledError:
        # While an answer was measured: what was paid for is told all the same.
        await asyncio.to_thread(salvage, effect, place)
        return f.EffectStopped(effect.id, talk.usd, talk.tokens, talk.session, talk.seconds)
    except (PorchError, OSError) as error:
        why, cost = str(error), (talk.usd, talk.tokens)
        return f.EffectFailed(effect.id, "outside", why, 0, *cost, seconds=talk.seconds)


async def _talked(
    world: World, effect: AskAgent, place: Place, post: Post, talk: Talk
) -> f.EffectFact:
    is_fresh = not talk.session and not talk.fork
    said = await asyncio.to_thread(first_words, world, effect, place, post, is_fresh)
    talk.first, kind = said, "agent"
    waiting = left_behind(world, effect)
    while True:
        talk.turn += 1
        taken = waiting or await _turn(world, effect, place, talk, said, kind)
        waiting = None
        talk.took(taken)
        if isinstance(taken, turns.Stopped):
            await asyncio.to_thread(salvage, effect, place)
            return f.EffectStopped(effect.id, talk.usd, talk.tokens, talk.session, talk.seconds)
        outcome = taken.outcome
        answer = answering.found(world, effect, post, outcome)
        if answer is None:
            failed = _silent(world, effect, talk, outcome)
            if failed is not None:
                return failed
            said, kind = question.REMINDER, "reminder"
            continue
        judged = await accept(world, effect, place, answer)
        if isinstance(judged, Accepted):
            return _accepted(effect, talk, judged, outcome)
        world.progress(effect.id, f"refused: {judged.reasons[0]}")
        _mark_judged(world, effect)
        talk.refusals += 1
        if talk.refusals >= MOST_REFUSALS:
            why = "; ".join(judged.reasons)
            cost = (talk.usd, talk.tokens)
            return f.EffectFailed(effect.id, "refused", why, 0, *cost, seconds=talk.seconds)
        said, kind = question.refused(judged.reasons), "refused"
        if limits.is_out_of_money(world, effect.state, talk.usd):
            cost = (talk.usd, talk.tokens)
            return f.EffectFailed(effect.id, "budget", said, 0, *cost, seconds=talk.seconds)


def _silent(world: World, effect: AskAgent, talk: Talk, outcome: Outcome) -> f.EffectFailed | None:
    """No answer: nothing but a nudge where the turn ended or fell silent, else a failure."""
    ended = outcome.kind in ("ok", "schema_missing")
    can_go_on = ended or (outcome.kind == "timeout" and bool(talk.session))
    _mark_judged(world, effect)
    talk.nudges += 1
    if can_go_on and talk.nudges <= world.definition().protocol.nudges:
        return None
    if outcome.kind == "ok":
        said = f"no exit after {talk.nudges - 1} reminders"
        outcome = replace(outcome, kind="crashed", detail=said)
    return _failed(effect, talk, outcome)


def last_turn(world: World, effect: str) -> str:
    """The directory of the latest turn of an effect; its own if it came to none."""
    return next(reversed(turns_of(world, effect)), world.turn_directory(effect))


def turns_of(world: World, effect: str) -> list[str]:
    """The directories of all turns of an effect, each of which was paid for."""
    directory = world.turn_directory(effect)
    found = [name for name in os.listdir(directory) if _TURN.fullmatch(name)]
    found.sort(key=lambda name: int(name.partition("-")[2]))
    return [os.path.join(directory, name) for name in found]


def left_behind(world: World, effect: AskAgent) -> turns.Taken | None:
    """What the agent of the try before said after its runner had died; paid for, so not lost."""
    front, _, number = effect.id.rpartition("/")
    if not int(number):
        return None
    directory = last_turn(world, f"{front}/{int(number) - 1}")
    if os.path.exists(os.path.join(directory, JUDGED)):
        return None
    found = turns.left_behind(world, directory)
    # It was paid for when it was found interrupted.
    return turns.Taken(replace(found, usd=0.0, tokens=0), 0) if found else None


def _failed(effect: AskAgent, talk: Talk, outcome: Outcome) -> f.EffectFailed:
    wait = (outcome.wait_s or turns.RATE_LIMIT_S) if outcome.kind == "rate_limit" else 0
    cost = (talk.usd, talk.tokens, outcome.kind in turns.HOPELESS, talk.seconds)
    return f.EffectFailed(effect.id, outcome.kind, outcome.detail, wait, *cost)


def _accepted(effect: AskAgent, talk: Talk, judged: Accepted, outcome: Outcome) -> f.ExitAccepted:
    return f.ExitAccepted(
        effect.id,
        judged.exit,
        judged.payload,
        judged.exit,
        judged.notes,
        talk.session,
        talk.usd,
        talk.tokens,
        outcome.final[-turns.SAID_KEPT :],
        judged.tree,
        judged.evidence,
        judged.envelope,
        talk.seconds,
    )


def _post(world: World, effect: AskAgent) -> Post:
    """Who is asked; whoever only reads may do nothing else, whatever the settings permit."""
    post = world.post_of(effect.role, effect.state, ())
    return replace(post, permissions=READ_ONLY) if effect.ask.workspace == "read" else post


def carried(world: World, effect: AskAgent, place: Place, post: Post) -> tuple[str, str]:
    """The conversation to go on with and the one to begin from, where whoever is asked has them.

    They may belong to another agent, or to another place; then their last words are quoted.
    """

    def is_there(session: str) -> bool:
        is_here = conversations.place_of(world.directory, session) == place.path
        is_mine = conversations.is_of(world.directory, session, post)
        return bool(session) and is_mine and (is_here or not post.agent.BOUND_TO_PLACE)

    resume = effect.resume if post.resumes and is_there(effect.resume) else ""
    fork = effect.fork_of if post.agent.FORKS and is_there(effect.fork_of) else ""
    return resume, fork


async def _turn(
    world: World, effect: AskAgent, place: Place, talk: Talk, said: str, kind: str
) -> turns.Taken | turns.Stopped:
    directory = os.path.join(world.turn_directory(effect.id), f"turn-{talk.turn}")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    post = _post(world, effect)
    resume = talk.session if post.resumes else ""
    turn = Turn(
        effect=effect.id,
        prompt=said if resume or said == talk.first else f"{talk.first}\n\n{said}",
        request=_request(world, effect, talk, kind),
        workspace=place.path,
        directory=directory,
        resume=resume or None,
        script=world.script,
        fork="" if talk.session else talk.fork,
        model=post.model,
        permissions=post.permissions,
        schema=schema_of(world, effect),
        max_usd=limits.left_for_a_turn(world, effect.state, talk.usd),
        max_steps=post.max_steps,
        command=post.command,
        env=post.env,
    )
    protocol = world.definition().protocol
    wall = effect.timeout_s or protocol.limits.agent_s or world.settings.claude_timeout
    return await turns.take(world, post, turn, wall, world.settings.idle or protocol.silence_s)


def _mark_judged(world: World, effect: AskAgent) -> None:
    """What was said and found wanting must not be taken up again by the next try."""
    front, _, number = effect.id.rpartition("/")
    for known in (effect.id, f"{front}/{int(number) - 1}") if int(number) else (effect.id,):
        with open(os.path.join(last_turn(world, known), JUDGED), "w", encoding="utf-8"):
            pass


def _request(world: World, effect: AskAgent, talk: Talk, kind: str) -> dict[str, Any]:
    run = world.state().run
    return {
        "id": run.id,
        "title": run.title,
        "position": effect.position,
        "instance": effect.instance,
        "state": effect.state,
        "visit": effect.visit,
        "try": effect.attempt + 1,
        "turn": talk.refusals + 1 if kind == "refused" else talk.turn,
        "kind": kind,
        "name": effect.role,
        "legal": [known.name for known in effect.exits],
        "exit_file": answering.exit_file(world, effect),
        "schema": schema_of(world, effect),
    }


def schema_of(world: World, effect: AskAgent) -> dict[str, Any]:
    """One flat object, which every command line that takes a schema can be given."""
    protocol = world.definition().protocol
    records = {known.name: known.record for known in effect.exits}
    out = {known.name: left_out(protocol, effect, known) for known in effect.exits}
    return schema.flat(records, protocol.types, out)


def first_words(world: World, effect: AskAgent, place: Place, post: Post, is_fresh: bool) -> str:
    """The rendered template, then how to answer."""
    values = _values(world, effect, place)
    if effect.ask.mechanical and trouble(world, effect).get("kind") == "conflict":
        updating.begin_conflicted(place.path, str(trouble(world, effect)["base"]))
    template = world.definition().prompts[effect.state]
    protocol = world.definition().protocol
    told = jinja.render(template, effect.template, values)
    if effect.told and is_fresh:
        told = f"{told}\n{question.digest(effect.told)}"
    out = {known.name: left_out(protocol, effect, known) for known in effect.exits}
    file, word = answering.exit_file(world, effect), answering.word(world, effect)
    how = question.how_to_answer(post.agent.ANSWERS, [e.name for e in effect.exits], file, word)
    return told + how + _exits(protocol, effect, out)


def _exits(protocol: Protocol, effect: AskAgent, out: dict[str, set[str]]) -> str:
    """The same for every instance and visit, but for the fields that are not asked now."""
    key = (id(protocol), effect.state, json.dumps({k: sorted(v) for k, v in out.items()}))
    if key not in _SHAPES:
        records = {known.name: known.record for known in effect.exits}
        shapes = schema.per_exit(records, protocol.types, out)
        advice = [f"{e.name}.{name}" for e in effect.exits for name in e.advisory]
        _SHAPES[key] = (protocol, question.exits(shapes, advice))
    return _SHAPES[key][1]


_SHAPES: dict[tuple[int, str, str], tuple[Protocol, str]] = {}


def _values(world: World, effect: AskAgent, place: Place) -> dict[str, Any]:
    values: dict[str, Any] = expand(world.payload_directory, effect.values)
    for take in effect.ask.takes:
        values[take.name] = _whole(world, effect, place, take, values[take.name])
    head = git.head(place.path) or ""
    commands = world.settings.commands
    return {
        **values,
        "where": {"directory": place.path, "branch": place.branch, "commit": head},
        "commands": {name: commands.get(name, "") for name in ("build", "test")},
    }


def _whole(world: World, effect: AskAgent, place: Place, take: Any, value: Any) -> Any:
    """What a field holds, with the files that it names read."""
    if take.parts and isinstance(value, dict):
        return {p.name: _whole(world, effect, place, p, value[p.name]) for p in take.parts}
    if take.is_file and isinstance(value, str):
        return _text_of(world, effect, value)
    if take.paths == ("engine.evidence",):
        state = world.state()
        known = state.memory.get((effect.instance, ""), {}).get("engine.evidence", {})
        return expand(world.payload_directory, known.get("value", []))
    if take.paths == ("engine.diff",):
        return diff(world, effect, place)
    return value


def _text_of(world: World, effect: AskAgent, name: str) -> str:
    try:
        return refs.read_file(world.workspace, effect.about.target, name)
    except OutsideError:
        return f"({name} cannot be read)"


def diff(world: World, effect: AskAgent, place: Place) -> str:
    """Own commits only where the end is open; a long one is cut, and says so."""
    state = world.state()
    standing = state.positions[effect.position]
    protocol = world.definition().protocol
    old, new = (
        str(look(protocol, state, standing, path)) if path else "" for path in effect.ask.diff
    )
    text, cut = changes.diff_text(
        place.path,
        old,
        new or "HEAD",
        first_parent_only=not new,
        limit=DIFF_KEPT,
        skip_trailer="Porch-Merge:",
    )
    return f"{text}\n(cut: see `git diff {old[:12]}` for all of it)" if cut else text


def salvage(effect: AskAgent, place: Place) -> None:
    """Half done work of a question that nobody waits for is kept under a ref of its own."""
    if place.is_own:
        name = effect.position.replace(":", "-").replace("#", "/")
        ref = f"{worktrees.SALVAGE}{place.branch}/{name}"
        worktrees.salvage(place.path, ref, f"Left uncommitted at {effect.position}")
