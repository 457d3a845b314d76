"""Why a phase failed, as plain data for lists, pages and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porch.account.failures import FailureAccount
from porch.machine.state import RunState
from porch.show.place_words import attempt_words

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import FailureShape


def make_failure_data(failure: FailureAccount, state: RunState) -> FailureShape:
    """What failed how often, and what its agent said last."""
    attempt, turn = failure.attempt, failure.turn
    data: FailureShape = {
        "checks": [
            f"{gap.name} {gap.outcome}{f' {gap.runs} times' if gap.runs > 1 else ''}"
            for gap in failure.checks
        ],
        "attempt": attempt_words(attempt.begun, (attempt.number, attempt.limit)) or "attempt 1",
        "claim": turn.said.strip() if turn else "",
        "denied": list(turn.denied) if turn else [],
    }
    # Git may not know the tree of the first files: not all of them were committed.
    if state.run.base_commit and not failure.is_before_work:
        place = f" -C {state.run.worktree}" if state.run.worktree not in ("", ".") else ""
        data["changes"] = f"git{place} diff {state.run.base_commit[:12]}"
    return data
