"""The log that people read."""

from typing import Any

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.history import entries, is_told, label
from porch.machine.records import Record
from porch.testing import Rig

WISH = f.Wish("w", "decide", "gate#1", "approved", "fine", who="ada")


@pytest.mark.parametrize(
    "fact,said",
    [
        (f.ExitAccepted("e", "done", signal="DONE"), {"event": "signal", "signal": "DONE"}),
        (f.ExitAccepted("e", "done", notes=("odd",)), {"signal": "done", "notes": ["odd"]}),
        (f.TurnEndedSilent("e", ("odd",)), {"event": "no_signal", "notes": ["odd"]}),
        (f.EffectFailed("e", "crash"), {"event": "effect_failed", "effect": "e", "why": "crash"}),
        (f.EffectInterrupted("e"), {"event": "interrupted", "effect": "e"}),
        (f.EffectStopped("e"), {"event": "stopped", "effect": "e"}),
        (f.RunnerStarted("h", "b", 1, "0"), {"event": "started"}),
        (f.RunnerStarted("h", "b", 1, "0", True), {"event": "resumed"}),
        (f.RunAdopted("s", notes=("n",)), {"event": "adopted", "notes": ["n"]}),
        (f.JournalRepaired(3, 9, "x"), {"event": "repaired", "kept": 3, "lost_bytes": 9}),
        (f.StatusEdited("x"), {"event": "status_edited", "aside": "x"}),
        (
            f.BudgetReached("s#1", "run.max_usd", 1.5, 1.0, 0.5),
            {"event": "budget_reached", "budget": "run.max_usd", "spent": 1.5, "limit": 1.0},
        ),
        (
            f.CheckEnded("i/s:one#1/check/lint/all/0", "failed"),
            {"event": "check", "check": "lint/all", "result": "failed"},
        ),
        (
            f.ReviewEnded("s#1/review/gemini/0", "APPROVE"),
            {"event": "review", "model": "gemini", "verdict": "APPROVE"},
        ),
        (f.CheckEnded("rubbish", "passed"), {"event": "check", "check": "rubbish"}),
        (
            f.DecisionAsked("inst/gate#2/ask/ok/0", "d"),
            {"event": "asked", "decision": "inst/gate#2"},
        ),
        (
            f.WishTaken(WISH),
            {"event": "wish", "wish": "approved", "for": "gate", "by": "ada", "text": "fine"},
        ),
        (f.WishTaken(f.Wish("w", "stop", who="bob")), {"wish": "stop", "for": "", "by": "bob"}),
        (f.WishRefused(WISH, "too late"), {"event": "refused", "reason": "too late"}),
    ],
)
def test_a_fact_is_told_in_the_words_of_the_status_file(fact: f.Fact, said: Any) -> None:
    record = Record(1, "t1", fact)
    (entry,) = entries(record)
    assert entry["ts"] == "t1"
    assert said.items() <= entry.items()
    assert is_told(record)


@pytest.mark.parametrize(
    "fact",
    [
        f.RunStarted("r", "1", "t", "p", "d"),
        f.ItemsRead("e", "json", (), "d"),
        f.FeedbackWritten("e", "p"),
        f.TimerFired("e"),
        f.CommitEnded("e"),
    ],
)
def test_some_facts_are_told_only_by_what_they_moved(fact: f.Fact) -> None:
    quiet = Record(1, "t", fact, (m.Settled("e"),))
    assert (list(entries(quiet)), is_told(quiet)) == ([], False)
    for move in (m.Entered("a:b#1", "a", 1, "b"), m.Ended("complete")):
        moved = Record(1, "t", fact, (m.Settled("e"), move))
        assert is_told(moved)
        assert len(list(entries(moved))) == 1


def test_a_change_of_state_says_from_where_to_where(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    assert list(entries(rig.records[0])) == [
        {"ts": rig.records[0].at, "event": "state_change", "from": None, "to": "specify:draft"}
    ]
    assert list(entries(rig.records[1])) == [
        {
            "ts": rig.records[1].at,
            "event": "signal",
            "signal": "SPEC_DRAFTED",
            "result": "specify:check",
        },
        {
            "ts": rig.records[1].at,
            "event": "state_change",
            "from": "specify:draft",
            "to": "specify:check",
        },
    ]


def test_a_signal_that_ends_the_run_says_how(rig: Rig) -> None:
    fact = f.ExitAccepted("e", "done")
    said = list(entries(Record(1, "t", fact, (m.Left("a#1"), m.Ended("complete")))))
    assert said[0]["result"] == "complete"
    assert said[1] == {"ts": "t", "event": "state_change", "from": "a", "to": "complete"}


def test_a_label_is_a_position_without_its_visit() -> None:
    assert label("implement:phase_2#3") == "implement:phase_2"
    assert label("nothing") == "nothing"
