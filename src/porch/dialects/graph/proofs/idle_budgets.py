"""A budget that bounds nothing: no edge charges it, so nobody ever comes to its end."""

from collections.abc import Iterator, Mapping

from porch.errors import Finding, Place
from porch.model import protocol as p


def budget_place(name: str) -> str:
    """Under which name the place of a budget is noted."""
    return f"budget {name}"


def find_idle_budgets(protocol: p.Protocol, places: Mapping[str, Place]) -> Iterator[Finding]:
    charged = {edge.charges for edge in protocol.edges}
    for name in protocol.budgets:
        if name not in charged:
            message = f"no edge charges the budget '{name}', so it limits nothing"
            fix = "write `charge` at an edge, or remove the budget"
            place = places.get(budget_place(name))
            yield Finding("idle-budget", message, place, fix, "warning")
