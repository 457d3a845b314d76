"""Having a prompt or a whole plan reviewed: bounded rounds, fail closed, questions to a person."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import BusyError, FailedError
from porch.machine.plan import run_rules
from porch.plan.branches import base_branch
from porch.plan.files import plan_location
from porch.plan.files.plan_location import Plan
from porch.plan.gate_files.gate_forms import form_file
from porch.plan.gates import form_answers
from porch.plan.gates.gate_wait import wait_for_answer
from porch.plan.reviews.review_round import ReviewRequest, ReviewResult, begin_round, end_round
from porch.plan.reviews.reviewer_turns import collect_reviews
from porch.plan.session import plan_session
from porch.run import settings
from porch.run.trust_requests import require_trust
from porch.store import lock
from porch.store.where import ProjectPaths

__all__ = ["ReviewPending", "ReviewRequest", "ReviewResult", "review_work", "split_names"]


class ReviewPending(Struct, frozen=True, kw_only=True):
    """A reviewer has asked something, and nobody has answered yet."""

    state: str = "pending"
    verdict: None = None
    file: str
    decision: str
    message: str
    notes: Sequence[str]


def review_work(where: ProjectPaths, wanted: ReviewRequest) -> ReviewResult | ReviewPending:
    """Ask until there is a verdict; a question of a reviewer is a question to a person."""
    plan = _require_plan(where)
    known = settings.load_settings(where.root)
    require_trust(known.untrusted)
    began = time.monotonic()
    with _lock_review(plan, wanted.item):
        while True:
            waiting = _wait_for_answers(plan, wanted, began)
            if waiting is not None:
                return waiting
            with plan_session.hold_plan(where, wanted.caller) as held:
                round_ = begin_round(held, wanted, known)
            most = wanted.reviewers_s
            left = max(began + most - time.monotonic(), 0.01) if most else 0
            told = collect_reviews(
                plan, known, wanted.item, round_, script=wanted.script, wait_s=left
            )
            with plan_session.hold_plan(where, wanted.caller) as held:
                result = end_round(held, wanted, round_, told)
            if result is not None:
                duration = round((time.monotonic() - began) * 1000)
                return replace(result, duration_ms=duration)


def _require_plan(where: ProjectPaths) -> Plan:
    plan = plan_location.find_current_plan(where)
    if not plan.exists and base_branch.is_protected_branch(plan.branch):
        raise FailedError(
            f"{plan.branch} has no plan, so there is no prompt to review",
            fix="switch to the branch that has the plan",
            code="direct-mode",
        )
    return plan_location.require_plan(plan)


@contextmanager
def _lock_review(plan: Plan, item: str) -> Iterator[None]:
    """Two reviews of one prompt at once would be paid for twice."""
    path = os.path.join(plan.where.run_dir(plan.run), f"review-{item or 'full'}.lock")
    guard = lock.RunLock(path)
    if not guard.acquire("envoy review", 0):
        raise BusyError(
            f"{'prompt ' + item if item else 'the plan'} is being reviewed right now",
            fix="wait for that review",
            code="review-busy",
        )
    with guard:
        yield


def _wait_for_answers(plan: Plan, wanted: ReviewRequest, began: float) -> ReviewPending | None:
    """Nothing to wait for, or what to say when the time is up."""
    standing: list[str] = []
    notes: list[str] = []

    def look() -> bool | None:
        with plan_session.hold_plan(plan.where, wanted.caller) as held:
            asked = run_rules.gate_position(held.state, "clarifying", wanted.item)
            standing[:] = [asked.position] if asked else []
            is_open = asked and not form_answers.take_form(held, "clarifying", wanted.item)
            notes[:] = held.notes
            return None if is_open else True

    left = began + wanted.wait_s - time.monotonic()
    if wait_for_answer(plan, [form_file(plan, "clarifying", wanted.item)], left, look):
        return None
    return _pending_review(plan, wanted, standing[0], notes)


def _pending_review(
    plan: Plan, wanted: ReviewRequest, position: str, notes: list[str]
) -> ReviewPending:
    return ReviewPending(
        file=form_file(plan, "clarifying", wanted.item),
        decision=position,
        message="a reviewer has questions and nobody has answered them yet; "
        "run the same command again to wait longer",
        notes=notes,
    )


def split_names(words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in words.split(",") if word.strip()))
