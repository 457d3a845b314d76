"""Large numbers: `make torture` tries everything, `make test` a part that is always the same."""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")
FULL = os.environ.get("PORCH_TORTURE") == "full"
# Several seconds of CPU for a way that others go, too.
only_in_full = pytest.mark.skipif(not FULL, reason="takes long; `make torture` runs it")


def choose_some(cases: Sequence[T], one_in: int) -> Sequence[T]:
    """All in full; else each n-th."""
    return cases if FULL else cases[::one_in]
