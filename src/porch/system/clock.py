"""The only place where time is read: wall clock for people, monotonic for processes."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from msgspec import Struct

# A sleeping laptop does not spend monotonic time, so instants for people are looked at again.
LOOK_AGAIN_S = 30.0


class Clock(Struct, frozen=True):
    """Wall time as text, and sleeping; a test may give its own."""

    wall: Callable[[], float] = time.time

    def now(self) -> str:
        return format_instant(self.wall())

    async def sleep(self, seconds: float) -> None:
        # Here, because most commands only ask what time it is.
        import asyncio

        await asyncio.sleep(max(0.0, seconds))

    async def until(self, since: str, seconds: float) -> None:
        """Sleep until a wall-clock instant, however the machine slept in between."""
        due = parse_instant(since) + timedelta(seconds=seconds)
        while (left := due.timestamp() - self.wall()) > 0:
            await self.sleep(min(left, LOOK_AGAIN_S))


def format_instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def parse_instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def later_instant(before: str, now: str) -> str:
    """The time of a record never runs backwards, whatever the machine's clock does."""
    return max(before, now)
