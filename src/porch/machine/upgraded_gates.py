"""What another definition does to gates: those that it adds or changes are asked again."""

from collections.abc import Iterator, Mapping

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.approvals import APPROVED, STATE, find_gate, list_gates
from porch.machine.base_commands import CHECK as COMMANDS_CHECK
from porch.machine.base_commands import STATE as COMMANDS
from porch.machine.budgets import STATE as BUDGET
from porch.machine.outside import STATE as TARGET
from porch.machine.rollback import lies_behind
from porch.machine.state import RunState, Standing, position_text
from porch.model.artifact_names import describe_name
from porch.model.protocol import Human, Protocol
from porch.model.protocol import State as Kind


def gates_to_ask(old: Protocol, new: Protocol, state: RunState) -> dict[str, str]:
    """Gates behind the run that another definition adds or changes, each with what is different."""
    found: dict[str, str] = {}
    for gate, human in list_gates(new):
        before, known = find_gate(old, human.name), state.gates.get(human.name)
        if before is None and _is_behind(new, state, gate):
            found[human.name] = "the new version of the protocol adds this gate"
        elif before is not None and known is not None and _was_approved(state, human.name):
            said = _describe_change(before[1], human)
            if said:
                found[human.name] = f"the new version of the protocol changes this gate: {said}"
    return found


def _was_approved(state: RunState, gate: str) -> bool:
    """Also while it is being asked again; of a status file's word no bytes are known."""
    return gate in state.approvals or state.gates[gate].status in APPROVED


def _is_behind(protocol: Protocol, state: RunState, gate: Kind) -> bool:
    """Whether the run has passed the place of a gate; inside its phase it still comes to it."""
    beside = (STATE, BUDGET, COMMANDS, COMMANDS_CHECK, TARGET)
    here = [each for each in state.positions.values() if each.state not in beside]
    inside = [each for each in here if protocol.states[each.state].group == gate.group]
    if inside:
        return any(_is_behind_inside(protocol, each, gate.name) for each in inside)
    return min((protocol.order(each.state) for each in here), default=0) > protocol.order(gate.name)


def _is_behind_inside(protocol: Protocol, standing: Standing, gate: str) -> bool:
    """At the commit behind the gate, or asked what to do because that failed."""
    source = standing.because.rpartition(".")[0]
    places = (standing.state, *([source] if source in protocol.states else ()))
    group = protocol.states[gate].group
    return any(
        protocol.states[place].group == group and lies_behind(protocol, place, gate)
        for place in places
    )


def _describe_change(before: Human, now: Human) -> str:
    """What of a gate is different, before and after; how long it may wait is not what it asks."""
    parts = {
        "files": (_name_files(before), _name_files(now)),
        "question": (before.description, now.description),
        "answers": (_name_answers(before), _name_answers(now)),
        "checks that must not fail": (", ".join(before.override), ", ".join(now.override)),
    }
    return "; ".join(
        f"{name}: {then or 'none'} -> {fresh or 'none'}"
        for name, (then, fresh) in parts.items()
        if then != fresh
    )


def _name_files(human: Human) -> str:
    return ", ".join(map(describe_name, human.artifacts))


def _name_answers(human: Human) -> str:
    return ", ".join(option.exit for option in human.options)


def questions_to_renew(old: Protocol, new: Protocol, state: RunState) -> dict[str, str]:
    """Positions that ask a gate now of which the definition says something else, and what."""
    found: dict[str, str] = {}
    for position, decision in state.decisions.items():
        standing = state.positions[position]
        before, now = _gate_at(old, standing), _gate_at(new, standing)
        if decision.kind != "gate" or before is None or now is None:
            continue
        renamed = f"name: {before.name} -> {now.name}" if before.name != now.name else ""
        said = "; ".join(filter(None, (renamed, _describe_change(before, now))))
        if said:
            found[position] = f"the new version of the protocol changes this gate: {said}"
    return found


def _gate_at(protocol: Protocol, standing: Standing) -> Human | None:
    """A question about a changed approval is put by `gates_to_ask`."""
    kind = protocol.states.get(standing.state) if standing.state != STATE else None
    is_gate = kind is not None and isinstance(kind.actor, Human) and kind.actor.kind == "gate"
    return kind.actor if is_gate and kind and isinstance(kind.actor, Human) else None


def renewed_moves(state: RunState, gates: Mapping[str, f.GateQuestion]) -> Iterator[m.Move]:
    """Whoever was asked by the old words is asked by the new ones; old answers fit no more."""
    for standing in (state.positions[name] for name in gates if name in state.positions):
        place = (standing.instance, standing.state, standing.item)
        visit = state.visits.get(place, 0) + 1
        position = position_text(*place, visit)
        yield m.Left(standing.position)
        yield m.Entered(
            position, standing.state, visit, standing.item, standing.instance, 0, standing.because
        )
