"""The laws of `extends`: two levels make one, from the base up, and any grouping gives the same."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from porch.dialects.steps.file_records import (
    MergedStep,
    NamedStep,
    StepChange,
    StepLevel,
    StepProtocol,
    StepText,
)
from porch.dialects.steps.step_numbers import StepNumbers, format_numbers
from porch.errors import Finding

EMPTY_LEVEL = StepLevel()


def overlay_level(lower: StepLevel, upper: StepLevel) -> StepLevel:
    """What both say together, the upper one having the last word."""
    touched = sorted({*lower.changes, *upper.changes})
    none = StepChange()
    return StepLevel(
        upper.name or lower.name,
        upper.description or lower.description,
        lower.inputs if upper.inputs is None else upper.inputs,
        lower.outputs if upper.outputs is None else upper.outputs,
        {
            n: _overlay_change(lower.changes.get(n, none), upper.changes.get(n, none))
            for n in touched
        },
        tuple(dict.fromkeys((*lower.named, *upper.named))),
    )


def _overlay_change(lower: StepChange, upper: StepChange) -> StepChange:
    sets = (*lower.sets, *upper.sets)
    appends = upper.appends if upper.sets else (*lower.appends, *upper.appends)
    if lower.sets:
        # Whatever seemed to lack its target further up has found one here.
        return StepChange(sets, appends, lower.dangling)
    lost = lower.appends if upper.sets else ()
    return StepChange(sets, appends, (*lower.dangling, *lost, *upper.dangling))


def merge_levels(
    levels: Sequence[StepLevel], lenient: bool = False
) -> tuple[StepProtocol, list[Finding]]:
    """The whole protocol of levels given from the base up, and what does not fit together."""
    whole = reduce(overlay_level, levels, EMPTY_LEVEL)
    findings = [*_find_missing_targets(whole, lenient), *_find_duplicate_ids(whole.named)]
    present = [n for n, change in whole.changes.items() if change.sets or lenient]
    steps = [_merge_step(number, n, whole) for number, n in enumerate(present, 1)]
    return (
        StepProtocol(
            whole.name,
            whole.description,
            whole.inputs or (),
            whole.outputs or (),
            tuple(steps),
            tuple(level.name for level in levels),
        ),
        findings,
    )


def _merge_step(number: int, numbers: StepNumbers, whole: StepLevel) -> MergedStep:
    change = whole.changes[numbers]
    ids = tuple(dict.fromkeys(named.id for named in whole.named if named.numbers == numbers))
    if not change.sets:
        return MergedStep(number, numbers, change.appends, ids=ids)
    return MergedStep(
        number, numbers, (change.sets[-1], *change.appends), tuple(reversed(change.sets[:-1])), ids
    )


def _find_missing_targets(whole: StepLevel, lenient: bool) -> Iterator[Finding]:
    known = (
        ", ".join(format_numbers(n) for n, change in whole.changes.items() if change.sets) or "none"
    )
    for change in whole.changes.values():
        for piece in _texts_without_target(change):
            target = format_numbers(piece.key.numbers)
            if lenient:
                message = f"there is no step {target} to append to; {piece} adds one"
                yield Finding("append-target-missing", message, piece.place, severity="warning")
            else:
                message = f"there is no step {target} that {piece} can append to"
                fix = f"steps that exist: {known}; write '{target}' for a new one"
                yield Finding("append-target-missing", message, piece.place, fix)


def _texts_without_target(change: StepChange) -> Iterable[StepText]:
    return change.dangling if change.sets else (*change.dangling, *change.appends[:1])


def _find_duplicate_ids(named: Iterable[NamedStep]) -> Iterator[Finding]:
    """An id names one step, whichever file gives it."""
    first: dict[str, NamedStep] = {}
    for each in named:
        known = first.setdefault(each.id, each)
        if known.numbers != each.numbers:
            where = f"step {format_numbers(known.numbers)} ({known.place})"
            message = f"the id '{each.id}' already belongs to {where}"
            yield Finding("duplicate-step-id", message, each.place, "choose another id")
