"""The town in which agents follow protocols."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole.envoy.town import Town


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    made = Town(tmp_path)
    yield made
    made.close()
