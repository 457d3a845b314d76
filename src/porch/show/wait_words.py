"""What a run waits for: in words for people, and as plain data for lists and programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from porch.account.waiting import Waiting
from porch.show.board import format_moment

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import WaitShape


def describe_waits(waits: Iterable[Waiting]) -> str:
    """Everything in one line: `an agent, you: escalation`."""
    return ", ".join(dict.fromkeys(map(_describe_wait, waits)))


def make_wait_data(waiting: Waiting) -> WaitShape:
    """One of them as programs read it; `until` only where a rate limit has to pass first."""
    data: WaitShape = {
        "on": waiting.on,
        "names": list(waiting.names),
        "needs_driver": waiting.needs_driver,
    }
    if waiting.until:
        data["until"] = waiting.until
    return data


def _describe_wait(waiting: Waiting) -> str:
    names = ", ".join(waiting.names)
    match waiting.on:
        case "agent":
            return ", ".join(filter(None, ("an agent", describe_delay(waiting))))
        case "reviewers":
            return ", ".join(filter(None, (f"reviews: {names}", describe_delay(waiting))))
        case "checks":
            return f"checks: {names}"
        case "person" | "question":
            return f"{'you' if waiting.on == 'person' else 'porch to ask'}: {names}"
        case "finish":
            return f"porch finish {names}"
        case "resume" | "upgrade":
            return f"porch {waiting.on}"
        case "plan":
            return "the plan"
        case "commands":
            return "`envoy` commands"
        case "children":
            return "its children"
        case "others":
            return "other work"
        case "git":
            return "git"
        case _:
            assert_never(waiting.on)


def describe_delay(waiting: Waiting) -> str:
    """What has to pass before anybody works again."""
    if waiting.until:
        return f"waiting until {format_moment(waiting.until)}"
    return "after a short wait" if waiting.is_delayed else ""
