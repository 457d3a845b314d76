"""The order within each row: sweeps towards the middle of the neighbours; the best is kept."""

from bisect import bisect_right, insort
from itertools import pairwise

from porch.show.graph.vertices import VertexNet

_SWEEPS = 12
# Above this many vertices a picture is a wall whatever is done; then it should at least be quick.
_MANY_VERTICES = 4000

VertexRows = list[list[int]]
Neighbours = list[list[int]]


def untangle_rows(net: VertexNet) -> VertexRows:
    """Rows in which few arrows cross; the same net always gives the same rows."""
    above, below = _row_neighbours(net)
    rows = [list(row) for row in net.rows]
    best, fewest = rows, _count_crossings(rows, below)
    for sweep in range(_SWEEPS if len(net.sizes) < _MANY_VERTICES else 2):
        down = sweep % 2 == 0
        rows = _sweep_rows(rows, above if down else below, down)
        _swap_neighbours(rows, above, below)
        count = _count_crossings(rows, below)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    return best


def _row_neighbours(net: VertexNet) -> tuple[Neighbours, Neighbours]:
    above: Neighbours = [[] for _ in net.sizes]
    below: Neighbours = [[] for _ in net.sizes]
    for link in net.links:
        above[link.lower].append(link.upper)
        below[link.upper].append(link.lower)
    return above, below


def _sweep_rows(rows: VertexRows, beside: Neighbours, down: bool) -> VertexRows:
    done: VertexRows = []
    for row in rows if down else rows[::-1]:
        before = {vertex: place for place, vertex in enumerate(done[-1])} if done else {}
        done.append(_sort_row(row, beside, before))
    return done if down else done[::-1]


def _sort_row(row: list[int], beside: Neighbours, before: dict[int, int]) -> list[int]:
    def middle(entry: tuple[int, int]) -> float:
        place, vertex = entry
        near = [before[other] for other in beside[vertex] if other in before]
        return sum(near) / len(near) if near else place

    return [vertex for _, vertex in sorted(enumerate(row), key=middle)]


def _swap_neighbours(rows: VertexRows, above: Neighbours, below: Neighbours) -> None:
    """Neighbours change places where that alone removes crossings."""
    place = {vertex: number for row in rows for number, vertex in enumerate(row)}
    for row in rows:
        for i in range(len(row) - 1):
            left, right = row[i], row[i + 1]
            gain = sum(
                _count_pair_crossings(beside[left], beside[right], place)
                - _count_pair_crossings(beside[right], beside[left], place)
                for beside in (above, below)
            )
            if gain > 0:
                row[i], row[i + 1] = right, left
                place[left], place[right] = i + 1, i


def _count_pair_crossings(left: list[int], right: list[int], place: dict[int, int]) -> int:
    return sum(place[a] > place[b] for a in left for b in right)


def _count_crossings(rows: VertexRows, below: Neighbours) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        place = {vertex: number for number, vertex in enumerate(lower)}
        seen: list[int] = []
        for vertex in upper:
            ends = sorted(place[other] for other in below[vertex])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
