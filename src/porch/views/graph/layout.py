"""A layered layout of our own: ranks, few crossings, columns, rows; no chance anywhere in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porch.views.graph import boxes, columns, crossings
from porch.views.graph.boxes import Line, Words
from porch.views.graph.edges import Group, Picture
from porch.views.graph.net import Net, net

MARGIN = 24.0
_GAP = 24.0
_WIDEST_GAP = 70.0
_SLOPE = 0.08
# The last stretch to a box is straight, so that the head of an arrow stands upright.
_STUB = 10.0
_PORT = 12.0
_CORNER = 18.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node is drawn; x and y are its upper left corner."""

    id: str
    x: float
    y: float
    width: float
    height: float
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """Where the words of an arrow are written."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """The way of one arrow, from its source to its target; odd stretches are straight down."""

    arrow: int
    points: tuple[Point, ...]
    label: Label


@dataclass(frozen=True, slots=True)
class Band:
    """The rows from `top` to `bottom` belong to one group; `depth` 0 is a loop, 1 a group."""

    title: str
    top: float
    bottom: float
    depth: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything in its place."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    routes: tuple[Route, ...]
    loops: tuple[Route, ...]
    bands: tuple[Band, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where vertices are, and from where to where each row goes."""

    net: Net
    row_of: Mapping[int, int]
    x: Sequence[float]
    tops: Sequence[float]
    bottoms: Sequence[float]


def drawing(picture: Picture) -> Drawing:
    told = boxes.words(picture)
    place = _placed(picture, told)
    drawn = {node: _box(place, told, node) for node in place.net.nodes}
    routes = _routes(picture, told, place, drawn)
    loops = tuple(_loop(told, drawn[node], at) for node, at in _looped(told))
    sizes = place.net.sizes
    right = max((x + size.right for x, size in zip(place.x, sizes, strict=True)), default=0.0)
    bottom = max(place.bottoms, default=0.0)
    bands = _bands(picture, _ranks(picture, told), place)
    return Drawing(right + MARGIN, bottom + MARGIN, drawn, routes, loops, bands)


def _ranks(picture: Picture, told: Words) -> dict[str, int]:
    """An end that nobody draws an arrow to stands below everything else."""
    reached = {picture.arrows[number].target for number in told.labels}
    ends = [n.id for n in picture.nodes if n.kind == "end" and n.id not in reached]
    ranks = {node.id: node.rank for node in picture.nodes if node.id not in ends}
    return {**ranks, **dict.fromkeys(ends, max(ranks.values(), default=0))}


def _placed(picture: Picture, told: Words) -> _Place:
    rooms = {n.id: boxes.room(n, told, n.id == picture.initial) for n in picture.nodes}
    looped = {number for numbers in told.loops.values() for number in numbers}
    labels = {
        number: boxes.label_room(lines)
        for number, lines in told.labels.items()
        if number not in looped
    }
    made = net(_ranks(picture, told), rooms, picture.arrows, labels)
    rows = crossings.untangled(made)
    x = [at + MARGIN for at in columns.placed(made, rows)]
    row_of = {vertex: row for row, vertices in enumerate(rows) for vertex in vertices}
    tops, bottoms = _stacked(made, rows, row_of, x)
    return _Place(made, row_of, x, tops, bottoms)


def _stacked(
    made: Net, rows: list[list[int]], row_of: Mapping[int, int], x: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The further arrows go sideways between two rows, the more room they get for it."""
    sideways = [0.0] * len(rows)
    for link in made.links:
        row = row_of[link.lower]
        sideways[row] = max(sideways[row], abs(x[link.upper] - x[link.lower]))
    tops, bottoms, y = [], [], MARGIN
    for row, vertices in enumerate(rows):
        y += min(_GAP + _SLOPE * sideways[row], _WIDEST_GAP) if row else 0.0
        tops.append(y)
        y += max((made.sizes[vertex].height for vertex in vertices), default=0.0)
        bottoms.append(y)
    return tops, bottoms


def _box(place: _Place, told: Words, node: str) -> Box:
    vertex = place.net.nodes[node]
    wide, high = boxes.box_size(told.boxes[node])
    row = place.row_of[vertex]
    middle = (place.tops[row] + place.bottoms[row]) / 2
    return Box(node, place.x[vertex] - wide / 2, middle - high / 2, wide, high, told.boxes[node])


def _routes(
    picture: Picture, told: Words, place: _Place, drawn: Mapping[str, Box]
) -> tuple[Route, ...]:
    by_vertex = {place.net.nodes[node]: box for node, box in drawn.items()}
    leaving = _ports(place, by_vertex, down=True)
    arriving = _ports(place, by_vertex, down=False)
    routes = []
    for number, chain in place.net.chains.items():
        first, last = by_vertex[chain[0]], by_vertex[chain[-1]]
        points = [(leaving[number], first.y + first.height)]
        points.append((leaving[number], place.bottoms[place.row_of[chain[0]]] + _STUB))
        for vertex in chain[1:-1]:
            row = place.row_of[vertex]
            points += [(place.x[vertex], place.tops[row]), (place.x[vertex], place.bottoms[row])]
        points.append((arriving[number], place.tops[place.row_of[chain[-1]]] - _STUB))
        points.append((arriving[number], last.y))
        back = picture.arrows[number].back
        told_at = chain[-2] if back else chain[1]
        label = _label(place, told_at, told.labels[number])
        routes.append(Route(number, tuple(points[::-1] if back else points), label))
    return tuple(routes)


def _ports(place: _Place, by_vertex: Mapping[int, Box], *, down: bool) -> dict[int, float]:
    """Where arrows touch a box: straight below or above where they come from, if that is free."""
    meeting: dict[int, list[tuple[float, int]]] = {}
    for number, chain in place.net.chains.items():
        end, near = (chain[0], chain[1]) if down else (chain[-1], chain[-2])
        meeting.setdefault(end, []).append((place.x[near], number))
    found: dict[int, float] = {}
    for vertex, ends in meeting.items():
        box = by_vertex[vertex]
        found.update(_spread(sorted(ends), box.x + _CORNER, box.x + box.width - _CORNER))
    return found


def _spread(ends: list[tuple[float, int]], low: float, high: float) -> dict[int, float]:
    gaps = len(ends) - 1
    gap = min(_PORT, (high - low) / gaps) if gaps else 0.0
    wanted = [min(max(x, low + i * gap), high - (gaps - i) * gap) for i, (x, _) in enumerate(ends)]
    places = columns.settled(wanted, [gap] * gaps, [1.0] * len(ends))
    return {number: x for (_, number), x in zip(ends, places, strict=True)}


def _label(place: _Place, vertex: int, lines: tuple[str, ...]) -> Label:
    wide, high = boxes.label_size(lines)
    row = place.row_of[vertex]
    middle = (place.tops[row] + place.bottoms[row]) / 2
    return Label(place.x[vertex] - wide / 2, middle - high / 2, wide, high, lines)


def _looped(told: Words) -> list[tuple[str, tuple[int, float]]]:
    """Arrows from a node to itself, each with how far its words stand below the first one's."""
    found = []
    for node, numbers in told.loops.items():
        down = 0.0
        for number in numbers:
            found.append((node, (number, down)))
            down += boxes.label_size(told.labels[number])[1]
    return found


def _loop(told: Words, box: Box, at: tuple[int, float]) -> Route:
    number, down = at
    wide, high = boxes.label_size(told.labels[number])
    numbers = told.loops[box.id]
    whole = sum(boxes.label_size(told.labels[each])[1] for each in numbers)
    right, top = box.x + box.width, box.y + box.height / 2 - whole / 2 + down
    # The words may need more height than the box has; the arrow must touch the box.
    middle = box.y + box.height * (numbers.index(number) + 0.5) / len(numbers)
    reach = min(8.0, box.height / len(numbers) / 2 - 1)
    out = right + boxes.LOOP_ROOM - 6
    points = ((right, middle - reach), (out, middle - reach), (out, middle + reach))
    label = Label(right + boxes.LOOP_ROOM, top, wide, high, told.labels[number])
    return Route(number, (*points, (right, middle + reach)), label)


def _bands(picture: Picture, ranks: Mapping[str, int], place: _Place) -> tuple[Band, ...]:
    return tuple(
        Band(group.title, place.tops[2 * low], place.bottoms[2 * high], depth)
        for depth, groups in enumerate((picture.loops, picture.groups))
        for group, low, high in _apart(groups, ranks)
    )


def _apart(groups: tuple[Group, ...], ranks: Mapping[str, int]) -> list[tuple[Group, int, int]]:
    """Groups that have their rows for themselves; others would only be confusing to see."""
    spans = []
    for group in groups:
        rows = [ranks[member] for member in group.members]
        if rows:
            spans.append((group, min(rows), max(rows)))
    return [
        span
        for span in spans
        if not any(o is not span and o[1] <= span[2] and span[1] <= o[2] for o in spans)
    ]
