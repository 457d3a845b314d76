"""Whether every reference in a merged protocol means what its author meant."""

from collections.abc import Iterator

from porch.dialects.steps.records import Piece, Step, Steps
from porch.dialects.steps.references import Reference, references
from porch.errors import Finding, Severity

_TITLE = 60


def lint(steps: Steps) -> list[Finding]:
    return [
        finding
        for step in steps.steps
        for piece in step.pieces
        for reference in references(piece.text, steps)
        for finding in _judged(reference, piece, steps)
    ]


def unresolved(steps: Steps) -> list[Finding]:
    """References to nothing: errors for whoever checks, a warning for whoever only reads."""
    found = [
        _lost(reference, piece, steps, "warning")
        for step in steps.steps
        for piece in step.pieces
        for reference in references(piece.text, steps)
        if reference.target is None
    ]
    return list(dict.fromkeys(found))


def _judged(reference: Reference, piece: Piece, steps: Steps) -> Iterator[Finding]:
    if reference.target is None:
        yield _lost(reference, piece, steps, "error")
    elif not reference.is_anchor:
        yield from _doubtful(reference, reference.target, piece, steps)


def _lost(reference: Reference, piece: Piece, steps: Steps, severity: Severity) -> Finding:
    message = f"{piece} speaks of '{reference.written}', and there is no such step"
    known = ", ".join(step.source for step in steps.steps)
    if reference.is_anchor:
        known = ", ".join(id_ for step in steps.steps for id_ in step.ids) or "none"
    what = "ids" if reference.is_anchor else "steps"
    return Finding(
        "unknown-reference", message, piece.place, f"{what} that exist: {known}", severity
    )


def _doubtful(reference: Reference, target: Step, piece: Piece, steps: Steps) -> Iterator[Finding]:
    fix = f"give step {target.source} an id and write {{step:id}}"
    meant = _meant(target, piece, steps)
    if meant is not None:
        message = (
            f"{piece} speaks of step {reference.written}, which {target.origin} replaced: "
            f"it was '{_title(meant.text)}', it is '{_title(target.text)}'"
        )
        yield Finding("step-replaced", message, piece.place, fix, "warning")
    other = next((step for step in steps.steps if str(step.number) == reference.written), None)
    if other is not None and other is not target:
        message = (
            f"{piece} speaks of step {reference.written}, '{_title(target.text)}', printed as "
            f"{target.number}; what is printed as {other.number} is '{_title(other.text)}'"
        )
        yield Finding("step-ambiguous", message, piece.place, fix, "warning")


def _meant(target: Step, piece: Piece, steps: Steps) -> Piece | None:
    """The text that the author saw under this number, if a file further up has another there."""
    level = {origin: number for number, origin in enumerate(steps.origins)}
    if level[target.origin] <= level[piece.origin]:
        return None
    return next((old for old in target.replaces if level[old.origin] <= level[piece.origin]), None)


def _title(text: str) -> str:
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 3]}..."
