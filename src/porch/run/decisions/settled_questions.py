"""What became of a question that somebody wanted to answer, and that is no longer asked."""

from porch.account.positions import find_state_name
from porch.machine.state import RunState
from porch.model.protocol import Human, Protocol
from porch.show.board import format_moment


def describe_settled(protocol: Protocol, state: RunState, at: str) -> str:
    """Who was first, if this was asked and is no longer; nothing if it never was."""
    kind = protocol.states.get(find_state_name(protocol, at))
    actor = kind.actor if kind else None
    if not isinstance(actor, Human):
        return ""
    gate = state.gates.get(actor.name)
    if gate is None or not gate.decided_at:
        return f"{actor.name} is no longer waiting for an answer."
    by = f" by {gate.by}" if gate.by else ""
    return f"{actor.name} was already {gate.status}{by} at {format_moment(gate.decided_at)}."
