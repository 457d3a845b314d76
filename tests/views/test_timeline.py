"""`porch log`: one line for each record, whatever the record holds."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import Record, encode
from porch.views.timeline import _TELL, lines

AT = "2026-01-19T10:15:00.123Z"
PLACE = "specify:draft#1"
WISH = f.Wish("w1", "decide", "specify:gate#1", "approved", who="ana", channel="cli")


def told(fact: f.Fact, *moves: m.Move) -> str:
    (line,) = lines([encode(Record(12, AT, fact, moves))])
    assert line.startswith("2026-01-19 10:15:00Z    12  ")
    return line.removeprefix("2026-01-19 10:15:00Z    12  ")


def effect(kind: str, name: str) -> str:
    return f"{PLACE}/{kind}/{name}/0"


def settled(kind: str, name: str) -> m.Settled:
    return m.Settled(effect(kind, name))


AGENT, CHECK, REVIEW = (
    effect("agent", "author"),
    effect("check", "build"),
    effect("review", "codex"),
)
CASES: list[tuple[f.Fact, str]] = [
    (
        f.RunStarted("0073-x", "0073", "x", "spider", "d", by="ana"),
        "run 0073-x of spider began by ana",
    ),
    (f.RunStarted("0073-x", "0073", "x", "spider", "d"), "run 0073-x of spider began"),
    (
        f.RunAdopted("plan:draft", notes=("a", "b")),
        "a status file was adopted at plan:draft: a; b",
    ),
    (f.RunAdopted("plan:draft"), "a status file was adopted at plan:draft"),
    (f.RunnerStarted("host", "boot", 7, "1"), "runner started (pid 7 on host)"),
    (f.RunnerStarted("host", "boot", 7, "1", True), "runner resumed (pid 7 on host)"),
    (f.WishTaken(WISH), "approved specify:gate#1 by ana (cli)"),
    (
        f.WishTaken(replace(WISH, as_person=True, text="go")),
        "approved specify:gate#1 by ana (cli) (said to be a person): go",
    ),
    (
        f.WishRefused(replace(WISH, as_person=True), "not asked"),
        "refused: approved specify:gate#1 by ana (cli) (said to be a person): not asked",
    ),
    (f.WishTaken(f.Wish("w", "stop", text="lunch")), "stop by unknown: lunch"),
    (
        f.WishRefused(WISH, "not asked"),
        "refused: approved specify:gate#1 by ana (cli): not asked",
    ),
    (
        f.JournalRepaired(40, 12, "journal.bad-1"),
        "the journal was repaired: 40 records kept, 12 bytes lost (journal.bad-1)",
    ),
    (
        f.StatusEdited("status.edited-1.yaml"),
        "the status file had been edited; that copy is status.edited-1.yaml",
    ),
]
ENDINGS: list[tuple[f.EffectFact, str]] = [
    (f.ExitAccepted(AGENT, "drafted", signal="SPEC_DRAFTED"), "the agent said SPEC_DRAFTED"),
    (f.ExitAccepted(AGENT, "BLOCKED", {"reason": "why?"}), "the agent said BLOCKED: why?"),
    (f.TurnEndedSilent(AGENT), "the agent ended without a signal"),
    (f.EffectFailed(AGENT, "timeout", "after 600 s"), "agent author failed: timeout: after 600 s"),
    (f.EffectFailed(AGENT, "limit", wait_s=59.97), "failed: limit; it is asked again in 60 s"),
    (f.EffectFailed(AGENT, "limit", "429", 600), "limit: 429; it is asked again in 10 min"),
    (f.EffectFailed(AGENT, "limit", wait_s=18000), "failed: limit; it is asked again in 5.0 h"),
    (f.CheckEnded(CHECK, "passed", seconds=1.25), "check build passed in 1.2 s"),
    (f.CheckEnded(CHECK, "passed", reused=True), "check build passed, on evidence that is still"),
    (f.CheckEnded(CHECK, "unmeasured"), "check build unmeasured"),
    (f.ReviewEnded(REVIEW, "APPROVE", "good"), "codex says APPROVE good"),
    (f.ReviewEnded(REVIEW, "ABSTAIN", why="timeout"), "codex says ABSTAIN (timeout)"),
    (
        f.ItemsRead(effect("items", "plan"), "headings", (f.Item("phase_1", "t", "", "d"),), "d"),
        "the plan has phase_1",
    ),
    (f.ItemsRead(effect("items", "plan"), "headings", (), "d"), "the plan has no phases"),
    (f.DecisionAsked(effect("ask", "specify_approval"), "d"), "is asked for specify_approval"),
    (f.FeedbackWritten(effect("feedback", "specify"), "c.md"), "the reviews are in c.md"),
    (f.TimerFired(effect("timer", "delay")), "the wait 'delay' is over"),
    (f.CommitEnded(effect("commit", "specify"), "abcdef0123456789"), "committed abcdef012345"),
    (f.CommitEnded(effect("commit", "specify")), "no change"),
    (f.CommitEnded(effect("commit", "specify"), refused="dirty"), "git refused: dirty"),
]


@pytest.mark.parametrize("fact,line", CASES)
def test_what_is_no_ending_is_told_in_a_sentence(fact: f.Fact, line: str) -> None:
    assert told(fact) == line


@pytest.mark.parametrize("fact,line", ENDINGS)
def test_an_ending_names_its_position_and_where_the_run_moved(
    fact: f.EffectFact, line: str
) -> None:
    moved = (m.Settled(fact.effect), m.Left(PLACE), m.Entered("plan:draft#1", "plan:draft", 1))
    text = told(fact, *moved)
    assert text.startswith(f"{PLACE}: ")
    assert line in text
    assert text.endswith("-> plan:draft#1")
    assert "late" not in text


@pytest.mark.parametrize("fact,line", ENDINGS)
@pytest.mark.parametrize("was_in_hand", [True, False])
def test_an_ending_that_nobody_waited_for_is_called_late(
    fact: f.EffectFact, line: str, was_in_hand: bool
) -> None:
    moves = (m.Settled(fact.effect),) if was_in_hand else ()
    assert told(fact, *moves).endswith("(late: the run had moved on, nothing changed)")


def test_stopping_and_interrupting_move_nothing_and_are_not_late() -> None:
    hand = settled("agent", "author")
    assert told(f.EffectStopped(AGENT), hand) == f"{PLACE}: agent author was stopped"
    assert told(f.EffectInterrupted(AGENT), hand) == (
        f"{PLACE}: the runner died under agent author"
    )


def test_a_finished_phase_and_the_end_of_the_run_are_told() -> None:
    done = told(
        f.ExitAccepted(AGENT, "done"),
        settled("agent", "author"),
        m.Finished("plan", "phase_3"),
        m.Ended("complete"),
    )
    assert done.endswith("; phase_3 is done -> complete")
    assert told(f.WishTaken(WISH), m.Paused()).endswith("; stopped")
    assert told(f.WishTaken(WISH), m.Resumed()).endswith("; goes on")


def test_every_kind_of_fact_has_its_sentence() -> None:
    kinds = {kind.__name__ for union in (f.Fact, f.EffectFact) for kind in get_args(union)}
    assert set(_TELL) == kinds


def test_a_record_of_tomorrow_still_gives_a_line() -> None:
    assert list(lines([{"seq": 3, "at": AT, "fact": {"is": "Teleported"}}])) == [
        "2026-01-19 10:15:00Z     3  Teleported"
    ]
    assert list(lines([{}])) == ["     0  nothing that is known"]
    odd = {"seq": 4, "at": AT, "fact": {"is": "EffectStopped", "effect": "odd"}}
    assert list(lines([odd])) == ["2026-01-19 10:15:00Z     4  odd: effect was stopped"]


@given(st.text())
def test_nothing_in_a_record_breaks_the_line_or_moves_the_cursor(hostile: str) -> None:
    raws: list[dict[str, Any]] = [
        encode(Record(1, AT, f.ExitAccepted(AGENT, "x", {"reason": hostile}))),
        encode(Record(2, AT, f.WishTaken(f.Wish("w", "stop", text=hostile, who=hostile)))),
        encode(Record(3, AT, f.WishTaken(WISH), (m.Entered(hostile, "s", 1),))),
    ]
    found = list(lines(raws))
    assert len(found) == 3
    assert all(line.isprintable() and len(line) < 450 for line in found)
