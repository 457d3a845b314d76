"""Whether every reference in a merged protocol means what its author meant."""

import re
from collections.abc import Iterator

from porch.dialects.steps.file_records import MergedStep, StepProtocol, StepText
from porch.dialects.steps.references import StepReference, find_references
from porch.errors import Finding, Severity
from porch.text.late_pattern import late_pattern

_TITLE = 60
_BELOW_FEATURE = late_pattern(r"(<FEATURE(?:_BRANCH)?>)/implementation-", re.IGNORECASE)


def lint_references(steps: StepProtocol) -> list[Finding]:
    return [
        finding
        for step in steps.steps
        for piece in step.pieces
        for reference in find_references(piece.text, steps)
        for finding in _check_reference(reference, piece, steps)
    ]


def find_unresolved_references(steps: StepProtocol) -> list[Finding]:
    """References to nothing: errors for whoever checks, a warning for whoever only reads."""
    found = [
        _unknown_reference_finding(reference, piece, steps, "warning")
        for step in steps.steps
        for piece in step.pieces
        for reference in find_references(piece.text, steps)
        if reference.target is None
    ]
    return list(dict.fromkeys(found))


def find_impossible_branches(steps: StepProtocol, severity: Severity) -> list[Finding]:
    """Texts that name the branch of a prompt below its feature branch, where git makes none."""
    return [
        Finding(
            "impossible-branch",
            f"{piece} names the branch '{name[0]}N', but git makes no branch below another one",
            piece.place,
            f"write `{name[1]}--implementation-`",
            severity,
        )
        for step in steps.steps
        for piece in step.pieces
        if (name := _BELOW_FEATURE.search(piece.text))
    ]


def _check_reference(
    reference: StepReference, piece: StepText, steps: StepProtocol
) -> Iterator[Finding]:
    if reference.target is None:
        yield _unknown_reference_finding(reference, piece, steps, "error")
    elif not reference.is_anchor:
        yield from _check_numbered_reference(reference, reference.target, piece, steps)


def _unknown_reference_finding(
    reference: StepReference, piece: StepText, steps: StepProtocol, severity: Severity
) -> Finding:
    message = f"{piece} mentions '{reference.written}', but there is no such step"
    known = ", ".join(step.source for step in steps.steps)
    if reference.is_anchor:
        known = ", ".join(id_ for step in steps.steps for id_ in step.ids) or "none"
    what = "ids" if reference.is_anchor else "steps"
    return Finding(
        "unknown-reference", message, piece.place, f"{what} that exist: {known}", severity
    )


def _check_numbered_reference(
    reference: StepReference, target: MergedStep, piece: StepText, steps: StepProtocol
) -> Iterator[Finding]:
    fix = f"give step {target.source} an id and write {{step:id}}"
    meant = _find_intended_text(target, piece, steps)
    if meant is not None:
        message = (
            f"{piece} mentions step {reference.written}, which {target.origin} replaced: "
            f"it was '{_short_title(meant.text)}', now it is '{_short_title(target.text)}'"
        )
        yield Finding("step-replaced", message, piece.place, fix, "warning")
    other = next((step for step in steps.steps if str(step.number) == reference.written), None)
    if other is not None and other is not target:
        message = (
            f"{piece} mentions step {reference.written}, '{_short_title(target.text)}', printed as "
            f"{target.number}; the step printed as {other.number} is '{_short_title(other.text)}'"
        )
        yield Finding("step-ambiguous", message, piece.place, fix, "warning")


def _find_intended_text(
    target: MergedStep, piece: StepText, steps: StepProtocol
) -> StepText | None:
    """The text that the author saw under this number, if a file further up has another there."""
    level = {origin: number for number, origin in enumerate(steps.origins)}
    if level[target.origin] <= level[piece.origin]:
        return None
    return next((old for old in target.replaces if level[old.origin] <= level[piece.origin]), None)


def _short_title(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 3]}..."
