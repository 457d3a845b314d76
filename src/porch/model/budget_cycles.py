"""Budgets that restore each other: every way round must spend something that it does not give back.

A knot of states that all lead to one another is untied by a budget that is charged in it and reset
by none of its edges: that one runs out. What is left is looked at again, until nothing goes round.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from porch.model.protocol import Edge, Human, Protocol

KnotFinder = Callable[[Mapping[str, list[str]]], dict[str, int]]


class EdgeStep(NamedTuple):
    """One edge from a state to one of those it can lead to."""

    edge: Edge
    target: str


def find_budget_knots(protocol: Protocol, knots: KnotFinder) -> Iterator[list[str]]:
    """The states of each knot in which every charge is undone on the way."""
    steps = [step for edge in protocol.edges for step in _edge_steps(protocol, edge)]
    while found := knots(_targets_by_state(steps)):
        kept: list[EdgeStep] = []
        for knot in sorted(set(found.values())):
            inside = [s for s in steps if found.get(s.edge.state) == knot == found.get(s.target)]
            running_out = {s.edge.charges for s in inside} - _restored_budgets(inside) - {""}
            if not running_out:
                yield [name for name, mine in found.items() if mine == knot]
            else:
                kept += [s for s in inside if s.edge.charges not in running_out]
        steps = kept


def drop_knotted_resets(protocol: Protocol, knots: KnotFinder) -> Protocol:
    """The same, with no reset left in knots where they undo each other: there, charges add up."""
    bound = frozenset(name for names in find_budget_knots(protocol, knots) for name in names)
    if not bound:
        return protocol
    return replace(protocol, edges=tuple(_without_resets(edge, bound) for edge in protocol.edges))


def _without_resets(edge: Edge, bound: frozenset[str]) -> Edge:
    is_inside = edge.state in bound and any(target.state in bound for target in edge.targets)
    return replace(edge, resets=()) if is_inside else edge


def _edge_steps(protocol: Protocol, edge: Edge) -> Iterator[EdgeStep]:
    """Without people, and without the steps within a list, which runs out by itself."""
    state = protocol.states.get(edge.state)
    if state is None or isinstance(state.actor, Human):
        return
    for target in edge.targets:
        if target.state and not target.is_due:
            yield EdgeStep(edge, target.state)


def _targets_by_state(steps: Iterable[EdgeStep]) -> dict[str, list[str]]:
    ways: dict[str, list[str]] = {}
    for step in steps:
        ways.setdefault(step.edge.state, []).append(step.target)
    return ways


def _restored_budgets(inside: Iterable[EdgeStep]) -> set[str]:
    return {budget for step in inside for budget in step.edge.resets}
