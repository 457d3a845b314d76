"""Reviews: fail closed, refused before anybody is paid, and kept where they belong."""

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from porch.errors import BusyError, DefinitionError, FailedError, OutsideError, PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims
from porch.plan.files import plan_location
from porch.plan.prompts import plan_document, prompt_edits
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.reviews import review
from porch.plan.reviews.review import ReviewRequest
from porch.plan.reviews.review_round import begin_round
from porch.plan.reviews.reviewer_turns import collect_reviews
from porch.plan.session import plan_session
from porch.run import settings
from porch.run.trust_requests import UntrustedSettingsError
from porch.store import where as places
from porch.store.lock import RunLock
from tests.plan.courts import (
    BRANCH,
    ONE,
    PASS,
    Court,
    answer,
    came_of,
    failing,
    used,
)
from tests.repositories import ACCOUNT

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
    assert (begun["who"], moved["who"]) == (ACCOUNT, ACCOUNT)


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
    "another word": (answer("approved"), "not a verdict"),
    "something behind": (f"{PASS}\n\nBut look at it again.", "after the object"),
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
    # Rounds are for verdicts; those without one are counted on their own.
    assert (told["rounds_left"], fields["review_rounds"]) == (5, 0)
    assert told["notes"] == ["no round was charged, because there was no verdict"]


def test_whoever_takes_too_long_has_passed_nothing(court: Court) -> None:
    home = court.reviewer("ann", {"say": PASS, "sleep": 60})
    court.configure("[roles.reviewer]\ntimeout = 0.5\n")
    told = court.review().data
    assert (told["verdict"], "timeout" in told["why"]) == ("error", True)
    assert (home / "begun-0").exists()
    assert court.processes() == []


def test_nobody_is_paid_where_a_reviewer_is_not_installed(court: Court) -> None:
    court.configure('[agents.eve]\ncommand = ["no-such-command-anywhere"]\n')
    before = len(court.records())
    with pytest.raises(OutsideError) as caught:
        court.review(by="ann,eve")
    (found,) = caught.value.findings
    assert (found.code, caught.value.exit_code) == ("agent-missing", 6)
    said = "the reviewer 'eve' is not installed: no `no-such-command-anywhere` on PATH"
    assert found.message == said
    assert "--by or [review] agents" in str(found.fix)
    assert "--agent" not in str(found.fix)
    assert court.shown() == []
    assert len(court.records()) == before
    assert court.fields()["review_rounds"] == 0


def test_x6_no_reviewer_is_started_by_settings_that_nobody_trusts(court: Court) -> None:
    path = court.root / "codev" / "config.toml"
    path.write_text(path.read_text() + '\n[agents.eve]\ncommand = ["true"]\n')
    before = len(court.records())
    with pytest.raises(UntrustedSettingsError):
        court.review(by="ann")
    assert court.shown() == []
    assert len(court.records()) == before


def test_a_reviewer_who_goes_while_another_asks_has_passed_nothing(
    court: Court, tmp_path: Path
) -> None:
    """What was there when the round began may be gone when its turn comes."""
    eve = tmp_path / "eve"
    eve.write_text("#!/bin/sh\n")
    eve.chmod(0o755)
    court.configure(f'[agents.eve]\ncommand = ["{eve}"]\n')
    known = settings.load_settings(court.where.root)
    wanted = ReviewRequest(ONE, ("eve",))
    with plan_session.hold_plan(court.where) as held:
        round_ = begin_round(held, wanted, known)
    eve.unlink()
    (told,) = collect_reviews(plan_location.find_current_plan(court.where), known, "1", round_)
    assert told.answer.verdict == "error"
    assert "the reviewer 'eve' is not installed" in told.answer.why


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
    assert review.split_names("ann, bob,,ann") == ("ann", "bob")


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


def test_a_branch_without_a_plan_says_so(where: places.ProjectPaths) -> None:
    with pytest.raises(FailedError) as caught:
        review.review_work(where, ReviewRequest(ONE, ("ann",)))
    assert caught.value.findings[0].code == "no-plan"


def test_a_prompt_that_is_not_there_or_not_done_is_not_reviewed(court: Court) -> None:
    assert code_of(court, id_=PromptId(7)) == "not-found"
    prompt_edits.write_prompt(court.where, PromptId(2), PromptWords(description="later"))
    assert code_of(court, id_=PromptId(2)) == "invalid-status"
    assert court.shown() == []


def test_what_was_set_aside_by_force_is_in_the_journal(court: Court) -> None:
    second = PromptId(2)
    prompt_edits.write_prompt(court.where, second, PromptWords(description="later"))
    court.git("branch", "feat/x--implementation-2")
    prompt_claims.start_prompt(court.where, second, "backend")
    assert court.review(second, force=True).data["verdict"] == "passed"
    begun = [f for f in court.facts("PlanMoved") if f["action"] == "review-begun"]
    assert [fact.get("forced") for fact in begun] == [["invalid-status"]]
    assert court.fields("prompts/2.md")["status"] == "unimplemented"


def _edited(court: Court, old: str, new: str, name: str = "prompts/1.md") -> None:
    path = court.home / name
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_what_people_wrote_among_the_reviews_is_read_and_not_lost(court: Court) -> None:
    _edited(court, "reviews: []", 'reviews: [{suggested_changes: "name it"}, {}, half]')
    _edited(court, "  changes: []", "  changes: [{}, half]")
    assert court.review().data["verdict"] == "passed"
    assert "name it" in court.shown()[0]
    assert [*court.fields()["reviews"]][1:3] == [{}, "half"]
    assert len(court.fields()["reviews"]) == 4


def test_fields_that_cannot_be_read_are_said_before_anybody_is_paid(court: Court) -> None:
    _edited(court, "reviews: []", "reviews: none")
    assert code_of(court) == "bad-front-matter"
    assert court.shown() == []
    _edited(court, "reviews: none", "reviews:")
    assert court.review().data["verdict"] == "passed"
    assert [each["decision"] for each in court.fields()["reviews"]] == ["approved"]


def test_what_people_wrote_on_the_plan_is_read_and_not_lost(court: Court) -> None:
    plan_document.write_plan(court.where, "Fresh lists", "No stale list", "There is a cache")
    _edited(court, "reviews: []", "reviews: none", "plan.md")
    assert court.review(None).data["verdict"] == "passed"
    *odd, last = court.fields("plan.md")["reviews"]
    assert (odd, last["decision"]) == (["none"], "approved")


def test_a_prompt_that_was_cleared_meanwhile_has_not_passed(court: Court) -> None:
    # A person does it, so not the command, which refuses reviewers.
    line = (
        "from porch.machine.plan.prompt_ids import PromptId\n"
        "from porch.plan.prompts.prompt_edits import clear_prompt\n"
        "from porch.store.where import find_project\n"
        f"clear_prompt(find_project({str(court.root)!r}), PromptId(1), force=True)\n"
    )
    script = court.script({"run": [sys.executable, "-c", line], "raw": PASS})
    assert code_of(court, by="scripted", script=script) == "not-found"
    # What it cost is counted all the same.
    assert len(court.facts("ReviewEnded")) == 1


def test_work_that_was_recorded_meanwhile_has_not_been_reviewed(court: Court) -> None:
    words = ("plan", "record-implementation", "1", "--iteration", "2", "--walkthrough", "more")
    command = _envoy(court, *words, "--refinement-reason", "Testing: it failed")
    line = f"import os; os.system({command!r})"
    script = court.script({"run": [sys.executable, "-c", line], "raw": PASS})
    told = court.review(by="scripted", script=script).data
    assert (told["verdict"], "in the meantime" in told["why"]) == ("error", True)
    fields = court.fields()
    assert (fields["status"], fields["current_iteration"]) == ("implemented", 2)
    assert fields["review"] is None


def _envoy(court: Court, *words: str) -> str:
    code = "from porch.cli.dispatch import envoy; exit(envoy())"
    return (
        f"cd {shlex.quote(str(court.root))} && {shlex.join([sys.executable, '-c', code, *words])}"
    )


def test_a_whole_plan_is_reviewed(court: Court) -> None:
    plan_document.write_plan(court.where, "Fresh lists", "No stale list", "There is a cache")
    court.reviewer("ann", failing("merge it"), PASS)
    told = court.review(None, max_rounds=2).data
    assert (told["verdict"], told["prompt_id"], told["rounds_left"]) == ("failed", None, 1)
    (kept,) = court.fields("plan.md")["reviews"]
    assert (kept["decision"], kept["suggested_changes"]) == ("needs_changes", "merge it")
    assert court.review(None, max_rounds=2).data["verdict"] == "passed"
    assert "merge it" in court.shown()[1]
    assert court.fields()["review"] is None
    assert court.review(None).data["round"] == 1


def test_what_a_reviewer_used_is_told_and_counted(court: Court) -> None:
    court.reviewer("ann", {"events": [used(0.25, 70), {"type": "final", "text": PASS}]})
    (row,) = court.review().data["reviewers"]
    assert (row["name"], row["verdict"], row["usd"], row["tokens"]) == ("ann", "passed", 0.25, 70)
    assert (row["why"], row["retries"]) == ("", 0)
    assert row["seconds"] > 0
    (fact,) = court.facts("ReviewEnded")
    assert (fact["usd"], fact["tokens"]) == (0.25, 70)


def test_the_plan_is_the_same_from_the_worktree_of_the_prompt(court: Court) -> None:
    there = places.find_project(str(court.work))
    assert plan_location.find_current_plan(there).branch == "feat/x"
    came = came_of(review.review_work(there, ReviewRequest(ONE, ("ann",))))
    assert came.data["verdict"] == "passed"
    assert BRANCH in court.git("worktree", "list")


def test_a_wrong_script_passes_nothing(court: Court, tmp_path: Path) -> None:
    told = court.review(by="scripted", script=str(tmp_path / "none.yaml")).data
    assert (told["verdict"], "cannot be read" in told["why"]) == ("error", True)


def test_settings_that_cannot_be_read_are_said_before_anybody_is_asked(court: Court) -> None:
    court.configure("[review]\nmax_rounds = 0\n")
    with pytest.raises(DefinitionError, match="max_rounds"):
        court.review()
    assert court.shown() == []
