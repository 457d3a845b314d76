"""When infrastructure fails, not the work: wait, try again, and know when to ask a person."""

from typing import Any

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.exits.absences import failed_review_moves
from porch.machine.exits.departure import exit_moves
from porch.machine.exits.evidence import check_result_moves
from porch.machine.exits.sibling_updates import UPDATE
from porch.machine.state import InHand, RunState, Standing, work_text
from porch.model.memory_paths import FAULT
from porch.model.protocol import EXHAUSTED, Agent, Check, Git, Human, Panel, Protocol

TRIES_PER_VISIT = 5
INTERRUPTIONS_PER_VISIT = 3
KILLED = "killed"


def failure_moves(
    protocol: Protocol, state: RunState, standing: Standing, hand: InHand, fact: f.EffectFailed
) -> tuple[m.Move, ...]:
    """One more failed try: wait longer each time, or give up; a rate limit only waits."""
    place, work = standing.position, work_text(hand.kind, hand.name)
    if hand.kind in ("timer", "stale"):
        # A wait that cannot be kept is over, rather than kept for ever.
        return (m.Marked(place, f"fired/{hand.name}"),)
    why = f"{fact.why}: {fact.detail}" if fact.detail else fact.why
    if fact.wait_s:
        name = f"limit-{work}-{hand.effect.rpartition('/')[2]}"
        wait = m.Postponed(place, work, name, fact.wait_s, is_instant=True)
        return (m.Marked(place, "failure", why), wait)
    actor = protocol.states[standing.state].actor
    if isinstance(actor, Panel) and hand.kind == "review":
        return failed_review_moves(actor, state, standing, hand, fact)
    failures = (state.marked(place, f"failures/{work}") or 0) + 1
    if fact.hopeless:
        return _give_up_moves(protocol, state, standing, hand, why, fact)
    if failures >= TRIES_PER_VISIT:
        reason = f"failed {failures} times; last error: {why}"
        return _give_up_moves(protocol, state, standing, hand, reason, fact)
    return (
        m.Marked(place, f"failures/{work}", failures),
        m.Marked(place, "failure", why),
        m.Postponed(place, work, f"backoff-{work}-{failures}", float(2 ** (failures - 1))),
    )


def _give_up_moves(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    hand: InHand,
    reason: str,
    failed: f.EffectFailed,
) -> tuple[m.Move, ...]:
    """Out of tries: the actor's own word for could-not, so that a person or an edge decides."""
    match protocol.states[standing.state].actor:
        case Check() if hand.kind == "check":
            ended = f.CheckEnded(effect=hand.effect, result="unmeasured", report=reason)
            return check_result_moves(protocol, state, standing, hand, ended)
        case Git(op=op):
            said = {"reason": reason}
            refused = (
                said
                if op == "commit"
                else _mark_fault({**said, **_refusal_payload(state, standing, reason)}, failed)
            )
            return exit_moves(protocol, state, standing, "refused", refused)
        case Panel():
            return exit_moves(protocol, state, standing, "undecided", {"reason": reason})
        case Check():
            nothing = {"failed": [], "unmeasured": [], "reports": {}, "reason": reason}
            return exit_moves(protocol, state, standing, "unmeasured", nothing)
        case Agent(ask=ask):
            said = {"reason": reason}
            lost = _mark_fault(said, failed) if ask is not None else said
            return exit_moves(protocol, state, standing, EXHAUSTED, lost)
        case Human(kind=kind, name=name):
            # A person is still to be asked: without a digest rather than not at all.
            return (m.Asked(standing.position, kind, name),)
        case _:
            return ()


def _refusal_payload(state: RunState, standing: Standing, reason: str) -> f.Payload:
    """A refusal in the words of all moves of branches, for whoever gets to read it."""
    update = state.recall(standing, UPDATE) or {}
    trouble = {"base": update.get("newParentHead", ""), "kind": "failure", "files": []}
    return {**trouble, "details": reason, "report": reason, "failingTests": [], "children": []}


def interruption_moves(
    protocol: Protocol, state: RunState, standing: Standing, hand: InHand, fact: f.EffectInterrupted
) -> tuple[m.Move, ...]:
    """The runner died: an agent goes on in its conversation, until it has happened too often."""
    if hand.kind != "agent":
        return ()
    place = standing.position
    count = (state.marked(place, "interruptions") or 0) + 1
    if count >= INTERRUPTIONS_PER_VISIT:
        reason = f"porch was killed {count} times while this agent was working"
        actor, said = protocol.states[standing.state].actor, {"reason": reason}
        if isinstance(actor, Agent) and actor.ask is not None:
            # In a tree a new plan would be paid for, and the work was not at fault.
            said[FAULT] = KILLED
        return exit_moves(protocol, state, standing, EXHAUSTED, said)
    session = (m.Marked(place, "session", fact.session),) if fact.session else ()
    return (m.Marked(place, "interruptions", count), *session)


def _mark_fault(payload: dict[str, Any], failed: f.EffectFailed) -> dict[str, Any]:
    """The payload of an exit that stands for could-not, with a mark where it was a fault.

    The record says so: journals of before there were questions of faults go where they went then.
    """
    return {**payload, FAULT: failed.why} if failed.fault else payload
