"""One undisturbed run to compare all the others with."""

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from porch import agents


@pytest.fixture(autouse=True, scope="module")
def agents_of_these_tests_are_taken_back() -> Iterator[None]:
    """Trees are driven in this process, with agents that have a row of their own."""
    rows = agents.AGENTS._rows
    before = dict(rows)
    yield
    rows.clear()
    rows.update(before)


def _grove() -> ModuleType:
    path = Path(__file__).with_name("grove.py")
    spec = importlib.util.spec_from_file_location("porch_tests_grove", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GROVE = _grove()


@pytest.fixture
def planted(tmp_path: Path) -> Any:
    return GROVE.planted(tmp_path / "repo")


@pytest.fixture
def plant() -> Callable[[Path], Any]:
    plant_: Callable[[Path], Any] = GROVE.planted
    return plant_


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Counter[str]]:
    """The result of a run that nobody killed, and how often it passed each point."""
    place = tmp_path_factory.mktemp("undisturbed")
    grove = GROVE.planted(place / "repo")
    log = place / "points"
    done = grove.run(PORCH_CRASH_LOG=str(log))
    assert done.returncode == 0, done.stdout + done.stderr
    return grove.result(), Counter(log.read_text().split())
