"""A repository with a feature branch, for everything that happens to its plan."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from porch.store import where as places
from tests.plan.courts import Court, repository
from tests.repositories import at_home


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on `feat/x`, from a `main` with one commit; we stand in it."""
    at_home(tmp_path / "home", monkeypatch)
    root = repository(tmp_path / "shop")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def where(shop: Path) -> places.ProjectPaths:
    return places.find_project(str(shop))


@pytest.fixture
def court(shop: Path) -> Iterator[Court]:
    """Its plan has a prompt that was carried out, and a reviewer `ann`."""
    made = Court(shop)
    made.begin()
    yield made
    made.clear()
