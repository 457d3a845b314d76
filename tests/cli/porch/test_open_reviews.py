"""Changes that reviewers still ask for are said wherever a person decides."""

from typing import TYPE_CHECKING

from tests.cli.porch.test_panels_in_runs import specify

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open

NO = {"verdict": "REQUEST_CHANGES", "summary": "vague", "findings": ["no limits"]}
REVIEWS = {"specify:consult": {"codex": [NO], "*": [{"verdict": "APPROVE"}]}}
SIGNALS = {"SPEC_DRAFTED": "specify:consult", "REVISED": "specify:consult"}
WRITE = {"write": {"{project_dir}/spec.md": "# Spec of visit {visit}\n"}}
AGENTS = {
    "specify:draft": [{**WRITE, "signal": "SPEC_DRAFTED"}],
    "specify:revise": [{**WRITE, "signal": "REVISED"}],
}
PANEL = {**specify(models=["codex", "claude"], max_rounds=2), "signals": SIGNALS}
TOLD = "Specify, round 2 of 2: codex asks for changes; no rounds are left"


def test_open_changes_and_used_up_rounds_are_told(desk: "Desk") -> None:
    """T7: `3 of 3 reviewers gave a verdict`, and not that one of them asked for changes."""
    desk.begin(PANEL, code=3, agents=AGENTS, reviews=REVIEWS)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert asked["open_reviews"] == [TOLD]
    assert not any("reviews" in line for line in asked.get("evidence") or ())
    assert f"review of {TOLD}" in " ".join(desk.porch("pending").out.split())


def test_turns_of_agents_and_of_reviewers_are_told_apart_and_add_up(desk: "Desk") -> None:
    """T14: 34 against 28 turns."""
    desk.begin(PANEL, code=3, agents=AGENTS, reviews=REVIEWS)
    assert "spent       2 agent turns and 4 reviews" in desk.porch("status", "1").out
    cost = desk.porch("status", "1", "--json").json["cost"]
    assert (cost["turns"], cost["agent_turns"], cost["reviews"]) == (6, 2, 4)
    assert [each["turns"] for each in cost["phases"].values()] == [6]


def test_a_verdict_at_the_last_round_is_not_called_missing_where_there_is_no_gate(
    desk: "Desk",
) -> None:
    """It said that the reviewers gave no verdict, above the verdict."""
    ungated = {key: value for key, value in PANEL.items() if key != "gate"}
    desk.begin(ungated, code=3, agents=AGENTS, reviews=REVIEWS)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert asked["question"] == "Specify: the reviewers ask for changes, and no rounds are left"
    told = desk.porch("pending").out
    assert "gave no verdict" not in told
    assert "without their verdict" not in told
    assert f"review of {TOLD}" in " ".join(told.split())
    desk.porch("approve", "1", "--override", "good enough")
    assert desk.facts("WishTaken")[-1]["wish"]["exit"] == "waived"


def test_the_prompt_says_them_too_and_what_follows(desk: "Desk", open_: "Open") -> None:
    desk.protocol("p", PANEL)
    script = desk.script(agents=AGENTS, reviews=REVIEWS)
    terminal = open_("run", "p", "0001", "--title", "x", "--script", script, columns=120)
    terminal.until("codex asks for changes; no rounds are left")
    terminal.until('reject --reason "..."')
    terminal.until("goes back to Specify")
    terminal.type("stop\r")
    terminal.leave()
