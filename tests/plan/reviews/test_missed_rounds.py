"""Rounds in which nobody could answer are not charged, and a person is told why there is none."""

import time
from typing import Any

import pytest

from porch.errors import FailedError
from porch.plan.reviews.missed_rounds import MOST_MISSED
from tests.plan.courts import PASS, Court, failing


def refused(court: Court, **wanted: Any) -> str:
    with pytest.raises(FailedError) as caught:
        court.review(**wanted)
    assert caught.value.findings[0].code == "no-rounds-left"
    return caught.value.findings[0].message


@pytest.mark.req("E-031")
def test_rounds_without_a_verdict_are_not_charged_and_after_three_a_person_is_told_why(
    court: Court,
) -> None:
    """E6"""
    home = court.reviewer("ann", {"say": "no memory", "exit": 1}, {"exit": 1})
    for _ in range(MOST_MISSED):
        told = court.review().data
        assert (told["verdict"], told["rounds_left"]) == ("error", 5)
    assert court.fields()["review_rounds"] == 0
    asked = len(court.shown())
    said = refused(court)
    assert "3 reviews of 1 in a row gave no verdict" in said
    assert "1 of 1 reviewers could not answer: ann: crashed" in said
    assert "did not pass" not in said
    (posed,) = court.facts("QuestionPosed")
    assert posed["payload"]["reason"] in said
    assert refused(court) == said, "it is asked once, and stays asked"
    assert len(court.facts("QuestionPosed")) == 1
    assert len(list(home.glob("prompt-*"))) == asked, "nobody is paid"


def test_a_verdict_ends_the_count_of_rounds_without_one(court: Court) -> None:
    """E6"""
    crash = {"exit": 1}
    court.reviewer("ann", *[crash] * 4, failing("name it"), *[crash] * 4, PASS)
    verdicts = [court.review().data["verdict"] for _ in range(6)]
    assert verdicts == ["error", "error", "failed", "error", "error", "passed"]


@pytest.mark.parametrize(
    "step, calls",
    [
        ({"exit": 1}, 2),
        ("Looks fine.", 2),
        ({"events": [{"type": "failed", "kind": "auth", "text": "who?"}]}, 1),
        ({"say": PASS, "sleep": 60}, 1),
    ],
    ids=["crash", "unreadable", "no login", "timeout"],
)
def test_how_often_a_reviewer_is_asked_in_one_round(court: Court, step: Any, calls: int) -> None:
    """E6, Q8"""
    court.reviewer("ann", step)
    court.configure("[roles.reviewer]\ntimeout = 2\n")
    assert court.review().data["verdict"] == "error"
    assert len(court.shown()) == calls


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_with_the_reason(
    court: Court,
) -> None:
    """E6"""
    court.reviewer("ann", "Looks fine.", PASS)
    assert court.review().data["verdict"] == "passed"
    first, second = court.shown()
    assert second.startswith(first)
    assert "Your last answer could not be read: there is no complete JSON object" in second


def test_a_hanging_reviewer_is_over_when_the_time_of_the_call_is(court: Court) -> None:
    """E6"""
    court.reviewer("ann", {"say": PASS, "sleep": 60})
    began = time.monotonic()
    told = court.review(reviewers_s=2).data
    assert (told["verdict"], "timeout" in told["why"]) == ("error", True)
    assert time.monotonic() - began < 25
    assert court.processes() == []
    assert len(court.shown()) == 1


def test_who_is_not_logged_in_is_not_asked_and_the_others_are(
    court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q9"""
    for name in ("CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(court.bench))
    programs = court.bench / "programs"
    programs.mkdir()
    (programs / "codex").write_text(
        '#!/bin/sh\ntest "$*" = "login status" && echo "Not logged in" && exit 1\n'
        "touch $HOME/codex-was-started\n"
    )
    (programs / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    court.configure('[review]\nagents = ["codex", "ann"]\n')
    told = court.review(by="").data
    assert told["verdict"] == "passed"
    assert told["notes"] == ["not logged in, so not asked: codex; reviewed by ann"]
    assert not (court.bench / "codex-was-started").exists()
