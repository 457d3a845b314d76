"""Reviewers that give no verdict: who is asked again in a round, and who abstains at once.

A panel goes on as soon as each reviewer has given a verdict or abstains, so a reviewer that cannot
answer must not hold up those that can. What kept it from answering is a value, the cause:

- `timeout`: not asked again in this round, for the next try would take as long;
- `auth`, `not-installed`, and whatever else only a person can change: not asked again;
- `unreadable`: asked once more, and told what could not be read;
- anything else, such as `crashed`: asked once more; the only reviewer of a track twice more, for
  there nobody else can give the verdict.

Only verdicts charge a round. A round that misses its quorum asks a person, who is told the causes.
If the panel is asked again then, who has given a verdict is not paid for the same files again.
"""

from collections.abc import Iterator, Sequence

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.exits.causes import RETRY
from porch.machine.exits.evidence import GIVEN, review_payload
from porch.machine.state import InHand, RunState, Standing, work_text
from porch.model.protocol import Panel, Protocol, ReviewForm

TIMEOUT = "timeout"
UNREADABLE = "unreadable"
NO_LOGIN = "auth"
NOT_INSTALLED = "not-installed"

_ASKED = 2
_ASKED_ALONE = 3


def count_calls(cause: str, form: ReviewForm = "verdict") -> int:
    """How often a reviewer is asked in one round when it fails for this cause."""
    if cause in (TIMEOUT, NO_LOGIN, NOT_INSTALLED):
        return 1
    return _ASKED_ALONE if form == "issues" and cause != UNREADABLE else _ASKED


def failed_review_moves(
    panel: Panel, state: RunState, standing: Standing, hand: InHand, fact: f.EffectFailed
) -> tuple[m.Move, ...]:
    """Ask once more after a wait, or go on without this reviewer."""
    place, work = standing.position, work_text(hand.kind, hand.name)
    failures = (state.marked(place, f"failures/{work}") or 0) + 1
    why = f"{fact.why}: {fact.detail}" if fact.detail else fact.why
    if fact.hopeless or failures >= count_calls(fact.why, panel.form):
        reason = why if failures == 1 else f"failed {failures} times; last error: {why}"
        absent = f.ReviewEnded(
            effect=hand.effect, verdict="ABSTAIN", why=reason, cause=fact.why or "crashed"
        )
        return (m.Marked(place, f"review/{hand.name}", review_payload(absent)),)
    return (
        m.Marked(place, f"failures/{work}", failures),
        m.Marked(place, "failure", why),
        m.Postponed(place, work, f"backoff-{work}-{failures}", float(2 ** (failures - 1))),
    )


def review_moves(
    state: RunState, standing: Standing, hand: InHand, fact: f.ReviewEnded
) -> tuple[m.Move, ...]:
    """A verdict is kept; an answer that cannot be read is asked for once more."""
    place, work = standing.position, work_text(hand.kind, hand.name)
    failures = (state.marked(place, f"failures/{work}") or 0) + 1
    if fact.cause == UNREADABLE and failures < count_calls(UNREADABLE):
        return (
            m.Marked(place, f"failures/{work}", failures),
            m.Marked(place, f"{UNREADABLE}/{hand.name}", fact.why),
        )
    return (m.Marked(place, f"review/{hand.name}", review_payload(fact)),)


def given_before_moves(
    protocol: Protocol, state: RunState, moves: Sequence[m.Move]
) -> Iterator[m.Move]:
    """The verdicts of a round that came to no decision, for the round that a retry begins."""
    for move in moves:
        if not isinstance(move, m.Entered) or not move.because.endswith(f".{RETRY}"):
            continue
        panel = protocol.states[move.state].actor
        memory = state.memory.get((move.instance, move.item), {})
        before = memory.get(f"{move.state}.undecided") if isinstance(panel, Panel) else None
        for name, review in (before or {}).get(GIVEN, {}).items():
            yield m.Marked(move.position, f"{GIVEN}/{name}", review)


def absent_since_moves(
    protocol: Protocol, state: RunState, moves: Sequence[m.Move]
) -> Iterator[m.Move]:
    """Who had no login in the round before is not asked, until a person has decided something."""
    for move in moves:
        if not isinstance(move, m.Entered):
            continue
        panel = protocol.states[move.state].actor
        past = state.past_visits.get((move.instance, move.state, move.item))
        if not isinstance(panel, Panel) or past is None or past.exit != "changes":
            continue
        if any(visit.by and visit.left > past.left for visit in state.past_visits.values()):
            continue
        memory = state.memory.get((move.instance, move.item), {})
        for absent in memory.get(f"{move.state}.changes", {}).get("abstained", ()):
            if absent.get("cause") in (NO_LOGIN, NOT_INSTALLED) and absent["by"] in panel.reviewers:
                still = f.ReviewEnded(
                    effect="", verdict="ABSTAIN", why=absent["why"], cause=absent["cause"]
                )
                yield m.Marked(move.position, f"review/{absent['by']}", review_payload(still))
