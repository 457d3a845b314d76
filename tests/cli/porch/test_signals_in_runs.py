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
    assert silent[0]["notes"][0].startswith("unknown signal SECOND_DONE ignored; known here: ")
    assert "waiting for your decision: phase 'first' failed" in said.out
    log = desk.status()["log"]
    assert any("SECOND_DONE" in str(entry.get("notes")) for entry in log)


@pytest.mark.req("P-095", "P-096", "P-138")
def test_the_last_legal_signal_of_the_final_message_moves_the_run(desk: "Desk") -> None:
    two = {"id": "first", "signals": {"LEFT": "second", "RIGHT": "complete"}}
    desk.begin(two, SECOND, agents={"first": [{"signal": ["RIGHT", "LEFT", "UNHEARD"]}]}, code=0)
    assert desk.entered() == ["first", "second", "complete"]
    accepted = desk.facts("ExitAccepted")[0]
    known = "unknown signal UNHEARD ignored; known here: LEFT, RIGHT, BLOCKED"
    assert (accepted["signal"], accepted["notes"]) == ("LEFT", [known])


def test_v18_an_unknown_signal_is_named_with_the_legal_ones_wherever_it_is_told(
    desk: "Desk",
) -> None:
    desk.begin(FIRST, SECOND, agents={"first": [{"signal": "FIRST_DON"}]}, code=3)
    told = "unknown signal FIRST_DON ignored; known here: FIRST_DONE, BLOCKED"
    assert [fact["notes"] for fact in desk.facts("TurnEndedSilent")] == [[told], [told]]
    reminder = desk.prompt("first#1/agent/reminder/0")
    assert f"\n- {told}\n" in reminder
    assert "<signal>FIRST_DONE</signal>" in reminder
    assert desk.porch("log", "1").out.count(f"ended without a signal: {told}") == 2
    assert told in " ".join(desk.porch("pending").out.split())


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
    assert "phase 'first' failed" in said.out
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
    assert "phase 'first' failed" in said.out
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


PLANNED = {"plan": [{"write": {"{project_dir}/plan.md": "### Phase 1: one\n\n### Phase 2: two\n"}}]}
LEAVING: dict[str, Any] = {"id": "build", "phased": True, "signals": {"DONE": "review"}}


def begin_leaving(desk: "Desk", *phases: dict[str, Any], **agents: Any) -> None:
    every = {**PLANNED, **agents}
    desk.begin(
        {"id": "plan", "artifact": "plan.md"}, *phases, {"id": "review"}, agents=every, code=3
    )


def test_l15_a_signal_that_leaves_unfinished_plan_phases_asks_a_person(desk: "Desk") -> None:
    begin_leaving(desk, LEAVING, build=[{"signal": "DONE"}])
    assert desk.entered()[-1] == "unfinished:build:phase_1"
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert asked["question"] == "build: not all phases of the plan are finished"
    told = {option["answer"]: option["meaning"] for option in asked["options"]}
    assert told == {
        "retry": "call this phase of the plan finished and work on the next one",
        "skip": "go to review and leave them unfinished",
        "stopped": "end the run",
    }


def test_l15_the_next_plan_phase_is_worked_on_and_behind_the_last_nobody_is_asked(
    desk: "Desk",
) -> None:
    begin_leaving(desk, LEAVING, build=[{"signal": "DONE"}, {"signal": "DONE"}])
    desk.porch("retry", "1")
    assert "\n0001-x is complete" in desk.porch("resume", "1").out
    went = ["build:phase_1", "unfinished:build:phase_1", "build:phase_2", "review", "complete"]
    assert desk.entered()[-5:] == went
    assert {phase["status"] for phase in desk.status()["phases"].values()} == {"complete"}


def test_l15_a_person_may_leave_them_unfinished_and_says_why(desk: "Desk") -> None:
    begin_leaving(desk, LEAVING, build=[{"signal": "DONE"}])
    desk.porch("skip", "1", code=2)
    desk.porch("skip", "1", "--reason", "the rest is not needed")
    desk.porch("resume", "1")
    assert desk.entered()[-3:] == ["unfinished:build:phase_1", "review", "complete"]


def test_l15_checks_gates_and_commits_on_the_way_out_change_nothing(desk: "Desk") -> None:
    checked = {
        **LEAVING,
        "artifact": "build.md",
        "checks": {"c": "true"},
        "gate": {"name": "build-ok"},
        "on_complete": {"commit": True},
    }
    work = {"signal": "DONE", "write": {"{project_dir}/build.md": "x\n"}}
    begin_leaving(desk, checked, build=[work, {**work, "write": {"{project_dir}/build.md": "y\n"}}])
    desk.porch("approve", "1", "build-ok")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-1] == "unfinished:build:phase_1"
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-1] == "build:gate:phase_2"
    desk.porch("approve", "1", "build-ok")
    desk.porch("resume", "1")
    assert desk.entered()[-3:] == ["review", "complete:checks", "complete"]


def test_l15_the_way_of_the_last_phase_of_the_loop_comes_after_all_plan_phases(
    desk: "Desk",
) -> None:
    build = {"id": "build", "phased": True, "transition": {"on_complete": "review"}}
    phases = ({"id": "plan", "artifact": "plan.md"}, build, {"id": "other"}, {"id": "review"})
    desk.begin(*phases, agents=PLANNED, code=0)
    assert desk.entered() == [
        "plan",
        "build",
        "build:phase_1",
        "build:phase_2",
        "review",
        "complete",
    ]


def test_l15_a_plan_of_one_phase_is_left_without_a_question(desk: "Desk") -> None:
    one = {"plan": [{"write": {"{project_dir}/plan.md": "### Phase 1: one\n"}}]}
    phases = ({"id": "plan", "artifact": "plan.md"}, LEAVING, {"id": "review"})
    desk.begin(*phases, agents={**one, "build": [{"signal": "DONE"}]}, code=0)
    assert desk.entered()[-2:] == ["review", "complete"]


def test_l15_a_plan_phase_that_is_left_in_the_middle_of_the_loop_is_unfinished_itself(
    desk: "Desk",
) -> None:
    one = {"plan": [{"write": {"{project_dir}/plan.md": "### Phase 1: one\n"}}]}
    test = {"id": "test", "phased": True}
    phases = ({"id": "plan", "artifact": "plan.md"}, LEAVING, test, {"id": "review"})
    desk.begin(*phases, agents={**one, "build": [{"signal": "DONE"}]}, code=3)
    assert desk.entered()[-1] == "unfinished:build:phase_1"
    desk.porch("retry", "1")
    desk.porch("resume", "1")
    assert desk.entered()[-3:] == ["test:phase_1", "review", "complete"]


def test_l15_the_checks_at_the_end_of_a_plan_phase_are_run_also_on_the_way_out(
    desk: "Desk",
) -> None:
    top = {"phase_completion": {"whole": "true"}}
    phases = ({"id": "plan", "artifact": "plan.md"}, LEAVING, {"id": "review"})
    every = {**PLANNED, "build": [{"signal": "DONE"}, {"signal": "DONE"}]}
    desk.begin(*phases, agents=every, top=top, code=3)
    desk.porch("retry", "1")
    desk.porch("resume", "1")
    assert [place for place in desk.entered() if "phase_completion" in place] == [
        "build:phase_completion:phase_1",
        "build:phase_completion:phase_2",
    ]


def test_l15_every_way_out_has_a_question_that_says_where_it_leads_and_why(desk: "Desk") -> None:
    hopeless = {"transitions_to": "review", "requires": "reason"}
    build = {"id": "build", "phased": True, "signals": {"DONE": "show", "HOPELESS": hopeless}}
    said = [{"signal": "HOPELESS", "reason": "no such library"}, {"signal": "DONE"}]
    begin_leaving(desk, build, {"id": "show"}, build=said)
    assert desk.entered()[-1] == "unfinished:build:review:phase_1"
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert asked["reason"] == "no such library"
    assert asked["options"][1]["meaning"] == "go to review and leave them unfinished"
    desk.porch("skip", "1", "--reason", "then not")
    desk.porch("resume", "1")
    assert desk.entered()[-2:] == ["review", "complete"]
