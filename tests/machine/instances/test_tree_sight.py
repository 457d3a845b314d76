"""Of a tree only those are asked again who see what a record changed."""

from typing import TYPE_CHECKING

import pytest

from porch.machine import moves as m
from porch.machine.state import RunState, Standing
from porch.machine.wanted import touched_positions
from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove


def seen(grove: "Grove", *moves: m.Move) -> set[str]:
    return touched_positions(grove.protocol, grove.state, moves)


@pytest.mark.parametrize(
    "move, found",
    [
        (m.Remembered("impl.Stuck", {}, "", "a"), {"a"}),
        (m.Forgot("impl.Stuck", "", "a"), {"a"}),
        (m.Charged("a/rounds", 1), {"a"}),
        (m.Charged("rounds", 1), {"", "a", "b"}),
        (m.Remembered("thread.planner", {}), {"", "a", "b"}),
        (m.Spawned("b.x", "b", "x", {}), {"a", "b"}),
        (m.Ended("failed", "c"), {"a", "b", "c"}),
        (m.Held("hold:branch:b", "a/scaffold#1"), {"a"}),
        (m.Marked("a/scaffold#1", "x"), {"a"}),
        (m.GateNoted("x", "waiting"), set()),
    ],
)
def test_t7_a_move_in_a_tree_touches_its_instance_and_who_looks_up_to_it(
    v3: "Grove", move: m.Move, found: set[str]
) -> None:
    """Planners read their parent's plan and how many may live; who writes tests does neither."""
    v3.plan("", "a", "b", "c")
    v3.plan("c")
    positions = v3.state.positions
    assert {positions[name].instance for name in seen(v3, move)} == found


def test_t7_who_judges_for_a_parent_hears_what_the_parent_said_and_who_merged(
    family: "Grove",
) -> None:
    family.plan("a")
    family.goes("a", "judge")
    judge = {family.place("a", "judge")}
    assert judge <= seen(family, m.Remembered("thread.tests", {"session": "s"}))
    assert judge <= seen(family, m.Ended("complete", "b"))
    assert not judge & seen(family, m.Remembered("thread.tests", {"session": "s"}, "", "b"))


def test_t7_the_end_of_a_member_is_no_end_of_the_run(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    assert seen(v3, m.Ended("failed", "a")) != set(v3.state.positions)
    assert seen(v3, m.Ended("failed")) == set(v3.state.positions)


def test_t7_as_many_positions_are_asked_again_in_a_tree_of_200_as_in_one_of_5(
    v3_protocol: p.Protocol,
) -> None:
    move = m.Remembered("impl.RequestRetry", {}, "", "i1")
    found = [
        touched_positions(v3_protocol, RunState(positions=crowd(count)), [move])
        for count in (5, 200)
    ]
    assert found == [{"i1/impl#1"}, {"i1/impl#1"}]


def crowd(count: int) -> dict[str, Standing]:
    names = {f"i{number}/impl#1": f"i{number}" for number in range(count)}
    return {place: Standing(place, name, "impl", "", 1, "") for place, name in names.items()}
