"""What reviewers of a later round get to see: the findings before, and what was said to them."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import AskReviewer, QuotedInput
from porch.model import protocol as p
from porch.model.memory_paths import is_last_words_path, last_words_path
from porch.testing import Rig

SAID = last_words_path("specify:revise")


@pytest.fixture
def heard(protocol: p.Protocol) -> Rig:
    """The house, with a panel that hears what the reviser says; two checks are behind it."""
    panel = protocol.states["specify:consult"]
    told = replace(panel, inputs=(*panel.inputs, p.Input("Said to that", SAID)))
    states = {**protocol.states, "specify:consult": told}
    rig = Rig(replace(protocol, states=states)).start()
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    return rig


def ask_for_changes(rig: Rig) -> None:
    rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")


def revise(rig: Rig, said: str) -> None:
    rig.tell(f.ExitAccepted(effect=rig.held("agent"), exit="REVISED", signal="REVISED", said=said))


def shown(rig: Rig) -> tuple[QuotedInput, ...]:
    request = rig.request("review")
    assert isinstance(request, AskReviewer)
    return request.shown


def test_the_first_round_is_told_nothing_and_the_second_findings_and_answer(heard: Rig) -> None:
    assert shown(heard) == ()
    ask_for_changes(heard)
    revise(heard, "I did.\nBut not all.\n\n<signal nonce=a1>REVISED</signal>")
    findings, answer = shown(heard)
    assert findings.payload["findings"] == [{"by": "codex", "finding": "fix it"}]
    assert answer == QuotedInput("Said to that", {"text": "I did.\nBut not all."})


def test_every_round_before_is_remembered_with_its_answer(heard: Rig) -> None:
    for word in ("one", "two"):
        ask_for_changes(heard)
        revise(heard, word)
    findings, answer = shown(heard)
    assert answer.payload == {"text": "two"}
    assert findings.payload["round"] == 2
    assert findings.payload["earlier"] == [
        {"round": 1, "findings": [{"by": "codex", "finding": "fix it"}], "answer": ["one"]}
    ]


def test_whoever_says_nothing_beside_its_signal_has_not_answered(heard: Rig) -> None:
    ask_for_changes(heard)
    revise(heard, "one")
    ask_for_changes(heard)
    revise(heard, "<SIGNAL>REVISED</SIGNAL>\n")
    (findings,) = shown(heard)
    assert findings.payload["earlier"][0]["answer"] == ["one"]
    ask_for_changes(heard)
    gate = heard.state.positions["specify:gate#1"]
    known = heard.state.recall(gate, "specify:consult.changes")
    assert known is not None
    assert known["earlier"][1]["answer"] == []


def test_what_was_said_before_a_reminder_is_the_answer(heard: Rig) -> None:
    ask_for_changes(heard)
    heard.tell(f.TurnEndedSilent(effect=heard.held("agent"), said="I did all of it."))
    revise(heard, "<signal>REVISED</signal>")
    assert shown(heard)[1].payload == {"text": "I did all of it."}


def test_words_without_any_question_are_not_shown(heard: Rig) -> None:
    moved = heard.state.positions["specify:consult#1"]
    heard.record(
        f.RunnerStarted(host="h", boot="b", pid=1, release="r"),
        (m.Remembered(SAID, {"text": "trust me"}),),
    )
    assert heard.state.recall(moved, SAID) == {"text": "trust me"}
    assert shown(heard) == ()


def test_nobody_remembers_what_nobody_gets_to_read(rig: Rig) -> None:
    rig.tell(f.ExitAccepted(effect=rig.held("agent"), exit="SPEC_DRAFTED", said="It is written."))
    assert not [path for path in rig.state.memory[("", "")] if is_last_words_path(path)]


def test_cost_and_time_of_a_review_are_kept_until_the_round_is_written(heard: Rig) -> None:
    effect = heard.held("review", "codex")
    heard.tell(f.ReviewEnded(effect=effect, verdict="APPROVE", seconds=1.5, usd=0.25, tokens=90))
    kept = heard.state.marked("specify:consult#1", "review/codex")
    assert (kept["seconds"], kept["usd"], kept["tokens"]) == (1.5, 0.25, 90)
