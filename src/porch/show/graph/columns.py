"""Where each vertex stands from left to right: close to its neighbours, never too close."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from porch.show.graph.crossings import VertexRows
from porch.show.graph.vertices import VertexNet

_SWEEPS = 24
_MANY_VERTICES = 4000
_LEAST_GAP = 18.0

WeightedNeighbours = list[list[tuple[int, float]]]


def settle_places(
    wanted: Sequence[float], gaps: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """The places nearest to the wanted ones (least squares) that keep order and distances.

    Pool adjacent violators: what comes too close moves on as one block, at its common mean.
    `gaps[i]` lies between i and i + 1.
    """
    offsets = list(accumulate(gaps, initial=0.0))[: len(wanted)]
    blocks: list[tuple[float, float, int]] = []
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        mean, heavy, many = want - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, mass, count = blocks.pop()
            mean = (mean * heavy + other * mass) / (heavy + mass)
            heavy, many = heavy + mass, many + count
        blocks.append((mean, heavy, many))
    shifts = [mean for mean, _, many in blocks for _ in range(many)]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]


def place_columns(net: VertexNet, rows: VertexRows) -> list[float]:
    """The middle of every vertex."""
    at = [0.0] * len(net.sizes)
    for row in rows:
        for vertex, x in zip(row, _pack_row(net, row), strict=True):
            at[vertex] = x
    above, below = _weighted_neighbours(net)
    many = len(net.sizes) >= _MANY_VERTICES
    for sweep in range(6 if many else _SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            _move_row(net, row, at, above if down else below)
    around = [[*up, *down] for up, down in zip(above, below, strict=True)]
    for row in rows:
        _move_row(net, row, at, around)
    _straighten_chains(net, rows, at)
    left = min((x - size.left for x, size in zip(at, net.sizes, strict=True)), default=0.0)
    return [x - left for x in at]


def _pack_row(net: VertexNet, row: list[int]) -> list[float]:
    return settle_places([0.0] * len(row), _row_gaps(net, row), [1.0] * len(row))


def _row_gaps(net: VertexNet, row: Sequence[int]) -> list[float]:
    return [
        net.sizes[left].right + _LEAST_GAP + net.sizes[right].left for left, right in pairwise(row)
    ]


def _weighted_neighbours(net: VertexNet) -> tuple[WeightedNeighbours, WeightedNeighbours]:
    above: WeightedNeighbours = [[] for _ in net.sizes]
    below: WeightedNeighbours = [[] for _ in net.sizes]
    for link in net.links:
        above[link.lower].append((link.upper, link.weight))
        below[link.upper].append((link.lower, link.weight))
    return above, below


def _move_row(net: VertexNet, row: list[int], at: list[float], near: WeightedNeighbours) -> None:
    masses = [sum(weight for _, weight in near[vertex]) for vertex in row]
    pulls = [sum(at[other] * weight for other, weight in near[vertex]) for vertex in row]
    weights = [mass or 0.01 for mass in masses]
    pulled = [pull / mass for pull, mass in zip(pulls, masses, strict=True) if mass]
    # What nothing pulls keeps close to the others, or the picture grows sideways.
    last = pulled[0] if pulled else sum(at) / len(at)
    wanted = []
    for pull, mass in zip(pulls, masses, strict=True):
        last = pull / mass if mass else last
        wanted.append(last)
    for vertex, x in zip(row, settle_places(wanted, _row_gaps(net, row), weights), strict=True):
        at[vertex] = x


def _straighten_chains(net: VertexNet, rows: VertexRows, at: list[float]) -> None:
    """The bends of a long arrow share one place as far as their neighbours leave one free."""
    beside = {
        vertex: (row[i - 1] if i else None, row[i + 1] if i + 1 < len(row) else None)
        for row in rows
        for i, vertex in enumerate(row)
    }
    for chain in net.chains.values():
        run: list[int] = []
        low, high = float("-inf"), float("inf")
        for vertex in chain[1:-1]:
            left, right = _free_span(net, at, vertex, *beside[vertex])
            if run and max(low, left) > min(high, right):
                _align_bends(at, run, low, high)
                run, low, high = [], float("-inf"), float("inf")
            run, low, high = [*run, vertex], max(low, left), min(high, right)
        _align_bends(at, run, low, high)


def _free_span(
    net: VertexNet, at: list[float], vertex: int, left: int | None, right: int | None
) -> tuple[float, float]:
    size = net.sizes[vertex]
    low, high = float("-inf"), float("inf")
    if left is not None:
        low = at[left] + net.sizes[left].right + _LEAST_GAP + size.left
    if right is not None:
        high = at[right] - net.sizes[right].left - _LEAST_GAP - size.right
    # Rounding may leave a hair less than nothing.
    return min(low, at[vertex]), max(high, at[vertex])


def _align_bends(at: list[float], run: list[int], low: float, high: float) -> None:
    if run:
        mean = sum(at[vertex] for vertex in run) / len(run)
        for vertex in run:
            at[vertex] = min(max(mean, low), high)
