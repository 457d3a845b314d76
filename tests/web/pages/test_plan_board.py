"""A plan of envoy as a board."""

from datetime import UTC, datetime

from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.machine.state import Decision, GateStatus, RunState
from porch.web.pages.plan_board import ON_COLUMN, find_column, make_board, make_plan_row

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
PROMPTS = {
    PromptId(1): Prompt(status="merged"),
    PromptId(2): Prompt(in_progress=True, delegated_to="backend", current_iteration=2),
    PromptId(3): Prompt(depends_on=(2,), blocked_reason="no <key>"),
    PromptId(4): Prompt(status="implemented", review="failed", review_rounds=2),
    PromptId(5): Prompt(variant_solution="discard"),
}


def test_prompts_stand_in_the_column_of_their_life() -> None:
    told = make_board("p", "plan_x", PROMPTS, {PromptId(3): "Do it"}, RunState(), NOW)
    cards = {column["title"]: column["cards"] for column in told["columns"]}
    assert {title: [card["id"] for card in rows] for title, rows in cards.items()} == {
        "To do": ["3"],
        "In progress": ["2"],
        "Implemented": ["4"],
        "Reviewed": [],
        "Tested": [],
        "Merged": ["1"],
        "Put aside": ["5"],
    }
    assert cards["In progress"][0]["notes"] == ["at work: backend", "iteration 2"]
    (todo,) = cards["To do"]
    assert (todo["text"], todo["blocked"], todo["notes"]) == ("Do it", "no <key>", ["waits for 2"])
    assert cards["Implemented"][0]["review"] == "review: failed, 2 rounds"


def test_gates_and_open_questions_are_told() -> None:
    state = RunState(
        gates={"plan": GateStatus("approved", by="ann")},
        decisions={"g:1#1": Decision("g:1#1", "gate", "testing", "2026-01-01T00:30:00Z")},
    )
    told = make_board("p", "plan_x", {}, {}, state, NOW)
    assert told["gates"] == [{"name": "plan", "told": "approved by ann"}]
    (asked,) = told["decisions"]
    assert (asked["about"], asked["waited"]) == ("g:1", "30 min")
    assert asked["address"] == "/run/p/plan_x/decision?at=g%3A1%231"


def test_a_column_of_very_many_shows_the_first_and_says_how_many_more() -> None:
    many = {PromptId(n): Prompt() for n in range(1, ON_COLUMN + 11)}
    first = make_board("p", "r", many, {}, RunState(), NOW)["columns"][0]
    assert (first["total"], len(first["cards"]), first["more"]) == (ON_COLUMN + 10, ON_COLUMN, 10)


def test_a_plan_in_the_list_says_how_far_it_is() -> None:
    row = make_plan_row("my p", "plan_a~b", "a/b", "draft", PROMPTS, 2)
    assert row["address"] == "/plans/my%20p/plan_a~b"
    assert row["told"] == "1 to do, 1 in progress, 1 implemented, 1 merged, 1 put aside"
    assert (row["done"], row["all"], row["asked"]) == (1, 4, "2 decisions wait for you")
    assert make_plan_row("p", "r", "b", "", {}, 0)["told"] == "no prompts yet"
    assert find_column(Prompt(status="of a later release")) == "working"
