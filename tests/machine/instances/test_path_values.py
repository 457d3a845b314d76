"""What the paths of a protocol mean, as one position of a tree sees them."""

from typing import TYPE_CHECKING, Any

import pytest

from porch.machine import path_values
from porch.machine.exits.sibling_updates import Departure
from porch.machine.state import RunState
from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove


def look(grove: "Grove", instance: str, path: str) -> Any:
    standing = next(s for s in grove.state.positions.values() if s.instance == instance)
    return path_values.look_up_path(grove.protocol, grove.state, standing, path)


def taken(grove: "Grove", instance: str, take: p.Take) -> Any:
    standing = next(s for s in grove.state.positions.values() if s.instance == instance)
    return path_values.input_value(grove.protocol, grove.state, standing, take)


@pytest.fixture
def deep(v3: "Grove") -> "Grove":
    """Three generations, of which the oldest two have planned."""
    v3.plan("", "a", "b", interfaceFile="src/root.py")
    v3.plan("a", "x", interfaceFile="src/a.py")
    return v3


def test_a_parent_is_looked_at_step_by_step(deep: "Grove") -> None:
    assert look(deep, "a.x", "parent.scaffold.InitWork.interfaceFile") == "src/a.py"
    assert look(deep, "a.x", "parent.parent.scaffold.InitWork.interfaceFile") == "src/root.py"
    assert look(deep, "a.x", "parent.parent.parent.instance.id") is None
    assert look(deep, "a.x", "parent.instance.spec.id") == "a"
    assert look(deep, "a.x", "parent") == {"nodeId": "a", "branch": "b.a"}
    assert look(deep, "", "parent") is None


def test_an_instance_knows_itself(deep: "Grove") -> None:
    assert look(deep, "a.x", "instance.name") == "a.x"
    assert look(deep, "a.x", "instance.id") == "x"
    assert look(deep, "a.x", "instance.depth") == 2
    assert look(deep, "a.x", "instance.node") == {"nodeId": "x", "branch": "b.a.x"}
    assert look(deep, "a.x", "instance.target") == {"nodeId": "a", "branch": "b.a"}
    assert look(deep, "", "instance.target") == {"nodeId": "main", "branch": "main"}
    assert look(deep, "", "instance.depth") == 0


def test_a_root_without_a_target_has_none(v3_protocol: p.Protocol, grove_of: "type[Grove]") -> None:
    grove = grove_of(v3_protocol).start(into="")
    assert look(grove, "", "instance.target") is None
    assert look(grove, "", "instance.target.branch") is None


def test_what_was_never_said_is_nothing(deep: "Grove") -> None:
    assert look(deep, "", "review.Approved.signOff") is None
    assert look(deep, "", "scaffold.InitWork.nothing.inside") is None
    assert look(deep, "", "engine.update.author") is None
    assert look(deep, "", "engine.unknown") is None


def test_the_engine_counts(deep: "Grove") -> None:
    assert look(deep, "", "engine.attempts.count") == 1
    assert look(deep, "", "engine.attempts.limit") == 5
    assert look(deep, "", "engine.rounds") == {"count": 0, "spent": 0, "limit": 5, "left": 5}
    deep.says("", "write_tests", "InvalidScaffold")
    assert look(deep, "", "engine.epochs.left") == 2


@pytest.mark.parametrize(
    "fields, found",
    [
        ("criteria.id", ["1", "2"]),
        ("pairs.0", ["1", "2"]),
        ("pairs.1", ["t"]),
        ("pairs.7", []),
        ("nested.each", ["p", "q", "r"]),
        ("criteria.missing", []),
        ("text.inside", None),
        ("nothing.at.all", None),
        ("names.id", []),
    ],
)
def test_a_list_is_gone_through_element_by_element(fields: str, found: object) -> None:
    payload = {
        "criteria": [{"id": "1"}, {"id": "2"}],
        "pairs": [["1", "t"], ("2",)],
        "nested": [{"each": ["p", "q"]}, {"each": ["r"]}],
        "text": "plain",
        "names": ["n"],
        "nothing": None,
    }
    assert path_values.walk_fields(payload, fields.split(".")) == found


def test_of_several_paths_the_latest_is_taken_with_its_kind(v3: "Grove") -> None:
    both = p.Take("x", ("impl.RequestRetry", "impl.TestsPassed", "impl.Stuck"), optional=True)
    assert taken(v3, "", both) is None
    v3.goes("", "impl")
    v3.says("", "impl", "RequestRetry")
    v3.says("", "impl", "TestsPassed")
    assert taken(v3, "", both)["kind"] == "TestsPassed"
    v3.says("", "review", "MoreTests")
    v3.says("", "impl", "RequestRetry", diagnosis="later")
    assert taken(v3, "", both)["kind"] == "RequestRetry"
    assert taken(v3, "", both)["payload"]["diagnosis"] == "later"


def test_a_record_of_parts_is_there_when_all_it_needs_is(deep: "Grove") -> None:
    needed = p.Take("interface", ("parent.scaffold.InitWork.interfaceFile",))
    spare = p.Take("more", ("review.Approved",), optional=True)
    whole = p.Take("context", parts=(needed, spare), optional=True)
    assert taken(deep, "a", whole) == {"interface": "src/root.py", "more": None}
    assert taken(deep, "", whole) is None


def test_an_exit_that_is_being_said_is_seen_as_if_remembered(v3: "Grove") -> None:
    standing = next(iter(v3.state.positions.values()))
    leaving = Departure(v3.protocol, v3.state, standing, "InitWork", {"testPlan": [{"id": 1}]})
    assert leaving.look("scaffold.InitWork") == {"testPlan": [{"id": 1}]}
    assert leaving.look("scaffold.InitWork.testPlan.id") == [1]
    assert leaving.look("scaffold.InitWorkshop") is None


@pytest.mark.parametrize(
    "file, places, is_it",
    [
        ("src/a.py", ["src/a.py"], True),
        ("src/a/b.py", ["src/a"], True),
        ("src/a/b.py", ["src/a/"], True),
        ("src/ab.py", ["src/a"], False),
        ("src/a.py", [None, "", ["docs", "src"]], True),
        ("src/a.py", [], False),
    ],
)
def test_a_file_lies_at_or_under_a_place(file: str, places: list[Any], is_it: bool) -> None:
    assert path_values.is_within(file, places) is is_it


@pytest.mark.parametrize(
    "instance, other, is_it",
    [
        ("a.x", "a", True),
        ("a", "a", True),
        ("a", "", True),
        ("ab", "a", False),
        ("a", "a.x", False),
    ],
)
def test_an_instance_lives_inside_another(instance: str, other: str, is_it: bool) -> None:
    assert path_values.is_inside(instance, other) is is_it


def test_nobody_has_siblings_before_anybody_exists(v3_protocol: p.Protocol) -> None:
    known = [
        path_values.engine_value(v3_protocol, RunState(), "", name)
        for name in ("siblings", "update", "what nobody knows")
    ]
    assert known == [[], None, None]
