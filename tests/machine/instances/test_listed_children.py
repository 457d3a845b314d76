"""Children that a spec itself lists are limited before anybody begins."""

from typing import TYPE_CHECKING, Any

import pytest

from porch.machine.instances.listed_children import (
    SpecOfPart,
    find_listed_problems,
    find_problems_below_plan,
)
from tests.machine.instances.conftest import read_graph
from tests.machine.instances.family_graphs import JOB, LEAF, MAP, item

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove

LISTED = MAP.replace("specs: Split.items", "specs: instance.spec.items, fan_out: 3").replace(
    'Split: {items: "Maybe [Item]"}', "Split: {}"
)
ABOVE = (
    MAP.replace("protocol: leaf", "protocol: listed, instances: 6")
    .replace(
        "Item: {id: Text, file: FilePath,", 'Item: {id: Text, file: FilePath, items: "[Part]",'
    )
    .replace("  Item:", '  Part: {id: Text, file: FilePath, after: "Maybe [Text]"}\n  Item:')
)


def find(*items: Any, room: int = 24, depth: int = 0) -> list[str]:
    graph = read_graph(LISTED, leaf=LEAF)
    return find_listed_problems(graph, [SpecOfPart("", {**JOB, "items": items}, depth)], room)


def test_d39_children_that_a_spec_lists_are_as_many_as_the_graph_allows() -> None:
    assert find(item("a"), item("b", "a"), item("c")) == []
    four = [item(name) for name in "abcd"]
    assert find(*four) == ["items: 4 children are listed, but only 3 are allowed"]
    assert find(item("a"), depth=2) == ["items: 1 children are listed, but only 0 are allowed"]


def test_d39_no_more_are_listed_than_can_begin_in_a_run() -> None:
    said = "more than 2 children are listed, but no more can begin in a run"
    assert find(item("a"), item("b"), item("c"), room=2) == [said]


@pytest.mark.parametrize(
    "items, said",
    [
        ((item("a"), item("a")), "child 'a' is planned 2 times"),
        ((item("a.lock"),), "child 'a.lock': this cannot be the name of a branch"),
        ((item("a", "b"),), "child 'a' waits for 'b', which is not in the plan (a)"),
    ],
)
def test_d47_a_list_in_a_spec_has_ids_that_can_be_used(items: Any, said: str) -> None:
    assert find(*items) == [said]


def below(grove: "Grove", *planned: Any) -> list[str]:
    payload = {"items": list(planned)}
    return find_problems_below_plan(grove.protocol, grove.state, "", "split.Split", payload)


def test_d39_an_agent_cannot_list_more_in_the_spec_of_a_child(grove_of: "type[Grove]") -> None:
    grove = grove_of(read_graph(ABOVE, listed=LISTED, leaf=LEAF)).start_with(JOB)
    parts = [item(name) for name in "abcd"]
    assert below(grove, {**item("x"), "items": parts[:3]}) == []
    assert below(grove, {**item("x"), "items": parts}) == [
        "items: 4 children are listed, but only 3 are allowed"
    ]
    two = [{**item(name), "items": parts[:2]} for name in "xy"]
    assert below(grove, *two) == ["more than 3 children are listed, but no more can begin in a run"]


def test_an_answer_that_plans_nobody_lists_nobody(grove_of: "type[Grove]") -> None:
    grove = grove_of(read_graph(LISTED, leaf=LEAF)).start_with(JOB)
    assert below(grove, item("x")) == []
