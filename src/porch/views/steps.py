"""A protocol of steps as it is printed: for the agent that follows it, for people, as data."""

from collections.abc import Iterator, Mapping
from typing import Any

from porch.dialects.steps.giving import filled
from porch.dialects.steps.records import Piece, Step, Steps
from porch.dialects.steps.references import rewritten
from porch.model.parameters import Parameter, value

Given = Mapping[str, str]


def text(steps: Steps, given: Given | None = None, raw: bool = False) -> str:
    """Inputs, outputs, and the steps numbered from 1; `raw` leaves the texts as they were."""
    return "\n".join(_lines(steps, given, raw)).rstrip("\n") + "\n"


def _lines(steps: Steps, given: Given | None, raw: bool) -> Iterator[str]:
    yield f"# {steps.name}"
    if steps.description:
        yield steps.description
    yield ""
    if steps.inputs:
        yield "## Inputs"
        yield from (_input(each, given or {}) for each in steps.inputs)
        yield ""
    if steps.outputs:
        yield "## Outputs"
        for output in steps.outputs:
            yield f"- {output.value}"
            if output.description:
                yield f"  {output.description}"
        yield ""
    yield "## Steps"
    yield ""
    yield from body(steps, given, raw)


def body(steps: Steps, given: Given | None = None, raw: bool = False) -> Iterator[str]:
    """The steps alone, a blank line behind each."""
    for step in steps.steps:
        yield f"{step.number}: {step_text(step, steps, given, raw)}"
        yield ""


def _input(declared: Parameter, given: Given) -> str:
    need = "optional" if declared.optional else "required"
    told = f" - {declared.description}" if declared.description else ""
    said = f" = {given[declared.name]}" if declared.name in given else ""
    return f"- {declared.name}: {declared.type} ({need}){said}{told}"


def step_text(step: Step, steps: Steps, given: Given | None = None, raw: bool = False) -> str:
    """References first: a number in an input that was given means no step."""
    told = step.text if raw else rewritten(step.text, steps)
    return told if given is None else filled(told, steps.inputs, given)


def explained(steps: Steps) -> str:
    """Where each printed step came from."""
    width = max((len(str(step.number)) for step in steps.steps), default=1)
    rows = [f"{step.number:<{width}}  <- {_sources(step)}" for step in steps.steps]
    return "\n".join(rows) + "\n"


def _sources(step: Step) -> str:
    came = " + ".join(map(str, step.pieces))
    if not step.replaces:
        return came
    return f"{came} (replaces {', '.join(map(str, step.replaces))})"


def data(steps: Steps, given: Given | None = None, raw: bool = False) -> dict[str, Any]:
    return {
        "name": steps.name,
        "description": steps.description,
        "chain": list(steps.origins),
        "inputs": [_input_data(each, given) for each in steps.inputs],
        "outputs": [
            {"value": o.value, "description": o.description, "check": o.check or None}
            for o in steps.outputs
        ],
        "step_count": len(steps.steps),
        "steps": [_step_data(step, steps, given, raw) for step in steps.steps],
    }


def _input_data(declared: Parameter, given: Given | None) -> dict[str, Any]:
    told = {
        "name": declared.name,
        "type": declared.type,
        "optional": declared.optional,
        "description": declared.description,
    }
    if given is None:
        return told
    said = given.get(declared.name)
    return {**told, "value": None if said is None else value(declared, said)}


def _step_data(step: Step, steps: Steps, given: Given | None, raw: bool) -> dict[str, Any]:
    return {
        "number": step.number,
        "source": step.source,
        "origin": step.origin,
        "operation": step.operation,
        "ids": list(step.ids),
        "text": step_text(step, steps, given, raw),
        "replaces": [_piece_data(piece) for piece in step.replaces],
        "pieces": [_piece_data(piece) for piece in step.pieces],
    }


def _piece_data(piece: Piece) -> dict[str, Any]:
    place = piece.place
    return {
        "origin": piece.origin, "source": str(piece.key), "file": place.file, "line": place.line,
    }  # fmt: skip
