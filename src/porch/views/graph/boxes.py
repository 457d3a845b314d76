"""What is written in each box and on each arrow, and how much room that takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from porch.views.graph.cells import clipped, width, wrapped
from porch.views.graph.edges import Arrow, Node, Picture
from porch.views.graph.net import Size

Style = Literal["name", "detail", "note"]

# Letters of equal width, in the sizes that the drawing uses; a little wider than most fonts.
CELL = {"name": 7.4, "detail": 6.7, "note": 6.7}
LINE = {"name": 16.0, "detail": 14.0, "note": 14.0}
_ROOM = {"name": 24, "detail": 28, "note": 30}
_MOST = {"name": 6, "detail": 3, "note": 8}
PADDING = 16.0
LABEL_CELL, LABEL_LINE, LABEL_PADDING = 6.7, 14.0, 4.0
_LABEL_ROOM, _LABEL_MOST = 26, 8
LOOP_ROOM = 26.0
START_ROOM = 34.0
# More arrows than this into one node hide everything else; then their sources name it instead.
_ARRIVALS = {"end": 3}
_MOST_ARRIVALS = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text in a box."""

    text: str
    style: Style


@dataclass(frozen=True, slots=True)
class Words:
    """Everything that is written: in boxes by node, on arrows by the number of each drawn one."""

    boxes: Mapping[str, tuple[Line, ...]]
    labels: Mapping[int, tuple[str, ...]]
    loops: Mapping[str, tuple[int, ...]]  # arrows from a node to itself


def words(picture: Picture) -> Words:
    noted = _noted(picture)
    numbers = [number for number, _ in enumerate(picture.arrows) if number not in noted]
    loops: dict[str, tuple[int, ...]] = {}
    for number in numbers:
        arrow = picture.arrows[number]
        if arrow.source == arrow.target:
            loops[arrow.source] = (*loops.get(arrow.source, ()), number)
    notes = _notes(picture, [picture.arrows[number] for number in sorted(noted)])
    boxes = {node.id: tuple(_lines(node, notes.get(node.id, []))) for node in picture.nodes}
    labels = {number: _label(picture.arrows[number]) for number in numbers}
    return Words(boxes, labels, loops)


def _noted(picture: Picture) -> set[int]:
    into: dict[str, list[int]] = {}
    for number, arrow in enumerate(picture.arrows):
        if arrow.source != arrow.target:
            into.setdefault(arrow.target, []).append(number)
    found: set[int] = set()
    for node in picture.nodes:
        numbers = into.get(node.id, [])
        if len(numbers) > _ARRIVALS.get(node.kind, _MOST_ARRIVALS):
            found.update(number for number in numbers if not picture.arrows[number].main)
    return found


def _notes(picture: Picture, arrows: list[Arrow]) -> dict[str, list[str]]:
    """What stands in a box instead of an arrow; the same exits are told once for all targets."""
    names = {node.id: node.name for node in picture.nodes}
    told: dict[str, dict[str, list[str]]] = {}
    for arrow in arrows:
        exits = f"{', '.join(arrow.exits)}{' (spent)' if arrow.spent else ''}"
        told.setdefault(arrow.source, {}).setdefault(exits, []).append(names[arrow.target])
    notes = {
        source: [f"{exits} -> {' or '.join(targets)}" for exits, targets in each.items()]
        for source, each in told.items()
    }
    for target in dict.fromkeys(arrow.target for arrow in arrows):
        sources = {arrow.source for arrow in picture.arrows if arrow.target == target}
        notes.setdefault(target, []).append(f"from {len(sources)} states")
    return notes


def _lines(node: Node, notes: list[str]) -> list[Line]:
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    return [
        *_styled(node.name, "name"),
        *_styled(detail, "detail"),
        *(line for note in notes for line in _styled(note, "note")),
    ]


def _styled(text: str, style: Style) -> list[Line]:
    lines = clipped(wrapped(text, _ROOM[style]), _MOST[style])
    return [Line(line, style) for line in lines]


def _label(arrow: Arrow) -> tuple[str, ...]:
    lines = [
        ("  " if rest else "") + line
        for told in arrow.lines
        for rest, line in enumerate(wrapped(told, _LABEL_ROOM))
    ]
    return tuple(clipped(lines, _LABEL_MOST))


def box_size(lines: tuple[Line, ...]) -> tuple[float, float]:
    wide = max(width(line.text) * CELL[line.style] for line in lines)
    return max(wide, 60.0) + 2 * PADDING, sum(LINE[line.style] for line in lines) + PADDING


def label_size(lines: tuple[str, ...]) -> tuple[float, float]:
    wide = max((width(line) for line in lines), default=0) * LABEL_CELL
    return wide + 2 * LABEL_PADDING, len(lines) * LABEL_LINE + LABEL_PADDING


def room(node: Node, told: Words, is_initial: bool) -> Size:
    """A box with the mark of the beginning at its left and the arrows to itself at its right."""
    wide, high = box_size(told.boxes[node.id])
    labels = [label_size(told.labels[number]) for number in told.loops.get(node.id, ())]
    right = LOOP_ROOM + max(each for each, _ in labels) if labels else 0.0
    left = START_ROOM if is_initial else 0.0
    high = max(high, sum(each for _, each in labels))
    return Size(wide / 2 + left, wide / 2 + right, high)


def label_room(lines: tuple[str, ...]) -> Size:
    wide, high = label_size(lines)
    return Size(wide / 2, wide / 2, high)
