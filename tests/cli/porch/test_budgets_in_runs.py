"""Budgets of money, tokens and turns: reaching one asks a person and kills nothing."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

FIRST = {"id": "first", "signals": {"FIRST_DONE": "second"}}
SECOND = {"id": "second", "signals": {"SECOND_DONE": "third"}}
THIRD = {"id": "third", "signals": {"THIRD_DONE": "complete"}}
PHASES = (FIRST, SECOND, THIRD)


def paid(signal: str, usd: float = 0.75, tokens: int = 100) -> dict[str, object]:
    return {"signal": signal, "usage": {"usd": usd, "tokens": tokens}}


AGENTS = {
    "first": [paid("FIRST_DONE")],
    "second": [paid("SECOND_DONE")],
    "third": [paid("THIRD_DONE"), paid("THIRD_DONE")],
}


@pytest.mark.parametrize("budget", ["max_usd = 1.5", "max_tokens = 200", "max_turns = 2"])
def test_before_the_turn_that_would_go_beyond_it_a_person_is_asked(
    desk: "Desk", budget: str
) -> None:
    desk.write("codev/config.toml", f"[budget]\n{budget}\n")
    desk.begin(*PHASES, agents=AGENTS, code=3)
    assert desk.entered()[:3] == ["first", "second", "third"]
    assert desk.entered()[3:] == [f"budget:run.{budget.partition(' ')[0]}"]
    assert len(desk.facts("ExitAccepted")) == 2
    pending = " ".join(desk.porch("pending").out.split())
    assert f"the budget run.{budget.partition(' ')[0]} is used up" in pending
    assert "continuing allows" in pending
    assert "porch retry 0001" in pending


def test_whoever_says_to_go_on_allows_as_much_again(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[budget]\nmax_usd = 0.75\n")
    desk.begin(*PHASES, agents=AGENTS, code=3)
    assert desk.entered() == ["first", "second", "budget:run.max_usd"]
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-2:] == ["third", "budget:run.max_usd"]
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=0)
    assert desk.entered()[-1] == "complete"
    asked = desk.facts("BudgetReached")
    assert {each["budget"] for each in asked} == {"run.max_usd"}
    assert [(each["spent"], each["limit"]) for each in asked] == [(0.75, 0.75), (1.5, 1.5)]


def test_a_phase_has_a_budget_of_its_own(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[phases.third]\nmax_turns = 1\n")
    again = {**AGENTS, "third": [{**paid("THIRD_DONE"), "signal": None}, paid("THIRD_DONE")]}
    desk.begin(*PHASES, agents=again, code=3)
    assert desk.entered()[-1] == "budget:third.max_turns"
    (asked,) = desk.facts("BudgetReached")
    assert asked["budget"] == "third.max_turns"


def test_money_that_nobody_tells_cannot_hold_a_budget(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("bin/codex", "#!/bin/sh\n")
    (desk.root / "bin/codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(desk.root / "bin"), prepend=":")
    desk.write("codev/config.toml", "[budget]\nmax_usd = 5\n")
    said = desk.porch("run", "tick", "0001", "--title", "x", "--agent", "codex", code=2).err
    assert "error[unmeasurable-budget]" in said
    assert "usd_per_million" in said
    assert desk.porch("status", "--json").json["runs"] == []


def test_what_a_run_cost_is_shown_by_turn_and_in_all(desk: "Desk") -> None:
    desk.begin(*PHASES, agents=AGENTS, code=0)
    cost = desk.porch("status", "1", "--json").json["cost"]
    assert (cost["turns"], cost["usd"], cost["tokens"]) == (3, 2.25, 300)
    first = cost["phases"]["first"]
    assert (first["turns"], first["usd"], first["tokens"]) == (1, 0.75, 100)
    assert 0 < first["seconds"] < 60
    assert "second: 1 agent turn, 0.75 USD, 100 tokens" in desk.porch("status", "1").out


def test_whoever_says_stop_ends_the_run(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[budget]\nmax_turns = 1\n")
    desk.begin(*PHASES, agents=AGENTS, code=3)
    desk.porch("answer", "1", "budget", "stopped")
    assert desk.entered()[-1] == "abandoned"
