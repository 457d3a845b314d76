"""The laws of `extends`: two levels make one, from the base up, and any grouping gives the same."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from porch.dialects.steps.keys import Numbers, written
from porch.dialects.steps.records import Change, Level, Named, Piece, Step, Steps
from porch.errors import Finding

NOTHING = Level()


def over(lower: Level, upper: Level) -> Level:
    """What both say together, the upper one having the last word."""
    touched = sorted({*lower.changes, *upper.changes})
    none = Change()
    return Level(
        upper.name or lower.name,
        upper.description or lower.description,
        lower.inputs if upper.inputs is None else upper.inputs,
        lower.outputs if upper.outputs is None else upper.outputs,
        {n: _both(lower.changes.get(n, none), upper.changes.get(n, none)) for n in touched},
        tuple(dict.fromkeys((*lower.named, *upper.named))),
    )


def _both(lower: Change, upper: Change) -> Change:
    sets = (*lower.sets, *upper.sets)
    appends = upper.appends if upper.sets else (*lower.appends, *upper.appends)
    if lower.sets:
        # Whatever seemed to lack its target further up has found one here.
        return Change(sets, appends, lower.dangling)
    lost = lower.appends if upper.sets else ()
    return Change(sets, appends, (*lower.dangling, *lost, *upper.dangling))


def merge(levels: Sequence[Level], lenient: bool = False) -> tuple[Steps, list[Finding]]:
    """The whole protocol of levels given from the base up, and what does not fit together."""
    whole = reduce(over, levels, NOTHING)
    findings = [*_dangling(whole, lenient), *_clashes(whole.named)]
    present = [n for n, change in whole.changes.items() if change.sets or lenient]
    steps = [_step(number, n, whole) for number, n in enumerate(present, 1)]
    return (
        Steps(
            whole.name,
            whole.description,
            whole.inputs or (),
            whole.outputs or (),
            tuple(steps),
            tuple(level.name for level in levels),
        ),
        findings,
    )


def _step(number: int, numbers: Numbers, whole: Level) -> Step:
    change = whole.changes[numbers]
    ids = tuple(dict.fromkeys(named.id for named in whole.named if named.numbers == numbers))
    if not change.sets:
        return Step(number, numbers, change.appends, ids=ids)
    return Step(
        number, numbers, (change.sets[-1], *change.appends), tuple(reversed(change.sets[:-1])), ids
    )


def _dangling(whole: Level, lenient: bool) -> Iterator[Finding]:
    known = ", ".join(written(n) for n, change in whole.changes.items() if change.sets) or "none"
    for change in whole.changes.values():
        for piece in _without_target(change):
            target = written(piece.key.numbers)
            if lenient:
                message = f"there is no step {target} to append to; {piece} makes one"
                yield Finding("append-target-missing", message, piece.place, severity="warning")
            else:
                message = f"there is no step {target} that {piece} could append to"
                fix = f"steps that exist: {known}; write '{target}' for a new one"
                yield Finding("append-target-missing", message, piece.place, fix)


def _without_target(change: Change) -> Iterable[Piece]:
    return change.dangling if change.sets else (*change.dangling, *change.appends[:1])


def _clashes(named: Iterable[Named]) -> Iterator[Finding]:
    """An id names one step, whichever file gives it."""
    first: dict[str, Named] = {}
    for each in named:
        known = first.setdefault(each.id, each)
        if known.numbers != each.numbers:
            where = f"step {written(known.numbers)} ({known.place})"
            message = f"the id '{each.id}' belongs to {where} already"
            yield Finding("duplicate-step-id", message, each.place, "choose another id")
