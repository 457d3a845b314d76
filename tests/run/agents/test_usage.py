"""What a turn used, where the agent tells its own part and where it tells the whole."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from porch.agents.port import AgentPort
from porch.run.agents import conversations
from porch.run.agents.conversations import usage_of_turn
from porch.run.agents.roster import EmployedAgent
from porch.run.agents.usage import Usage


def post(counts_all: bool, name: str = "codex", kind: str = "codex") -> EmployedAgent:
    agent = SimpleNamespace(COUNTS_ALL=counts_all, TELLS_USD=False, NEEDS_COMMAND=kind == "command")
    return EmployedAgent(name, kind, cast(AgentPort, agent))


def test_of_totals_a_turn_is_what_came_since_and_told_again_it_is_the_same() -> None:
    before, told = Usage(0, 100, 10, 5), Usage(0, 180, 30, 9)
    for _ in range(2):
        assert usage_of_turn(post(counts_all=True), told, before) == Usage(0, 80, 20, 4)


def test_a_vendor_that_counts_anew_gives_nothing_back() -> None:
    assert usage_of_turn(post(counts_all=True), Usage(0, 40), Usage(0, 100)).tokens == 0


def test_parts_are_taken_as_they_are() -> None:
    assert usage_of_turn(post(counts_all=False), Usage(0.5, 100), Usage(0, 100)) == Usage(0.5, 100)


def test_a_conversation_is_known_by_its_total_its_place_and_its_holder(tmp_path: Path) -> None:
    run, mine = str(tmp_path), post(counts_all=True)
    conversations.record_conversation(run, "s", mine, place="/w", total=Usage(0, 100, 10, 5))
    assert conversations.read_usage(run, "s") == Usage(0, 100, 10, 5)
    assert conversations.read_place(run, "s") == "/w"
    assert conversations.belongs_to_agent(run, "s", post(counts_all=True, name="other"))
    assert not conversations.belongs_to_agent(run, "s", post(counts_all=True, kind="claude"))
    assert conversations.belongs_to_agent(run, "unknown", mine)
    assert conversations.read_usage(run, "unknown") == Usage()


def test_a_turn_that_told_nothing_takes_nothing_back(tmp_path: Path) -> None:
    run, mine = str(tmp_path), post(counts_all=True)
    conversations.record_conversation(run, "s", mine, place="/w", total=Usage(0, 100))
    conversations.record_conversation(run, "s", mine, place="/w", total=Usage())
    assert conversations.read_usage(run, "s").tokens == 100


def test_commands_of_ones_own_share_no_conversations(tmp_path: Path) -> None:
    run = str(tmp_path)
    conversations.record_conversation(
        run, "s", post(False, "one", "command"), place="/w", total=Usage()
    )
    assert not conversations.belongs_to_agent(run, "s", post(False, "two", "command"))


def test_what_cannot_be_read_of_a_conversation_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    run = str(tmp_path)
    conversations.record_conversation(run, "s", post(False), place="/w", total=Usage(0, 5))
    (file,) = (tmp_path / "conversations").iterdir()
    for text in ("", "[]", '{"tokens": "x", "usd": -3}', "{"):
        file.write_text(text)
        assert conversations.read_usage(run, "s") == Usage()
