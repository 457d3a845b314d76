"""Having a prompt or a whole plan reviewed: bounded rounds, fail closed, questions to a person."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from porch.adapters import base_branch, lock, settings
from porch.adapters.where import Where
from porch.errors import BusyError, FailedError
from porch.machine import plans
from porch.operations.plans import forms_taken, opening, place
from porch.operations.plans.feedback_forms import file_of
from porch.operations.plans.gates import Came
from porch.operations.plans.patience import awaited
from porch.operations.plans.place import Plan
from porch.operations.plans.review_rounds import Wanted, begin, end
from porch.operations.plans.review_turns import taken

__all__ = ["Wanted", "named", "review"]


def review(where: Where, wanted: Wanted) -> Came:
    """Ask until there is a verdict; a question of a reviewer is a question to a person."""
    plan = _demand_plan(where)
    known = settings.load(where.root)
    began = time.monotonic()
    with _alone(plan, wanted.item):
        while True:
            waiting = _await_answers(plan, wanted, began)
            if waiting is not None:
                return waiting
            with opening.held(where, wanted.caller) as held:
                round_ = begin(held, wanted, known)
            told = taken(plan, known, wanted.item, round_, wanted.script)
            with opening.held(where, wanted.caller) as held:
                result = end(held, wanted, round_, told)
            if result is not None:
                duration = round((time.monotonic() - began) * 1000)
                return Came({**result, "duration_ms": duration})


def _demand_plan(where: Where) -> Plan:
    plan = place.current(where)
    if not plan.exists and base_branch.is_direct(plan.branch):
        raise FailedError(
            f"work on {plan.branch} has no plan, so there is no prompt to review",
            fix="switch to the branch that has the plan",
            code="direct-mode",
        )
    return place.demand(plan)


@contextmanager
def _alone(plan: Plan, item: str) -> Iterator[None]:
    """Two reviews of one prompt at once would be paid for twice."""
    path = os.path.join(plan.where.run_dir(plan.run), f"review-{item or 'full'}.lock")
    guard = lock.RunLock(path)
    if not guard.acquire("envoy review", 0):
        raise BusyError(
            f"{'prompt ' + item if item else 'the plan'} is being reviewed just now",
            fix="wait for that review",
            code="review-busy",
        )
    with guard:
        yield


def _await_answers(plan: Plan, wanted: Wanted, began: float) -> Came | None:
    """Nothing to wait for, or what to say when the time is up."""
    standing: list[str] = []
    notes: list[str] = []

    def look() -> bool | None:
        with opening.held(plan.where, wanted.caller) as held:
            asked = plans.standing_of(held.state, "clarifying", wanted.item)
            standing[:] = [asked.position] if asked else []
            is_open = asked and not forms_taken.taken(held, "clarifying", wanted.item)
            notes[:] = held.notes
            return None if is_open else True

    left = began + wanted.wait_s - time.monotonic()
    if awaited(plan, [file_of(plan, "clarifying", wanted.item)], left, look):
        return None
    return _pending(plan, wanted, standing[0], notes)


def _pending(plan: Plan, wanted: Wanted, position: str, notes: list[str]) -> Came:
    told = {
        "state": "pending",
        "verdict": None,
        "file": file_of(plan, "clarifying", wanted.item),
        "decision": position,
        "message": "a reviewer has questions and nobody has answered them yet; "
        "run the same command again to wait on",
        "notes": notes,
    }
    return Came(told, is_pending=True)


def named(words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in words.split(",") if word.strip()))
