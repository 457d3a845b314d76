"""What is written in each box and on each arrow, and how much room that takes."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from porch.show.board import text_width
from porch.show.graph.picture import Arrow, Node, ProtocolPicture
from porch.show.graph.text_width import clip_lines, wrap_cells
from porch.show.graph.vertices import RoomSize
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk

LineStyle = Literal["name", "detail", "note", "walk"]

# Letters of equal width, in the sizes that the drawing uses; a little wider than most fonts.
CELL_WIDTH = {"name": 7.4, "detail": 6.7, "note": 6.7, "walk": 7.0}
LINE_HEIGHT = {"name": 16.0, "detail": 14.0, "note": 14.0, "walk": 14.0}
_MOST_CELLS = {"name": 24, "detail": 28, "note": 30, "walk": 30}
_MOST_LINES = {"name": 6, "detail": 3, "note": 8, "walk": 2}
PADDING = 16.0
LABEL_CELL, LABEL_LINE, LABEL_PADDING = 6.7, 14.0, 4.0
_LABEL_MOST_CELLS, _LABEL_MOST_LINES = 26, 8
LOOP_ROOM = 26.0
START_ROOM = 34.0
# More arrows than this into one node hide everything else; then their sources name it instead.
_MOST_ARRIVALS_BY_KIND = {"end": 3}
_MOST_ARRIVALS = 8


class BoxLine(Struct, frozen=True):
    """One line of text in a box."""

    text: str
    style: LineStyle


class PictureWords(Struct, frozen=True):
    """Everything that is written: in boxes by node, on arrows by the number of each drawn one."""

    boxes: Mapping[str, tuple[BoxLine, ...]]
    labels: Mapping[int, tuple[str, ...]]
    loops: Mapping[str, tuple[int, ...]]  # arrows from a node to itself


def collect_words(picture: ProtocolPicture) -> PictureWords:
    noted = _find_noted_arrows(picture)
    numbers = [number for number, _ in enumerate(picture.arrows) if number not in noted]
    loops: dict[str, tuple[int, ...]] = {}
    for number in numbers:
        arrow = picture.arrows[number]
        if arrow.source == arrow.target:
            loops[arrow.source] = (*loops.get(arrow.source, ()), number)
    notes = _collect_notes(picture, [picture.arrows[number] for number in sorted(noted)])
    boxes = {node.id: tuple(_box_lines(node, notes.get(node.id, []))) for node in picture.nodes}
    labels = {number: _label_lines(picture.arrows[number]) for number in numbers}
    return PictureWords(boxes, labels, loops)


def _find_noted_arrows(picture: ProtocolPicture) -> set[int]:
    into: dict[str, list[int]] = {}
    for number, arrow in enumerate(picture.arrows):
        if arrow.source != arrow.target:
            into.setdefault(arrow.target, []).append(number)
    found: set[int] = set()
    for node in picture.nodes:
        numbers = into.get(node.id, [])
        if len(numbers) > _MOST_ARRIVALS_BY_KIND.get(node.kind, _MOST_ARRIVALS):
            found.update(number for number in numbers if not picture.arrows[number].main)
    return found


def _collect_notes(picture: ProtocolPicture, arrows: list[Arrow]) -> dict[str, list[str]]:
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


def _box_lines(node: Node, notes: list[str]) -> list[BoxLine]:
    detail = f"{node.kind}: {node.detail}" if node.detail else node.kind
    return [
        *_wrap_styled_text(node.name, "name"),
        *_wrap_styled_text(detail, "detail"),
        *(_wrap_styled_text(walked, "walk") if (walked := describe_node_walk(node)) else ()),
        *(line for note in notes for line in _wrap_styled_text(note, "note")),
    ]


def _wrap_styled_text(text: str, style: LineStyle) -> list[BoxLine]:
    lines = clip_lines(wrap_cells(text, _MOST_CELLS[style]), _MOST_LINES[style])
    return [BoxLine(line, style) for line in lines]


def _label_lines(arrow: Arrow) -> tuple[str, ...]:
    lines = [
        ("  " if rest else "") + line
        for told in (*arrow.lines, *filter(None, [describe_arrow_walk(arrow)]))
        for rest, line in enumerate(wrap_cells(told, _LABEL_MOST_CELLS))
    ]
    return tuple(clip_lines(lines, _LABEL_MOST_LINES))


def measure_box(lines: tuple[BoxLine, ...]) -> tuple[float, float]:
    wide = max(text_width(line.text) * CELL_WIDTH[line.style] for line in lines)
    return max(wide, 60.0) + 2 * PADDING, sum(LINE_HEIGHT[line.style] for line in lines) + PADDING


def measure_label(lines: tuple[str, ...]) -> tuple[float, float]:
    wide = max((text_width(line) for line in lines), default=0) * LABEL_CELL
    return wide + 2 * LABEL_PADDING, len(lines) * LABEL_LINE + LABEL_PADDING


def measure_node_room(node: Node, told: PictureWords, is_initial: bool) -> RoomSize:
    """A box with the mark of the beginning at its left and the arrows to itself at its right."""
    wide, high = measure_box(told.boxes[node.id])
    labels = [measure_label(told.labels[number]) for number in told.loops.get(node.id, ())]
    right = LOOP_ROOM + max(each for each, _ in labels) if labels else 0.0
    left = START_ROOM if is_initial else 0.0
    high = max(high, sum(each for _, each in labels))
    return RoomSize(wide / 2 + left, wide / 2 + right, high)


def measure_label_room(lines: tuple[str, ...]) -> RoomSize:
    wide, high = measure_label(lines)
    return RoomSize(wide / 2, wide / 2, high)
