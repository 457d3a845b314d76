"""Claims that the words of an answer decide, together with what is remembered."""

import os
from collections.abc import Callable, Mapping

from porch.machine.paths import is_within
from porch.model.protocol import Measure
from porch.runtime.tree.claims import Claim

NAME = "abcdefghijklmnopqrstuvwxyz0123456789-_"


def _covers(claim: Claim, measure: Measure) -> list[str]:
    by = set(map(str, claim.values(measure.by)))
    return [
        f"'{each}' is covered by nothing" for each in claim.values(measure.of) if each not in by
    ]


def _once(claim: Claim, measure: Measure) -> list[str]:
    found = claim.values(measure.of)
    again = dict.fromkeys(each for each in found if found.count(each) > 1)
    return [f"'{each}' is given to more than one" for each in again]


def _names(claim: Claim, measure: Measure) -> list[str]:
    found = [str(each) for each in claim.values(measure.of)]
    bad = [each for each in found if not _is_name(each)]
    reasons = [
        f"'{each}' cannot be the name of a branch: use small letters, digits, '-' and '_'"
        for each in bad
    ]
    return reasons + _once(claim, measure)


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 40 and set(text) <= set(NAME) and text[0] not in "-_" != text[-1]


def _disjoint(claim: Claim, measure: Measure) -> list[str]:
    found = [str(each) for each in claim.values(measure.of)]
    return [
        f"'{one}' and '{other}' overlap"
        for n, one in enumerate(found)
        for other in found[n + 1 :]
        if is_within(one, [other]) or is_within(other, [one])
    ]


def _exists(claim: Claim, measure: Measure) -> list[str]:
    root = os.path.realpath(claim.place.path)
    reasons = []
    for each in map(str, claim.values(measure.of)):
        real = os.path.realpath(os.path.join(root, each))
        if not real.startswith(root + os.sep):
            reasons.append(f"'{each}' leads outside the worktree")
        elif not os.path.isfile(real) and not (os.path.isdir(real) and os.listdir(real)):
            reasons.append(f"'{each}' is not there")
    return reasons


def _within(claim: Claim, measure: Measure) -> list[str]:
    where = claim.values(measure.by)
    outside = [str(e) for e in claim.values(measure.of) if not is_within(str(e), where)]
    return [f"'{each}' does not lie under {', '.join(map(str, where))}" for each in outside]


def _empty(claim: Claim, measure: Measure) -> list[str]:
    found = claim.values(measure.of)
    what = ", ".join(path.split(".")[-1] for path in measure.of)
    return [f"{what} must be empty, and holds {', '.join(map(str, found))}"] if found else []


def _some(claim: Claim, measure: Measure) -> list[str]:
    names = " or ".join(path.split(".")[-1] for path in measure.of)
    return [] if claim.values(measure.of) else [f"say something in {names}; all of it is empty"]


# What stands for code that nobody has written yet, in the languages that people use.
STUBS = ("NotImplementedError", "undefined", "todo!(", "unimplemented!(", "TODO: implement")


def _finished(claim: Claim, measure: Measure) -> list[str]:
    """No stub is left where the work was to be done."""
    root = claim.place.path
    found = []
    for place in map(str, claim.values(measure.of)):
        for path in _files(os.path.join(root, place)):
            with open(path, encoding="utf-8", errors="replace") as file:
                left = [word for word in STUBS if word in file.read()]
            name = os.path.relpath(path, root)
            found += [f"'{name}' still holds a stub: {word}" for word in left[:1]]
    return [each for each in found if not _is_interface(claim, each)]


def _is_interface(claim: Claim, reason: str) -> bool:
    """A file that may not be changed may hold what it held."""
    denied = [str(each) for each in claim.values(claim.effect.ask.denies)]
    return any(reason.startswith(f"'{name}'") for name in denied)


def _files(place: str) -> list[str]:
    if os.path.isfile(place):
        return [place]
    return [
        os.path.join(directory, name)
        for directory, _, names in os.walk(place)
        for name in names
        # Nothing but files: a pipe that an agent left would hold us up for ever.
        if not name.endswith((".pyc", ".md")) and os.path.isfile(os.path.join(directory, name))
    ]


WORDS: Mapping[str, Callable[[Claim, Measure], list[str]]] = {
    "covers": _covers,
    "once": _once,
    "names": _names,
    "disjoint": _disjoint,
    "exists": _exists,
    "within": _within,
    "empty": _empty,
    "some": _some,
    "finished": _finished,
}
