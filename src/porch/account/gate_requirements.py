"""What a gate requires and the run has not done, and what was left out on the way to it.

A verification that fails until its retries are used up leads straight to the gate. The steps and
the reviewers between the two are left out then, and with them whatever the gate requires of them. A
run with a definition of an earlier release can also wait for a signal that nothing declares.
"""

from collections.abc import Iterator

from msgspec import Struct

from porch.account.outcomes import CHECK_OUTCOMES, Outcome
from porch.machine.state import RunState, Standing
from porch.model.protocol import BLOCKED, EXHAUSTED, SILENT, Agent, Check, Human, Panel, Protocol

_NOT_DONE = ("", BLOCKED, SILENT, EXHAUSTED)
_GOOD: tuple[Outcome, ...] = ("passed", "nothing to run")
REQUIRES = ":requires"  # how the budget ends that pays for missing signals


class Shortcut(Struct, frozen=True):
    """Checks whose failure led to a gate, how often they were tried again, what was left out."""

    checks: tuple[str, ...]
    outcome: Outcome
    retries: int
    left_out: tuple[str, ...]


def find_shortcut(protocol: Protocol, state: RunState, standing: Standing) -> Shortcut | None:
    """Nothing where the gate was reached by way of everything in front of it."""
    source, _, exit_ = standing.because.rpartition(".")
    before, gate = protocol.states.get(source), protocol.states.get(standing.state)
    if before is None or gate is None or not isinstance(before.actor, Check):
        return None
    if not isinstance(gate.actor, Human) or gate.actor.kind != "gate" or exit_ == "passed":
        return None
    told = state.recall(standing, standing.because) or {}
    checks = tuple(told.get("failed") or told.get("unmeasured") or ())
    budgets = [edge.charges for edge in protocol.edges_of(source, exit_) if edge.charges]
    retries = protocol.budgets[budgets[0]].limit if budgets else 0
    outcome = CHECK_OUTCOMES.get(exit_, "failed")
    return Shortcut(
        checks, outcome, retries, tuple(_list_left_out(protocol, state, standing, source))
    )


def _list_left_out(
    protocol: Protocol, state: RunState, standing: Standing, source: str
) -> Iterator[str]:
    first, last = protocol.order(source), protocol.order(standing.state)
    revisers = _list_revisers(protocol)
    for name, kind in protocol.states.items():
        is_between = first < protocol.order(name) < last
        is_work = isinstance(kind.actor, (Agent, Panel)) and name not in revisers
        visit = state.past_visits.get((standing.instance, name, standing.item))
        failed = state.past_visits.get((standing.instance, source, standing.item))
        is_done = visit is not None and failed is not None and visit.left >= failed.entered
        if is_between and is_work and not is_done:
            yield name


def _list_revisers(protocol: Protocol) -> set[str]:
    """Who works only where reviewers have asked for changes."""
    return {
        target.state
        for edge in protocol.edges
        if isinstance(protocol.states[edge.state].actor, Panel) and edge.exit == "changes"
        for target in edge.targets
        if protocol.order(target.state) > protocol.order(edge.state)
    }


def list_unmet_requirements(
    protocol: Protocol, state: RunState, standing: Standing
) -> tuple[str, ...]:
    """The names that a gate requires and that are not done, where a person is asked."""
    kind = protocol.states.get(standing.state)
    if kind is None or not isinstance(kind.actor, Human):
        return ()
    named = kind.actor.requires if kind.actor.kind == "gate" else {}
    unmet = [name for name, where in named.items() if not _is_met(protocol, state, standing, where)]
    is_asked = kind.actor.kind == "gate" or _is_out_of_signals(protocol, standing)
    words = _list_required_signals(protocol, kind.group) if is_asked else ()
    return (
        *unmet,
        *(path.rpartition(".")[2] for path in words if state.recall(standing, path) is None),
    )


def _is_met(protocol: Protocol, state: RunState, standing: Standing, where: str) -> bool:
    """`where` is a state, or the state and the name of a check in it, with a space between."""
    name, _, command = where.partition(" ")
    key = (standing.instance, name, standing.item)
    if command:
        check = state.past_checks.get((*key, command))
        return check is not None and CHECK_OUTCOMES[check.result] in _GOOD
    visit, kind = state.past_visits.get(key), protocol.states.get(name)
    if visit is None or kind is None:
        return False
    if isinstance(kind.actor, Panel):
        return visit.exit == "approved"
    if isinstance(kind.actor, Check):
        return visit.exit == "passed"
    return visit.exit not in _NOT_DONE


def _is_out_of_signals(protocol: Protocol, standing: Standing) -> bool:
    """Whether an agent has ended too often without the signals that the gate requires."""
    source, _, exit_ = standing.because.rpartition(".")
    edges = protocol.edges_of(source, exit_)
    return any(edge.charges.endswith(REQUIRES) for edge in edges)


def _list_required_signals(protocol: Protocol, group: str) -> tuple[str, ...]:
    """The paths of the signals without which the agent in front of a gate is asked again."""
    budget = f"{group}{REQUIRES}"
    asked = {(edge.state, edge.exit) for edge in protocol.edges if edge.charges == budget}
    found = (
        guard.path
        for edge in protocol.edges
        if (edge.state, edge.exit) in asked and edge.charges != budget
        for guard in edge.guards
        if guard.test == "present" and guard.path.rpartition(".")[0] == edge.state
    )
    return tuple(dict.fromkeys(found))
