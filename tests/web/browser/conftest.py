"""The browser, windows of it, and a dashboard on a port for the repository of a test."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from porch.store import where as places
from porch.store.where import ProjectPaths
from porch.web.server.dashboard import Dashboard
from tests.cli.conftest import Desk
from tests.repositories import at_home
from tests.web.browser.chromium import Chromium
from tests.web.browser.scene import build_scene
from tests.web.browser.window import Window
from tests.web.conftest import serving
from tools import browser as installed

# Found before any test has a home of its own.
AXE = installed.find_axe()
OpenWindow = Callable[..., Window]


def require_browser() -> None:
    """Without it a test is skipped, or fails where chromium is required."""
    missing = installed.list_missing(AXE)
    if not missing:
        return
    reason = f"{'; '.join(missing)}. Run `make browser`."
    if "chromium" in os.environ.get("PORCH_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    require_browser()
    made = Chromium()
    yield made
    made.close()
    assert made.trap.asked == [], "the browser asked somebody outside"


@pytest.fixture(scope="session")
def axe(chromium: Chromium) -> str:
    """The script that judges a page."""
    assert AXE is not None
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def open_window(chromium: Chromium) -> Iterator[OpenWindow]:
    """Opens windows; at the end none of them may have an error, or have asked anybody outside."""
    opened: list[Window] = []

    def make(**options: Any) -> Window:
        opened.append(Window(chromium, **options))
        return opened[-1]

    yield make
    for window in opened:
        window.close()
    assert [each for window in opened for each in window.errors] == []
    assert [each for window in opened for each in window.outside] == []


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> ProjectPaths:
    """The project that all pages are shown with; nobody changes it."""
    place = tmp_path_factory.mktemp("scene")
    with pytest.MonkeyPatch.context() as patch:
        at_home(place / "home", patch)
        return build_scene(place)


@pytest.fixture(scope="session")
def shown(scene: ProjectPaths) -> Iterator[Dashboard]:
    with serving({"kitchen": scene}) as dashboard:
        yield dashboard


@pytest.fixture
def served(desk: Desk) -> Iterator[Dashboard]:
    with serving({"project": places.find_project(str(desk.root))}) as dashboard:
        yield dashboard
