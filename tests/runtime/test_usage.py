"""What a turn used, where the agent tells its own part and where it tells the whole."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from porch.adapters.agents.base import Agent
from porch.runtime import conversations
from porch.runtime.roster import Post
from porch.runtime.usage import Usage, of_turn


def post(counts_all: bool, name: str = "codex", kind: str = "codex") -> Post:
    agent = SimpleNamespace(COUNTS_ALL=counts_all, TELLS_USD=False)
    return Post(name, kind, cast(Agent, agent))


def test_of_totals_a_turn_is_what_came_since_and_told_again_it_is_the_same() -> None:
    before, told = Usage(0, 100, 10, 5), Usage(0, 180, 30, 9)
    for _ in range(2):
        assert of_turn(post(counts_all=True), told, before) == Usage(0, 80, 20, 4)


def test_a_vendor_that_counts_anew_gives_nothing_back() -> None:
    assert of_turn(post(counts_all=True), Usage(0, 40), Usage(0, 100)).tokens == 0


def test_parts_are_taken_as_they_are() -> None:
    assert of_turn(post(counts_all=False), Usage(0.5, 100), Usage(0, 100)) == Usage(0.5, 100)


def test_a_conversation_is_known_by_its_total_its_place_and_its_holder(tmp_path: Path) -> None:
    run, mine = str(tmp_path), post(counts_all=True)
    conversations.keep(run, "s", mine, "/w", Usage(0, 100, 10, 5))
    assert conversations.used(run, "s") == Usage(0, 100, 10, 5)
    assert conversations.place_of(run, "s") == "/w"
    assert conversations.is_of(run, "s", post(counts_all=True, name="other"))
    assert not conversations.is_of(run, "s", post(counts_all=True, kind="claude"))
    assert conversations.is_of(run, "unknown", mine)
    assert conversations.used(run, "unknown") == Usage()


def test_a_turn_that_told_nothing_takes_nothing_back(tmp_path: Path) -> None:
    run, mine = str(tmp_path), post(counts_all=True)
    conversations.keep(run, "s", mine, "/w", Usage(0, 100))
    conversations.keep(run, "s", mine, "/w", Usage())
    assert conversations.used(run, "s").tokens == 100


def test_commands_of_ones_own_share_no_conversations(tmp_path: Path) -> None:
    run = str(tmp_path)
    conversations.keep(run, "s", post(False, "one", "command"), "/w", Usage())
    assert not conversations.is_of(run, "s", post(False, "two", "command"))


def test_what_cannot_be_read_of_a_conversation_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    run = str(tmp_path)
    conversations.keep(run, "s", post(False), "/w", Usage(0, 5))
    (file,) = (tmp_path / "conversations").iterdir()
    for text in ("", "[]", '{"tokens": "x", "usd": -3}', "{"):
        file.write_text(text)
        assert conversations.used(run, "s") == Usage()
