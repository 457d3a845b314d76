"""A dashboard over a repository of a test, and a browser that came with its link."""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.testclient import TestClient

from porch.store import where as places
from porch.web.server.access.sessions import Sessions
from porch.web.server.dashboard import Dashboard
from porch.web.server.serve import QuietServer, make_app, open_port
from tests.cli.af.conftest import farm
from tests.cli.conftest import Desk, desk, home

__all__ = ["desk", "farm", "home"]

PORT = 4747
ORIGIN = f"http://127.0.0.1:{PORT}"
GATED: tuple[dict[str, Any], ...] = (
    {"id": "one", "artifacts": ["spec.md"], "gate": {"name": "go", "next": "two"}},
    {"id": "two"},
)
Open = Callable[[], TestClient]


@contextmanager
def serving(projects: Mapping[str, places.ProjectPaths]) -> Iterator[Dashboard]:
    """A server on a port of this machine, in a thread of the test."""
    listening = open_port("127.0.0.1", 0)
    dashboard = Dashboard(projects, int(listening.getsockname()[1]))
    with answering(dashboard, listening):
        yield dashboard


@contextmanager
def answering(dashboard: Dashboard, listening: socket.socket) -> Iterator[None]:
    """A server for this dashboard until the block ends, also if it had one before."""
    began = threading.Event()
    server = QuietServer(dashboard, began.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        assert began.wait(60)
        yield
    finally:
        server.should_exit = True
        thread.join(60)
        listening.close()
    assert not thread.is_alive(), "streams that are open do not keep it"


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
