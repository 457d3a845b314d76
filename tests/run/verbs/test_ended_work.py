"""Checks and reviews of a run are listed as they ended, also those with long words."""

from porch.run.verbs.ended_work import _make_work


def test_a_check_that_was_flaky_and_long_says_so() -> None:
    kept = {"$sha256": "a" * 64, "size": 9000, "clip": "it began"}
    fact = {
        "is": "CheckEnded",
        "effect": "one:checks#2/check/test/0",
        "result": "passed",
        "report": kept,
        "reused": True,
        "flaky": True,
        "seconds": 1.5,
    }
    told = _make_work({"seq": 7, "at": "2026-01-19T10:41:00Z", "fact": fact})
    assert (told.kind, told.position, told.name, told.result) == (
        "check",
        "one:checks#2",
        "test",
        "passed",
    )
    assert told.said.startswith("it began ...")
    assert told.notes == ("no file changed since", "failed and then passed on the same files")


def test_a_reviewer_who_gave_no_verdict_says_why() -> None:
    fact = {
        "is": "ReviewEnded",
        "effect": "one:consult#1/review/codex/0",
        "verdict": "ABSTAIN",
        "why": "no answer",
    }
    told = _make_work({"seq": 8, "at": "", "fact": fact})
    assert (told.kind, told.name, told.result, told.notes) == (
        "review",
        "codex",
        "ABSTAIN",
        ("no answer",),
    )
