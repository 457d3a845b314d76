"""A layered layout of our own: ranks, few crossings, columns, rows; no chance anywhere in it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from porch.show.graph import boxes, columns, crossings
from porch.show.graph.boxes import BoxLine, PictureWords
from porch.show.graph.picture import NodeGroup, ProtocolPicture
from porch.show.graph.vertices import VertexNet, build_net

MARGIN = 24.0
_GAP = 24.0
_WIDEST_GAP = 70.0
_SLOPE = 0.08
# The last stretch to a box is straight, so that the head of an arrow stands upright.
_STUB_LENGTH = 10.0
_PORT_GAP = 12.0
_CORNER_ROOM = 18.0

Point = tuple[float, float]


class NodeBox(Struct, frozen=True):
    """Where a node is drawn; x and y are its upper left corner."""

    id: str
    x: float
    y: float
    width: float
    height: float
    lines: tuple[BoxLine, ...]


class ArrowLabel(Struct, frozen=True):
    """Where the words of an arrow are written."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


class ArrowRoute(Struct, frozen=True):
    """The way of one arrow, from its source to its target; odd stretches are straight down."""

    arrow: int
    points: tuple[Point, ...]
    label: ArrowLabel


class GroupBand(Struct, frozen=True):
    """The rows from `top` to `bottom` belong to one group; `depth` 0 is a loop, 1 a group."""

    title: str
    top: float
    bottom: float
    depth: int


class Drawing(Struct, frozen=True):
    """Everything in its place."""

    width: float
    height: float
    boxes: Mapping[str, NodeBox]
    routes: tuple[ArrowRoute, ...]
    loops: tuple[ArrowRoute, ...]
    bands: tuple[GroupBand, ...]


class _VertexPlaces(Struct, frozen=True):
    """Where vertices are, and from where to where each row goes."""

    net: VertexNet
    row_of: Mapping[int, int]
    x: Sequence[float]
    tops: Sequence[float]
    bottoms: Sequence[float]


def lay_out_picture(picture: ProtocolPicture) -> Drawing:
    told = boxes.collect_words(picture)
    place = _place_vertices(picture, told)
    drawn = {node: _make_box(place, told, node) for node in place.net.nodes}
    routes = _route_arrows(picture, told, place, drawn)
    loops = tuple(_route_loop(told, drawn[node], at) for node, at in _list_loops(told))
    sizes = place.net.sizes
    right = max((x + size.right for x, size in zip(place.x, sizes, strict=True)), default=0.0)
    bottom = max(place.bottoms, default=0.0)
    bands = _make_bands(picture, _rank_nodes(picture, told), place)
    return Drawing(right + MARGIN, bottom + MARGIN, drawn, routes, loops, bands)


def _rank_nodes(picture: ProtocolPicture, told: PictureWords) -> dict[str, int]:
    """An end that nobody draws an arrow to stands below everything else."""
    reached = {picture.arrows[number].target for number in told.labels}
    ends = [n.id for n in picture.nodes if n.kind == "end" and n.id not in reached]
    ranks = {node.id: node.rank for node in picture.nodes if node.id not in ends}
    return {**ranks, **dict.fromkeys(ends, max(ranks.values(), default=0))}


def _place_vertices(picture: ProtocolPicture, told: PictureWords) -> _VertexPlaces:
    rooms = {n.id: boxes.measure_node_room(n, told, n.id == picture.initial) for n in picture.nodes}
    looped = {number for numbers in told.loops.values() for number in numbers}
    labels = {
        number: boxes.measure_label_room(lines)
        for number, lines in told.labels.items()
        if number not in looped
    }
    made = build_net(_rank_nodes(picture, told), rooms, picture.arrows, labels)
    rows = crossings.untangle_rows(made)
    x = [at + MARGIN for at in columns.place_columns(made, rows)]
    row_of = {vertex: row for row, vertices in enumerate(rows) for vertex in vertices}
    tops, bottoms = _stack_rows(made, rows, row_of, x)
    return _VertexPlaces(made, row_of, x, tops, bottoms)


def _stack_rows(
    made: VertexNet, rows: list[list[int]], row_of: Mapping[int, int], x: Sequence[float]
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


def _make_box(place: _VertexPlaces, told: PictureWords, node: str) -> NodeBox:
    vertex = place.net.nodes[node]
    wide, high = boxes.measure_box(told.boxes[node])
    row = place.row_of[vertex]
    middle = (place.tops[row] + place.bottoms[row]) / 2
    return NodeBox(
        node, place.x[vertex] - wide / 2, middle - high / 2, wide, high, told.boxes[node]
    )


def _route_arrows(
    picture: ProtocolPicture, told: PictureWords, place: _VertexPlaces, drawn: Mapping[str, NodeBox]
) -> tuple[ArrowRoute, ...]:
    by_vertex = {place.net.nodes[node]: box for node, box in drawn.items()}
    leaving = _find_ports(place, by_vertex, down=True)
    arriving = _find_ports(place, by_vertex, down=False)
    routes = []
    for number, chain in place.net.chains.items():
        first, last = by_vertex[chain[0]], by_vertex[chain[-1]]
        points = [(leaving[number], first.y + first.height)]
        points.append((leaving[number], place.bottoms[place.row_of[chain[0]]] + _STUB_LENGTH))
        for vertex in chain[1:-1]:
            row = place.row_of[vertex]
            points += [(place.x[vertex], place.tops[row]), (place.x[vertex], place.bottoms[row])]
        points.append((arriving[number], place.tops[place.row_of[chain[-1]]] - _STUB_LENGTH))
        points.append((arriving[number], last.y))
        back = picture.arrows[number].back
        told_at = chain[-2] if back else chain[1]
        label = _place_label(place, told_at, told.labels[number])
        routes.append(ArrowRoute(number, tuple(points[::-1] if back else points), label))
    return tuple(routes)


def _find_ports(
    place: _VertexPlaces, by_vertex: Mapping[int, NodeBox], *, down: bool
) -> dict[int, float]:
    """Where arrows touch a box: straight below or above where they come from, if that is free."""
    meeting: dict[int, list[tuple[float, int]]] = {}
    for number, chain in place.net.chains.items():
        end, near = (chain[0], chain[1]) if down else (chain[-1], chain[-2])
        meeting.setdefault(end, []).append((place.x[near], number))
    found: dict[int, float] = {}
    for vertex, ends in meeting.items():
        box = by_vertex[vertex]
        found.update(
            _spread_ports(sorted(ends), box.x + _CORNER_ROOM, box.x + box.width - _CORNER_ROOM)
        )
    return found


def _spread_ports(ends: list[tuple[float, int]], low: float, high: float) -> dict[int, float]:
    gaps = len(ends) - 1
    gap = min(_PORT_GAP, (high - low) / gaps) if gaps else 0.0
    wanted = [min(max(x, low + i * gap), high - (gaps - i) * gap) for i, (x, _) in enumerate(ends)]
    places = columns.settle_places(wanted, [gap] * gaps, [1.0] * len(ends))
    return {number: x for (_, number), x in zip(ends, places, strict=True)}


def _place_label(place: _VertexPlaces, vertex: int, lines: tuple[str, ...]) -> ArrowLabel:
    wide, high = boxes.measure_label(lines)
    row = place.row_of[vertex]
    middle = (place.tops[row] + place.bottoms[row]) / 2
    return ArrowLabel(place.x[vertex] - wide / 2, middle - high / 2, wide, high, lines)


def _list_loops(told: PictureWords) -> list[tuple[str, tuple[int, float]]]:
    """Arrows from a node to itself, each with how far its words stand below the first one's."""
    found = []
    for node, numbers in told.loops.items():
        down = 0.0
        for number in numbers:
            found.append((node, (number, down)))
            down += boxes.measure_label(told.labels[number])[1]
    return found


def _route_loop(told: PictureWords, box: NodeBox, at: tuple[int, float]) -> ArrowRoute:
    number, down = at
    wide, high = boxes.measure_label(told.labels[number])
    numbers = told.loops[box.id]
    whole = sum(boxes.measure_label(told.labels[each])[1] for each in numbers)
    right, top = box.x + box.width, box.y + box.height / 2 - whole / 2 + down
    # The words may need more height than the box has; the arrow must touch the box.
    middle = box.y + box.height * (numbers.index(number) + 0.5) / len(numbers)
    reach = min(8.0, box.height / len(numbers) / 2 - 1)
    out = right + boxes.LOOP_ROOM - 6
    points = ((right, middle - reach), (out, middle - reach), (out, middle + reach))
    label = ArrowLabel(right + boxes.LOOP_ROOM, top, wide, high, told.labels[number])
    return ArrowRoute(number, (*points, (right, middle + reach)), label)


def _make_bands(
    picture: ProtocolPicture, ranks: Mapping[str, int], place: _VertexPlaces
) -> tuple[GroupBand, ...]:
    return tuple(
        GroupBand(group.title, place.tops[2 * low], place.bottoms[2 * high], depth)
        for depth, groups in enumerate((picture.loops, picture.groups))
        for group, low, high in _separate_groups(groups, ranks)
    )


def _separate_groups(
    groups: tuple[NodeGroup, ...], ranks: Mapping[str, int]
) -> list[tuple[NodeGroup, int, int]]:
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
