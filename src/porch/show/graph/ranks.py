"""Which arrows go back, and how far down each node stands once those are set aside."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

NodePair = tuple[str, str]


class RankOrder(Struct, frozen=True):
    """The arrows that go back, and for every node the longest way to it along the others."""

    back: frozenset[NodePair]
    rank: Mapping[str, int]


def rank_nodes(names: Sequence[str], initial: str, pairs: Sequence[NodePair]) -> RankOrder:
    """As the file has its states, or by distance from the first: whichever reads better.

    People write states in the order in which they think of them as happening, mostly; and the
    exit that leads on they name first.
    """
    declared = [initial, *(name for name in names if name != initial)]
    reached = set(_sort_by_distance([initial], pairs))
    # The beginning stands on top, however much leads back to it.
    home = [pair for pair in pairs if pair[1] == initial]
    inner = [pair for pair in dict.fromkeys(pairs) if pair not in home]
    orders = (declared, _sort_by_distance(declared, inner))
    back = min(
        (_find_back_arrows(order, inner) for order in orders),
        key=lambda found: _order_cost(found, inner, reached - {initial}),
    )
    onward = [pair for pair in inner if pair not in back]
    below = [(initial, source) for source, _ in home if source != initial]
    return RankOrder(back.union(home), _rank_by_longest_path(names, [*onward, *below]))


def _order_cost(
    back: frozenset[NodePair], pairs: Sequence[NodePair], reached: set[str]
) -> tuple[int, ...]:
    """What is reached at all should be reached by going on, and best by the first exits."""
    firsts = {source: (source, target) for source, target in reversed(pairs)}
    orphans = reached - {pair[1] for pair in pairs if pair not in back}
    return len(orphans), len(back.intersection(firsts.values())), len(back)


def _sort_by_distance(names: Sequence[str], pairs: Iterable[NodePair]) -> list[str]:
    ways = _targets_by_source(pairs)
    found: dict[str, None] = {}
    for start in names:
        level = [start]
        while level:
            fresh = [name for name in dict.fromkeys(level) if name not in found]
            found.update(dict.fromkeys(fresh))
            level = [there for name in fresh for there in ways.get(name, ())]
    return list(found)


def _targets_by_source(pairs: Iterable[NodePair]) -> dict[str, dict[str, None]]:
    ways: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        ways.setdefault(source, {})[target] = None
    return ways


def _find_back_arrows(order: Sequence[str], pairs: Sequence[NodePair]) -> frozenset[NodePair]:
    """Arrows against an order go back only where they really close a circle."""
    place = {name: number for number, name in enumerate(order)}
    ways = _targets_by_source(pair for pair in pairs if place[pair[0]] < place[pair[1]])
    back = set()
    for source, target in pairs:
        if place[source] < place[target]:
            continue
        if _has_path(ways, target, source):
            back.add((source, target))
        else:
            ways.setdefault(source, {})[target] = None
    return frozenset(back)


def _has_path(ways: Mapping[str, Iterable[str]], start: str, goal: str) -> bool:
    open_, seen = [start], {start}
    while open_:
        name = open_.pop()
        if name == goal:
            return True
        fresh = [there for there in ways.get(name, ()) if there not in seen]
        seen.update(fresh)
        open_.extend(fresh)
    return False


def _rank_by_longest_path(names: Sequence[str], pairs: Sequence[NodePair]) -> dict[str, int]:
    """No recursion: a protocol may be longer than Python's stack is deep."""
    ways = _targets_by_source(pairs)
    before = dict.fromkeys(names, 0)
    for targets in ways.values():
        for target in targets:
            before[target] += 1
    rank = dict.fromkeys(names, 0)
    ready = [name for name in names if not before[name]]
    for name in ready:  # grows while it is walked
        for target in ways.get(name, ()):
            rank[target] = max(rank[target], rank[name] + 1)
            before[target] -= 1
            if not before[target]:
                ready.append(target)
    return rank
