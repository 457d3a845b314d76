"""Which states lie in front of others on the ways of a protocol.

The order of a file says little: a graph may list a review in front of the work that it is about.
So the ways decide. A way that leads back to a state that everybody has passed before is going back;
one state lies in front of another if one gets from the first to the second without going back, and
not from the second to the first. Branches beside each other therefore are in front of neither.

Everybody who comes to a state has passed what all ways to it have in common, and for a state that
waits for others these, too (a dominator tree with joins). Sets of states are numbers here, one bit
for each state, because this is asked while a run is drawn.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

Way = tuple[str, str]


def find_states_in_front(
    starts: Collection[str], ways: Iterable[Way], awaited: Mapping[str, Collection[str]]
) -> Mapping[str, frozenset[str]]:
    """For each state those in front of it; `awaited` names the ones that a state waits for."""
    bits = {name: 1 << place for place, name in enumerate(awaited)}
    known = [way for way in ways if way[0] in bits and way[1] in bits]
    passed = _find_passed(starts, known, awaited, bits)
    # Nobody comes to a state that is not in `passed`: the engine alone sends somebody there.
    onward = [(a, b) for a, b in known if a in passed and not passed[a] & bits[b]]
    before = dict.fromkeys(awaited, 0)
    while _hand_on(before, onward, bits):
        pass
    return {
        name: frozenset(
            each for each in awaited if mine & bits[each] and not before[each] & bits[name]
        )
        for name, mine in before.items()
    }


def find_passing(
    starts: Collection[str], ways: Iterable[Way], awaited: Mapping[str, Collection[str]]
) -> Callable[[str, str], bool]:
    """Tells whether all ways to the first of two states pass the second one."""
    bits = {name: 1 << place for place, name in enumerate(awaited)}
    known = [way for way in ways if way[0] in bits and way[1] in bits]
    passed = _find_passed(starts, known, awaited, bits)
    return lambda name, other: bool(passed.get(name, -1) & bits[other])


def _hand_on(before: dict[str, int], ways: list[Way], bits: Mapping[str, int]) -> bool:
    """Hand on along each way what lies before its beginning; whether that was new anywhere."""
    is_new = False
    for source, target in ways:
        known = before[target] | before[source] | bits[source]
        is_new |= known != before[target]
        before[target] = known
    return is_new


def _find_passed(
    starts: Collection[str],
    ways: list[Way],
    awaited: Mapping[str, Collection[str]],
    bits: Mapping[str, int],
) -> dict[str, int]:
    """For each state that can be reached, itself and the states that all ways to it have passed."""
    passed = {name: bits[name] for name in starts}
    sources: dict[str, list[str]] = {}
    for source, target in ways:
        if target not in starts:
            sources.setdefault(target, []).append(source)
    is_new = True
    while is_new:
        is_new = False
        for target, before in sources.items():
            known = [passed[source] for source in before if source in passed]
            if not known:
                continue
            common = known[0]
            for each in known[1:]:
                common &= each
            for source in awaited[target]:
                common |= passed.get(source, 0)
            common |= bits[target]
            if passed.get(target) != common:
                passed[target] = common
                is_new = True
    return passed
