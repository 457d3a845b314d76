"""The order within each row: sweeps towards the middle of the neighbours; the best is kept."""

from bisect import bisect_right, insort
from itertools import pairwise

from porch.views.graph.net import Net

_SWEEPS = 12
# Above this many vertices a picture is a wall whatever is done; then it should at least be quick.
_MANY = 4000

Rows = list[list[int]]
Beside = list[list[int]]


def untangled(net: Net) -> Rows:
    """Rows in which few arrows cross; the same net always gives the same rows."""
    above, below = _beside(net)
    rows = [list(row) for row in net.rows]
    best, fewest = rows, _count(rows, below)
    for sweep in range(_SWEEPS if len(net.sizes) < _MANY else 2):
        down = sweep % 2 == 0
        rows = _swept(rows, above if down else below, down)
        _swapped(rows, above, below)
        count = _count(rows, below)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    return best


def _beside(net: Net) -> tuple[Beside, Beside]:
    above: Beside = [[] for _ in net.sizes]
    below: Beside = [[] for _ in net.sizes]
    for link in net.links:
        above[link.lower].append(link.upper)
        below[link.upper].append(link.lower)
    return above, below


def _swept(rows: Rows, beside: Beside, down: bool) -> Rows:
    done: Rows = []
    for row in rows if down else rows[::-1]:
        before = {vertex: place for place, vertex in enumerate(done[-1])} if done else {}
        done.append(_sorted(row, beside, before))
    return done if down else done[::-1]


def _sorted(row: list[int], beside: Beside, before: dict[int, int]) -> list[int]:
    def middle(entry: tuple[int, int]) -> float:
        place, vertex = entry
        near = [before[other] for other in beside[vertex] if other in before]
        return sum(near) / len(near) if near else place

    return [vertex for _, vertex in sorted(enumerate(row), key=middle)]


def _swapped(rows: Rows, above: Beside, below: Beside) -> None:
    """Neighbours change places where that alone removes crossings."""
    place = {vertex: number for row in rows for number, vertex in enumerate(row)}
    for row in rows:
        for i in range(len(row) - 1):
            left, right = row[i], row[i + 1]
            gain = sum(
                _crossed(beside[left], beside[right], place)
                - _crossed(beside[right], beside[left], place)
                for beside in (above, below)
            )
            if gain > 0:
                row[i], row[i + 1] = right, left
                place[left], place[right] = i + 1, i


def _crossed(left: list[int], right: list[int], place: dict[int, int]) -> int:
    return sum(place[a] > place[b] for a in left for b in right)


def _count(rows: Rows, below: Beside) -> int:
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
