"""A protocol of steps as it is printed: for the agent that follows it, for people, as data."""

from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, TypedDict

from porch.dialects.steps.file_records import MergedStep, StepProtocol, StepText
from porch.dialects.steps.placeholders import fill_placeholders
from porch.dialects.steps.references import rewrite_references
from porch.model.parameters import Parameter, parse_parameter

InputValues = Mapping[str, str]


class StepInputShape(TypedDict):
    """An input of a protocol of steps; with the value that was given, if any was asked for."""

    name: str
    type: str
    optional: bool
    description: str
    value: NotRequired[Any]


class StepOutputShape(TypedDict):
    """An output of a protocol of steps, and the command that checks it."""

    value: str
    description: str
    check: str | None


class StepPieceShape(TypedDict):
    """Where a piece of a step was written."""

    origin: str
    source: str
    file: str
    line: int


class StepShape(TypedDict):
    """One step with its text, and the pieces that it was made of."""

    number: int
    source: str
    origin: str
    operation: str
    ids: list[str]
    text: str
    replaces: list[StepPieceShape]
    pieces: list[StepPieceShape]


class StepsShape(TypedDict):
    """A protocol of steps as data."""

    name: str
    description: str
    chain: list[str]
    inputs: list[StepInputShape]
    outputs: list[StepOutputShape]
    step_count: int
    steps: list[StepShape]


class StepFormsShape(TypedDict):
    """A protocol of steps in every form that is asked for often, ready to be printed."""

    text: str
    raw: str
    explain: str
    json: StepsShape


def render_steps(steps: StepProtocol, given: InputValues | None = None, raw: bool = False) -> str:
    """Inputs, outputs, and the steps numbered from 1; `raw` leaves the texts as they were."""
    return "\n".join(_render_steps_lines(steps, given, raw)).rstrip("\n") + "\n"


def _render_steps_lines(steps: StepProtocol, given: InputValues | None, raw: bool) -> Iterator[str]:
    yield f"# {steps.name}"
    if steps.description:
        yield steps.description
    yield ""
    if steps.inputs:
        yield "## Inputs"
        yield from (_describe_input(each, given or {}) for each in steps.inputs)
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
    yield from render_step_list(steps, given, raw)


def render_step_list(
    steps: StepProtocol, given: InputValues | None = None, raw: bool = False
) -> Iterator[str]:
    """The steps alone, a blank line behind each."""
    for step in steps.steps:
        yield f"{step.number}: {render_step_text(step, steps, given, raw)}"
        yield ""


def _describe_input(declared: Parameter, given: InputValues) -> str:
    need = "optional" if declared.optional else "required"
    told = f" - {declared.description}" if declared.description else ""
    said = f" = {given[declared.name]}" if declared.name in given else ""
    return f"- {declared.name}: {declared.type} ({need}){said}{told}"


def render_step_text(
    step: MergedStep, steps: StepProtocol, given: InputValues | None = None, raw: bool = False
) -> str:
    """References first: a number in an input that was given means no step."""
    told = step.text if raw else rewrite_references(step.text, steps)
    return told if given is None else fill_placeholders(told, steps.inputs, given)


def explain_step_sources(steps: StepProtocol) -> str:
    """Where each printed step came from."""
    width = max((len(str(step.number)) for step in steps.steps), default=1)
    rows = [f"{step.number:<{width}}  <- {_describe_step_sources(step)}" for step in steps.steps]
    return "\n".join(rows) + "\n"


def _describe_step_sources(step: MergedStep) -> str:
    came = " + ".join(map(str, step.pieces))
    if not step.replaces:
        return came
    return f"{came} (replaces {', '.join(map(str, step.replaces))})"


def make_steps_data(
    steps: StepProtocol, given: InputValues | None = None, raw: bool = False
) -> StepsShape:
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


def _input_data(declared: Parameter, given: InputValues | None) -> StepInputShape:
    told: StepInputShape = {
        "name": declared.name,
        "type": declared.type,
        "optional": declared.optional,
        "description": declared.description,
    }
    if given is None:
        return told
    said = given.get(declared.name)
    return {**told, "value": None if said is None else parse_parameter(declared, said)}


def _step_data(
    step: MergedStep, steps: StepProtocol, given: InputValues | None, raw: bool
) -> StepShape:
    return {
        "number": step.number,
        "source": step.source,
        "origin": step.origin,
        "operation": step.operation,
        "ids": list(step.ids),
        "text": render_step_text(step, steps, given, raw),
        "replaces": [_piece_data(piece) for piece in step.replaces],
        "pieces": [_piece_data(piece) for piece in step.pieces],
    }


def _piece_data(piece: StepText) -> StepPieceShape:
    place = piece.place
    return {
        "origin": piece.origin, "source": str(piece.key), "file": place.file, "line": place.line,
    }  # fmt: skip
