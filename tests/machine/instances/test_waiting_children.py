"""Children that wait for siblings: begun in their order, told of a new plan, never left waiting."""

from typing import TYPE_CHECKING, Any

import pytest

from porch.machine import moves as m
from porch.machine.instances.child_specs import find_plan_problems
from porch.model import protocol as p
from tests.machine.instances.conftest import read_graph
from tests.machine.instances.family_graphs import JOB, LEAF, MAP, item

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove


@pytest.fixture(scope="module")
def family() -> p.Protocol:
    return read_graph(MAP, leaf=LEAF)


@pytest.fixture
def grove(family: p.Protocol, grove_of: "type[Grove]") -> "Grove":
    return grove_of(family).start_with(JOB)


def plan(grove: "Grove", *items: Any) -> None:
    grove.says("", "split", "Split", items=list(items))


def ends(grove: "Grove", name: str) -> None:
    grove.says(name, "leaf+work", "Done", size=1, of={})


def fails(grove: "Grove", name: str) -> None:
    for _ in range(2):
        grove.says(name, "leaf+work", "Bad", why="no")


def test_t11_a_child_begins_when_those_it_waits_for_have_merged(grove: "Grove") -> None:
    plan(grove, item("c", "a", "b"), item("a"), item("b", "a"))
    assert (grove.at("a"), grove.at("b"), grove.at("c")) == ({"leaf+work"}, set(), set())
    assert grove.of("c").after == ("a", "b")
    ends(grove, "a")
    assert (grove.at("b"), grove.at("c")) == ({"leaf+work"}, set())
    ends(grove, "b")
    assert grove.at("c") == {"leaf+work"}
    assert grove.of("c").after == ()
    ends(grove, "c")
    assert [part["id"] for part in grove.request("", "reduce").values["parts"]] == ["c", "a", "b"]
    ended = [move.instance for move in grove.moved(m.Ended)]
    assert ended == ["a", "b", "c"]
    assert grove.replayed() == grove.state


def test_t11_who_waits_for_a_child_that_fails_or_is_cancelled_is_cancelled(grove: "Grove") -> None:
    plan(grove, item("a"), item("b", "a"), item("c", "b"))
    fails(grove, "a")
    lost = grove.request("", "split").values["lost"]
    assert ([each["id"] for each in lost["failed"]], lost["cancelled"]) == (["a"], ["b", "c"])
    assert grove.of("b").why == {"kind": "Unstarted", "payload": {"after": ["a"]}}
    assert grove.of("c").why == {"kind": "Unstarted", "payload": {"after": ["b"]}}
    assert grove.entered("b") == []


def test_t11_a_new_plan_begins_the_cancelled_ones_anew(grove: "Grove") -> None:
    plan(grove, item("a"), item("b", "a"))
    fails(grove, "a")
    plan(grove, item("a"), item("b", "a"))
    assert (grove.at("a-r2"), grove.of("b-r2").after) == ({"leaf+work"}, ("a-r2",))
    ends(grove, "a-r2")
    assert grove.at("b-r2") == {"leaf+work"}


def test_t11_who_has_merged_before_is_not_waited_for(grove: "Grove") -> None:
    plan(grove, item("a"), item("b"))
    ends(grove, "a")
    fails(grove, "b")
    plan(grove, item("c", "a"))
    assert grove.at("c") == {"leaf+work"}


def replanned(text: str) -> str:
    """The same with a way back to the plan while children live."""
    beside = "  aside: {role: r, template: t, exits: {Stop: {}}}\n  done:"
    return (
        text.replace("  done:", beside, 1)
        .replace(
            "{to: kids, forget: [kids.settled]}", "{to: [kids, aside], forget: [kids.settled]}"
        )
        .replace("edges:\n", "edges:\n  aside.Stop: {to: split, charge: plans, spent: lost}\n")
    )


@pytest.fixture
def restless(grove_of: "type[Grove]") -> "Grove":
    return grove_of(read_graph(replanned(MAP), leaf=LEAF)).start_with(JOB)


def test_t11_a_new_plan_changes_what_a_waiting_child_waits_for(restless: "Grove") -> None:
    plan(restless, item("a"), item("b"), item("c", "a"))
    restless.says("", "aside", "Stop")
    plan(restless, item("a"), item("b"), item("c", "b"))
    assert restless.of("c").after == ("b",)
    ends(restless, "b")
    assert restless.at("c") == {"leaf+work"}


def test_t11_a_waiting_child_with_another_spec_is_told_and_goes_on_waiting(
    restless: "Grove",
) -> None:
    plan(restless, item("a"), item("c", "a"))
    restless.says("", "aside", "Stop")
    plan(restless, item("a"), {**item("c", "a"), "file": "other.txt"})
    assert restless.of("c").spec["file"] == "other.txt"
    assert (restless.at("c"), restless.of("c").revision) == (set(), None)
    ends(restless, "a")
    assert restless.at("c") == {"leaf+work"}


def test_t11_a_waiting_child_that_need_not_wait_any_more_begins(restless: "Grove") -> None:
    plan(restless, item("a"), item("c", "a"))
    restless.says("", "aside", "Stop")
    plan(restless, item("a"), item("c"))
    assert restless.at("c") == {"leaf+work"}


def test_t11_a_child_that_has_begun_goes_on_whatever_it_should_wait_for(
    restless: "Grove",
) -> None:
    plan(restless, item("a"), item("c"))
    restless.says("", "aside", "Stop")
    plan(restless, item("a"), item("c", "a"))
    assert (restless.at("c"), restless.of("c").after) == ({"leaf+work"}, ())


def test_t11_a_waiting_child_that_a_plan_leaves_out_is_cancelled(restless: "Grove") -> None:
    plan(restless, item("a"), item("c", "a"))
    restless.says("", "aside", "Stop")
    plan(restless, item("a"))
    assert restless.of("c").outcome == "abandoned"


def test_t11_children_that_are_done_again_keep_their_order(grove: "Grove") -> None:
    plan(grove, item("a"), item("b", "a"))
    ends(grove, "a")
    ends(grove, "b")
    grove.says("", "reduce", "Again", ids=["b", "a"])
    assert (grove.at("a-r2"), grove.of("b-r2").after) == ({"leaf+work"}, ("a-r2",))
    ends(grove, "a-r2")
    assert grove.at("b-r2") == {"leaf+work"}


def test_t11_a_child_done_again_does_not_wait_for_one_that_stays_merged(grove: "Grove") -> None:
    plan(grove, item("a"), item("b", "a"))
    ends(grove, "a")
    ends(grove, "b")
    grove.says("", "reduce", "Again", ids=["b"])
    assert grove.at("b-r2") == {"leaf+work"}


@pytest.mark.parametrize(
    "items, cancelled",
    [
        ([item("a", "b"), item("b", "a")], ["a", "b"]),
        ([item("a", "a")], ["a"]),
        ([item("a", "nobody")], ["a"]),
    ],
)
def test_t11_a_plan_that_nobody_checked_never_hangs(
    grove: "Grove", items: list[Any], cancelled: list[str]
) -> None:
    """A spec that a person wrote is no answer of an agent, so nobody has refused it."""
    plan(grove, *items)
    settled = grove.recall("", "kids.settled")
    assert sorted(settled["cancelled"]) == cancelled


def problems(grove: "Grove", *items: Any) -> list[str]:
    payload = {"items": list(items)}
    return find_plan_problems(grove.protocol, grove.state, "", "split.Split", payload)


def test_t11_circles_and_strangers_are_refused_where_they_are_planned(grove: "Grove") -> None:
    assert problems(grove, item("a"), item("b", "a")) == []
    (stranger,) = problems(grove, item("a"), item("b", "x"))
    assert stranger == "child 'b' waits for 'x', which is not in the plan (a, b)"
    (circle,) = problems(grove, item("a", "b"), item("b", "c"), item("c", "a"))
    assert circle.startswith("these children wait for each other: ")
    way = circle.partition(": ")[2].split(" -> ")
    assert (way[0], len(way)) == (way[-1], 4)
    waits = {"a": "b", "b": "c", "c": "a"}
    assert [waits[name] for name in way[:-1]] == way[1:]


def test_t11_a_merged_child_may_be_named_that_is_not_planned_again(grove: "Grove") -> None:
    plan(grove, item("a"), item("b"))
    ends(grove, "a")
    fails(grove, "b")
    assert problems(grove, item("c", "a")) == []
    assert problems(grove, item("c", "b")) != []


def test_a_sibling_that_has_not_begun_takes_no_update(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """Its branch begins later, and holds what was merged before."""
    grove = grove_of(v3_protocol).start()
    grove.plan("", grove.spec("a"), grove.spec("b", after=["a"]))
    grove.goes("a")
    assert grove.recall("b", "engine.update") is None
    assert grove.at("b") == {"scaffold"}
    assert "after" not in grove.of("b").spec
