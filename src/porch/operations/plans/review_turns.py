"""The turns of reviewers: each fresh, read-only and by itself, all at once, none trusted."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from porch.adapters import marks, settings
from porch.adapters.agents.base import Outcome, Turn
from porch.adapters.settings import Settings
from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine import plans
from porch.machine.review_answers import ReviewAnswer, read_answer
from porch.machine.state import InHand
from porch.operations.plans.desk import Desk
from porch.operations.plans.place import Plan
from porch.operations.plans.review_limits import demand_installed
from porch.operations.reading import read
from porch.operations.session import mark_of
from porch.operations.worlds import world_of
from porch.runtime import limits, turns
from porch.runtime.world import World

# What a vendor may say in passing: one asks again, a little later each time.
_PASSING = ("rate_limit", "server")
RETRIES = 3
_VERDICTS = {"passed": "APPROVE", "failed": "REQUEST_CHANGES", "error": "ABSTAIN"}


class Round(Protocol):
    """What a round of reviews needs to know."""

    @property
    def number(self) -> int: ...
    @property
    def reviewers(self) -> tuple[str, ...]: ...
    @property
    def prompt(self) -> str: ...
    @property
    def workspace(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What one reviewer said, and the fact that it ended."""

    name: str
    answer: ReviewAnswer
    fact: f.ReviewEnded
    retries: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "verdict": self.answer.verdict,
            "why": self.answer.why,
            "seconds": self.fact.seconds,
            "usd": round(self.fact.usd, 6),
            "tokens": self.fact.tokens,
            "retries": self.retries,
        }


def taken(
    plan: Plan, known: Settings, item: str, round_: Round, script: str = ""
) -> list[Reviewed]:
    """All turns of the round that the journal says has begun."""
    found = read(plan.where, plan.run)
    world = world_of(
        plan.where, plan.run, known, lambda: found.state, lambda: found.definition, script=script
    )
    mine = [hand for hand in found.state.in_hand.values() if _is_of(hand, item)]

    async def all_of_them() -> list[Reviewed]:
        _stop_politely()
        return await asyncio.gather(*(_one(world, hand, item, round_) for hand in mine))

    try:
        return asyncio.run(all_of_them())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _stop_politely() -> None:
    """Whoever calls us ends us with a signal when time is up; reviewers must not outlive that."""
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def _is_of(hand: InHand, item: str) -> bool:
    label = hand.position.rpartition("#")[0]
    return hand.kind == "review" and label == (f"{plans.REVIEW}:{item}" if item else plans.REVIEW)


async def _one(world: World, hand: InHand, item: str, round_: Round) -> Reviewed:
    usd, tokens, seconds, retry = 0.0, 0, 0.0, 0
    while True:
        outcome, took = await _turn(world, hand, item, round_, retry)
        usd, tokens, seconds = usd + outcome.usd, tokens + outcome.tokens, seconds + took
        if outcome.kind not in _PASSING or retry == RETRIES:
            break
        await asyncio.sleep(min(outcome.wait_s, 60) or 2**retry * world.settings.back_off)
        retry += 1
    answer = _answer(outcome)
    fact = f.ReviewEnded(
        hand.effect,
        _VERDICTS[answer.verdict],  # type: ignore[arg-type]
        answer.thoughts,
        (answer.suggested_changes,) if answer.suggested_changes else (),
        answer.why,
        round(seconds, 3),
        usd,
        tokens,
    )
    return Reviewed(hand.name, answer, fact, retry)


def _answer(outcome: Outcome) -> ReviewAnswer:
    """Whoever could not be heard has not passed anything."""
    if outcome.kind != "ok":
        return ReviewAnswer("error", "", (), "", f"{outcome.kind}: {outcome.detail}".strip(": "))
    return read_answer(outcome.final)


async def _turn(
    world: World, hand: InHand, item: str, round_: Round, retry: int
) -> tuple[Outcome, float]:
    try:
        post = world.roster.reviewer(hand.name)
        demand_installed(post)
        turn = Turn(
            effect=hand.effect,
            prompt=round_.prompt,
            request=_request(hand, item, round_, retry),
            workspace=round_.workspace,
            directory=world.new_turn_directory(hand.effect),
            model=post.model,
            script=world.script,
            permissions=post.permissions,
            max_usd=limits.left_for_a_turn(world, plans.REVIEW),
            max_steps=post.max_steps,
            command=post.command,
            env=post.env,
        )
        wall = world.settings.consultation_timeout
        ended = await turns.take(world, post, turn, wall, world.settings.idle)
    except (PorchError, OSError) as error:
        return Outcome("crashed", detail=str(error)), 0
    if isinstance(ended, turns.Stopped):
        raise asyncio.CancelledError
    return ended.outcome, ended.seconds


def _request(hand: InHand, item: str, round_: Round, retry: int) -> dict[str, Any]:
    return {
        "id": item or "full",
        "title": item or "full",
        "position": hand.position,
        "state": plans.REVIEW,
        "item": item,
        "visit": round_.number,
        "try": retry + 1,
        "kind": "review",
        "name": hand.name,
        "project_dir": "",
        "artifacts": [],
        "review": {"type": "prompt" if item else "full", "round": round_.number},
    }


@dataclass(frozen=True, slots=True)
class Combined:
    """What all reviewers of a round come to."""

    verdict: str
    thoughts: str
    suggested_changes: str
    questions: tuple[str, ...]
    why: str


def combined(told: Sequence[Reviewed]) -> Combined:
    """One who asks for changes is enough; one who could not be heard keeps it from passing."""
    verdicts = [each.answer.verdict for each in told]
    verdict = next((v for v in ("failed", "error") if v in verdicts), "passed")
    questions = dict.fromkeys(q for each in told for q in each.answer.questions)
    return Combined(
        verdict if told else "error",
        _joined(told, [each.answer.thoughts for each in told]),
        _joined(told, [each.answer.suggested_changes for each in told]),
        tuple(questions),
        "; ".join(f"{each.name}: {each.answer.why}" for each in told if each.answer.why),
    )


def _joined(told: Sequence[Reviewed], texts: Iterable[str]) -> str:
    said = [(each.name, text) for each, text in zip(told, texts, strict=True) if text]
    if len(told) == 1:
        return said[0][1] if said else ""
    return "\n\n".join(f"{name}:\n{text}" for name, text in said)


def settle_orphans(held: Desk, item: str) -> None:
    """Turns of a review that died: what still runs of them is stopped, their cost is counted."""
    mine = [hand for hand in held.state.in_hand.values() if _is_of(hand, item)]
    if not mine:
        return
    known = settings.load(held.plan.where.root)
    book = held.found.book
    world = world_of(
        held.plan.where, held.plan.run, known, lambda: book.state, lambda: book.definition
    )
    mark = mark_of(held.plan.where, held.plan.run)
    for hand in mine:
        marks.reap(f"{mark}:{hand.effect.replace(' ', '_')}")
        directory = world.turn_directory(hand.effect)
        seen = turns.seen(world, directory) if os.listdir(directory) else turns.Stopped()
        book.record(f.EffectInterrupted(hand.effect, seen.usd, seen.tokens, seen.session))
