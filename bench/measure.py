"""Two things timed in turn, so that a busy machine slows both; only their ratio is kept."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One bound: what was measured, what it was measured against, and what is allowed.

    Without a limit it is only told.
    """

    name: str
    value: float
    limit: float | None
    unit: str
    measured: str
    reference: str
    rounds: int

    @property
    def holds(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def seconds(call: Callable[[], object]) -> float:
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def pairs(
    first: Callable[[], object], second: Callable[[], object], rounds: int
) -> list[tuple[float, float]]:
    """Times of both, in turn; which goes first changes, so that neither always finds it warm."""
    found: list[tuple[float, float]] = []
    gc.collect()
    for number in range(rounds):
        if number % 2:
            later = seconds(second)
            found.append((seconds(first), later))
        else:
            found.append((seconds(first), seconds(second)))
    return found


def ratio(
    name: str,
    limit: float | None,
    first: Callable[[], object],
    second: Callable[[], object],
    rounds: int,
) -> Result:
    """The median of the first over the median of the second."""
    times = pairs(first, second, rounds)
    return of_times(name, limit, times)


def of_times(name: str, limit: float | None, times: list[tuple[float, float]]) -> Result:
    mine = statistics.median(one for one, _ in times)
    reference = statistics.median(other for _, other in times)
    value = round(mine / reference, 2)
    return Result(name, value, limit, "times", _ms(mine), _ms(reference), len(times))


def _ms(duration_s: float) -> str:
    return f"{duration_s * 1000:.3f} ms"
