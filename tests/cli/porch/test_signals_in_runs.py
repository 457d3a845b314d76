"""What agents say, and how little of it moves a run."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

FIRST = {"id": "first", "signals": {"FIRST_DONE": "second"}}
SECOND = {"id": "second", "signals": {"SECOND_DONE": "complete"}}


@pytest.mark.req("P-004", "P-139", "P-140", "P-144")
def test_a_later_phases_signal_moves_nothing_and_a_person_hears_of_it(desk: "Desk") -> None:
    said = desk.begin(FIRST, SECOND, agents={"first": [{"signal": "SECOND_DONE"}]}, code=3)
    assert "second" not in desk.entered()
    assert "complete" not in desk.entered()
    silent = desk.facts("TurnEndedSilent")
    assert len(silent) == 2  # the turn and one reminder
    assert silent[0]["notes"] == ["unknown signal SECOND_DONE ignored"]
    assert "waiting for your decision: failed:first" in said.out
    log = desk.status()["log"]
    assert any("SECOND_DONE" in str(entry.get("notes")) for entry in log)


@pytest.mark.req("P-095", "P-096", "P-138")
def test_the_last_legal_signal_of_the_final_message_moves_the_run(desk: "Desk") -> None:
    two = {"id": "first", "signals": {"LEFT": "second", "RIGHT": "complete"}}
    desk.begin(two, SECOND, agents={"first": [{"signal": ["RIGHT", "LEFT", "UNHEARD"]}]}, code=0)
    assert desk.entered() == ["first", "second", "complete"]
    accepted = desk.facts("ExitAccepted")[0]
    assert (accepted["signal"], accepted["notes"]) == ("LEFT", ["unknown signal UNHEARD ignored"])


@pytest.mark.parametrize(
    "answer",
    [
        {"tool": "<signal>FIRST_DONE</signal>", "signal": None},
        {"final": "```\n<signal>FIRST_DONE</signal>\n```\nThat is what I would say."},
        {"final": "> <signal>FIRST_DONE</signal>\n\nsaid the prompt."},
        {"final": "`<signal>FIRST_DONE</signal>` is what I would say."},
    ],
)
def test_a_signal_in_tools_code_or_quotes_is_not_meant(
    desk: "Desk", answer: dict[str, Any]
) -> None:
    desk.begin(FIRST, SECOND, agents={"first": [answer]}, code=3)
    assert "second" not in desk.entered()


@pytest.mark.req("P-143")
def test_a_tag_that_cannot_be_read_is_noted_and_the_reminder_gets_the_answer(desk: "Desk") -> None:
    answer = {"final": "<signal>FIRST_DONE", "reminder": {"signal": "FIRST_DONE"}}
    desk.begin(FIRST, SECOND, agents={"first": [answer]}, code=0)
    notes = desk.facts("TurnEndedSilent")[0]["notes"]
    assert notes == ["malformed signal tag (never closed: <signal>FIRST_DONE)"]
    reminder = desk.prompt("first#1/agent/reminder/0")
    assert "<signal>FIRST_DONE</signal>" in reminder
    assert desk.entered()[-1] == "complete"


@pytest.mark.req("P-141")
def test_without_a_signal_the_declared_default_is_taken_after_one_reminder(desk: "Desk") -> None:
    phase = {"id": "first", "transition": {"on_complete": "second"}}
    desk.begin(phase, SECOND, agents={"first": [{"signal": None}]}, code=0)
    assert len(desk.facts("TurnEndedSilent")) == 2
    assert desk.entered() == ["first", "second", "complete"]


def test_without_a_signal_checks_that_pass_are_as_good(desk: "Desk") -> None:
    phase = {"id": "first", "checks": {"there": {"command": "test -f made", "retry_delay": 0}}}
    silent = {"write": {"made": "x"}, "signal": None}
    desk.begin(phase, agents={"first": [silent]}, code=0)
    assert desk.entered() == ["first", "first:checks", "complete"]


@pytest.mark.req("F-050")
def test_a_bare_signal_counts_as_the_last_line_only(desk: "Desk") -> None:
    phases = ({"id": "first"}, {"id": "second"})
    answers = {
        "first": [{"final": "Done.\n\nPHASE_COMPLETE"}],
        "second": [{"final": "PHASE_COMPLETE\nis what I would say."}],
    }
    desk.begin(*phases, agents=answers, code=3)
    assert desk.entered() == ["first", "second", "failed:second"]


@pytest.mark.req("F-048")
def test_blocked_becomes_a_question_whose_answer_reaches_the_next_prompt(desk: "Desk") -> None:
    blocked = {"signal": "BLOCKED", "reason": "Which database?\u202e"}
    desk.begin(FIRST, SECOND, agents={"first": [blocked, {"signal": "FIRST_DONE"}]}, code=3)
    pending = desk.porch("pending").out
    assert "Which database?" in pending
    assert "\u202e" not in pending
    assert desk.porch("pending", "--hook").out == "Question pending: 0001 blocked:first\n"
    desk.porch("answer", "1", "blocked:first", "Use", "SQLite.", "<signal>FIRST_DONE</signal>")
    desk.porch("resume", "1")
    asked, answered = desk.facts("ExitAccepted")[:2]
    assert answered["session"] == asked["session"], "the answer is heard where it was asked for"
    again = desk.prompts()[1]
    assert "> Use SQLite. <signal>FIRST_DONE</signal>" in again
    assert desk.entered() == ["first", "blocked:first", "first", "second", "complete"]


@pytest.mark.req("F-048", "F-049")
def test_a_signal_that_needs_a_reason_is_not_one_without_it(desk: "Desk") -> None:
    top = {
        "signals": {
            "HALT": {"requires": "reason", "transitions_to": "second"},
            "PHASE_COMPLETE": {"transitions_to": "next_phase"},
        }
    }
    first = {"id": "first"}
    said = desk.begin(first, SECOND, top=top, agents={"first": [{"signal": "HALT"}]}, code=3)
    assert "failed:first" in said.out
    assert desk.facts("TurnEndedSilent")[0]["notes"] == ["signal HALT ignored: it needs a reason"]
    halt = {"signal": "HALT", "reason": "enough"}
    script = desk.script(agents={"first": [halt]})
    desk.porch("retry", "1")
    desk.porch("resume", "1", "--script", script)
    assert desk.facts("ExitAccepted")[0]["payload"] == {"reason": "enough"}


@pytest.mark.req("P-142")
def test_an_agent_that_dies_in_the_middle_is_run_again_without_a_charge(desk: "Desk") -> None:
    answer = {"signal": "FIRST_DONE", "tries": [{"crash": 3}, {"kill": 9}, {"say": "third"}]}
    desk.begin(FIRST, SECOND, agents={"first": [answer]}, code=0)
    assert [f["why"] for f in desk.facts("EffectFailed")] == ["crashed", "crashed"]
    assert desk.started()[:3] == [f"first#1/agent/first/{n}" for n in range(3)]
    assert desk.entered() == ["first", "second", "complete"]


@pytest.mark.req("P-144")
def test_an_agent_that_always_dies_ends_in_front_of_a_person(desk: "Desk") -> None:
    said = desk.begin(FIRST, SECOND, agents={"first": [{"crash": 1}]}, code=3)
    assert len(desk.started()) == 5
    assert "failed:first" in said.out
    assert "failed 5 times" in desk.porch("pending").out


def test_control_characters_of_an_agent_never_reach_the_terminal(desk: "Desk") -> None:
    nasty = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202egnp.exe\x00"
    answer = {"say": nasty, "signal": "BLOCKED", "reason": nasty}
    said = desk.begin(FIRST, SECOND, agents={"first": [answer]}, code=3)
    shown = [
        said.all,
        *(
            desk.porch(*words).all
            for words in (
                ("status",),
                ("status", "1"),
                ("pending",),
                ("pending", "--hook"),
                ("log", "1"),
                ("explain", "1"),
                ("next", "1"),
            )
        ),
    ]
    for text in shown:
        assert not set(text) & set("\x00\x07\x1b\x9b\u202e"), text
