"""E9: what people read at a confirmation of a plan, and what reviewers noted on the way."""

from porch.show.decision import list_decisions
from porch.show.shapes import DecisionShape
from porch.show.track_notes import list_review_notes
from tests.plans import AI, Walk, confirm, phase, plan, task

CONTINUE = "Continue? (Y/N)"
TWO = plan(
    phase("P1", confirm(when="both"), task("T1.1"), task("T1.2", confirm(AI), needs="T1.1")),
    phase("P2", confirm(when="before"), task("T2.1")),
)
PHASE = "phase P1: Name of P1."


def asked(walk: Walk) -> DecisionShape:
    if not walk.state.decisions:
        walk.asked()
    (decision,) = list_decisions(walk.protocol, walk.state)
    return decision


def noted(walk: Walk) -> list[str]:
    return [line for line in asked(walk)["reason"].splitlines() if line.startswith("noted")]


def reviewed(*findings: str) -> Walk:
    """T1.2 was confirmed by its reviewer, with these findings."""
    walk = Walk(TWO).answer("approved").work(files=["a.txt"]).work(files=["b.txt"])
    return walk.report("APPROVE", *findings)


def test_a_confirmation_of_a_phase_names_its_tasks_and_has_a_summary_in_its_message() -> None:
    before = asked(Walk(TWO))
    assert before["question"] == (
        f"Confirm (human) {PHASE} When=before. Summary: 0 of 2 tasks done. {CONTINUE}"
    )
    assert before["description"] == "Tasks: T1.1 Name of T1.1, T1.2 Name of T1.2."
    after = asked(reviewed())
    assert after["question"] == (
        f"Confirm (human) {PHASE} When=after. "
        f"Summary: 2 of 2 tasks done; changed a.txt, b.txt. {CONTINUE}"
    )


def test_the_summary_of_a_task_says_what_was_changed() -> None:
    text = plan(phase("P1", task("T1.1", confirm(when="both"))))
    walk = Walk(text)
    assert f"When=before. Summary: nothing is done yet. {CONTINUE}" in asked(walk)["question"]
    walk.answer("approved").work()
    assert f"When=after. Summary: no file was changed. {CONTINUE}" in asked(walk)["question"]


def test_the_summary_names_five_files_and_counts_the_others() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm()))))
    walk.work(files=[f"{n}.txt" for n in range(7)], more_files=10)
    assert "changed 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, 12 more." in asked(walk)["question"]


def test_a_question_that_is_no_confirmation_has_no_summary() -> None:
    walk = Walk(TWO).answer("declined")
    assert (
        asked(walk)["question"] == "P1-before is not confirmed, and the run waits for instructions"
    )


def test_a_question_about_issues_says_what_was_changed_and_what_the_agent_says() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm(AI)))))
    walk.work(files=["a.txt"]).report("REQUEST_CHANGES", "it leaks")
    assert "T1.1: changed a.txt" in asked(walk)["reason"].splitlines()


def test_issues_found_before_the_work_name_no_files() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm(AI, when="before")))))
    walk.report("REQUEST_CHANGES", "it is unclear")
    assert "changed" not in asked(walk)["reason"]


def test_what_did_not_block_reaches_the_next_human_message() -> None:
    assert noted(reviewed("(not blocking) no  name", "(not blocking) no end")) == [
        "noted by checker at T1.2-after-ai: no name",
        "noted by checker at T1.2-after-ai: no end",
    ]
    assert noted(reviewed()) == []


def test_it_stays_until_the_phase_is_confirmed_and_is_not_told_again_in_the_next_one() -> None:
    walk = reviewed("(not blocking) no name").answer("rejected", "more")
    walk.work(files=["c.txt"])
    assert noted(walk) == ["noted by checker at T1.2-after-ai: no name"]
    walk.answer("approved")
    assert (walk.place, noted(walk)) == ("P2-before#1", [])


def test_it_reaches_a_question_of_a_later_phase_if_nobody_was_asked_before() -> None:
    text = plan(phase("P1", task("T1.1", confirm(AI))), phase("P2", confirm(when="before")))
    walk = Walk(text).work().report("APPROVE", "(not blocking) no name")
    assert noted(walk) == ["noted by checker at T1.1-after-ai: no name"]


def test_a_reviewer_of_the_same_moment_is_quoted_once() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm(AI), confirm()))))
    walk.work().report("APPROVE", "(not blocking) no name")
    assert noted(walk) == []
    assert [each["finding"] for each in asked(walk)["findings"]] == ["(not blocking) no name"]


def test_notes_are_kept_to_the_end_and_only_those_of_reports_that_confirmed() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm(AI)))))
    walk.work(files=["a"]).report("REQUEST_CHANGES", "it leaks", "(not blocking) early")
    walk.answer("retry").work(files=["a"]).report("APPROVE", "(not blocking) late")
    assert walk.state.outcome == "complete"
    lines = [each.line for each in list_review_notes(walk.protocol, walk.state)]
    assert lines == ["noted by checker at T1.1-after-ai: late"]
