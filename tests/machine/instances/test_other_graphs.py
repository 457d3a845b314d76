"""Children that follow another graph: typed by it, bounded by it, and pinned with their parent."""

from typing import TYPE_CHECKING

import pytest

from porch.machine.instances.child_specs import find_plan_problems
from porch.model import definition as d
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


def test_t3_a_child_of_another_graph_begins_there_and_gives_what_its_end_gives(
    grove: "Grove",
) -> None:
    grove.says("", "split", "Split", items=[item("a"), item("b")])
    assert grove.at("a") == {"leaf+work"}
    assert grove.of("a").part == "leaf"
    grove.says("a", "leaf+work", "Done", size=3, of={"id": "a"})
    grove.says("b", "leaf+work", "Done", size=4, of={"id": "b"})
    merged = grove.request("", "reduce").values["parts"]
    assert merged == [
        {"id": "a", "size": 3, "of": {"id": "a"}},
        {"id": "b", "size": 4, "of": {"id": "b"}},
    ]
    grove.says("", "reduce", "Reduced", text="all")
    assert grove.state.outcome == "complete"
    assert grove.replayed() == grove.state


def test_t8_a_child_gets_what_its_plan_says_and_nothing_of_its_parent(grove: "Grove") -> None:
    grove.says("", "split", "Split", items=[item("a")])
    assert grove.of("a").spec == {"id": "a", "file": "a.txt", "note": None}
    assert grove.request("a", "leaf+work").values["item"]["note"] is None


def test_budgets_of_another_graph_are_its_own_under_their_plain_names(grove: "Grove") -> None:
    grove.says("", "split", "Split", items=[item("a")])
    seen = grove.request("a", "leaf+work").values
    assert (seen["left"], list(seen["budget"])) == (1, ["rounds"])
    grove.says("a", "leaf+work", "Bad", why="no")
    assert grove.request("a", "leaf+work").values["left"] == 0
    grove.says("a", "leaf+work", "Bad", why="still no")
    assert grove.of("a").outcome == "failed"
    lost = grove.request("", "split").values["lost"]
    assert lost["failed"] == [
        {
            "id": "a",
            "spec": {"id": "a", "file": "a.txt", "note": None},
            "why": {"kind": "Bad", "payload": {"why": "still no"}},
        }
    ]


def test_a_child_of_another_graph_is_done_again_in_it(grove: "Grove") -> None:
    grove.says("", "split", "Split", items=[item("a")])
    grove.says("a", "leaf+work", "Done", size=3, of={})
    grove.says("", "reduce", "Again", ids=["a"])
    assert grove.at("a-r2") == {"leaf+work"}
    assert grove.of("a-r2").part == "leaf"


def test_who_spawns_nobody_plans_nobody(grove: "Grove") -> None:
    grove.says("", "split", "Split", items=[item("a")])
    path = "leaf+work.Done"
    assert find_plan_problems(grove.protocol, grove.state, "a", path, {"size": 3}) == []


def test_all_of_it_is_one_definition_that_comes_back_equal(family: p.Protocol) -> None:
    whole = d.Definition(family, {"split": "s", "leaf+work": "w"})
    again = d.parse_stored_definition(d.serialize_definition(whole))
    assert again.protocol == family
    assert d.hash_definition(again) == d.hash_definition(whole)
    assert set(family.parts) == {"leaf"}
    other = read_graph(MAP, leaf=LEAF.replace("rounds: 1", "rounds: 2"))
    assert d.hash_definition(d.Definition(other)) != d.hash_definition(d.Definition(family))


NESTED = (
    MAP.replace("name: map", "name: top")
    .replace("protocol: leaf", "protocol: map")
    .replace(
        "Item: {id: Text, file: FilePath, after",
        'Item: {id: Text, file: FilePath, items: "[Deep]", after',
    )
    .replace("  Job:", '  Deep: {id: Text, file: FilePath, after: "Maybe [Text]"}\n  Job:')
)


def test_a_graph_inside_another_may_have_children_of_a_third(grove_of: "type[Grove]") -> None:
    protocol = read_graph(NESTED, map=MAP, leaf=LEAF)
    assert set(protocol.parts) == {"map", "map+leaf"}
    grove = grove_of(protocol).start_with(JOB)
    deep = {**item("x"), "items": []}
    grove.says("", "split", "Split", items=[deep])
    assert grove.request("x", "map+split").values["room"]["allowed"]
    grove.says("x", "map+split", "Split", items=[item("y")])
    assert grove.at("x.y") == {"map+leaf+work"}
    grove.says("x.y", "map+leaf+work", "Done", size=1, of={})
    grove.says("x", "map+reduce", "Reduced", text="x")
    assert grove.request("", "reduce").values["parts"] == [{"id": "x"}]


def test_depth_counts_from_where_a_graph_begins_and_instances_in_the_whole_run(
    grove_of: "type[Grove]",
) -> None:
    shallow = MAP.replace("protocol: leaf", "protocol: leaf, depth: 1, instances: 9")
    top = NESTED.replace("protocol: map", "protocol: map, depth: 1, instances: 3")
    grove = grove_of(read_graph(top, map=shallow, leaf=LEAF)).start_with(JOB)
    assert grove.request("", "split").values["room"] == {"allowed": True, "most": 2}
    grove.says("", "split", "Split", items=[{**item("x"), "items": []}])
    assert grove.request("x", "map+split").values["room"] == {"allowed": True, "most": 1}


UPDATED = """\
document: {name: leaf}
spec: Item
types: {Item: {id: Text, file: FilePath}}
budgets: {rounds: 2, plans: 2}
epoch: {state: work, charge: plans, spent: lost, reset: [rounds]}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
interrupts:
  sibling: {state: update, on: Done, event: Done, before: [look]}
states:
  work: {role: r, template: t, input: {left: engine.rounds.left}, exits: {Done: {size: Int}}}
  look: {role: r, template: t, input: {seen: engine.siblings}, exits: {Ok: {}, No: {}, Anew: {}}}
  update: {git: update}
  done: {end: complete}
  lost: {end: failed}
edges:
  work.Done: {to: look}
  look.Ok: {to: done}
  look.No: {to: look, charge: rounds, spent: lost}
  look.Anew: {to: work}
  update.clean: {to: due}
  update.conflict: {to: lost}
  update.refused: {to: lost}
"""


def test_siblings_of_another_graph_are_told_of_each_other(grove_of: "type[Grove]") -> None:
    grove = grove_of(read_graph(MAP, leaf=UPDATED)).start_with(JOB)
    grove.says("", "split", "Split", items=[item("a"), item("b")])
    grove.says("a", "leaf+work", "Done", size=1)
    assert grove.recall("b", "engine.update") == {"size": 1, "newParentHead": ""}
    grove.says("a", "leaf+look", "Ok")
    assert grove.of("a").merged == {"size": 1}
    grove.says("b", "leaf+work", "Done", size=2)
    assert grove.at("b") == {"leaf+update"}
    grove.git("b", "leaf+update")
    assert grove.at("b") == {"leaf+look"}
    assert grove.request("b", "leaf+look").values["seen"] == [{"size": 1}]
    grove.says("b", "leaf+look", "Ok")
    assert grove.request("", "reduce").values["parts"] == [{"size": 1}, {"size": 2}]


def test_a_child_of_another_graph_that_is_told_a_new_spec_has_its_budgets_back(
    grove_of: "type[Grove]",
) -> None:
    beside = "  aside: {role: r, template: t, exits: {Stop: {}}}\n  done:"
    restless = (
        MAP.replace("  done:", beside, 1)
        .replace("{to: kids, forget", "{to: [kids, aside], forget")
        .replace("edges:\n", "edges:\n  aside.Stop: {to: split, charge: plans, spent: lost}\n")
    )
    grove = grove_of(read_graph(restless, leaf=UPDATED)).start_with(JOB)
    grove.says("", "split", "Split", items=[item("a")])
    grove.says("a", "leaf+work", "Done", size=1)
    grove.says("a", "leaf+look", "No")
    assert grove.state.spent["a/leaf+rounds"] == 1
    grove.says("", "aside", "Stop")
    grove.says("", "split", "Split", items=[{**item("a"), "file": "other.txt"}])
    assert grove.at("a") == {"leaf+work"}
    assert grove.request("a", "leaf+work").values["left"] == 2
