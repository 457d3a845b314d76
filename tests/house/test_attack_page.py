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
