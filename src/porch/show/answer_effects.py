"""What follows from an answer, said beforehand: the phase that begins, or the end of the run."""

from porch.machine.state import RunState, Standing
from porch.model.protocol import TRACK, Check, End, Git, Protocol, State, Target

# What porch does itself between a gate and the next work is passed over; nobody has so much of it.
_STEPS = 8
_GOOD_EXITS = ("passed", "clean")


def describe_effect(protocol: Protocol, state: RunState, standing: Standing, exit_: str) -> str:
    """A few words, such as `starts Implement (3 phases)`; empty if it cannot be told.

    In a track every answer says itself what follows; its states have names that nobody knows.
    """
    if protocol.subject == TRACK:
        return ""
    target = _find_target(protocol, standing.state, exit_)
    has_checks = False
    for _ in range(_STEPS):
        kind = protocol.states.get(target.state) if target else None
        if kind is None or not isinstance(kind.actor, (Check, Git)):
            break
        has_checks = has_checks or isinstance(kind.actor, Check)
        found = (_find_target(protocol, kind.name, exit_) for exit_ in _GOOD_EXITS)
        target = next(filter(None, found), None)
    told = _describe_target(protocol, state, standing, target)
    return f"{told} after its checks" if told and has_checks else told


def _find_target(protocol: Protocol, name: str, exit_: str) -> Target | None:
    """Where it leads if nothing special is the case: special cases have guards."""
    edges = sorted(protocol.edges_of(name, exit_), key=lambda edge: len(edge.guards))
    return next((target for edge in edges for target in edge.targets), None)


def _describe_target(
    protocol: Protocol, state: RunState, standing: Standing, target: Target | None
) -> str:
    if target is None or target.is_due:
        return ""
    if target.next_of:
        return "goes on with the next phase of the plan"
    kind = protocol.states.get(target.state)
    if kind is None:
        return ""
    if isinstance(kind.actor, End):
        return f"ends the run: {kind.name}"
    here = protocol.states[standing.state].group
    word = "goes back to" if kind.group == here else "starts"
    return f"{word} {kind.title or kind.group}{_count_items(state, standing, kind)}"


def _count_items(state: RunState, standing: Standing, kind: State) -> str:
    known = state.items_of(standing, kind.loop) if kind.loop else None
    if known is None:
        return ""
    number = len(known.items)
    return " (1 phase)" if number == 1 else f" ({number} phases)"
