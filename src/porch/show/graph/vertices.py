"""Nodes, labels and bends as vertices in rows: what a layered layout puts in order and in place.

Rows of nodes and rows of labels alternate, and an arrow that passes a row has a vertex there.
So nothing can lie on top of anything else, however the rows are filled.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field

from porch.show.graph.picture import Arrow

# Arrows are kept straight the more, the longer they are and the more the eye should follow them.
_STRAIGHT_WEIGHT = 4.0
_MAIN_WEIGHT = 12.0
BEND_ROOM = 5.0


class RoomSize(Struct, frozen=True):
    """The room that something needs to the left and right of its middle, and its height."""

    left: float
    right: float
    height: float


class VertexLink(Struct, frozen=True):
    """Two vertices of neighbouring rows that an arrow joins."""

    upper: int
    lower: int
    weight: float


class VertexNet(Struct):
    """Being built: the vertices by number, the rows that hold them, the chain of each arrow."""

    sizes: list[RoomSize] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    links: list[VertexLink] = field(default_factory=list)
    nodes: dict[str, int] = field(default_factory=dict)
    chains: dict[int, list[int]] = field(default_factory=dict)  # from the upper end to the lower

    def add(self, row: int, size: RoomSize) -> int:
        self.sizes.append(size)
        self.rows[row].append(len(self.sizes) - 1)
        return len(self.sizes) - 1

    def is_bend(self, vertex: int) -> bool:
        return vertex >= len(self.nodes)


def build_net(
    rank: Mapping[str, int],
    nodes: Mapping[str, RoomSize],
    arrows: Sequence[Arrow],
    labels: Mapping[int, RoomSize],
) -> VertexNet:
    """`labels` has the arrows to draw by their numbers, each with the room for its words."""
    made = VertexNet(rows=[[] for _ in range(2 * max(rank.values(), default=0) + 1)])
    for name, size in nodes.items():
        made.nodes[name] = made.add(2 * rank[name], size)
    for number, size in labels.items():
        _add_chain(made, rank, number, arrows[number], size)
    return made


def _add_chain(
    made: VertexNet, rank: Mapping[str, int], number: int, arrow: Arrow, label: RoomSize
) -> None:
    upper, lower = _arrow_ends(arrow)
    rows = range(2 * rank[upper] + 1, 2 * rank[lower])
    # The words stand beside the state whose exit they are.
    told = rows[-1] if arrow.back else rows[0]
    bend = RoomSize(BEND_ROOM, BEND_ROOM, 0)
    bends = [made.add(row, label if row == told else bend) for row in rows]
    chain = [made.nodes[upper], *bends, made.nodes[lower]]
    made.chains[number] = chain
    factor = _MAIN_WEIGHT if arrow.main else 1.0
    for above, below in pairwise(chain):
        inner = made.is_bend(above) and made.is_bend(below)
        made.links.append(VertexLink(above, below, factor * (_STRAIGHT_WEIGHT if inner else 1.0)))


def _arrow_ends(arrow: Arrow) -> tuple[str, str]:
    return (arrow.target, arrow.source) if arrow.back else (arrow.source, arrow.target)
