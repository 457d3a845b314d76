"""Reviews: fail closed, bounded, and a reviewer's question is a question to a person."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.adapters import where as places
from porch.adapters.lock import RunLock
from porch.errors import BusyError, FailedError, PorchError, UsageError
from porch.model.prompt_ids import PromptId
from porch.operations import decisions, overview
from porch.operations.decisions import Verdict
from porch.operations.plans import place, planning, prompting, reviewing, working
from porch.operations.plans.prompting import Written
from porch.operations.plans.reviewing import Wanted
from tests.operations.plans.courts import (
    BRANCH,
    ONE,
    PASS,
    RUN,
    Court,
    answer,
    asking,
    failing,
    used,
)

KEYS = {
    "state",
    "verdict",
    "thoughts",
    "user_thoughts",
    "answered_questions",
    "suggested_changes",
    "why",
    "prompt_id",
    "round",
    "max_rounds",
    "rounds_left",
    "reviewers",
    "notes",
    "duration_ms",
}


def code_of(court: Court, **wanted: Any) -> str:
    with pytest.raises(PorchError) as caught:
        court.review(**wanted)
    assert caught.value.findings[0].fix
    return caught.value.findings[0].code


def decide(court: Court, name: str, exit_: str, text: str = "") -> None:
    decisions.decide(court.where, RUN, name, Verdict(exit_, text))


def pending(court: Court) -> list[str]:
    found = overview.every(court.where).pictures
    return [each["name"] for picture in found for each in picture["decisions"]]


@pytest.mark.req("E-031")
def test_a_pass_is_told_kept_and_moves_the_prompt(court: Court) -> None:
    came = court.review(caller="planner")
    assert (came.code, set(came.data)) == (0, KEYS)
    assert came.data["verdict"] == "passed"
    assert came.data["thoughts"] == "I read all of it"
    assert (came.data["answered_questions"], came.data["suggested_changes"]) == ([], "")
    fields = court.fields()
    assert (fields["status"], fields["review"]) == ("reviewed", "passed")
    (kept,) = fields["reviews"]
    assert kept == {
        "review_context": "I read all of it",
        "decision": "approved",
        "total_questions": 0,
        "were_changes_suggested": False,
        "suggested_changes": "",
        "round": 1,
        "reviewers": ["ann"],
    }
    begun, moved = [fact for fact in court.facts("PlanMoved") if "review" in fact["action"]]
    assert (begun["agent"], moved["agent"]) == ("planner", "planner")
    assert (begun["who"], moved["who"]) == ("ann", "ann")


@pytest.mark.req("E-031", "E-032")
def test_reviews_are_repeated_until_one_passes(court: Court) -> None:
    court.reviewer("ann", failing("name the test"), failing("test it twice"), PASS)
    told = [court.review().data for _ in range(3)]
    assert [each["verdict"] for each in told] == ["failed", "failed", "passed"]
    assert told[0]["suggested_changes"] == "name the test"
    assert [each["round"] for each in told] == [1, 2, 3]
    # A pass gives all rounds back.
    assert [each["rounds_left"] for each in told] == [4, 3, 5]
    assert [each["decision"] for each in court.fields()["reviews"]] == [
        "needs_changes",
        "needs_changes",
        "approved",
    ]
    assert court.review().data["round"] == 1
    earlier = [prompt.count("Asked for in round") for prompt in court.shown()]
    assert earlier == [0, 1, 2, 2]


def test_a_review_that_fails_takes_an_earlier_pass_back(court: Court) -> None:
    court.reviewer("ann", PASS, failing())
    court.review()
    court.review()
    fields = court.fields()
    assert (fields["status"], fields["review"]) == ("implemented", "failed")


BROKEN: dict[str, tuple[Any, str]] = {
    "unreadable": ('{"verdict": "passed", "thoughts": ', "ann: "),
    "prose": ("It has passed. Everything is fine.", "ann: "),
    "empty": ("", "ann: "),
    "crash": ({"say": PASS, "exit": 3}, "crashed"),
    "two verdicts": (f"{failing()}\n\n{PASS}", "disagree"),
    "no verdict": ('{"thoughts": "fine"}', "no verdict"),
    "another word": (answer("approved"), "no verdict"),
    "something behind": (f"{PASS}\n\nBut look at it again.", "behind"),
    "told as failed": ({"events": [{"type": "failed", "kind": "auth", "text": "who?"}]}, "auth"),
}


@pytest.mark.req("E-031")
@pytest.mark.parametrize("name", BROKEN)
def test_whoever_cannot_be_understood_has_passed_nothing(court: Court, name: str) -> None:
    step, why = BROKEN[name]
    court.reviewer("ann", step)
    told = court.review().data
    assert told["verdict"] == "error"
    assert why in told["why"]
    fields = court.fields()
    assert (fields["status"], fields["review"]) == ("implemented", None)
    assert [each["decision"] for each in fields["reviews"]] == ["error"]
    # Otherwise one who never answers would be asked for ever.
    assert (told["rounds_left"], fields["review_rounds"]) == (4, 1)


def test_whoever_takes_too_long_has_passed_nothing(court: Court) -> None:
    home = court.reviewer("ann", {"say": PASS, "sleep": 60})
    court.configure("[roles.reviewer]\ntimeout = 0.5\n")
    told = court.review().data
    assert (told["verdict"], "timeout" in told["why"]) == ("error", True)
    assert (home / "begun-0").exists()
    assert court.processes() == []


def test_whoever_is_not_installed_has_passed_nothing(court: Court) -> None:
    court.configure('[agents.eve]\ncommand = ["no-such-command-anywhere"]\n')
    told = court.review(by="eve").data
    assert told["verdict"] == "error"
    assert "no `no-such-command-anywhere` on PATH" in told["why"]
    assert court.fields()["status"] == "implemented"


def test_nobody_is_paid_where_a_name_is_no_agent(court: Court) -> None:
    assert code_of(court, by="ann,evve") == "unknown-agent"
    assert court.shown() == []
    assert court.fields()["review_rounds"] == 0


def test_who_reviews_is_named_or_set_or_whoever_works_here(court: Court) -> None:
    court.reviewer("bob", failing())
    court.configure('[review]\nagents = ["bob", "ann"]\n')
    told = court.review(by="").data
    assert [each["name"] for each in told["reviewers"]] == ["bob", "ann"]
    court.configure('[panel]\nmodels = ["ann"]\n')
    assert [each["name"] for each in court.review(by="").data["reviewers"]] == ["ann"]
    court.configure()
    text = (court.root / "codev/config.toml").read_text()
    (court.root / "codev/config.toml").write_text(text.replace("[agent]", '[agent]\nname = "bob"'))
    assert [each["name"] for each in court.review(by=" , ").data["reviewers"]] == ["bob"]
    assert reviewing.named("ann, bob,,ann") == ("ann", "bob")


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
    assert code_of(court, max_rounds=9) == "no-rounds-left"
    assert pending(court) == []
    assert len(court.shown()) == 1


def test_rounds_of_one_prompt_are_not_those_of_another(court: Court) -> None:
    second = PromptId(2)
    prompting.write_prompt(court.where, second, Written(description="the other"))
    court.git("branch", "feat/x--implementation-2")
    working.start_prompt(court.where, second, "backend")
    working.record_implementation(court.where, second, "Done.", 1)
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


def test_new_work_withdraws_the_questions_about_the_old(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    court.review()
    working.record_implementation(court.where, ONE, "All logins.", 2, "Review feedback: all")
    assert court.review().data["verdict"] == "passed"


def test_the_waiting_goes_on_when_somebody_answers(court: Court) -> None:
    court.reviewer("ann", asking("Which login?"), PASS)
    court.review()
    decide(court, "clarifying:1", "answered", "the second")
    assert court.review(wait_s=30).data["verdict"] == "passed"


def test_two_reviews_of_one_prompt_at_once_are_not_paid_for(court: Court) -> None:
    with RunLock(str(court.run_dir / "review-1.lock")) as lock:
        assert lock.acquire("envoy review", 0)
        with pytest.raises(BusyError) as caught:
            court.review()
    assert (caught.value.findings[0].code, court.shown()) == ("review-busy", [])
    assert court.review().data["verdict"] == "passed"


def test_on_main_there_is_nothing_to_review(shop: Path, court: Court) -> None:
    court.git("switch", "-q", "main")
    assert code_of(court) == "direct-mode"


def test_a_branch_without_a_plan_says_so(where: places.Where) -> None:
    with pytest.raises(FailedError) as caught:
        reviewing.review(where, Wanted(ONE, ("ann",)))
    assert caught.value.findings[0].code == "no-plan"


def test_a_prompt_that_is_not_there_or_not_done_is_not_reviewed(court: Court) -> None:
    assert code_of(court, id_=PromptId(7)) == "not-found"
    prompting.write_prompt(court.where, PromptId(2), Written(description="later"))
    assert code_of(court, id_=PromptId(2)) == "invalid-status"
    assert court.shown() == []


def test_what_was_set_aside_by_force_is_in_the_journal(court: Court) -> None:
    second = PromptId(2)
    prompting.write_prompt(court.where, second, Written(description="later"))
    court.git("branch", "feat/x--implementation-2")
    working.start_prompt(court.where, second, "backend")
    assert court.review(second, force=True).data["verdict"] == "passed"
    begun = [f for f in court.facts("PlanMoved") if f["action"] == "review-begun"]
    assert [fact.get("forced") for fact in begun] == [["invalid-status"]]
    assert court.fields("prompts/2.md")["status"] == "unimplemented"


def test_a_prompt_that_is_written_by_hand_can_be_reviewed(court: Court) -> None:
    path = court.home / "prompts" / "1.md"
    entry = 'reviews: [{suggested_changes: "name it"}, half]\nwalkthrough: [odd, {changes: [{}]}]'
    text = path.read_text()
    start, end = text.index("reviews: []"), text.index("kind: feature")
    path.write_text(f"{text[:start]}{entry}\n{text[end:]}")
    assert court.review().data["verdict"] == "passed"
    assert "name it" in court.shown()[0]
    assert len(court.fields()["reviews"]) == 3


@pytest.mark.parametrize("words", ["reviews:", "reviews: none"])
def test_reviews_that_are_no_list_are_none(court: Court, words: str) -> None:
    path = court.home / "prompts" / "1.md"
    path.write_text(path.read_text().replace("reviews: []", words))
    assert court.review().data["verdict"] == "passed"
    # Whatever somebody wrote there is not thrown away.
    *odd, last = court.fields()["reviews"]
    assert (odd, last["decision"]) == (words.split()[1:], "approved")


def test_a_prompt_that_was_cleared_meanwhile_has_not_passed(court: Court) -> None:
    line = f"import os; os.system({_envoy(court, 'plan', 'clear-prompt', '1', '--force')!r})"
    script = court.script({"run": [_python(), "-c", line], "raw": PASS})
    assert code_of(court, by="scripted", script=script) == "not-found"
    # What it cost is counted all the same.
    assert len(court.facts("ReviewEnded")) == 1


def test_work_that_was_recorded_meanwhile_has_not_been_reviewed(court: Court) -> None:
    words = ("plan", "record-implementation", "1", "--iteration", "2", "--walkthrough", "more")
    command = _envoy(court, *words, "--refinement-reason", "Testing: it failed")
    line = f"import os; os.system({command!r})"
    script = court.script({"run": [_python(), "-c", line], "raw": PASS})
    told = court.review(by="scripted", script=script).data
    assert (told["verdict"], "meanwhile" in told["why"]) == ("error", True)
    fields = court.fields()
    assert (fields["status"], fields["current_iteration"]) == ("implemented", 2)
    assert fields["review"] is None


def _python() -> str:
    import sys

    return sys.executable


def _envoy(court: Court, *words: str) -> str:
    import shlex

    code = "from porch.surfaces.cli.dispatch import envoy; exit(envoy())"
    return f"cd {shlex.quote(str(court.root))} && {shlex.join([_python(), '-c', code, *words])}"


def test_a_whole_plan_is_reviewed(court: Court) -> None:
    planning.write_plan(court.where, "Fresh lists", "No stale list", "There is a cache")
    court.reviewer("ann", failing("merge it"), PASS)
    told = court.review(None, max_rounds=2).data
    assert (told["verdict"], told["prompt_id"], told["rounds_left"]) == ("failed", None, 1)
    (kept,) = court.fields("plan.md")["reviews"]
    assert (kept["decision"], kept["suggested_changes"]) == ("needs_changes", "merge it")
    assert court.review(None, max_rounds=2).data["verdict"] == "passed"
    assert "merge it" in court.shown()[1]
    assert court.fields()["review"] is None
    assert court.review(None).data["round"] == 1


def test_rounds_and_questions_of_a_whole_plan_are_its_own(court: Court) -> None:
    court.reviewer("ann", asking("For whom?"), failing())
    came = court.review(None, max_rounds=2)
    assert (came.code, came.data["decision"]) == (3, "clarifying#1")
    assert os.path.basename(came.data["file"]) == "full_review_questions.yaml"
    decide(court, "clarifying", "answered", "for all")
    assert court.review(None, max_rounds=2).data["answered_questions"][0]["answer"] == "for all"
    assert code_of(court, id_=None, max_rounds=2) == "no-rounds-left"
    assert pending(court) == ["rounds"]
    decide(court, "rounds", "retry")
    assert court.review(None, max_rounds=2).data["max_rounds"] == 4


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


def test_what_a_reviewer_used_is_told_and_counted(court: Court) -> None:
    court.reviewer("ann", {"events": [used(0.25, 70), {"type": "final", "text": PASS}]})
    (row,) = court.review().data["reviewers"]
    assert (row["name"], row["verdict"], row["usd"], row["tokens"]) == ("ann", "passed", 0.25, 70)
    assert (row["why"], row["retries"]) == ("", 0)
    assert row["seconds"] > 0
    (fact,) = court.facts("ReviewEnded")
    assert (fact["usd"], fact["tokens"]) == (0.25, 70)


def test_the_plan_is_the_same_from_the_worktree_of_the_prompt(court: Court) -> None:
    there = places.find(str(court.work))
    assert place.current(there).branch == "feat/x"
    came = reviewing.review(there, Wanted(ONE, ("ann",)))
    assert came.data["verdict"] == "passed"
    assert BRANCH in court.git("worktree", "list")


def test_a_wrong_script_passes_nothing(court: Court, tmp_path: Path) -> None:
    told = court.review(by="scripted", script=str(tmp_path / "none.yaml")).data
    assert (told["verdict"], "cannot be read" in told["why"]) == ("error", True)


def test_settings_that_cannot_be_read_are_said_before_anybody_is_asked(court: Court) -> None:
    court.configure("[review]\nmax_rounds = 0\n")
    with pytest.raises((UsageError, PorchError)):
        court.review()
    assert court.shown() == []
