"""Structs as tagged JSON: what goes in comes out, and nothing else is taken for one of ours."""

import json
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import field

from porch.model.tagged import Tagged, TaggedJson


class Leaf(Tagged, frozen=True, tag="Leaf"):
    name: str
    count: int = 0
    is_open: bool = False


class Twig(Tagged, frozen=True, tag="Twig"):
    kind: Literal["long", "short"]


class Tree(Tagged, frozen=True, tag="Tree"):
    root: Leaf | Twig
    leaves: tuple[Leaf, ...] = ()
    names: tuple[str, ...] = ()
    by_name: Mapping[str, Leaf] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)
    value: Any = True
    note: str | None = None


class Paths(Tagged, frozen=True, tag="Paths"):
    by_path: Mapping[tuple[str, ...], int] = field(default_factory=dict)


FORM = TaggedJson([Leaf, Twig, Tree])


def through_text(value: Any) -> Any:
    return FORM.decode(json.loads(json.dumps(FORM.encode(value))))


def test_an_object_is_its_name_and_the_fields_that_differ_from_their_defaults() -> None:
    assert FORM.encode(Leaf("a")) == {"is": "Leaf", "name": "a"}
    assert FORM.encode(Leaf("a", 2, True)) == {
        "is": "Leaf",
        "name": "a",
        "count": 2,
        "is_open": True,
    }


def test_containers_of_objects_are_encoded_through_and_through() -> None:
    assert FORM.encode([Leaf("a"), {"b": (Leaf("c"), 1)}]) == [
        {"is": "Leaf", "name": "a"},
        {"b": [{"is": "Leaf", "name": "c"}, 1]},
    ]


def test_tuples_unions_and_maps_of_objects_come_back_as_they_were() -> None:
    tree = Tree(
        Twig("long"),
        (Leaf("a"), Leaf("b", 1)),
        ("x", "y"),
        {"one": Leaf("c")},
        {"is": "text"},
        {"list": [1, [2]], "is": "Leaf"},
        7,
        "n",
    )
    assert through_text(tree) == tree
    assert FORM.decode_all([FORM.encode(tree.root)]) == (tree.root,)


def test_a_map_by_tuples_travels_as_a_list_of_pairs() -> None:
    # A form of its own, because what it knows of a class it learns once.
    paths = Paths({("a", "b"): 1, ("c",): 2})
    form = TaggedJson([Paths])
    told = json.loads(json.dumps(form.encode(paths)))
    assert told["by_path"] == [[["a", "b"], 1], [["c"], 2]]
    assert form.decode(told) == paths


def test_what_only_looks_like_one_of_our_objects_is_plain_data() -> None:
    tree = Tree(Leaf("a"), payload={"is": "Leaf", "name": 1}, value={"is": "Tree"})
    assert through_text(tree) == tree


def test_an_object_inside_plain_data_becomes_the_mapping_of_its_fields() -> None:
    raw = FORM.encode(Tree(Leaf("a"), payload={"in": (Leaf("b"),)}))
    assert raw["payload"] == {"in": [{"name": "b", "count": 0, "is_open": False}]}


@pytest.mark.parametrize("value", [0, 1, True, False, 1.0, None, "", [], {}])
def test_a_number_does_not_come_back_as_a_claim(value: Any) -> None:
    back = through_text(Tree(Leaf("a"), value=value)).value
    assert back == value
    assert isinstance(back, bool) is isinstance(value, bool)


class Word(str):
    """Text of a kind of its own, as a dialect's reader may give."""

    __slots__ = ()


def test_a_value_that_json_itself_knows_is_left_to_it() -> None:
    assert through_text(Tree(Leaf("a"), value=Word("x"))).value == "x"


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        FORM.decode({"is": "Bush"})


def test_a_class_of_the_same_name_from_elsewhere_is_not_ours() -> None:
    class Other(Tagged, frozen=True, tag="Leaf"):
        name: str

    other = Other("a")
    assert FORM.encode(other) is other


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("is"), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text() | st.just("is"), json_values), st.text(), st.integers())
@settings(max_examples=50, deadline=None)
def test_any_payload_survives(payload: dict[str, Any], name: str, count: int) -> None:
    tree = Tree(Leaf(name, count), payload=payload, value=payload)
    assert through_text(tree) == tree
