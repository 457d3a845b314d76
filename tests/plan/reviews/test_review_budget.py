"""Where reviews end and people begin: rounds, questions, budgets."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.errors import FailedError, PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims
from porch.plan.gates.typed_answers import read_typed_form
from porch.plan.prompts import prompt_edits, prompt_work
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.reviews.interrupted_rounds import INTERRUPTIONS
from porch.plan.reviews.review_round import ReviewRequest, begin_round
from porch.plan.session import plan_session
from porch.run import settings
from porch.run.verbs import decide as decisions
from porch.run.verbs import overview
from porch.run.verbs.decide import DecisionRequest
from tests.plan.courts import (
    ONE,
    PASS,
    RUN,
    Court,
    asking,
    failing,
)


def code_of(court: Court, **wanted: Any) -> str:
    with pytest.raises(PorchError) as caught:
        court.review(**wanted)
    assert caught.value.findings[0].fix
    return caught.value.findings[0].code


def decide(court: Court, name: str, exit_: str, text: str = "") -> None:
    decisions.decide_question(
        court.where, RUN, name, DecisionRequest(exit_, text), read_form=read_typed_form
    )


def pending(court: Court) -> list[str]:
    found = overview.list_all_runs(court.where).rows.values()
    return [each["name"] for picture in found for each in picture["decisions"]]


@pytest.mark.req("E-032")
def test_rounds_end_and_a_person_allows_more(court: Court) -> None:
    court.reviewer("ann", failing())
    left = [court.review(max_rounds=2).data["rounds_left"] for _ in range(2)]
    assert left == [1, 0]
    for _ in range(2):
        with pytest.raises(FailedError) as caught:
            court.review(max_rounds=2)
        assert caught.value.findings[0].code == "no-rounds-left"
        assert "porch answer plan/feat/x rounds:1 retry" in (caught.value.findings[0].fix or "")
    assert pending(court) == ["rounds:1"]
    assert len(court.shown()) == 2
    decide(court, "rounds:1", "retry")
    told = court.review(max_rounds=2).data
    assert (told["round"], told["max_rounds"], told["rounds_left"]) == (3, 4, 1)
    court.reviewer("ann", PASS)
    # What a person allowed was for these rounds; after a pass the settings hold again.
    assert court.review(max_rounds=2).data["rounds_left"] == 2
    assert pending(court) == []


@pytest.mark.req("E-032")
def test_rounds_are_set_for_a_project(court: Court) -> None:
    court.reviewer("ann", failing())
    court.configure("[review]\nmax_rounds = 1\n")
    assert court.review().data["rounds_left"] == 0
    assert code_of(court) == "no-rounds-left"


def test_whoever_said_stop_is_not_asked_again(court: Court) -> None:
    court.reviewer("ann", failing())
    court.review(max_rounds=1)
    assert code_of(court, max_rounds=1) == "no-rounds-left"
    decide(court, "rounds:1", "stopped")
    # An agent that allows itself more rounds has not been allowed them.
    assert code_of(court, max_rounds=5) == "no-rounds-left"
    assert code_of(court, max_rounds=9) == "usage"
    assert pending(court) == []
    assert len(court.shown()) == 1


def test_rounds_of_one_prompt_are_not_those_of_another(court: Court) -> None:
    second = PromptId(2)
    prompt_edits.write_prompt(court.where, second, PromptWords(description="the other"))
    court.git("branch", "feat/x--implementation-2")
    prompt_claims.start_prompt(court.where, second, "backend")
    prompt_work.record_implementation(court.where, second, "Done.", 1)
    court.reviewer("ann", failing())
    court.review(max_rounds=1)
    assert court.review(second, max_rounds=1).data["round"] == 1
    assert code_of(court, id_=second, max_rounds=1) == "no-rounds-left"
    assert pending(court) == ["rounds:2"]


def test_a_question_stands_until_a_person_answers_it_in_its_file(court: Court) -> None:
    court.reviewer("ann", asking("Which login?", "How long?"), PASS)
    came = court.review()
    assert (came.code, came.data["state"], came.data["verdict"]) == (3, "pending", None)
    assert came.data["decision"] == "clarifying:1#1"
    assert pending(court) == ["clarifying:1"]
    path = Path(came.data["file"])
    form = yaml.safe_load(path.read_text())
    assert [each["question"] for each in form["questions"]] == ["Which login?", "How long?"]
    # Nobody is paid while a person is being asked.
    assert court.review().code == 3
    assert len(court.shown()) == 1
    for each, said in zip(form["questions"], ("the second", "a day"), strict=True):
        each["answer"] = said
    form.update(done=True, thoughts="good that you ask", suggested_changes="rename it")
    path.write_text(yaml.safe_dump(form))
    told = court.review().data
    assert told["verdict"] == "passed"
    assert told["answered_questions"] == [
        {"question": "Which login?", "answer": "the second"},
        {"question": "How long?", "answer": "a day"},
    ]
    assert (told["thoughts"], told["user_thoughts"]) == ("I read all of it", "good that you ask")
    shown = court.shown()[1]
    for words in ("Question: Which login?\nAnswer: the second", "rename it", "good that you ask"):
        assert words in shown
    assert court.fields()["reviews"][-1]["total_questions"] == 2
    assert not path.exists()
    assert "a day" in (court.home / "user_input.md").read_text()


def test_a_question_is_answered_in_words(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), failing("use the second login"))
    court.review()
    decide(court, "clarifying:1", "answered", "the second")
    told = court.review().data
    assert (told["verdict"], told["suggested_changes"]) == ("failed", "use the second login")
    assert told["answered_questions"] == [{"question": "Which login?", "answer": "the second"}]
    assert "Answer: the second" in court.shown()[1]
    # It was said for that review; what a person said stays in their input for the next ones.
    assert court.review().data["answered_questions"] == []
    assert "the second" in court.shown()[2]


def test_a_second_question_is_asked_and_the_first_answer_is_not_lost(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), asking("Since when?"), PASS)
    court.review()
    decide(court, "clarifying:1", "answered", "the second")
    came = court.review()
    assert (came.code, came.data["decision"]) == (3, "clarifying:1#2")
    decide(court, "clarifying:1", "answered", "since May")
    told = court.review().data
    assert told["verdict"] == "passed"
    assert told["answered_questions"] == [{"question": "Since when?", "answer": "since May"}]
    assert "the second" in court.shown()[2]


def test_a_question_without_an_answer_is_no_answer(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    path = Path(court.review().data["file"])
    path.write_text(path.read_text().replace("done: false", "done: true"))
    came = court.review()
    assert came.code == 3
    assert "every question needs an answer" in path.read_text()
    assert len(court.shown()) == 1


def test_answers_that_are_no_utf8_are_told_of_while_the_question_stands(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    told = court.review().data
    assert told["notes"] == []
    path = Path(told["file"])
    path.write_text(path.read_text().replace("done: false", "done: true"), "utf-16")
    (note,) = court.review().data["notes"]
    assert "1_review_questions.yaml is not UTF-8" in note


def test_new_work_withdraws_the_questions_about_the_old(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    court.review()
    prompt_work.record_implementation(
        court.where, ONE, "All logins.", 2, reason="Review feedback: all"
    )
    assert court.review().data["verdict"] == "passed"


def test_the_waiting_goes_on_when_somebody_answers(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    court.review()
    decide(court, "clarifying:1", "answered", "the second")
    assert court.review(wait_s=30).data["verdict"] == "passed"


def test_rounds_and_questions_of_a_whole_plan_are_its_own(court: Court) -> None:
    court.reviewer("ann", asking("For whom?"), failing())
    came = court.review(None, max_rounds=1)
    assert (came.code, came.data["decision"]) == (3, "clarifying#1")
    assert os.path.basename(came.data["file"]) == "full_review_questions.yaml"
    decide(court, "clarifying", "answered", "for all")
    # A round that ends in a question is no round: a person stands behind it.
    assert court.review(None, max_rounds=1).data["answered_questions"][0]["answer"] == "for all"
    assert code_of(court, id_=None, max_rounds=1) == "no-rounds-left"
    assert pending(court) == ["rounds"]
    decide(court, "rounds", "retry")
    assert court.review(None, max_rounds=1).data["max_rounds"] == 2


@pytest.mark.parametrize(
    "budget, usage",
    [
        ("max_usd = 0.05", {"usd": 0.06, "tokens": 1}),
        ("max_tokens = 50", {"tokens": 60, "usd": 0}),
        ("max_turns = 1", {"tokens": 1, "usd": 0}),
    ],
)
def test_a_budget_that_is_used_up_is_a_question_to_a_person(
    court: Court, budget: str, usage: dict[str, float]
) -> None:
    script = court.script({"raw": failing(), "usage": usage})
    court.configure(f"[budget]\n{budget}\n")
    wanted: dict[str, Any] = {"by": "scripted", "script": script}
    assert court.review(**wanted).data["verdict"] == "failed"
    for _ in range(2):
        assert code_of(court, **wanted) == "budget-reached"
    assert pending(court) == ["budget"]
    (asked,) = court.facts("BudgetReached")
    assert asked["budget"] == f"run.{budget.partition(' ')[0]}"
    assert court.fields()["review_rounds"] == 1
    decide(court, "budget", "retry")
    assert pending(court) == []
    assert court.review(**wanted).data["verdict"] == "failed"
    assert code_of(court, **wanted) == "budget-reached"


def test_money_that_nobody_can_count_is_not_spent(court: Court) -> None:
    court.configure("[budget]\nmax_usd = 5\n")
    assert code_of(court) == "unmeasurable-budget"
    assert court.shown() == []
    court.reviewer("ann", PASS, more="usd_per_million = [1.0, 0.1, 5.0]")
    assert court.review().data["verdict"] == "passed"


# Reviews that were interrupted


def interrupt(court: Court, id_: PromptId | None = ONE) -> int:
    """A review that is killed right after it began; the number of its round."""
    with plan_session.hold_plan(court.where) as held:
        return begin_round(
            held, ReviewRequest(id_, ("ann",)), settings.load_settings(court.where.root)
        ).number


@pytest.mark.parametrize("id_", [ONE, None])
def test_a_round_that_was_interrupted_is_given_back(court: Court, id_: PromptId | None) -> None:
    court.configure("[review]\nmax_rounds = 2\n")
    court.reviewer("ann", failing(), PASS)
    assert court.review(id_).data["round"] == 1
    assert [interrupt(court, id_) for _ in range(3)] == [2, 2, 2]
    told = court.review(id_).data
    assert (told["verdict"], told["round"]) == ("passed", 2)
    back = [each for each in court.facts("PlanMoved") if each["action"] == "review-interrupted"]
    assert len(back) == len(court.facts("EffectInterrupted")) == 3


def test_the_file_shows_that_a_round_was_given_back_whatever_comes_next(court: Court) -> None:
    interrupt(court)
    assert court.fields()["review_rounds"] == 1
    assert code_of(court, by="evve") == "unknown-agent"
    assert court.fields()["review_rounds"] == 0


def test_only_so_many_interrupted_rounds_in_a_row_are_given_back(court: Court) -> None:
    court.configure("[review]\nmax_rounds = 3\n")
    court.reviewer("ann", failing())
    numbers = [interrupt(court) for _ in range(INTERRUPTIONS + 3)]
    assert numbers == [1] * (INTERRUPTIONS + 1) + [2, 3]
    assert code_of(court) == "no-rounds-left"
    assert pending(court) == ["rounds:1"]


def test_a_round_that_ends_lets_interrupted_ones_be_given_back_again(court: Court) -> None:
    court.reviewer("ann", failing())
    assert [interrupt(court) for _ in range(INTERRUPTIONS)] == [1] * INTERRUPTIONS
    assert court.review().data["round"] == 1
    assert [interrupt(court) for _ in range(3)] == [2, 2, 2]


def test_interrupted_rounds_of_one_prompt_are_not_those_of_another(court: Court) -> None:
    interrupt(court)
    interrupt(court, None)
    assert interrupt(court) == 1
    assert interrupt(court, None) == 1
    assert court.review().data["round"] == 1


def test_a_prompt_that_was_written_again_meanwhile_gets_no_round_for_it(court: Court) -> None:
    interrupt(court)
    prompt_edits.clear_prompt(court.where, ONE, force=True)
    prompt_edits.write_prompt(court.where, ONE, PromptWords(description="anew"))
    prompt_claims.start_prompt(court.where, ONE, "backend")
    prompt_work.record_implementation(court.where, ONE, "Done.", 1)
    assert interrupt(court) == 1
    assert court.review().data["round"] == 1
