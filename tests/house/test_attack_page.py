"""The page "What holds, and against whom" is made from the attempts that the tests make."""

from msgspec.structs import replace

from tests.whole.attacks.table import ATTACKS
from tools.attack_page import BEGIN, END, PAGE, PLACES, TITLES, render_page


def test_the_tables_are_what_the_tool_writes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == render_page(page, ATTACKS), "run: python tools/attack_page.py --write"


def test_every_attempt_has_its_row_and_every_place_its_words() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [each.id for each in ATTACKS if f"\n| {each.id} | " not in page] == []
    assert {each.group for each in ATTACKS} == set(TITLES)
    assert {each.where for each in ATTACKS} == set(PLACES)


def test_another_result_makes_another_page_and_leaves_the_text_alone() -> None:
    page = PAGE.read_text(encoding="utf-8")
    other = (replace(ATTACKS[0], result="documented"), *ATTACKS[1:])
    written = render_page(page, other)
    assert written != page
    assert written.partition(BEGIN)[0] == page.partition(BEGIN)[0]
    assert written.partition(END)[2] == page.partition(END)[2]


def test_what_careless_agents_do_and_no_gate_shows_is_named_in_the_text() -> None:
    page = PAGE.read_text(encoding="utf-8")
    careless = [each for each in ATTACKS if each.agent == "careless" and each.where != "gate"]
    late = [each.id for each in careless if each.result == "detected"]
    text = page.partition(BEGIN)[0]
    assert f"{', '.join(late[:-1])} and {late[-1]} are reported only afterwards" in text


def test_every_limit_that_needs_no_malice_is_named_in_the_text() -> None:
    """What is documented of the malicious and of those who read secrets is told in words there."""
    text = PAGE.read_text(encoding="utf-8").partition(END)[2]
    limits = [
        each.id
        for each in ATTACKS
        if (each.agent, each.result) == ("curious", "documented")
        and each.group in ("evidence", "measurement")
        and each.id != "M14"  # a module of the name of a real one is no accident
    ]
    assert limits == ["E13", "M15"]
    assert all(each in text for each in limits)
