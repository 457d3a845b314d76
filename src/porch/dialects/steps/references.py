"""Steps that a text speaks of, by source number or id; printed, they have their new numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from porch.dialects.steps import keys
from porch.dialects.steps.records import Step, Steps
from porch.model.markdown import MASK, lines_of, masked

_NUMBER = r"[0-9]+(?:\.[0-9]+)*(?![0-9A-Za-z_])"
_RANGE = r"\s*[-\u2013]\s*"
_LIST = rf"(?:{_RANGE}|\s*,\s*(?:and\s+|or\s+)?|\s*&\s*|\s+(?:and|or|to|through)\s+)"
# One step has no list behind it: "step 7 and 2 files" speaks of one step.
_SPOKEN = re.compile(
    rf"(?<![\w-])(?:steps\s+(?P<several>{_NUMBER}(?:{_LIST}{_NUMBER})*)"
    rf"|step\s+(?P<one>{_NUMBER}(?:{_RANGE}{_NUMBER})?))",
    re.IGNORECASE,
)
_ANCHOR = re.compile(r"\{step:(?P<id>[^{}\s]*)\}")
_ONE = re.compile(_NUMBER)
_LINE_END = re.compile(r"(\r\n|\n|\r)")


@dataclass(frozen=True, slots=True)
class Reference:
    """A stretch of a text that means a step; `target` is nothing if there is no such step."""

    start: int
    end: int
    written: str
    target: Step | None
    is_anchor: bool = False


def references(text: str, steps: Steps) -> list[Reference]:
    """All of them outside code, in order."""
    open_text = outside_code(text)
    found = [*_numbers(open_text, steps), *_anchors(open_text, steps)]
    return sorted(found, key=lambda reference: reference.start)


def _numbers(text: str, steps: Steps) -> Iterator[Reference]:
    for spoken in _SPOKEN.finditer(text):
        group = "several" if spoken["several"] else "one"
        for number in _ONE.finditer(text, spoken.start(group), spoken.end(group)):
            target = steps.at(keys.numbers(number[0]))
            yield Reference(number.start(), number.end(), number[0], target)


def _anchors(text: str, steps: Steps) -> Iterator[Reference]:
    for anchor in _ANCHOR.finditer(text):
        yield Reference(anchor.start(), anchor.end(), anchor[0], steps.called(anchor["id"]), True)


def rewritten(text: str, steps: Steps) -> str:
    """The text with printed numbers; what means no step stays as it is."""
    pieces, at = [], 0
    for reference in references(text, steps):
        if reference.target is not None:
            pieces += [text[at : reference.start], str(reference.target.number)]
            at = reference.end
    return "".join([*pieces, text[at:]])


def outside_code(text: str) -> str:
    """The text with fenced and inline code covered, every character still in its place."""
    parts = _LINE_END.split(text)
    kinds = [line.kind for line in lines_of(text)]
    in_fence, paragraph, out = False, "", ""
    for index, kind in enumerate(kinds):
        raw = parts[2 * index]
        end = parts[2 * index + 1] if 2 * index + 1 < len(parts) else ""
        if in_fence or kind in ("fence", "blank"):
            # Inline code ends with its paragraph; a lone backtick must not swallow the rest.
            out += masked(paragraph)
            paragraph = ""
            out += MASK * len(raw) + end
        else:
            paragraph += raw + end
        in_fence = in_fence != (kind == "fence")
    return out + masked(paragraph)
