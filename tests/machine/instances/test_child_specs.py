"""What a planned child may be about: of the declared type, and nothing that its parent lacks."""

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from porch.machine.instances.child_specs import find_plan_problems, make_child_spec
from porch.model import protocol as p
from tests.machine.instances.conftest import read_graph
from tests.machine.instances.family_graphs import JOB, LEAF, MAP, item

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove

OWN = (
    MAP.replace(", protocol: leaf", ", inherit: [file], from_parent: [tags]")
    .replace(
        'Job: {id: Text, items: "[Item]", file: FilePath}',
        'Job: {id: Text, items: "Maybe [Item]", file: FilePath, tags: "[Tag]"}\n'
        "  Tag: {id: Text, text: Text}",
    )
    .replace("Item: {id: Text, file: FilePath,", 'Item: {id: Text, tags: "[Tag]",')
)
TAGS = [{"id": "t1", "text": "one"}, {"id": "t2", "text": "two"}]


@pytest.fixture
def grove(grove_of: "type[Grove]") -> "Grove":
    return grove_of(read_graph(OWN)).start_with({**JOB, "tags": TAGS})


def child(name: str, *tags: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "tags": list(tags), "after": None, **more}


def problems(grove: "Grove", *items: Any) -> list[str]:
    payload = {"items": list(items)}
    return find_plan_problems(grove.protocol, grove.state, "", "split.Split", payload)


def test_t8_a_child_inherits_what_the_graph_says_and_nothing_else(grove: "Grove") -> None:
    grove.says("", "split", "Split", items=[child("a", TAGS[0])])
    assert grove.of("a").spec == {"id": "a", "tags": [TAGS[0]], "file": "all.txt", "items": None}


def test_t8_a_definition_of_an_older_release_inherits_everything(grove: "Grove") -> None:
    actor = grove.protocol.spawn_of("")
    assert actor is not None
    old = p.Children("", actor.specs)
    planned = {"id": "a", "extra": 1}
    made = make_child_spec(grove.protocol, old, "", {"id": "x", "file": "f"}, planned)
    assert made == {"id": "a", "file": "f", "extra": 1}


@pytest.mark.parametrize(
    "planned, said",
    [
        ({"id": "a", "tags": 3}, "child 'a': tags: expected [Tag], got a number"),
        ({"id": "a"}, "child 'a': tags: missing, expected [Tag]"),
        ({"id": 5, "tags": []}, "child '5': id: expected Text, got a number"),
        ({"id": "a", "tags": [], "more": 1}, "child 'a': answer: unknown field 'more' (known: "),
    ],
)
def test_t8_a_child_of_another_type_is_refused_with_a_reason(
    grove: "Grove", planned: dict[str, Any], said: str
) -> None:
    assert problems(grove, planned)[0].startswith(said)


def test_t8_a_child_gets_no_criterion_that_its_parent_lacks(grove: "Grove") -> None:
    assert problems(grove, child("a", TAGS[0]), child("b", TAGS[1])) == []
    other = {"id": "t3", "text": "three"}
    assert problems(grove, child("a", TAGS[0], other)) == [
        "child 'a': tags has 't3', which its parent lacks"
    ]


def test_t8_what_has_no_id_is_compared_as_it_is(grove_of: "type[Grove]") -> None:
    words = OWN.replace('"[Tag]"', '"[Text]"').replace("\n  Tag: {id: Text, text: Text}", "")
    grove = grove_of(read_graph(words)).start_with({**JOB, "tags": ["x"]})
    assert problems(grove, child("a", "x")) == []
    assert problems(grove, child("a", "y")) == ["child 'a': tags has 'y', which its parent lacks"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x--tests",
        "x--read",
        "a b",
        "a..b",
        "-a",
        "a.lock",
        "a~1",
        "a\n",
        "a@{1}",
        "/a",
        "a/.b",
        "a.lock/b",
        "a//b",
        "a/",
    ],
)
def test_d47_an_id_that_cannot_name_a_branch_of_its_own_is_refused(
    grove: "Grove", name: str
) -> None:
    """`x--tests` would be the branch of the tests of `x`."""
    (said,) = problems(grove, child(name))
    assert said == f"child '{name}': this cannot be the name of a branch"


def test_d47_no_two_children_have_one_id(grove: "Grove") -> None:
    (said,) = problems(grove, child("a", TAGS[0]), child("a", TAGS[1]))
    assert said == "child 'a' is planned 2 times"


def test_d47_no_child_lies_inside_one_of_an_earlier_plan(grove: "Grove") -> None:
    """Its branch, or the archive of it, is still there."""
    grove.says("", "split", "Split", items=[child("a", TAGS[0]), child("b/c", TAGS[1])])
    why = "of two branches, one cannot be inside the other"
    assert problems(grove, child("a"), child("b/c")) == []
    assert problems(grove, child("a/x")) == [f"child 'a/x' and child 'a': {why}"]
    assert problems(grove, child("b")) == [f"child 'b' and child 'b/c': {why}"]


def test_t8_more_children_than_there_is_room_for_are_refused(grove: "Grove") -> None:
    many = [child(f"c{n}") for n in range(6)]
    assert problems(grove, *many) == ["6 children are planned, but only 5 are allowed"]


def test_t8_children_deep_inside_an_answer_are_looked_at_as_well(grove_of: "type[Grove]") -> None:
    deep = OWN.replace('Split: {items: "Maybe [Item]"}', "Split: {plan: Plan}")
    deep = deep.replace(
        "  Tag: {", '  Plan: {groups: "[Group]"}\n  Group: {items: "[Item]"}\n  Tag: {'
    )
    deep = deep.replace("specs: Split.items", "specs: Split.plan.groups.items")
    grove = grove_of(read_graph(deep)).start_with({**JOB, "tags": TAGS})

    def found(*items: Any) -> list[str]:
        payload = {"plan": {"groups": [{"items": []}, {"items": list(items)}]}}
        return find_plan_problems(grove.protocol, grove.state, "", "split.Split", payload)

    assert found(child("a", TAGS[0])) == []
    assert found(child("..")) == ["child '..': this cannot be the name of a branch"]
    many = [child(f"c{n}") for n in range(6)]
    assert found(*many) == ["6 children are planned, but only 5 are allowed"]


def test_an_answer_that_plans_nobody_has_no_problem(grove: "Grove") -> None:
    def found(path: str, payload: Any) -> list[str]:
        return find_plan_problems(grove.protocol, grove.state, "", path, payload)

    assert found("split.Split", {"items": None}) == []
    assert found("split.Split", "nonsense") == []
    assert found("reduce.Again", {"ids": ["a"]}) == []


def test_an_old_definition_is_only_asked_for_what_it_says(grove: "Grove") -> None:
    actor = grove.protocol.spawn_of("")
    assert actor is not None
    old = replace(grove.protocol.states["kids"], actor=p.Children("", actor.specs))
    protocol = replace(grove.protocol, states={**grove.protocol.states, "kids": old})
    planned = {"items": [{"id": "a", "anything": 1}]}
    assert find_plan_problems(protocol, grove.state, "", "split.Split", planned) == []


def test_t3_a_child_that_gives_nothing_is_known_by_its_id(grove_of: "type[Grove]") -> None:
    lone = LEAF.replace(", gives: Done", "").replace(
        "    exits:", "    unused: [Done.size, Done.of]\n    exits:"
    )
    grove = grove_of(read_graph(MAP, leaf=lone)).start_with(JOB)
    grove.says("", "split", "Split", items=[item("a")])
    grove.says("a", "leaf+work", "Done", size=1, of={})
    assert grove.request("", "reduce").values["parts"] == [{"id": "a"}]


def test_t3_a_failure_without_a_reason_has_the_fields_of_one(grove_of: "type[Grove]") -> None:
    mute = LEAF.replace("lost: {end: failed, shows: [Bad]}", "lost: {end: failed}")
    grove = grove_of(read_graph(MAP, leaf=mute)).start_with(JOB)
    grove.says("", "split", "Split", items=[item("a")])
    for _ in range(2):
        grove.says("a", "leaf+work", "Bad", why="no")
    (lost,) = grove.request("", "split").values["lost"]["failed"]
    assert lost["why"] == {"kind": "failed", "payload": {}}


def test_d47_a_child_inside_another_one_or_with_an_endless_id_is_refused(grove: "Grove") -> None:
    (said,) = problems(grove, child("x"), child("x/y"))
    assert said == "child 'x' and child 'x/y': of two branches, one cannot be inside the other"
    (said,) = problems(grove, child("a" * 101))
    assert said == f"child '{'a' * 20}...': an id has at most 100 characters"
    assert problems(grove, child("x/y"), child("x/z"), child("a" * 100)) == []
