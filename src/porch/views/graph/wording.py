"""The few words that stand on an arrow: the exit, when it is taken, and what it costs."""

from dataclasses import dataclass

from porch.model.protocol import Edge, Guard, Protocol, Target
from porch.views.graph.cells import clean

_TESTS = {"present": "when", "filled": "when", "absent": "unless", "empty": "unless"}
_NAMED = 2
_SIGNS = {"equals": "="}


@dataclass(frozen=True, slots=True)
class Way:
    """One exit on one arrow; the exits of one arrow are its lines."""

    exit: str
    guards: tuple[str, ...] = ()
    rest: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.exit, *self.guards, self.rest)))

    def is_within(self, other: "Way") -> bool:
        """Whether the other one is open whenever this one is."""
        alike = (self.exit, self.rest) == (other.exit, other.rest)
        return alike and set(other.guards) < set(self.guards)


def way(protocol: Protocol, edge: Edge, target: Target, remark: str, spent: bool) -> Way:
    if spent:
        return Way(clean(edge.exit), (), clean(f"{remark} {_after(protocol, edge)}"))
    guards = dict.fromkeys(clean(_guard(edge, guard)) for guard in edge.guards)
    cost = f"-{_budget(protocol, edge)}" if edge.charges else ""
    rest = f"{remark} {_others(edge, target)} {cost}"
    return Way(clean(edge.exit), tuple(guards), clean(rest))


def lines(ways: list[Way]) -> tuple[str, ...]:
    """A guard says nothing where the same exit comes to the same place without it."""
    told = [way for way in ways if not any(way.is_within(other) for other in ways)]
    return tuple(dict.fromkeys(map(str, told)))


def _budget(protocol: Protocol, edge: Edge) -> str:
    """A budget's name without what its state and group say already."""
    state = protocol.states.get(edge.state)
    group = state.group if state else edge.state
    return _without(edge.charges, f"{edge.state}.", f"{edge.state}:", f"{group}:", f"{group}.")


def _after(protocol: Protocol, edge: Edge) -> str:
    known = protocol.budgets.get(edge.charges)
    limit = f"{known.limit} " if known else ""
    return f"after {limit}{_budget(protocol, edge)}"


def _others(edge: Edge, target: Target) -> str:
    """An exit that starts several things at once says so on each of its arrows."""
    others = [each.state for each in edge.targets if each != target]
    few = len(others) <= _NAMED and all(others)
    told = ", ".join(others) if few else f"{len(others)} more"
    return f"(and {told})" if others else ""


def _guard(edge: Edge, guard: Guard) -> str:
    path = _without(guard.path, f"{edge.state}.{edge.exit}.", f"{edge.state}.")
    if guard.test in _TESTS:
        return f"[{_TESTS[guard.test]} {path}]"
    subject = "" if path == edge.exit else f"when {path} "
    return f"[{subject}{_SIGNS.get(guard.test, guard.test)} {guard.value}]"


def _without(name: str, *prefixes: str) -> str:
    for prefix in prefixes:
        if name.startswith(prefix) and name != prefix:
            return name.removeprefix(prefix)
    return name
