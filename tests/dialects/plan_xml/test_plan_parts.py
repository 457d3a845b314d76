"""What people confirm of a plan: all of a node, but what porch writes and how it is laid out."""

import pytest

from porch.dialects.plan_xml.plan_parts import find_plan_part
from tests.plans import confirm, phase, plan, task

TEXT = plan(phase("P1", confirm(), task("T1.1", confirm())), phase("P2", task("T2.1")))


def part(text: str, id_: str = "T1.1") -> bytes | None:
    return find_plan_part(text.encode(), id_)


SAME = {
    "a status": TEXT.replace('"TODO"', '"DONE"'),
    "a blocker": TEXT.replace('id="T1.1"', 'id="T1.1" blocker="confirm:after"'),
    "blanks": TEXT.replace("Do T1.1", "\n   Do\n T1.1 "),
    "another task": TEXT.replace("Do T2.1", "Do something else"),
    "the order of attributes": TEXT.replace(
        'id="T1.1" name="Name of T1.1"', 'name="Name of T1.1" id="T1.1"'
    ),
    "a comment": TEXT.replace("Do T1.1", "Do T1.1<!-- hm -->"),
    "a byte order mark": "\ufeff" + TEXT,
}
OTHER = {
    "the text": TEXT.replace("Do T1.1", "Do T1.1 twice"),
    "the name": TEXT.replace('"Name of T1.1"', '"Another"'),
    "a confirm less": TEXT.replace(confirm(), ""),
    "a moment": TEXT.replace('"after"', '"both"'),
}


@pytest.mark.parametrize("what", SAME)
def test_a12_what_does_not_count_as_a_change(what: str) -> None:
    assert SAME[what] != TEXT
    assert part(SAME[what]) == part(TEXT)


@pytest.mark.parametrize("what", OTHER)
def test_a12_what_counts_as_a_change(what: str) -> None:
    assert part(OTHER[what]) != part(TEXT)


def test_a_phase_has_its_tasks_in_it() -> None:
    assert part(OTHER["the text"], "P1") != part(TEXT, "P1")
    assert part(OTHER["the text"], "P2") == part(TEXT, "P2")


def test_a_status_written_as_an_element_does_not_count() -> None:
    todo = "<plan><phase id='P1'><task id='T1.1'><status>TODO</status></task></phase></plan>"
    assert part(todo) == part(todo.replace("TODO", "DONE"))


def test_of_what_is_not_there_nothing_is_known() -> None:
    assert part(TEXT, "T9.9") is None
    assert part("<plan>", "T1.1") is None
    assert find_plan_part(b"\xff", "T1.1") is None
    assert part(plan(phase("P1", task("T1.1"), task("T1.1")))) is None
