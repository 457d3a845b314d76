"""From where a run comes to a join without what it waits for; nobody may be sent back there."""

from collections.abc import Iterator, Mapping

from porch.model.protocol import Protocol, Target

Way = tuple[frozenset[str], ...]  # for each target of one exit, the states it can mean


def comes_short(protocol: Protocol, join: str, source: str) -> set[str]:
    """The states from which a run can come to a join although one of its sources was not passed.

    Ways that part send somebody to each of their targets: it is enough that one of them can pass
    the source.
    """
    ways = _ways(protocol)
    passing = {name for name in ways if source in _following(ways, name, join)}
    short, more = {join}, {join}
    while more:
        left = ways.keys() - short - {source}
        more = {n for n in left if any(_is_short(way, short, passing) for way in ways[n])}
        short |= more
    return short


def _ways(protocol: Protocol) -> Mapping[str, list[Way]]:
    ways: dict[str, list[Way]] = {name: [] for name in protocol.states}
    for edge in protocol.edges:
        for targets in (edge.targets, edge.spent):
            ways[edge.state].append(tuple(frozenset(_meant(protocol, t)) for t in targets))
    return ways


def _meant(protocol: Protocol, target: Target) -> Iterator[str]:
    if not target.next_of:
        yield target.state
        return
    loop = protocol.loops[target.next_of]
    yield loop.first
    yield from _meant(protocol, loop.after)


def _following(ways: Mapping[str, list[Way]], start: str, without: str) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        name = ahead.pop()
        if name not in found and name != without:
            found.add(name)
            ahead.extend(place for way in ways[name] for places in way for place in places)
    return found


def _is_short(way: Way, short: set[str], passing: set[str]) -> bool:
    for index, places in enumerate(way):
        others = (*way[:index], *way[index + 1 :])
        if places & short and not any(other & passing for other in others):
            return True
    return False
