"""What a turn used, where the agent tells its own part and where it tells the whole."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from porch.adapters.agents.base import Agent
from porch.runtime.roster import Post
from porch.runtime.usage import Usage, of_turn, place_of


def post(counts_all: bool) -> Post:
    agent = SimpleNamespace(COUNTS_ALL=counts_all, TELLS_USD=False)
    return Post("a", "codex", cast(Agent, agent))


def test_of_totals_each_turn_is_what_came_since(tmp_path: Path) -> None:
    who = post(counts_all=True)
    first = of_turn(who, str(tmp_path), "s", "", Usage(0, 100, 10, 5), "/w")
    again = of_turn(who, str(tmp_path), "s", "", Usage(0, 180, 30, 9), "/w")
    assert (first, again) == (Usage(0, 100, 10, 5), Usage(0, 80, 20, 4))


def test_a_turn_told_twice_is_counted_once(tmp_path: Path) -> None:
    who = post(counts_all=True)
    of_turn(who, str(tmp_path), "s", "", Usage(0, 100), "/w")
    assert of_turn(who, str(tmp_path), "s", "", Usage(0, 100), "/w") == Usage()


def test_a_fork_counts_from_where_it_began(tmp_path: Path) -> None:
    who = post(counts_all=True)
    of_turn(who, str(tmp_path), "parent", "", Usage(0, 100), "/w")
    assert of_turn(who, str(tmp_path), "child", "parent", Usage(0, 130), "/w").tokens == 30
    assert of_turn(who, str(tmp_path), "child", "parent", Usage(0, 150), "/w").tokens == 20


def test_a_vendor_that_counts_anew_gives_nothing_back(tmp_path: Path) -> None:
    who = post(counts_all=True)
    of_turn(who, str(tmp_path), "s", "", Usage(0, 100), "/w")
    assert of_turn(who, str(tmp_path), "s", "", Usage(0, 40), "/w").tokens == 0


def test_parts_are_taken_as_they_are_and_the_place_is_remembered(tmp_path: Path) -> None:
    who = post(counts_all=False)
    assert of_turn(who, str(tmp_path), "s", "", Usage(0.5, 100), "/w").tokens == 100
    assert of_turn(who, str(tmp_path), "s", "", Usage(0.5, 100), "/w").tokens == 100
    assert place_of(str(tmp_path), "s") == "/w"
    assert place_of(str(tmp_path), "nobody") == ""
