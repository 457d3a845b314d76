"""Ends a turn that uses more tools than it may: not every agent can be held to that otherwise."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from porch.adapters.agents import events
from porch.adapters.agents.base import Outcome


class Steps:
    """Counts the tools of one turn and stops it, once."""

    def __init__(self, most: int, stop: Callable[[], Coroutine[Any, Any, None]]):
        self._most = most
        self._stop = stop
        self._taken = 0
        self._stopping: asyncio.Task[None] | None = None

    def count(self, event: events.Event) -> None:
        self._taken += isinstance(event, events.ToolStarted)
        if self._most and self._taken > self._most and self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop())

    def judged(self, outcome: Outcome) -> Outcome:
        if self._stopping is None or outcome.kind == "ok":
            return outcome
        return replace(outcome, kind="max_turns", detail=f"it used more than {self._most} tools")
