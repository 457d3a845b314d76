"""A dashboard over a repository of a test, and a browser that came with its link."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from porch.store import where as places
from porch.web.server.app import make_app
from porch.web.server.dashboard import Dashboard
from porch.web.server.sessions import Sessions
from tests.cli.conftest import Desk, desk, home

__all__ = ["desk", "home"]

PORT = 4747
ORIGIN = f"http://127.0.0.1:{PORT}"
GATED: tuple[dict[str, Any], ...] = (
    {"id": "one", "artifacts": ["spec.md"], "gate": {"name": "go", "next": "two"}},
    {"id": "two"},
)
Open = Callable[[], TestClient]


class Moment:
    """A clock that a test turns on by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def dashboard(desk: Desk, moment: Moment) -> Dashboard:
    where = places.find_project(str(desk.root))
    return Dashboard({"project": where}, PORT, Sessions(moment))


@pytest.fixture
def stranger(dashboard: Dashboard) -> Iterator[TestClient]:
    """A browser without a link."""
    with TestClient(make_app(dashboard), base_url=ORIGIN, follow_redirects=False) as client:
        yield client


@pytest.fixture
def browser(stranger: TestClient, dashboard: Dashboard) -> TestClient:
    """The same after it has used one; it says where its forms come from, as browsers do."""
    came = stranger.get(f"/?token={dashboard.sessions.token}")
    assert (came.status_code, came.headers["location"]) == (303, "/")
    stranger.headers["origin"] = ORIGIN
    stranger.headers["sec-fetch-site"] = "same-origin"
    return stranger
