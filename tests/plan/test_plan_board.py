"""A plan of envoy as a board."""

from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.machine.state import Decision, GateStatus, RunState
from porch.plan.plan_board import (
    ON_COLUMN,
    find_column,
    list_columns,
    list_gates,
    list_questions,
    make_plan_row,
)

PROMPTS = {
    PromptId(1): Prompt(status="merged"),
    PromptId(2): Prompt(in_progress=True, delegated_to="backend", current_iteration=2),
    PromptId(3): Prompt(depends_on=(2,), blocked_reason="no <key>"),
    PromptId(4): Prompt(status="implemented", review="failed", review_rounds=2),
    PromptId(5): Prompt(variant_solution="discard"),
}


def test_prompts_stand_in_the_column_of_their_life() -> None:
    columns = list_columns(PROMPTS, {PromptId(3): "Do it"})
    cards = {column.title: column.cards for column in columns}
    assert {title: [card.id for card in rows] for title, rows in cards.items()} == {
        "To do": ["3"],
        "In progress": ["2"],
        "Implemented": ["4"],
        "Reviewed": [],
        "Tested": [],
        "Merged": ["1"],
        "Put aside": ["5"],
    }
    assert cards["In progress"][0].notes == ["at work: backend", "iteration 2"]
    (todo,) = cards["To do"]
    assert (todo.text, todo.blocked, todo.notes) == ("Do it", "no <key>", ["waits for 2"])
    assert cards["Implemented"][0].review == "review: failed, 2 rounds"


def test_gates_and_open_questions_are_told() -> None:
    state = RunState(
        gates={"plan": GateStatus("approved", by="ann")},
        decisions={"g:1#1": Decision("g:1#1", "gate", "testing", "2026-01-01T00:30:00Z")},
    )
    (gate,) = list_gates(state)
    assert (gate.name, gate.told) == ("plan", "approved by ann")
    (asked,) = list_questions(state)
    assert (asked.name, asked.about, asked.position) == ("testing", "g:1", "g:1#1")
    assert asked.asked_at == "2026-01-01T00:30:00Z"


def test_a_column_of_very_many_shows_the_first_and_says_how_many_more() -> None:
    many = {PromptId(n): Prompt() for n in range(1, ON_COLUMN + 11)}
    first = list_columns(many, {})[0]
    assert (first.total, len(first.cards), first.more) == (ON_COLUMN + 10, ON_COLUMN, 10)


def test_a_plan_in_the_list_says_how_far_it_is() -> None:
    asked = {name: Decision(name, "gate", "testing", "") for name in ("g:1#1", "g:2#1")}
    row = make_plan_row("a/b", "draft", PROMPTS, RunState(decisions=asked))
    assert row.told == "1 to do, 1 in progress, 1 implemented, 1 merged, 1 put aside"
    assert (row.done, row.all, row.questions) == (1, 4, 2)
    assert make_plan_row("b", "", {}, RunState()).told == "no prompts yet"
    assert find_column(Prompt(status="of a later release")) == "working"
