"""What the statuses of a file mean, and how they are written back."""

import pytest

from porch.dialects.plan_xml.file_statuses import describe_settled, list_settled
from porch.dialects.plan_xml.status_words import written_status
from tests.plans import confirm, phase, plan, read, task


def test_consent_that_nobody_gave_here_is_told() -> None:
    text = plan(phase("P1", confirm(status="DONE"), task("T1.1", confirm())))
    (told,) = describe_settled(read(text).plan)
    assert told.startswith("P1: the plan says that its confirm is DONE")


def test_both_moments_of_a_confirm_that_is_done_are_settled() -> None:
    text = plan(phase("P1", confirm(when="both", status="DONE"), task("T1.1")))
    assert set(list_settled(read(text).plan)) == {"P1-before", "P1-after"}


def test_a_blocked_task_says_what_blocked_it() -> None:
    text = plan(phase("P1", task("T1.1", status="BLOCKED").replace("id=", "blocker='rain' id=")))
    assert "BLOCKED: rain" in list_settled(read(text).plan)["T1_1"]["reason"]


@pytest.mark.parametrize(
    "status, written",
    [("TODO", "NOT_STARTED"), ("BLOCKED", "ACTIVE"), ("DONE", "DONE"), ("CANCELLED", "ABANDONED")],
)
def test_track_xml_has_words_of_its_own(status: str, written: str) -> None:
    assert written_status("track", status) == written
    assert written_status("plan", status) == status


def test_a_status_that_is_an_element_with_elements_in_it_is_no_status() -> None:
    text = plan(phase("P1", "<task id='T1.1'><status><b>DONE</b></status></task>"))
    assert read(text).plan.phases[0].tasks[0].status == "TODO"
