"""What of a run has not passed: one list for whoever delivers the work, or tells of it.

Each gap is one thing that somebody can point at: a check, a review, a gate, or a phase, a task or
a child without a result. A check that failed for two plan phases is two gaps.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from porch.account.outcomes import GAPS, Outcome
from porch.account.phases import Decided, PhaseAccount, ReviewAccount, list_phases
from porch.machine.facts import Payload
from porch.machine.state import GateStatus, RunState
from porch.machine.track.track_status import find_track_states
from porch.model.memory_paths import settled_path
from porch.model.protocol import TRACK, Panel, Protocol
from porch.model.track_names import blocked_state

GapKind = Literal["check", "review", "gate", "phase", "child", "run"]


# How a person lets a run go on without something, and the states in which that is asked.
_LET_PASS: Mapping[str, Outcome] = {"skip": "skipped", "waived": "waived"}
_ASIDE = ("failed", "undecided")


class Gap(Struct, frozen=True, kw_only=True):
    """One part of a run that has not passed, and who let the run go on without it."""

    phase: str
    kind: GapKind
    name: str
    outcome: Outcome
    item: str = ""
    instance: str = ""
    runs: int = 0
    review: ReviewAccount | None = None
    decided: Decided | None = None


def list_gaps(protocol: Protocol, state: RunState) -> list[Gap]:
    """Every part that has not passed, of the run and of all members of its tree that count."""
    gaps: list[Gap] = []
    for name in state.instances or ("",):
        known = state.instances.get(name)
        if not name or (known and known.outcome == "complete"):
            for phase in list_phases(protocol, state, name):
                for part in phase.parts or (phase,):
                    gaps += _list_gaps_of(part, state)
    gaps += list_other_gaps(protocol, state)
    told = {(gap.kind, gap.name) for gap in gaps}
    gaps += [g for g in _list_cancelled(protocol, state) if (g.kind, g.name) not in told]
    if state.outcome not in ("", "complete") and not gaps:
        gaps.append(Gap(phase="", kind="run", name="the run", outcome="stopped"))
    return gaps


def list_other_gaps(protocol: Protocol, state: RunState) -> Iterator[Gap]:
    """What no phase of the protocol tells of: children that gave up, and phases it had before."""
    yield from _list_failed_children(state)
    yield from _list_dropped(protocol, state)


def _list_failed_children(state: RunState) -> Iterator[Gap]:
    for name, known in state.instances.items():
        if name and known.outcome == "failed":
            yield Gap(phase=name, kind="child", name=known.key, outcome="failed")


def _list_dropped(protocol: Protocol, state: RunState) -> Iterator[Gap]:
    """What was skipped or waived in a phase that an upgrade took out of the protocol."""
    for (instance, name, item), visit in state.past_visits.items():
        outcome = _LET_PASS.get(visit.exit)
        if outcome is None or name in protocol.states:
            continue
        front, _, rest = name.partition(":")
        phase = (rest or front).partition(":")[0] if front in _ASIDE else front
        again = [
            other.entered
            for (owner, state_name, _), other in state.past_visits.items()
            if owner == instance and state_name.partition(":")[0] == phase
        ]
        if max(again, default=0) < visit.left:
            yield Gap(
                phase=phase,
                kind="phase",
                name=phase,
                outcome=outcome,
                item=item,
                instance=instance,
                decided=Decided(visit.left, visit.left_at, visit.exit, visit.by, visit.text),
            )


def _list_gaps_of(part: PhaseAccount, state: RunState) -> list[Gap]:
    if part.outcome not in GAPS:
        return []
    whole = Gap(
        phase=part.name,
        kind="phase",
        name=part.name,
        outcome=part.outcome,
        item=part.item,
        instance=part.instance,
        decided=part.decided,
    )
    gaps = [
        replace(
            whole,
            kind="check",
            name=check.name,
            outcome=check.outcome,
            runs=check.runs,
            decided=check.let_pass or part.decided,
        )
        for check in part.gaps
    ]
    gaps += [
        replace(
            whole,
            kind="review",
            name=review.state,
            outcome="failed",
            review=review,
            decided=review.let_pass or part.decided,
        )
        for review in part.reviews
        if review.is_open
    ]
    if gaps:
        return gaps
    return [
        replace(
            whole,
            kind="gate",
            name=gate.name,
            decided=gate.decided or _decide_by_status(state.gates[gate.name]),
        )
        for gate in part.gates
        if gate.status == "waived"
    ] or [whole]


def _decide_by_status(status: GateStatus) -> Decided:
    return Decided(0, status.decided_at, "waived", status.by)


def _list_cancelled(protocol: Protocol, state: RunState) -> Iterator[Gap]:
    """Tasks of a track that a person gave up, and reviews that were left out there."""
    if protocol.subject != TRACK:
        return
    states, memory = find_track_states(protocol, state), state.memory.get(("", ""), {})
    for name, kind in protocol.states.items():
        task = states.tasks.get(kind.group)
        is_given_up = task is not None and task.status == "CANCELLED"
        if is_given_up and blocked_state(name) in protocol.states:
            blocked = blocked_state(name)
            why = memory.get(settled_path(blocked)) or memory.get(f"{blocked}.skip") or {}
            outcome: Outcome = "skipped"
        elif isinstance(kind.actor, Panel) and states.gates.get(name) == "CANCELLED":
            why, outcome = memory.get(settled_path(name)) or {}, "waived"
        else:
            continue
        yield Gap(
            phase=kind.group,
            kind="phase" if is_given_up else "review",
            name=name,
            outcome=outcome,
            decided=_decide_by_memory(why, outcome),
        )


def _decide_by_memory(why: Payload, outcome: Outcome) -> Decided:
    return Decided(0, "", outcome, str(why.get("by", "")), str(why.get("text", "")))
