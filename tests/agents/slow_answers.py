"""Answers of a provider that take longer than the limit of silence, and are answers all the same.

The usual tests take a twentieth of the time that was seen with real providers; `make torture` takes
all of it.
"""

from collections.abc import Callable

import pytest

from tests.standin.steps import Step, say
from tests.torture import only_in_full

SlowAnswer = Callable[[str], Step]
_PIECES = 12


def _late(seconds: float) -> SlowAnswer:
    return lambda text: say(text).late(seconds)


def _slow(seconds: float) -> SlowAnswer:
    """Its tokens come one by one over so many seconds."""
    return lambda text: say(text).slowly(seconds / _PIECES, -(-len(text) // _PIECES))


_IN_FULL = (pytest.mark.torture, only_in_full, pytest.mark.timeout(300))
slow_answers = pytest.mark.parametrize(
    "slow, idle_s",
    [
        pytest.param(_late(3.75), 3, id="late"),
        pytest.param(_slow(4.5), 3, id="slow"),
        pytest.param(_late(75), 60, id="late-in-full", marks=_IN_FULL),
        pytest.param(_slow(90), 60, id="slow-in-full", marks=_IN_FULL),
    ],
)
