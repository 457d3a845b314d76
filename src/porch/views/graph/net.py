"""Nodes, labels and bends as vertices in rows: what a layered layout puts in order and in place.

Rows of nodes and rows of labels alternate, and an arrow that passes a row has a vertex there.
So nothing can lie on top of anything else, however the rows are filled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from porch.views.graph.edges import Arrow

# Arrows are kept straight the more, the longer they are and the more the eye should follow them.
_STRAIGHT = 4.0
_MAIN = 12.0
BEND = 5.0


@dataclass(frozen=True, slots=True)
class Size:
    """The room that something needs to the left and right of its middle, and its height."""

    left: float
    right: float
    height: float


@dataclass(frozen=True, slots=True)
class Link:
    """Two vertices of neighbouring rows that an arrow joins."""

    upper: int
    lower: int
    weight: float


@dataclass(slots=True)
class Net:
    """Being built: the vertices by number, the rows that hold them, the chain of each arrow."""

    sizes: list[Size] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    nodes: dict[str, int] = field(default_factory=dict)
    chains: dict[int, list[int]] = field(default_factory=dict)  # from the upper end to the lower

    def add(self, row: int, size: Size) -> int:
        self.sizes.append(size)
        self.rows[row].append(len(self.sizes) - 1)
        return len(self.sizes) - 1

    def is_bend(self, vertex: int) -> bool:
        return vertex >= len(self.nodes)


def net(
    rank: Mapping[str, int],
    nodes: Mapping[str, Size],
    arrows: Sequence[Arrow],
    labels: Mapping[int, Size],
) -> Net:
    """`labels` has the arrows to draw by their numbers, each with the room for its words."""
    made = Net(rows=[[] for _ in range(2 * max(rank.values(), default=0) + 1)])
    for name, size in nodes.items():
        made.nodes[name] = made.add(2 * rank[name], size)
    for number, size in labels.items():
        _chain(made, rank, number, arrows[number], size)
    return made


def _chain(made: Net, rank: Mapping[str, int], number: int, arrow: Arrow, label: Size) -> None:
    upper, lower = _ends(arrow)
    rows = range(2 * rank[upper] + 1, 2 * rank[lower])
    # The words stand beside the state whose exit they are.
    told = rows[-1] if arrow.back else rows[0]
    bend = Size(BEND, BEND, 0)
    bends = [made.add(row, label if row == told else bend) for row in rows]
    chain = [made.nodes[upper], *bends, made.nodes[lower]]
    made.chains[number] = chain
    factor = _MAIN if arrow.main else 1.0
    for above, below in pairwise(chain):
        inner = made.is_bend(above) and made.is_bend(below)
        made.links.append(Link(above, below, factor * (_STRAIGHT if inner else 1.0)))


def _ends(arrow: Arrow) -> tuple[str, str]:
    return (arrow.target, arrow.source) if arrow.back else (arrow.source, arrow.target)
