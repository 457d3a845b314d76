"""A proof about `spent_as`: what an exit becomes at its limit is found, and found once."""

from collections.abc import Iterator, Mapping

from porch.errors import Finding, Place
from porch.model import protocol as p


def find_turning_circles(protocol: p.Protocol, places: Mapping[str, Place]) -> Iterator[Finding]:
    """Exits that come back to themselves once the budgets on the way are used up."""
    for edge in protocol.edges:
        way = _follow(protocol, edge)
        if way[-1] == edge.exit and len(way) > 1:
            message = f"with its budget used up, '{edge.exit}' of '{edge.state}' becomes itself"
            fix = "name an exit under 'spent_as' that leads elsewhere, or write 'spent'"
            place = places.get(f"{edge.state}.{edge.exit}")
            yield Finding("endless", f"{message}: {' -> '.join(way)}", place, fix)


def _follow(protocol: p.Protocol, edge: p.Edge) -> list[str]:
    """The exits that this one becomes, one after the other, until there is none or one again."""
    way = [edge.exit]
    following: p.Edge | None = edge
    while following is not None and following.spent_as:
        way.append(following.spent_as)
        if way[-1] in way[:-1]:
            break
        edges = protocol.edges_of(edge.state, way[-1])
        following = next((each for each in edges if each.spent_as), None)
    return way
