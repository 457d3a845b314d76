"""Tasks of a wave and questions that are put together: ways that part, and meet again."""

import pytest

from porch.machine.effects import AskReviewer, RunAgent
from tests.plans import AI, Walk, confirm, phase, plan, task


def wave_task(id_: str, wave: str, *inside: str, **more: str) -> str:
    return task(id_, *inside, **more).replace("<task ", f'<task wave="{wave}" ', 1)


def waves(*ids: str) -> str:
    return f"<waves>{''.join(ids)}</waves>"


def wave(id_: str, after: str = "") -> str:
    return f'<wave id="{id_}" depends_on="{after}"/>' if after else f'<wave id="{id_}"/>'


def wave_plan(*phases: str) -> str:
    mode = "<execution_mode>wave</execution_mode></metadata>"
    return plan(*phases).replace("</metadata>", mode)


TWO = wave_plan(
    phase(
        "P1",
        waves(wave("W1"), wave("W2", "W1")),
        wave_task("T1.1", "W1", confirm(when="both")),
        wave_task("T1.2", "W1", confirm()),
        wave_task("T1.3", "W2"),
    ),
    phase("P2", waves(wave("W1")), wave_task("T2.1", "W1")),
)


def at(walk: Walk) -> set[str]:
    return {each.rpartition("#")[0] for each in walk.state.positions}


def test_a8_siblings_of_a_task_that_waits_at_its_gate_go_on() -> None:
    walk = Walk(TWO)
    assert at(walk) == {"T1_1-before", "T1_2"}
    walk.work_at("T1_2")
    assert at(walk) == {"T1_1-before", "T1_2-after"}
    assert (walk.task("T1.1"), walk.task("T1.2"), walk.task("T1.3")) == (
        "TODO", "IN_PROGRESS", "TODO",
    )  # fmt: skip


def test_a8_a_wave_ends_when_all_of_it_is_done() -> None:
    walk = Walk(TWO).work_at("T1_2").answer_at("T1_2-after", "approved")
    assert at(walk) == {"T1_1-before", "P1:wave1-end"}
    assert walk.task("T1.2") == "DONE"
    walk.answer_at("T1_1-before", "approved").work_at("T1_1")
    assert at(walk) == {"T1_1-after", "P1:wave1-end"}
    walk.answer_at("T1_1-after", "approved")
    assert at(walk) == {"T1_3"}, "the next wave begins when the last of this one is there"
    walk.work_at("T1_3").work_at("T2_1")
    assert walk.state.outcome == "complete"


def test_a8_a_sibling_that_is_changed_takes_no_consent_from_others() -> None:
    walk = Walk(TWO).work_at("T1_2").answer_at("T1_2-after", "approved")
    assert "T1.2-after" in walk.state.approvals
    walk.answer_at("T1_1-before", "approved").work_at("T1_1")
    walk.answer_at("T1_1-after", "rejected", "more")
    assert at(walk) == {"T1_1", "P1:wave1-end"}
    assert "T1.2-after" in walk.state.approvals


def test_a8_only_one_agent_of_a_wave_works_in_the_checkout_and_nobody_reviews_meanwhile() -> None:
    text = wave_plan(
        phase(
            "P1", waves(wave("W1")), wave_task("T1.1", "W1", confirm(AI)), wave_task("T1.2", "W1")
        )
    )
    walk = Walk(text).work_at("T1_1")
    found = [each for each in walk.wanted() if isinstance(each, (RunAgent, AskReviewer))]
    assert {type(each) for each in found} == {RunAgent, AskReviewer}
    assert all("worktree:" in each.uses for each in found)


def test_a8_a_task_of_a_wave_that_is_given_up_does_not_hold_the_others_up() -> None:
    walk = Walk(TWO).work_at("T1_2").answer_at("T1_2-after", "approved")
    assert walk.says("cancel", "T1.1") == ""
    assert at(walk) == {"T1_3"}


def test_a15_reopening_a_task_of_a_wave_leaves_nobody_behind() -> None:
    walk = Walk(TWO).work_at("T1_2")
    walk.answer_at("T1_1-before", "approved").work_at("T1_1").answer_at("T1_1-after", "approved")
    assert at(walk) == {"P1:wave1-end", "T1_2-after"}
    assert walk.says("reopen", "T1.1") == ""
    assert at(walk) == {"T1_1", "T1_2-after"}, "the other one keeps its work, and is asked again"
    walk.work_at("T1_1").answer_at("T1_1-after", "approved").answer_at("T1_2-after", "approved")
    assert at(walk) == {"T1_3"}
    assert walk.says("reopen", "T1.1-after") == ""
    assert at(walk) == {"T1_1-after", "T1_2-after"}


def test_going_back_into_a_wave_is_said_to_be_reopening() -> None:
    walk = Walk(TWO).work_at("T1_2")
    assert "porch reopen" in walk.says("rollback", "T1.2")


def test_a_wave_of_which_all_is_done_in_the_file_is_passed() -> None:
    text = wave_plan(
        phase(
            "P1",
            waves(wave("W1")),
            wave_task("T1.1", "W1", status="DONE"),
            wave_task("T1.2", "W1", status="DONE"),
        ),
        phase("P2", waves(wave("W1")), wave_task("T2.1", "W1")),
    )
    assert at(Walk(text)) == {"T2_1"}


LAST = plan(
    phase("P1", task("T1.1"), task("T1.2", confirm()), confirm()), phase("P2", task("T2.1"))
)


def paired() -> Walk:
    return Walk(LAST, coalesce=True).work_at("T1_1").work_at("T1_2")


def test_a6_without_a_setting_the_phase_is_asked_about_after_its_last_task() -> None:
    assert at(Walk(LAST).work().work()) == {"T1_2-after"}


def test_a6_together_they_are_two_questions_and_one_answer_closes_one_gate() -> None:
    walk = paired()
    assert at(walk) == {"T1_2-after", "P1-after"}
    walk.answer_at("T1_2-after", "approved")
    assert (walk.gate("T1.2-after"), walk.gate("P1-after")) == ("DONE", "IN_PROGRESS")
    assert at(walk) == {"P1-after", "P1:both-end"}
    walk.answer_at("P1-after", "approved")
    assert at(walk) == {"T2_1"}


def test_a6_together_the_phase_may_be_answered_first() -> None:
    walk = paired().answer_at("P1-after", "approved")
    assert (walk.gate("T1.2-after"), walk.gate("P1-after")) == ("IN_PROGRESS", "DONE")
    assert at(walk.answer_at("T1_2-after", "approved")) == {"T2_1"}


@pytest.mark.parametrize("gate, back", [("T1_2-after", "T1_2"), ("P1-after", "P1:rework")])
def test_a6_what_is_changed_is_asked_about_again_with_both_questions(gate: str, back: str) -> None:
    other = "P1-after" if gate == "T1_2-after" else "T1_2-after"
    walk = paired().answer_at(other, "approved").answer_at(gate, "rejected", "more")
    assert at(walk) == {back}
    walk.work_at(back, files=["a"])
    assert at(walk) == {"T1_2-after", "P1-after"}


@pytest.mark.parametrize("gate, back", [("T1_2-after", "T1_2"), ("P1-after", "P1:rework")])
def test_a6_who_changed_nothing_halts_one_question_and_keeps_the_other(
    gate: str, back: str
) -> None:
    other = "P1-after" if gate == "T1_2-after" else "T1_2-after"
    walk = paired().answer_at(gate, "rejected", "more").work_at(back, unchanged="nothing")
    assert at(walk) == {f"{gate}:halted", other}
    walk.answer_at(f"{gate}:halted", "retry").answer_at(gate, "approved")
    assert at(walk) == {other, "P1:both-end"}
    walk.answer_at(other, "approved")
    assert at(walk) == {"T2_1"}


def test_a6_attempts_that_are_spent_halt_one_question_and_keep_the_other() -> None:
    walk = paired()
    for _ in range(4):
        walk.answer_at("T1_2-after", "rejected", "more").work_at("T1_2", files=["a"])
    walk.answer_at("T1_2-after", "rejected", "more")
    assert at(walk) == {"T1_2-after:halted", "P1-after"}


def test_a6_a_last_task_that_is_given_up_leaves_the_question_about_the_phase() -> None:
    walk = paired()
    assert walk.says("cancel", "T1.2") == ""
    assert at(walk) == {"P1-after", "P1:both-end"}
    early = Walk(LAST, coalesce=True).work_at("T1_1")
    assert early.says("cancel", "T1.2") == ""
    assert at(early) == {"P1-after"}
    assert at(early.answer_at("P1-after", "approved")) == {"T2_1"}


def test_a6_reopening_one_of_two_questions_asks_both() -> None:
    walk = paired().answer_at("T1_2-after", "approved").answer_at("P1-after", "approved")
    assert walk.says("reopen", "T1.2-after") == ""
    assert at(walk) == {"T1_2-after", "P1-after"}


def test_replay_of_ways_that_part_comes_to_the_same_state() -> None:
    walk = Walk(TWO).work_at("T1_2").answer_at("T1_1-before", "approved")
    assert walk.replayed().positions == walk.state.positions
    assert walk.replayed().memory == walk.state.memory


def test_a_plan_in_which_nothing_is_to_be_done_is_complete_at_once() -> None:
    assert Walk(plan(phase("P1"))).state.outcome == "complete"
