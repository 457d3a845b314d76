"""The few words that stand on an arrow: the exit, when it is taken, and what it costs."""

from msgspec import Struct

from porch.model.protocol import Edge, Guard, Protocol, Target
from porch.show.graph.text_width import clean_line

_TEST_WORDS = {
    "present": "when",
    "filled": "when",
    "absent": "unless",
    "empty": "unless",
    "cause": "after",
}
_MOST_NAMED = 2
_TEST_SIGNS = {"equals": "="}


class LabelledExit(Struct, frozen=True):
    """One exit on one arrow; the exits of one arrow are its lines."""

    exit: str
    guards: tuple[str, ...] = ()
    rest: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.exit, *self.guards, self.rest)))

    def is_within(self, other: "LabelledExit") -> bool:
        """Whether the other one is open whenever this one is."""
        alike = (self.exit, self.rest) == (other.exit, other.rest)
        return alike and set(other.guards) < set(self.guards)


def make_labelled_exit(
    protocol: Protocol, edge: Edge, target: Target, *, remark: str, spent: bool
) -> LabelledExit:
    if spent:
        return LabelledExit(
            clean_line(edge.exit),
            (),
            clean_line(f"{remark} {_describe_spent_budget(protocol, edge)}"),
        )
    guards = dict.fromkeys(clean_line(_describe_guard(edge, guard)) for guard in edge.guards)
    cost = f"-{_budget_name(protocol, edge)}" if edge.charges else ""
    rest = f"{remark} {_describe_other_targets(edge, target)} {cost}"
    return LabelledExit(clean_line(edge.exit), tuple(guards), clean_line(rest))


def make_label_lines(ways: list[LabelledExit]) -> tuple[str, ...]:
    """A guard says nothing where the same exit comes to the same place without it."""
    told = [way for way in ways if not any(way.is_within(other) for other in ways)]
    return tuple(dict.fromkeys(map(str, told)))


def _budget_name(protocol: Protocol, edge: Edge) -> str:
    """A budget's name without what its state and group say already."""
    state = protocol.states.get(edge.state)
    group = state.group if state else edge.state
    return _strip_prefix(edge.charges, f"{edge.state}.", f"{edge.state}:", f"{group}:", f"{group}.")


def _describe_spent_budget(protocol: Protocol, edge: Edge) -> str:
    known = protocol.budgets.get(edge.charges)
    limit = f"{known.limit + known.first} " if known else ""
    return f"after {limit}{_budget_name(protocol, edge)}"


def _describe_other_targets(edge: Edge, target: Target) -> str:
    """An exit that starts several things at once says so on each of its arrows."""
    others = [each.state for each in edge.targets if each != target]
    few = len(others) <= _MOST_NAMED and all(others)
    told = ", ".join(others) if few else f"{len(others)} more"
    return f"(and {told})" if others else ""


def _describe_guard(edge: Edge, guard: Guard) -> str:
    path = _strip_prefix(guard.path, f"{edge.state}.{edge.exit}.", f"{edge.state}.")
    if guard.test in _TEST_WORDS:
        return f"[{_TEST_WORDS[guard.test]} {path}]"
    subject = "" if path == edge.exit else f"when {path} "
    return f"[{subject}{_TEST_SIGNS.get(guard.test, guard.test)} {guard.value}]"


def _strip_prefix(name: str, *prefixes: str) -> str:
    for prefix in prefixes:
        if name.startswith(prefix) and name != prefix:
            return name.removeprefix(prefix)
    return name
