"""An inbox over a repository of a test, and somebody who presses its keys."""

import fcntl
import os
import signal
import struct
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from textual.pilot import Pilot

from porch.cli.inbox.app import InboxApp
from porch.cli.inbox.start import make_app
from porch.fleet.fleet_rows import name_projects
from porch.store import where as places
from tests.cli.conftest import Desk, Terminal

GATED: tuple[dict[str, Any], ...] = (
    {"id": "one", "name": "Specify", "artifact": "spec.md", "gate": {"name": "go", "next": "two"}},
    {"id": "two", "name": "Implement"},
)
LAST: dict[str, Any] = {"id": "one", "artifact": "spec.md", "gate": {"name": "go", "next": None}}
SPEC = "codev/projects/0001-x/spec.md"


def read_screen(app: InboxApp) -> str:
    """What a person sees."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


class Person:
    """Somebody in front of the inbox."""

    def __init__(self, app: InboxApp, pilot: Pilot[None]) -> None:
        self.app = app
        self._pilot = pilot

    @property
    def screen(self) -> str:
        return read_screen(self.app)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self._pilot.press(*("space" if char == " " else char for char in text))

    async def until(self, text: str) -> str:
        """What is seen once this is seen."""
        for _ in range(1_500):
            if text in self.screen:
                return self.screen
            await self._pilot.pause(0.02)
        raise AssertionError(f"never saw {text!r} in:\n{self.screen}")

    async def settle(self) -> None:
        """Until nothing is drawn any more: the same is seen twice."""
        seen = ""
        while seen != self.screen:
            seen = self.screen
            await self.app.workers.wait_for_complete()
            await self._pilot.pause()

    async def resize(self, width: int, height: int) -> None:
        await self._pilot.resize_terminal(width, height)


Sit = Callable[..., Any]


@pytest.fixture
def sit(desk: Desk) -> Sit:
    """Opens an inbox of the project: `async with sit() as person`."""

    @asynccontextmanager
    async def open_inbox(width: int = 80, height: int = 24) -> AsyncIterator[Person]:
        where = places.find_project(str(desk.root))
        app = make_app("porch", name_projects(where, os.environ), lambda: datetime.now(UTC))
        async with app.run_test(size=(width, height)) as pilot:
            yield Person(app, pilot)

    return open_inbox


@pytest.fixture
def resize() -> Callable[[Terminal, int, int], None]:
    """Makes the window of a terminal another size, as a person does who pulls at its corner."""

    def pull(terminal: Terminal, rows: int, columns: int) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(terminal._slave, termios.TIOCSWINSZ, size)
        os.kill(terminal.process.pid, signal.SIGWINCH)

    return pull
