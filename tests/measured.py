"""What is measured for coverage: enough of the tests, and nothing of what runs them.

Measuring looks at each line that runs, those of pytest and hypothesis too, and doubles what a test
costs. So it is on only while a test and its fixtures run, and not in tests that go over the same
lines once more: whole runs, long tests, further cases of a table, further examples of a property,
and the tests of a list that `make redundant` makes. Measuring less can only make a floor harder to
reach; one that is missed names the line.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Rooms of which every line and branch must be reached: there, more of the tests count.
_FIRST, _FIRST_OF_WHOLE = 5, 50
_CASES = 3
_COVERED_WHOLE = ("text", "model", "dialects", "machine", "claims")
_NEVER = ("whole", "house", "standin")
# Tests of how long something takes, and of very many runs of the same.
_LONG = (
    "spite",
    "megabyte",
    "linear_time",
    "in_time",
    "no_time",
    "thousand",
    "tree_properties",
    "very_long",
)
# Command lines of agents work in threads, and reach nothing that cheaper tests do not.
_REAL = ("_real.py",)
# A new test is in no list, and so it is measured.
_LIST = Path(__file__).with_name("not_measured.txt")
_REDUNDANT = frozenset(
    () if os.environ.get("PORCH_MEASURE") == "all" else _LIST.read_text().splitlines()
)
_tracers: list[Any] = []
_of_threads: list[Any] = []


def stop_measuring() -> None:
    """From now on only tests are measured."""
    _tracers[:], _of_threads[:] = [sys.gettrace()], [threading.gettrace()]
    set_tracer(None)


def go_on_measuring() -> None:
    """At the end, as whoever began it expects."""
    set_tracer(_tracers[0] if _tracers else None)


def set_tracer(tracer: Any) -> None:
    """Here, and in threads that begin from now on.

    A thread that sets its tracer while another one does so dies before it has begun. So where
    nothing is measured, none of them sets any.
    """
    threading.settrace(_of_threads[0] if tracer is not None and _of_threads else None)
    sys.settrace(tracer)


def find_tracer(item: pytest.Item) -> Any:
    """What looks on while this test runs; nothing if nobody measures, or not this one."""
    tracer = _tracers[0] if _tracers else None
    return tracer if tracer is not None and _is_measured(item) else None


def _find_room(item: pytest.Item) -> str:
    return item.path.relative_to(item.config.rootpath / "tests").parts[0]


def _is_measured(item: pytest.Item) -> bool:
    room = _find_room(item)
    if room in _NEVER or any(word in item.nodeid for word in (*_LONG, *_REAL)):
        return False
    if item.nodeid.partition("[")[0].partition("@")[0] in _REDUNDANT:
        return False
    case = getattr(item, "callspec", None)
    is_first = case is None or max(case.indices.values()) < _CASES
    return is_first or room in _COVERED_WHOLE


def measure_first_examples(item: pytest.Item, tracer: Any) -> Any:
    """For a test of hypothesis: what looks on outside of its examples, which is nobody."""
    test = getattr(item, "obj", None)
    if tracer is None or not getattr(test, "is_hypothesis_test", False):
        return tracer
    known = getattr(test, "hypothesis", None)
    if known is not None and not hasattr(known.inner_test, "measures_first"):
        most = _FIRST_OF_WHOLE if _find_room(item) in _COVERED_WHOLE else _FIRST
        known.inner_test = _measure_first(known.inner_test, tracer, most)
    return None


def _measure_first(inner: Callable[..., Any], tracer: Any, most: int) -> Callable[..., Any]:
    seen = 0

    @functools.wraps(inner)
    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal seen
        seen += 1
        sys.settrace(tracer if seen <= most else None)
        try:
            return inner(*args, **kwargs)
        finally:
            sys.settrace(None)

    setattr(run, "measures_first", True)  # noqa: B010 - functions have no such name
    return run
