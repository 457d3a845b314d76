"""The log that people read."""

from typing import Any

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.status_log import has_entries, position_label, render_log_entries
from porch.testing import Rig

WISH = f.Wish(id="w", kind="decide", position="gate#1", exit="approved", text="fine", who="ada")


@pytest.mark.parametrize(
    "fact,said",
    [
        (
            f.ExitAccepted(effect="e", exit="done", signal="DONE"),
            {"event": "signal", "signal": "DONE"},
        ),
        (
            f.ExitAccepted(effect="e", exit="done", notes=("odd",)),
            {"signal": "done", "notes": ["odd"]},
        ),
        (f.TurnEndedSilent(effect="e", notes=("odd",)), {"event": "no_signal", "notes": ["odd"]}),
        (
            f.EffectFailed(effect="e", why="crash"),
            {"event": "effect_failed", "effect": "e", "why": "crash"},
        ),
        (f.EffectInterrupted(effect="e"), {"event": "interrupted", "effect": "e"}),
        (f.EffectStopped(effect="e"), {"event": "stopped", "effect": "e"}),
        (f.RunnerStarted(host="h", boot="b", pid=1, release="0"), {"event": "started"}),
        (
            f.RunnerStarted(host="h", boot="b", pid=1, release="0", resumed=True),
            {"event": "resumed"},
        ),
        (f.RunAdopted(state="s", notes=("n",)), {"event": "adopted", "notes": ["n"]}),
        (
            f.JournalRepaired(kept=3, lost_bytes=9, aside="x"),
            {"event": "repaired", "kept": 3, "lost_bytes": 9},
        ),
        (f.StatusEdited(aside="x"), {"event": "status_edited", "aside": "x"}),
        (
            f.BudgetReached(position="s#1", budget="run.max_usd", spent=1.5, limit=1.0, step=0.5),
            {"event": "budget_reached", "budget": "run.max_usd", "spent": 1.5, "limit": 1.0},
        ),
        (
            f.CheckEnded(effect="i/s:one#1/check/lint/all/0", result="failed"),
            {"event": "check", "check": "lint/all", "result": "failed"},
        ),
        (
            f.ReviewEnded(effect="s#1/review/gemini/0", verdict="APPROVE"),
            {"event": "review", "model": "gemini", "verdict": "APPROVE"},
        ),
        (f.CheckEnded(effect="rubbish", result="passed"), {"event": "check", "check": "rubbish"}),
        (
            f.DecisionAsked(effect="inst/gate#2/ask/ok/0", digest="d"),
            {"event": "asked", "decision": "inst/gate#2"},
        ),
        (
            f.WishTaken(wish=WISH),
            {"event": "wish", "wish": "approved", "for": "gate", "by": "ada", "text": "fine"},
        ),
        (
            f.WishTaken(wish=f.Wish(id="w", kind="stop", who="bob")),
            {"wish": "stop", "for": "", "by": "bob"},
        ),
        (f.WishRefused(wish=WISH, reason="too late"), {"event": "refused", "reason": "too late"}),
    ],
)
def test_a_fact_is_told_in_the_words_of_the_status_file(fact: f.Fact, said: Any) -> None:
    record = JournalRecord(1, "t1", fact)
    (entry,) = render_log_entries(record)
    assert entry["ts"] == "t1"
    assert said.items() <= entry.items()
    assert has_entries(record)


@pytest.mark.parametrize(
    "fact",
    [
        f.RunStarted(run="r", id="1", title="t", protocol="p", digest="d"),
        f.ItemsRead(effect="e", reading="json", items=(), digest="d"),
        f.FeedbackWritten(effect="e", path="p"),
        f.TimerFired(effect="e"),
        f.CommitEnded(effect="e"),
    ],
)
def test_some_facts_are_told_only_by_what_they_moved(fact: f.Fact) -> None:
    quiet = JournalRecord(1, "t", fact, (m.Settled("e"),))
    assert (list(render_log_entries(quiet)), has_entries(quiet)) == ([], False)
    for move in (m.Entered("a:b#1", "a", 1, "b"), m.Ended("complete")):
        moved = JournalRecord(1, "t", fact, (m.Settled("e"), move))
        assert has_entries(moved)
        assert len(list(render_log_entries(moved))) == 1


def test_a_change_of_state_says_from_where_to_where(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    assert list(render_log_entries(rig.records[0])) == [
        {"ts": rig.records[0].at, "event": "state_change", "from": None, "to": "specify:draft"}
    ]
    assert list(render_log_entries(rig.records[1])) == [
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
    fact = f.ExitAccepted(effect="e", exit="done")
    said = list(
        render_log_entries(JournalRecord(1, "t", fact, (m.Left("a#1"), m.Ended("complete"))))
    )
    assert said[0]["result"] == "complete"
    assert said[1] == {"ts": "t", "event": "state_change", "from": "a", "to": "complete"}


def test_a_label_is_a_position_without_its_visit() -> None:
    assert position_label("implement:phase_2#3") == "implement:phase_2"
    assert position_label("nothing") == "nothing"
