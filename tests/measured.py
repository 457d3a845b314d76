"""Coverage of property tests: the first examples are measured, everything else only runs.

Measuring looks at each line that runs, those of hypothesis too, and doubles what a test costs. What
an example reaches that none of the first ones did is rare; a floor that is missed names the line.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FIRST = 5


@contextmanager
def unmeasured() -> Iterator[None]:
    """Nobody looks on meanwhile."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


@contextmanager
def measure_first_examples(item: pytest.Item) -> Iterator[None]:
    """While this test runs, if it is one of hypothesis and somebody measures."""
    test = getattr(item, "obj", None)
    tracer = sys.gettrace()
    if tracer is None or not getattr(test, "is_hypothesis_test", False):
        yield
        return
    known = getattr(test, "hypothesis", None)
    inner = known.inner_test if known else None
    if known is not None:
        known.inner_test = _measure_first(known.inner_test, tracer)
    try:
        with unmeasured():
            yield
    finally:
        if known is not None:
            known.inner_test = inner


def _measure_first(inner: Callable[..., Any], tracer: Any) -> Callable[..., Any]:
    seen = 0

    @functools.wraps(inner)
    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal seen
        seen += 1
        sys.settrace(tracer if seen <= FIRST else None)
        try:
            return inner(*args, **kwargs)
        finally:
            sys.settrace(None)

    return run
