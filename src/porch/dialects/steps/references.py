"""Steps that a text speaks of, by source number or id; printed, they have their new numbers."""

import re
from collections.abc import Iterator

from msgspec import Struct

from porch.dialects.steps import step_numbers
from porch.dialects.steps.file_records import MergedStep, StepProtocol
from porch.text.late_pattern import late_pattern
from porch.text.markdown import MASK, mask_inline_code, parse_markdown_lines

_NUMBER = r"[0-9]+(?:\.[0-9]+)*(?![0-9A-Za-z_])"
_RANGE = r"\s*[-\u2013]\s*"
_LIST = rf"(?:{_RANGE}|\s*,\s*(?:and\s+|or\s+)?|\s*&\s*|\s+(?:and|or|to|through)\s+)"
# One step has no list behind it: "step 7 and 2 files" speaks of one step.
_SPOKEN = late_pattern(
    rf"(?<![\w-])(?:steps\s+(?P<several>{_NUMBER}(?:{_LIST}{_NUMBER})*)"
    rf"|step\s+(?P<one>{_NUMBER}(?:{_RANGE}{_NUMBER})?))",
    re.IGNORECASE,
)
_ANCHOR = late_pattern(r"\{step:(?P<id>[^{}\s]*)\}")
_ONE = late_pattern(_NUMBER)
_LINE_END = late_pattern(r"(\r\n|\n|\r)")


class StepReference(Struct, frozen=True):
    """A stretch of a text that means a step; `target` is nothing if there is no such step."""

    start: int
    end: int
    written: str
    target: MergedStep | None
    is_anchor: bool = False


def find_references(text: str, steps: StepProtocol) -> list[StepReference]:
    """All of them outside code, in order."""
    open_text = mask_code(text)
    found = [*_find_numbers(open_text, steps), *_find_anchors(open_text, steps)]
    return sorted(found, key=lambda reference: reference.start)


def _find_numbers(text: str, steps: StepProtocol) -> Iterator[StepReference]:
    for spoken in _SPOKEN.finditer(text):
        group = "several" if spoken["several"] else "one"
        for number in _ONE.finditer(text, spoken.start(group), spoken.end(group)):
            target = steps.at(step_numbers.parse_step_numbers(number[0]))
            yield StepReference(number.start(), number.end(), number[0], target)


def _find_anchors(text: str, steps: StepProtocol) -> Iterator[StepReference]:
    for anchor in _ANCHOR.finditer(text):
        yield StepReference(
            anchor.start(), anchor.end(), anchor[0], steps.called(anchor["id"]), True
        )


def rewrite_references(text: str, steps: StepProtocol) -> str:
    """The text with printed numbers; what means no step stays as it is."""
    pieces, at = [], 0
    for reference in find_references(text, steps):
        if reference.target is not None:
            pieces += [text[at : reference.start], str(reference.target.number)]
            at = reference.end
    return "".join([*pieces, text[at:]])


def mask_code(text: str) -> str:
    """The text with fenced and inline code covered, every character still in its place."""
    parts = _LINE_END.split(text)
    kinds = [line.kind for line in parse_markdown_lines(text)]
    in_fence, paragraph, out = False, "", ""
    for index, kind in enumerate(kinds):
        raw = parts[2 * index]
        end = parts[2 * index + 1] if 2 * index + 1 < len(parts) else ""
        if in_fence or kind in ("fence", "blank"):
            # Inline code ends with its paragraph; a lone backtick must not swallow the rest.
            out += mask_inline_code(paragraph)
            paragraph = ""
            out += MASK * len(raw) + end
        else:
            paragraph += raw + end
        in_fence = in_fence != (kind == "fence")
    return out + mask_inline_code(paragraph)
