"""The turns of reviewers: each fresh, read-only and by itself, all at once, none trusted."""

import asyncio
import math
import os
import signal
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from porch.agents.port import Outcome, Turn
from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.exits import absences
from porch.machine.plan import run_rules
from porch.machine.state import InHand
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_location import Plan
from porch.plan.reviews.review_answers import ReviewAnswer, read_answer
from porch.plan.reviews.review_budget import require_installed
from porch.run import settings
from porch.run.agents import budget_limits
from porch.run.agents import turn as turns
from porch.run.agents.world import World
from porch.run.drive.world_setup import make_world
from porch.run.engine.run_places import mark_of
from porch.run.settings import Settings
from porch.run.verbs.read_run import read_run
from porch.show.prompt import one_line
from porch.system import process_marks

# So often a vendor at its limit is asked again; how often others are, `absences` says.
RETRIES = 3
_ASK_AGAIN = "\n\nYour last answer could not be read: {why}. Answer again, in the form above.\n"
_VERDICTS = {"passed": "APPROVE", "failed": "REQUEST_CHANGES", "error": "ABSTAIN"}


class RoundPort(Protocol):
    """What a round of reviews needs to know."""

    @property
    def number(self) -> int: ...
    @property
    def reviewers(self) -> tuple[str, ...]: ...
    @property
    def prompt(self) -> str: ...
    @property
    def workspace(self) -> str: ...


class ReviewerRow(Struct, frozen=True, kw_only=True):
    """One reviewer in the result of a review."""

    name: str
    verdict: str
    why: str
    seconds: float
    usd: float
    tokens: int
    retries: int


class ReviewerResult(Struct, frozen=True):
    """What one reviewer said, and the fact that it ended."""

    name: str
    answer: ReviewAnswer
    fact: f.ReviewEnded
    retries: int = 0

    @property
    def is_absent(self) -> bool:
        """It gave no verdict, which is not the same as one that asks for changes."""
        return bool(self.fact.cause)

    def row(self) -> ReviewerRow:
        return ReviewerRow(
            name=self.name,
            verdict=self.answer.verdict,
            why=self.answer.why,
            seconds=self.fact.seconds,
            usd=round(self.fact.usd, 6),
            tokens=self.fact.tokens,
            retries=self.retries,
        )


def collect_reviews(
    plan: Plan,
    known: Settings,
    item: str,
    round_: RoundPort,
    *,
    script: str = "",
    wait_s: float = 0,
) -> list[ReviewerResult]:
    """All turns of the round that the journal says has begun; with `wait_s`, within that time."""
    ends_at = time.monotonic() + wait_s if wait_s else math.inf
    found = read_run(plan.where, plan.run)
    world = make_world(
        plan.where,
        plan.run,
        known,
        state=lambda: found.state,
        definition=lambda: found.definition,
        script=script,
    )
    mine = [hand for hand in found.state.in_hand.values() if _is_review_of(hand, item)]

    async def all_of_them() -> list[ReviewerResult]:
        _stop_politely()
        return await asyncio.gather(
            *(_ask_reviewer(world, hand, item, round_, ends_at) for hand in mine)
        )

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


def _is_review_of(hand: InHand, item: str) -> bool:
    label = hand.position.rpartition("#")[0]
    return hand.kind == "review" and label == (
        f"{run_rules.REVIEW}:{item}" if item else run_rules.REVIEW
    )


async def _ask_reviewer(
    world: World, hand: InHand, item: str, round_: RoundPort, ends_at: float
) -> ReviewerResult:
    usd, tokens, seconds, retry = 0.0, 0, 0.0, 0
    unread = ""
    while True:
        left = ends_at - time.monotonic()
        outcome, took = await _take_turn(
            world, hand, item, round_, retry=retry, left=left, unread=unread
        )
        usd, tokens, seconds = usd + outcome.usd, tokens + outcome.tokens, seconds + took
        answer = _read_outcome(outcome)
        cause = _find_cause(outcome, answer)
        # One that could not even be started would not start the next time either.
        is_final = not cause or cause in turns.HOPELESS or not took
        wait = min(outcome.wait_s, 60) or 2**retry * world.settings.back_off
        if is_final or retry + 1 >= _count_calls(cause) or time.monotonic() + wait >= ends_at:
            break
        unread = answer.why if cause == absences.UNREADABLE else ""
        await asyncio.sleep(wait)
        retry += 1
    fact = f.ReviewEnded(
        effect=hand.effect,
        verdict=_VERDICTS[answer.verdict],  # type: ignore[arg-type]
        summary=answer.thoughts,
        findings=(answer.suggested_changes,) if answer.suggested_changes else (),
        why=answer.why,
        seconds=round(seconds, 3),
        usd=usd,
        tokens=tokens,
        reply=outcome.final,
        cause=cause,
    )
    return ReviewerResult(hand.name, answer, fact, retry)


def _find_cause(outcome: Outcome, answer: ReviewAnswer) -> str:
    """Why there is no verdict; nothing if there is one."""
    if outcome.kind != "ok":
        return outcome.kind
    return absences.UNREADABLE if answer.verdict == "error" else ""


def _count_calls(cause: str) -> int:
    return RETRIES + 1 if cause == "rate_limit" else absences.count_calls(cause)


def _read_outcome(outcome: Outcome) -> ReviewAnswer:
    """Whoever could not be heard has not passed anything."""
    if outcome.kind != "ok":
        return ReviewAnswer("error", "", (), "", f"{outcome.kind}: {outcome.detail}".strip(": "))
    return read_answer(outcome.final)


async def _take_turn(
    world: World,
    hand: InHand,
    item: str,
    round_: RoundPort,
    *,
    retry: int,
    left: float,
    unread: str,
) -> tuple[Outcome, float]:
    try:
        post = world.roster.reviewer(hand.name)
        require_installed(post)
        turn = Turn(
            effect=hand.effect,
            prompt=round_.prompt + (_ASK_AGAIN.format(why=one_line(unread)) if unread else ""),
            request=_turn_request(hand, item, round_, retry),
            workspace=round_.workspace,
            directory=world.new_turn_directory(hand.effect),
            model=post.model,
            script=world.script,
            permissions=post.permissions,
            max_usd=budget_limits.money_left_for_turn(world, run_rules.REVIEW),
            max_steps=post.max_steps,
            command=post.command,
            env=post.env,
        )
        wall = min(post.wall_s or world.settings.consultation_timeout or math.inf, max(left, 0.01))
        post = replace(post, wall_s=0 if wall == math.inf else wall)
        ended = await turns.run_turn(world, post, turn, wall_s=0, idle_s=world.settings.idle)
    except (PorchError, OSError) as error:
        return Outcome("crashed", detail=str(error)), 0
    if isinstance(ended, turns.StoppedTurn):
        raise asyncio.CancelledError
    return ended.outcome, ended.seconds


def _turn_request(hand: InHand, item: str, round_: RoundPort, retry: int) -> Mapping[str, Any]:
    return {
        "id": item or "full",
        "title": item or "full",
        "position": hand.position,
        "state": run_rules.REVIEW,
        "item": item,
        "visit": round_.number,
        "try": retry + 1,
        "kind": "review",
        "name": hand.name,
        "project_dir": "",
        "artifacts": [],
        "review": {"type": "prompt" if item else "full", "round": round_.number},
    }


class CombinedReview(Struct, frozen=True):
    """What all reviewers of a round come to."""

    verdict: str
    thoughts: str
    suggested_changes: str
    questions: tuple[str, ...]
    why: str


def combine_reviews(told: Sequence[ReviewerResult]) -> CombinedReview:
    """One who asks for changes is enough; one who could not be heard keeps it from passing."""
    verdicts = [each.answer.verdict for each in told]
    verdict = next((v for v in ("failed", "error") if v in verdicts), "passed")
    questions = dict.fromkeys(q for each in told for q in each.answer.questions)
    return CombinedReview(
        verdict if told else "error",
        _join_texts(told, [each.answer.thoughts for each in told]),
        _join_texts(told, [each.answer.suggested_changes for each in told]),
        tuple(questions),
        "; ".join(f"{each.name}: {each.answer.why}" for each in told if each.answer.why),
    )


def _join_texts(told: Sequence[ReviewerResult], texts: Iterable[str]) -> str:
    said = [(each.name, text) for each, text in zip(told, texts, strict=True) if text]
    if len(told) == 1:
        return said[0][1] if said else ""
    return "\n\n".join(f"{name}:\n{text}" for name, text in said)


def settle_orphans(held: LockedPlan, item: str) -> None:
    """Turns of a review that died: what still runs of them is stopped, their cost is counted."""
    mine = [hand for hand in held.state.in_hand.values() if _is_review_of(hand, item)]
    if not mine:
        return
    known = settings.load_settings(held.plan.where.root)
    book = held.found.book
    world = make_world(
        held.plan.where,
        held.plan.run,
        known,
        state=lambda: book.state,
        definition=lambda: book.definition,
    )
    mark = mark_of(held.plan.where, held.plan.run)
    for hand in mine:
        process_marks.reap_processes(f"{mark}:{hand.effect.replace(' ', '_')}")
        directory = world.turn_directory(hand.effect)
        seen = (
            turns.read_stopped_turn(world, directory)
            if os.listdir(directory)
            else turns.StoppedTurn()
        )
        book.record(
            f.EffectInterrupted(
                effect=hand.effect, usd=seen.usd, tokens=seen.tokens, session=seen.session
            )
        )
