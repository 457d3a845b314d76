"""Somebody who changes a product opens its house, and at most one or two rooms beside it."""

import pytest

from tools.product_rooms import ABOUT, MOST, group_by_room, list_own_modules, read_importers


@pytest.fixture(scope="module")
def importers() -> dict[str, frozenset[str]]:
    return dict(read_importers())


@pytest.mark.parametrize("house", ABOUT)
def test_few_rooms_hold_modules_of_one_product_alone(
    importers: dict[str, frozenset[str]], house: str
) -> None:
    rooms = group_by_room(list_own_modules(importers, house, ABOUT[house]))
    assert house in rooms
    assert len(rooms) <= MOST[house], rooms


def test_what_is_named_as_about_a_product_is_there(importers: dict[str, frozenset[str]]) -> None:
    assert [each for about in ABOUT.values() for each in about if each not in importers] == []


def test_a_module_serves_a_product_alone_if_all_who_import_it_do() -> None:
    importers = {
        "plan.a": frozenset(()),
        "git.b": frozenset(("plan.a",)),
        "text.c": frozenset(("git.b",)),
        "text.d": frozenset(("git.b", "run.e")),
        "run.e": frozenset(()),
        "machine.f": frozenset(("run.e",)),
    }
    own = list_own_modules(importers, "plan", ("machine.f",))
    assert own == {"plan.a", "git.b", "text.c", "machine.f"}
    assert list(group_by_room(own)) == ["git", "machine", "plan", "text"]
