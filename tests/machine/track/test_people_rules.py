"""What people take back in a track, wherever the run stands."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.track.track_status import find_gate_state
from tests.plans import AI, Walk, confirm, phase, plan, task

TEXT = plan(
    phase("P1", confirm(), task("T1.1", confirm(when="both")), task("T1.2", confirm(AI))),
    phase("P2", confirm(when="before"), task("T2.1")),
)


def at_after_gate() -> Walk:
    return Walk(TEXT).answer("approved").work()


def test_a13_a_gate_is_waived_before_it_is_asked() -> None:
    walk = Walk(TEXT)
    assert walk.says("cancel", "T1.1-after") == ""
    assert walk.says("cancel", "T1.2-after-ai") == ""
    assert (walk.gate("T1.1-after"), walk.gate("T1.2-after-ai")) == ("CANCELLED", "CANCELLED")
    walk.answer("approved").work().work()
    assert walk.place == "P1-after#1"
    assert (walk.gate("T1.1-after"), walk.gate("T1.2-after-ai")) == ("CANCELLED", "CANCELLED")
    assert (walk.task("T1.1"), walk.task("T1.2")) == ("DONE", "DONE")


def test_a13_a_gate_is_waived_while_it_is_asked() -> None:
    walk = at_after_gate()
    walk.asked()
    assert walk.says("cancel", "T1.1-after") == ""
    assert (walk.place, walk.gate("T1.1-after")) == ("T1_2#1", "CANCELLED")
    assert not walk.state.decisions


def test_a13_a_review_is_waived_while_somebody_reviews() -> None:
    walk = at_after_gate().answer("approved").work()
    assert walk.place == "T1_2-after-ai#1"
    assert walk.says("cancel", "T1.2-after-ai") == ""
    assert (walk.place, walk.gate("T1.2-after-ai")) == ("P1-after#1", "CANCELLED")
    assert walk.unwanted(), "the reviewer is stopped"


def test_a13_a_gate_is_waived_while_it_has_halted_or_is_reworked() -> None:
    halted = at_after_gate().answer("declined")
    halted.asked()
    assert halted.says("cancel", "T1.1-after") == ""
    assert (halted.place, halted.gate("T1.1-after")) == ("T1_2#1", "CANCELLED")
    reworked = at_after_gate().answer("rejected", "more")
    assert reworked.says("cancel", "T1.1-after") == ""
    assert reworked.work(unchanged="yes").place in ("T1_2#1", "T1_1-after:halted#1")


def test_a13_a_consent_that_has_become_stale_is_waived() -> None:
    walk = Walk(TEXT).answer("approved")
    question = f.GateQuestion(digest="d1", reason="changed", is_changed=True)
    walk.tell(f.ApprovalOutdated(gate="T1.1-before", question=question))
    assert walk.gate("T1.1-before") == "BLOCKED"
    assert walk.says("cancel", "T1.1-before") == ""
    assert "changed" not in walk.place


def test_a13_a_task_that_is_given_up_takes_its_open_gates_along() -> None:
    for walk in (Walk(TEXT), Walk(TEXT).answer("approved"), at_after_gate()):
        assert walk.says("cancel", "T1.1") == ""
        assert (walk.task("T1.1"), walk.place) == ("CANCELLED", "T1_2#1")
        assert walk.gate("T1.1-after") == "CANCELLED"


def test_a13_a_task_is_given_up_in_advance_or_while_a_person_is_asked_about_it() -> None:
    ahead = Walk(TEXT)
    assert ahead.says("cancel", "T1.2") == ""
    assert (ahead.task("T1.2"), ahead.place) == ("CANCELLED", "T1_1-before#1")
    ahead.answer("approved").work().answer("approved")
    assert (ahead.place, ahead.task("T1.2")) == ("P1-after#1", "CANCELLED")
    asked = Walk(TEXT).answer("approved")
    asked.exit("BLOCKED", reason="which key?")
    assert asked.place == "T1_1:blocked#1"
    assert asked.task("T1.1") == "BLOCKED"
    assert asked.says("cancel", "T1.1") == ""
    assert (asked.place, asked.task("T1.1")) == ("T1_2#1", "CANCELLED")


def test_a15_reopening_a_task_keeps_later_work_and_asks_its_gates_again() -> None:
    walk = at_after_gate().answer("approved").work().report("APPROVE").answer("approved")
    assert walk.place == "P2-before#1"
    walk.answer("approved")
    assert walk.place == "T2_1#1"
    assert walk.says("reopen", "T1.1") == ""
    assert walk.place == "T1_1#2"
    assert (walk.gate("T1.1-before"), walk.gate("T1.1-after")) == ("DONE", "TODO")
    walk.work(files=["a"]).answer("approved")
    assert walk.place == "T1_2-after-ai#2", "its work stays, its review does not"
    walk.report("APPROVE").answer("approved")
    assert walk.place == "T2_1#2", "what was confirmed before later work stays confirmed"


def test_a15_a_task_that_was_given_up_stays_so_behind_a_reopened_one() -> None:
    walk = Walk(TEXT)
    walk.says("cancel", "T1.2")
    walk.answer("approved").work().answer("approved")
    assert walk.says("reopen", "T1.1-after") == ""
    assert walk.place == "T1_1-after#2"
    walk.answer("approved")
    assert (walk.place, walk.task("T1.2")) == ("P1-after#2", "CANCELLED")


def test_a15_a_waived_gate_that_is_reopened_is_asked() -> None:
    walk = at_after_gate().answer("waived", "no time")
    assert walk.says("reopen", "T1.1-after") == ""
    assert (walk.place, walk.gate("T1.1-after")) == ("T1_1-after#2", "IN_PROGRESS")


REFUSED = [
    ("cancel", "T9.9", "because", "is no confirmation and no task"),
    ("cancel", "T1.1-after", " ", "needs a reason"),
    ("cancel", "T1.1-before", "because", "it is DONE already"),
    ("reopen", "T1.1", "because", "nothing to reopen"),
    ("reopen", "T1.2-after-ai", "because", "nothing to reopen"),
]


@pytest.mark.parametrize("kind, node, text, told", REFUSED)
def test_what_cannot_be_taken_back_is_refused_in_words(
    kind: str, node: str, text: str, told: str
) -> None:
    assert told in at_after_gate().says(kind, node, text)


def test_something_that_a_run_has_not_come_to_cannot_be_reopened() -> None:
    text = plan(phase("P1", task("T1.1"), task("T1.2", status="DONE")))
    assert "has not been reached" in Walk(text).says("reopen", "T1.2")


def test_other_runs_have_nothing_to_cancel() -> None:
    walk = Walk(TEXT)
    walk.protocol = replace(walk.protocol, subject="project")
    assert "only what belongs to a track" in walk.says("cancel", "T1.1")


def test_gates_and_tasks_are_found_by_the_names_that_people_use() -> None:
    protocol = Walk(TEXT).protocol
    names = ("T1.1-after", "T1_1-after", "T1.2-after-ai", "T1.1", "P1", "T1.1:blocked", "nobody")
    assert [find_gate_state(protocol, name) for name in names] == [
        "T1_1-after", "T1_1-after", "T1_2-after-ai", "T1_1", "", "", "",
    ]  # fmt: skip
