"""Reviewers at work: all at once, none trusted, asked again where a vendor was only busy."""

import json
from typing import Any

import pytest

from porch.machine import facts as f
from porch.plan.reviews.review_answers import ReviewAnswer, VerdictWord
from porch.plan.reviews.reviewer_turns import (
    RETRIES,
    CombinedReview,
    ReviewerResult,
    combine_reviews,
)
from tests.plan.courts import PASS, Court, answer, asking, failing

KEY = "sk-live-0123456789abcdefghijklmnop"


def told(name: str, verdict: VerdictWord, **more: Any) -> ReviewerResult:
    words = {"thoughts": "", "why": "", **more}
    return ReviewerResult(
        name, ReviewAnswer(verdict, **words), f.ReviewEnded(effect=f"e/{name}", verdict="ABSTAIN")
    )


@pytest.mark.parametrize(
    "verdicts, whole",
    [
        (["passed"], "passed"),
        (["passed", "passed"], "passed"),
        (["passed", "failed", "passed"], "failed"),
        (["passed", "error"], "error"),
        (["error", "failed"], "failed"),
        ([], "error"),
    ],
)
def test_one_objection_is_enough_and_one_silence_keeps_it_from_passing(
    verdicts: list[VerdictWord], whole: str
) -> None:
    assert combine_reviews([told(str(n), v) for n, v in enumerate(verdicts)]).verdict == whole


def test_what_several_say_is_told_by_name_and_what_one_says_as_it_is() -> None:
    one = told("ann", "failed", thoughts="no", suggested_changes="a", questions=("x?", "y?"))
    two = told("bob", "error", why="crashed", questions=("y?", "z?"))
    three = told("cai", "failed", suggested_changes="b")
    assert combine_reviews([one]) == CombinedReview("failed", "no", "a", ("x?", "y?"), "")
    assert combine_reviews([one, two, three]) == CombinedReview(
        "failed", "ann:\nno", "ann:\na\n\ncai:\nb", ("x?", "y?", "z?"), "bob: crashed"
    )
    assert combine_reviews([two]).thoughts == ""


def test_a_panel_works_at_once_and_one_objection_is_enough(court: Court) -> None:
    ann, bob = court.bench / "ann", court.bench / "bob"
    # Each of them ends only when the other has begun.
    court.reviewer("ann", {"say": PASS, "after": [str(bob / "begun-0")]})
    court.reviewer("bob", {"say": failing("name it"), "after": [str(ann / "begun-0")]})
    data = court.review(by="ann,bob").data
    assert data["verdict"] == "failed"
    assert [(e["name"], e["verdict"]) for e in data["reviewers"]] == [
        ("ann", "passed"),
        ("bob", "failed"),
    ]
    assert (data["thoughts"], data["suggested_changes"]) == (
        "ann:\nI read all of it\n\nbob:\nI read it",
        "bob:\nname it",
    )
    assert court.fields()["reviews"][0]["reviewers"] == ["ann", "bob"]
    assert court.shown("ann") == court.shown("bob")
    assert len(court.facts("ReviewEnded")) == 2


def test_a_panel_of_which_one_cannot_be_read_has_not_passed(court: Court) -> None:
    court.reviewer("bob", "It is fine.")
    data = court.review(by="ann,bob").data
    assert (data["verdict"], data["why"].startswith("bob: ")) == ("error", True)
    assert court.fields()["status"] == "implemented"


def test_questions_of_all_are_asked_together(court: Court) -> None:
    court.reviewer("ann", asking("Which login?", "How long?"))
    court.reviewer("bob", asking("How long?", "For whom?"))
    court.review(by="ann,bob")
    (posed,) = court.facts("QuestionPosed")
    assert posed["payload"]["questions"] == ["Which login?", "How long?", "For whom?"]


@pytest.mark.parametrize("kind", ["rate_limit", "server", "crashed"])
def test_a_vendor_that_was_busy_is_asked_again(court: Court, kind: str) -> None:
    busy = {"fail": kind, "usage": {"usd": 0.5, "tokens": 5}}
    script = court.script({"tries": [busy, {"raw": PASS, "usage": {"usd": 0.25, "tokens": 2}}]})
    data = court.review(by="scripted", script=script).data
    assert data["verdict"] == "passed"
    (row,) = data["reviewers"]
    # What the vendor took for the first try is paid, too.
    assert (row["retries"], row["usd"], row["tokens"]) == (1, 0.75, 7)
    assert court.facts("ReviewEnded")[0]["usd"] == 0.75
    assert data["round"] == 1


def test_a_vendor_that_stays_busy_has_passed_nothing(court: Court) -> None:
    witness = court.bench / "witness"
    script = court.script({"fail": "rate_limit"}, witness=str(witness))
    data = court.review(by="scripted", script=script).data
    assert (data["verdict"], data["reviewers"][0]["retries"]) == ("error", RETRIES)
    assert "rate_limit" in data["why"]
    assert len(witness.read_text().splitlines()) == RETRIES + 1


@pytest.mark.parametrize("kind", ["auth", "refused"])
def test_what_will_not_get_better_is_not_asked_again(court: Court, kind: str) -> None:
    data = court.review(by="scripted", script=court.script({"fail": kind})).data
    assert (data["verdict"], data["reviewers"][0]["retries"]) == ("error", 0)
    assert kind in data["why"]


def test_whoever_reviews_may_only_read(court: Court) -> None:
    court.review(by="ann")
    (terms,) = (court.run_dir / "turns").glob("*/turn.json")
    assert json.loads(terms.read_text())["permissions"] == ["read:*"]


def test_the_scripted_reviewer_answers_by_prompt_and_round(court: Court) -> None:
    path = court.bench / "by-prompt.yaml"
    answers = [{"raw": failing("again")}, {"raw": PASS}]
    path.write_text(json.dumps({"reviews": {"review:1": {"scripted": answers}}}))
    told = [court.review(by="scripted", script=str(path)).data["verdict"] for _ in range(2)]
    assert told == ["failed", "passed"]
    # Without a script it says what panels of `porch run` understand, which is no answer here.
    assert court.review(by="scripted").data["verdict"] == "error"


@pytest.mark.parametrize("kind", ["thoughts", "changes", "question", "crash"])
def test_a_secret_that_a_reviewer_says_is_kept_nowhere(
    court: Court, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANN_API_KEY", KEY)
    said: dict[str, Any] = {
        "thoughts": answer(thoughts=f"the key is {KEY}"),
        "changes": failing(f"remove {KEY}"),
        "question": asking(f"why {KEY}?"),
        "crash": {"events": [{"type": "failed", "text": f"bad key {KEY}"}]},
    }
    court.reviewer("eve", said[kind])
    data = court.review(by="eve").data
    assert data["state"] == ("pending" if kind == "question" else "answered")
    assert KEY not in json.dumps(data)
    kept = [p for top in (court.run_dir, court.home) for p in top.rglob("*") if p.is_file()]
    assert [str(p) for p in kept if KEY.encode() in p.read_bytes()] == []
    assert len(kept) > 10
