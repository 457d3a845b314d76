"""What `envoy protocol` prints, as its reader sees it: outputs, and numbered steps of lines."""

import re
from dataclasses import dataclass

_STEP = re.compile(r"^([0-9]+): ", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"( *)(?:\*|[0-9]+\.) (.*)")


class Lost(Exception):
    """What stands there cannot be followed."""


class Returned(Exception):
    """A step said what to return."""

    def __init__(self, output: str):
        super().__init__(output)
        self.output = output


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or two, and how deep they stand below the first line of the step."""

    depth: int
    text: str


Step = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    outputs: tuple[str, ...]
    steps: dict[int, Step]


def read(text: str) -> Printed:
    head, _, body = text.partition("\n## Steps\n")
    outputs = re.findall(r"^- (\{.*\})$", head.partition("## Outputs")[2], re.MULTILINE)
    parts = _STEP.split(body)
    steps = {int(n): _lines(told) for n, told in zip(parts[1::2], parts[2::2], strict=True)}
    return Printed(tuple(outputs), steps)


def _lines(text: str) -> Step:
    lines = [line for line in _FENCE.sub("", text).splitlines() if line.strip()]
    return tuple(_line(line) for line in lines)


def _line(text: str) -> Line:
    bullet = _BULLET.fullmatch(text)
    return Line(1 + len(bullet[1]) // 2, bullet[2]) if bullet else Line(0, text.strip())
