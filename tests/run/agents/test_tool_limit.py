"""A turn that uses too many tools is ended, once, unless it ended well by itself."""

import asyncio

from porch.agents.events import Said, ToolStarted
from porch.agents.port import Outcome
from porch.run.agents.turn import ToolLimit


def after(most: int, tools: int, outcome: Outcome) -> tuple[Outcome, int]:
    stops = 0

    async def stop() -> None:
        nonlocal stops
        stops += 1

    async def play() -> Outcome:
        steps = ToolLimit(most, stop)
        for _ in range(tools):
            steps.count(ToolStarted("t"))
            steps.count(Said("words"))
        await asyncio.sleep(0)
        return steps.judged(outcome)

    return asyncio.run(play()), stops


def test_as_many_as_it_may_are_fine() -> None:
    outcome, stops = after(3, 3, Outcome("crashed"))
    assert (outcome.kind, stops) == ("crashed", 0)


def test_one_more_ends_it_once_and_says_so() -> None:
    outcome, stops = after(3, 9, Outcome("interrupted"))
    assert (outcome.kind, outcome.detail, stops) == ("max_turns", "it used more than 3 tools", 1)


def test_without_a_limit_nobody_counts() -> None:
    assert after(0, 9, Outcome("ok"))[1] == 0


def test_what_had_come_to_its_end_is_not_taken_back() -> None:
    assert after(1, 5, Outcome("ok", final="done"))[0].final == "done"
