"""Small things that a careful person would have as they are here: counts, names, numbers, rows."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

REVIEWED = {
    "id": "one",
    "prompt": "one.md",
    "substates": ["draft", "consult", "revise"],
    "signals": {"DRAFTED": "one:consult"},
    "consultation": {"on": "consult", "models": ["a", "b"], "next": "one:revise"},
    "gate": {"name": "ready", "next": None},
}


def test_r16_the_turns_that_are_counted_are_those_that_are_listed(desk: "Desk") -> None:
    desk.begin(REVIEWED, code=3, agents={"one:draft": [{"signal": "DRAFTED"}]})
    listed = desk.porch("log", "1", "--turns", "--json").json["turns"]
    spent = next(line for line in desk.porch("status", "1").out.split("\n") if "spent" in line)
    agents, reviews = (int(word) for word in spent.split() if word.isdecimal() and word != "0")
    assert agents + reviews == len(listed)
    assert reviews == 2


def test_r16_a_rollback_offers_phases_and_nothing_else(desk: "Desk") -> None:
    gated = {"id": "two", "gate": {"name": "ready", "next": None}}
    desk.begin({"id": "one"}, gated, code=3)
    said = desk.porch("rollback", "1", "nowhere", code=2).err
    assert said.rstrip().endswith("phases: one, two")


def test_r16_reviewers_are_told_the_round_as_a_number(desk: "Desk") -> None:
    desk.write("codev/protocols/p/reviews/generic.md", "This is round {{ round + 10 }}.\n")
    desk.begin(REVIEWED, code=3, agents={"one:draft": [{"signal": "DRAFTED"}]})
    effect = desk.started("review")[0]
    assert "This is round 11." in desk.prompt(effect)


def test_r16_settings_list_the_variables_of_an_agent(desk: "Desk", home: "Path") -> None:
    own = home / ".config/porch/config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('[agents.codex]\nenv = ["OPENAI_BASE_URL"]\n')
    rows = {row["key"]: row["value"] for row in desk.porch("settings", "--json").json["settings"]}
    assert "OPENAI_BASE_URL" in rows["agents.codex.env"]
    assert "OPENAI_BASE_URL" in desk.porch("settings").out
