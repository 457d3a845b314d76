"""What the first page says of many runs and of odd ones, without any of them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from porch.run.decisions.decision_facts import WorkMeasure
from porch.show.evidence_notes import TITLE
from porch.web.pages.decision_cards import KnownWork, ShownProject, describe_message
from porch.web.pages.inbox_groups import make_inbox
from porch.web.pages.page_words import describe_seconds, describe_time_since

NOW = datetime(2026, 1, 19, 11, 3, tzinfo=UTC)


def row(number: int, group: str, **more: Any) -> dict[str, Any]:
    known = {"group": group, "run": f"{number:04}-x", "id": f"{number:04}", "title": "x"}
    return {**known, "protocol": "p", "state": "complete", "told": "", **more}


def decision(asked_at: str = "2026-01-19T10:41:00Z", **more: Any) -> dict[str, Any]:
    known = {"run": "0001-x", "id": "0001", "title": "x", "position": "one:gate#1"}
    return {**known, "kind": "gate", "name": "go", "asked_at": asked_at, **more}


def project(rows: list[dict[str, Any]], decisions: list[dict[str, Any]], key: str = "p") -> Any:
    return ShownProject(key, key, rows, decisions)


def test_the_oldest_decision_of_all_projects_comes_first_with_how_long_it_waits() -> None:
    one = project([], [decision("2026-01-19T10:41:00Z"), decision("2026-01-19T11:02:30Z")], "a")
    two = project([], [decision("2026-01-18T10:00:00Z")], "b")
    told = make_inbox([one, two], NOW)
    assert told["sentence"] == "3 decisions wait for you."
    assert [(each["project"], each["waited"]) for each in told["waiting"]["rows"]] == [
        ("b", "1 day"),
        ("a", "22 min"),
        ("a", "30 s"),
    ]


def test_ten_thousand_runs_are_shown_by_their_beginning_and_by_the_hundred() -> None:
    many = project([row(number, "over") for number in range(10_000)], [])
    first = make_inbox([many], NOW)["sections"][0]
    assert (len(first["rows"]), first["total"], first["has_more"]) == (10, 10_000, True)
    part = make_inbox([many], NOW, group="over", start=9_950)["sections"][0]
    assert (len(part["rows"]), part["earlier"], part["later"]) == (50, 9_850, None)
    beyond = make_inbox([many], NOW, group="over", start=1_000_000)["sections"][0]
    assert [each["id"] for each in beyond["rows"]] == ["9999"]
    assert make_inbox([many], NOW, group="waiting")["sections"] == []


def test_what_is_wrong_with_the_evidence_is_said_in_words() -> None:
    told = decision(
        needs_override=True,
        reason="build failed",
        measured={"skipped": ["lint"], "unmeasured": ["test"]},
        findings=[{"by": "codex", "finding": "no"}],
        reviews=["review: 1 of 3"],
        reports={TITLE: "conftest.py"},
        problems=["no answer"],
        stale=True,
    )
    card = make_inbox([project([], [told])], NOW)["waiting"]["rows"][0]
    assert [(chip["look"], chip["text"]) for chip in card["chips"]] == [
        ("bad", "a check or review failed"),
        ("bad", "your answer cannot be used yet"),
        ("warn", "skipped: lint"),
        ("warn", "unmeasured: test"),
        ("warn", "1 finding"),
        ("warn", "reviews incomplete"),
        ("warn", TITLE),
        ("warn", "waits too long"),
    ]


def chips_of(told: dict[str, Any], known: KnownWork) -> list[tuple[str, str]]:
    context = make_inbox([project([], [told])], NOW, find_work=lambda all_: {all_[0]: known})
    card = context["waiting"]["rows"][0]
    return [(chip["look"], chip["text"]) for chip in card["chips"]]


def test_checks_are_called_fresh_only_where_it_was_measured() -> None:
    told = decision(measured={"passed": ["build", "test"], "reviews": ["3 of 3 approved"]})
    reviews = ("good", "3 of 3 approved")
    assert chips_of(told, KnownWork()) == [("good", "2 checks passed"), reviews]
    lines = WorkMeasure(files=2, added=1200, removed=4, fresh=("build",), stale=("test",))
    assert chips_of(told, KnownWork(lines)) == [
        ("good", "1 check passed on these files"),
        ("warn", "1 check out of date"),
        reviews,
        ("plain", "+1,200 -4 lines"),
    ]
    nothing = WorkMeasure(files=0, added=0, removed=0)
    assert chips_of(decision(), KnownWork(nothing)) == [("plain", "no file changed")]


@pytest.mark.parametrize(
    "cost,words",
    [
        ({"turns": 3, "usd": 0.456}, "0.46 USD, 3 agent turns"),
        ({"turns": 1, "usd": 0}, "1 agent turn, no price reported"),
        ({"turns": 0, "usd": 0}, ""),
    ],
)
def test_an_agent_that_tells_no_price_is_not_called_free(cost: dict[str, Any], words: str) -> None:
    known = KnownWork(None, cost)
    context = make_inbox([project([], [decision()])], NOW, find_work=lambda all_: {all_[0]: known})
    assert context["waiting"]["rows"][0]["cost"] == words


@pytest.mark.parametrize(
    "known,message",
    [
        ({"description": "Spec ready\nmore"}, "Spec ready"),
        ({"artifacts": ["a/spec.md"]}, "spec.md is ready"),
        ({"artifacts": ["a/spec.md", "b/plan.md"]}, "spec.md and plan.md are ready"),
        # T4: it was ready although nobody had written it.
        ({"artifacts": ["a/spec.md"], "missing": ["a/spec.md"]}, "spec.md is missing"),
        ({"question": "one: go"}, "one: go"),
        ({}, "go"),
        ({"kind": "question", "artifacts": ["a.md"], "question": "Which?"}, "Which?"),
    ],
)
def test_what_is_asked_is_one_sentence(known: dict[str, Any], message: str) -> None:
    assert describe_message(decision(**known)) == message


def test_a_run_that_failed_does_not_look_like_one_that_is_complete() -> None:
    rows = [row(1, "over"), row(2, "over", state="failed"), row(3, "over", state="merged")]
    told = make_inbox([project(rows, [])], NOW)["sections"][0]["rows"]
    assert [each["look"] for each in told] == ["good", "bad", "good"]


@pytest.mark.parametrize(
    "seconds,words",
    [(-5, "0 s"), (59.9, "59 s"), (3599, "59 min"), (3600, "1 h"), (5400, "1 h 30 min")],
)
def test_times_are_told_in_few_words(seconds: float, words: str) -> None:
    assert describe_seconds(seconds) == words


def test_nobody_knows_how_long_ago_an_odd_moment_was() -> None:
    assert describe_time_since("yesterday", NOW) == ""
    assert describe_time_since("2026-01-19T10:41:00", NOW) == ""
    assert describe_time_since("2026-01-10T10:41:00Z", NOW) == "9 days"
