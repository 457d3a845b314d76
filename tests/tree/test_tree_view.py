"""The live tree of a run, as data and drawn."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from porch.machine.state import InHand, Instance, RunState, Standing
from porch.model.protocol import Budget, Protocol, Target
from porch.tree import tree_view

PROTOCOL = Protocol(
    name="p",
    version="1",
    states={},
    edges=(),
    initial=Target("s"),
    budgets={"rounds": Budget("rounds", 5), "attempts": Budget("attempts", 4, first=1)},
)


def standing(instance: str, state: str) -> Standing:
    text = f"{instance}/{state}#1" if instance else f"{state}#1"
    return Standing(text, instance, state, "", 1, "")


def state(**instances: Instance) -> RunState:
    known: Mapping[str, Instance] = {"": Instance(key="calc", branch="porch/calc"), **instances}
    mine = [standing("", "children"), standing("add", "impl"), standing("add", "review")]
    return RunState(
        instances=known,
        positions={each.position: each for each in mine},
        in_hand={"e": InHand("e", "add/impl#1", "agent", "impl")},
        spent={"add/rounds": 2, "rounds": 0},
    )


@pytest.fixture
def whole() -> RunState:
    return state(
        add=Instance(key="add", branch="porch/calc.add"),
        mul=Instance(key="mul", branch="porch/calc.mul", outcome="failed", why={"kind": "Stuck"}),
        **{
            "add.low": Instance(parent="add", key="low", branch="b", outcome="abandoned"),
            "neg": Instance(key="neg", branch="c", outcome="complete", why={"kind": "x"}),
        },
    )


def test_t11_the_tree_says_for_whom_a_child_waits(whole: RunState) -> None:
    waiting = Instance(key="div", branch="porch/calc.div", after=("add", "neg"))
    grown = replace(whole, instances={**whole.instances, "div": waiting})
    assert "└─ div  waits for add, neg" in tree_view.render_tree(PROTOCOL, grown)


def test_the_tree_is_drawn_with_branches_budgets_and_who_works(whole: RunState) -> None:
    assert tree_view.render_tree(PROTOCOL, whole) == [
        "calc  children#1",
        "│ porch/calc",
        "├─ add  impl#1*, review#1",
        "│  │ porch/calc.add  (rounds: 3 of 5 left)",
        "│  └─ low  cancelled",
        "│       b",
        "├─ mul  failed: Stuck",
        "│    porch/calc.mul",
        "└─ neg  merged",
        "     c",
    ]


def test_parents_come_before_their_children_in_the_data(whole: RunState) -> None:
    data = tree_view.make_tree_data(PROTOCOL, whole)
    assert [each["instance"] for each in data] == ["", "add", "add.low", "mul", "neg"]
    assert data[0]["parent"] is None
    assert data[1]["positions"] == ["add/impl#1", "add/review#1"]
    assert data[1]["budgets"] == {"rounds": "3 left", "attempts": "4 left"}
    assert data[3]["why"] == {"kind": "Stuck"}


def test_an_instance_between_two_states_is_nowhere() -> None:
    alone = replace(state(), positions={})
    assert tree_view.render_tree(PROTOCOL, alone)[0] == "calc  nowhere"


def test_a_run_without_instances_says_so() -> None:
    assert tree_view.render_tree(PROTOCOL, RunState()) == [
        "this run has no tree: its protocol has no instances"
    ]
