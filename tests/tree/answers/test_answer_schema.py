"""Three schemas from one declaration: they are legal, agree with our own judge, and stay small."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from porch.model import types as t
from porch.model.sample_values import build_sample_value
from porch.model.typed_answers import check_value
from porch.tree.answers import answer_schema


def _record(**fields: str) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse_type(text)) for name, text in fields.items()))


TYPES: dict[str, t.Type] = {
    "Impact": t.parse_type("Trivial | Additive"),
    "Critique": _record(file="FilePath", line="Int"),
    "Node": _record(name="Text", kids="[Node]", next="Maybe Node"),
    "Ping": _record(pong="Maybe Pong"),
    "Pong": _record(ping="[Ping]"),
    "Maybes": t.parse_type("Maybe Int"),
}
EXITS = {
    "Passed": _record(commit="Commit", count="Int", note="Maybe Text"),
    "Failed": _record(count="Text", critiques="[Critique]", note="Text"),
    "Silent": t.Record(),
}


def _accepts(form: dict[str, Any], value: Any) -> bool:
    return bool(Draft202012Validator(form).is_valid(value))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Text", {"type": "string"}),
        ("Int", {"type": "integer"}),
        ("Bool", {"type": "boolean"}),
        ("Impact", {"type": "string", "enum": ["Trivial", "Additive"]}),
        ("[Bool]", {"type": "array", "items": {"type": "boolean"}}),
        ("Maybe Int", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (
            "(Text, Int)",
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "items": False,
                "minItems": 2,
            },
        ),
    ],
)
def test_each_type_has_its_schema(text: str, expected: dict[str, Any]) -> None:
    assert answer_schema.record_schema(_record(a=text), TYPES) == {
        "type": "object",
        "properties": {"a": expected},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_paths_commits_and_blobs_are_texts_that_say_more() -> None:
    form = answer_schema.record_schema(
        _record(path="FilePath", commit="Commit", blob="Blob"), TYPES
    )
    kinds = form["properties"]
    assert [kind["type"] for kind in kinds.values()] == ["string"] * 3
    assert all(kind["description"] for kind in kinds.values())
    assert kinds["commit"]["pattern"] == "^[0-9a-f]{7,64}$"


def test_fields_that_are_not_asked_are_not_there() -> None:
    form = answer_schema.record_schema(EXITS["Passed"], TYPES, leave_out=["commit", "nobody"])
    assert form["required"] == list(form["properties"]) == ["count", "note"]


def test_names_are_written_out_and_only_circular_ones_are_defined() -> None:
    form = answer_schema.record_schema(_record(c="Critique", n="[Node]"), TYPES)
    assert form["properties"]["c"]["properties"]["line"] == {"type": "integer"}
    assert form["properties"]["n"] == {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    assert list(form["$defs"]) == ["Node"]
    leaf: dict[str, Any] = {"name": "a", "kids": [], "next": None}
    critique = {"file": "a", "line": 1}
    assert _accepts(form, {"c": critique, "n": [{"name": "b", "kids": [leaf], "next": leaf}]})
    assert not _accepts(form, {"c": critique, "n": [{"name": "b", "kids": [{}], "next": None}]})


def test_a_definition_brings_the_definitions_it_needs() -> None:
    form = answer_schema.record_schema(_record(a="Ping"), TYPES)
    assert list(form["$defs"]) == ["Ping", "Pong"]
    assert _accepts(form, {"a": {"pong": {"ping": [{"pong": None}]}}})


def test_types_that_multiply_do_not_blow_a_schema_up() -> None:
    ten = [f"f{n}" for n in range(10)]
    types: dict[str, t.Type] = {
        f"T{level}": _record(**dict.fromkeys(ten, f"Maybe T{level + 1}")) for level in range(12)
    }
    types["T12"] = t.parse_type("Text")
    form = answer_schema.record_schema(_record(a="T0"), types)
    assert len(json.dumps(form)) < 100_000
    assert _accepts(form, {"a": dict.fromkeys(ten)})


def test_a_long_chain_of_names_is_written_without_deep_recursion() -> None:
    types: dict[str, t.Type] = {f"T{n}": _record(a=f"Maybe T{n + 1}") for n in range(600)}
    types["T600"] = t.parse_type("Text")
    assert _accepts(answer_schema.record_schema(_record(a="T0"), types), {"a": {"a": None}})


def test_the_canonical_form_is_one_of_the_exits_by_name() -> None:
    form = answer_schema.union_schema(EXITS, TYPES, {"Passed": ["commit"]})
    assert form["$schema"] == answer_schema.DRAFT
    assert [one["properties"]["exit"] for one in form["oneOf"]] == [
        {"const": "Passed"},
        {"const": "Failed"},
        {"const": "Silent"},
    ]
    assert _accepts(form, {"exit": "Passed", "payload": {"count": 1, "note": None}})
    assert _accepts(form, {"exit": "Silent", "payload": {}})
    assert not _accepts(form, {"exit": "Failed", "payload": {"count": 1, "note": None}})
    assert not _accepts(form, {"exit": "Silent"})
    assert not _accepts(form, {"exit": "Other", "payload": {}})
    assert not _accepts(form, {"exit": "Silent", "payload": {}, "more": 1})


def test_each_exit_alone_is_a_flat_object() -> None:
    forms = answer_schema.schemas_per_exit(EXITS, TYPES, {"Failed": ["critiques"]})
    assert list(forms) == list(EXITS)
    assert forms["Passed"] == answer_schema.record_schema(EXITS["Passed"], TYPES)
    assert list(forms["Failed"]["properties"]) == ["count", "note"]
    assert all(form["type"] == "object" for form in forms.values())


def test_the_flat_form_has_every_field_of_every_exit_nullable_and_required() -> None:
    form = answer_schema.flat_schema(EXITS, TYPES, {"Passed": ["commit"]})
    kinds = form["properties"]
    assert form["type"] == "object"
    assert kinds["exit"] == {"type": "string", "enum": ["Passed", "Failed", "Silent"]}
    assert form["required"] == ["exit", "count", "note", "critiques"]
    assert kinds["count"] == {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}
    assert kinds["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    answer = {"exit": "Failed", "count": "many", "note": "n", "critiques": []}
    assert _accepts(form, answer)
    assert answer_schema.parse_flat_answer(answer, EXITS) == (
        "Failed",
        {"count": "many", "note": "n", "critiques": []},
    )


def test_every_form_is_a_legal_schema() -> None:
    every = _record(**dict.fromkeys("abcdef", "Maybe [(Text, Impact, Node)]"), g="Critique")
    exits = EXITS | {"Every": every}
    forms = [answer_schema.union_schema(exits, TYPES), answer_schema.flat_schema(exits, TYPES)]
    for form in [*forms, *answer_schema.schemas_per_exit(exits, TYPES).values()]:
        Draft202012Validator.check_schema(form)


def test_a_field_named_exit_keeps_its_name_and_the_exit_gives_way() -> None:
    exits = {"Left": _record(exit="Text", exit_="Int"), "Stayed": t.Record()}
    form = answer_schema.flat_schema(exits, TYPES)
    assert form["required"] == ["exit__", "exit", "exit_"]
    answer = {"exit__": "Left", "exit": "door", "exit_": 1}
    assert _accepts(form, answer)
    assert answer_schema.parse_flat_answer(answer, exits) == ("Left", {"exit": "door", "exit_": 1})


@pytest.mark.parametrize(
    "answer, read",
    [
        (None, ("", None)),
        ([1], ("", [1])),
        ({}, ("", {})),
        ({"exit": 5, "count": 1}, ("", {"count": 1})),
        ({"exit": "Other", "count": 1, "note": None}, ("Other", {"count": 1})),
        ({"exit": " Silent ", "count": None}, ("Silent", {})),
        ({"exit": "Silent", "count": 1}, ("Silent", {"count": 1})),
        ({"exit": "Passed", "note": None, "critiques": None}, ("Passed", {"note": None})),
    ],
)
def test_a_flat_answer_is_read_without_hiding_what_is_wrong(answer: object, read: Any) -> None:
    assert answer_schema.parse_flat_answer(answer, EXITS) == read


_scalars = st.sampled_from([t.Scalar(name) for name in t.SCALARS.values()])
_types = st.recursive(
    _scalars | st.just(t.Enum(("Red", "Green"))) | st.sampled_from([t.Ref(name) for name in TYPES]),
    lambda inner: (
        st.builds(t.ListOf, inner)
        | st.builds(t.Maybe, inner)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: t.Tuple_(tuple(parts)))
        | st.builds(lambda a, b: t.Record((t.Field("name", a), t.Field("next", b))), inner, inner)
    ),
    max_leaves=6,
)
_records = st.lists(_types, max_size=3).map(
    lambda kinds: t.Record(tuple(t.Field(f"f{n}", kind) for n, kind in enumerate(kinds)))
)
_exits = st.dictionaries(st.sampled_from(["One", "Two", "Three"]), _records, min_size=1)
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["Red", "x", "src/a", "abc1234", "Trivial", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "next", "kids", "pong"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(_exits, st.booleans())
def test_samples_fit_all_three_forms(exits: dict[str, t.Record], full: bool) -> None:
    one_of, flat = answer_schema.union_schema(exits, TYPES), answer_schema.flat_schema(exits, TYPES)
    forms = answer_schema.schemas_per_exit(exits, TYPES)
    for name, record in exits.items():
        payload = build_sample_value(record, TYPES, full)
        assert _accepts(one_of, {"exit": name, "payload": payload})
        assert _accepts(forms[name], payload)
        answer = dict.fromkeys(flat["properties"]) | {"exit": name} | payload
        assert _accepts(flat, answer)
        assert answer_schema.parse_flat_answer(answer, exits) == (name, payload)


@settings(deadline=None)
@given(_types, _json, st.data())
def test_our_judge_and_the_schema_agree(type_: t.Type, value: Any, data: st.DataObject) -> None:
    mutated = data.draw(
        st.just(value) | _swapped(build_sample_value(type_, TYPES, full=True), value)
    )
    form = answer_schema.record_schema(t.Record((t.Field("a", type_),)), TYPES)
    said = [one for one in check_value(mutated, type_, TYPES) if "the path" not in one]
    assert _accepts(form, {"a": mutated}) is (said == [])


def _swapped(whole: Any, value: Any) -> st.SearchStrategy[Any]:
    """The sample with one of its parts replaced, which is where judges disagree."""
    if isinstance(whole, dict) and whole:
        return st.sampled_from(sorted(whole)).flatmap(
            lambda key: _swapped(whole[key], value).map(lambda part: whole | {key: part})
        )
    if isinstance(whole, list) and whole:
        return _swapped(whole[0], value).map(lambda part: [part, *whole[1:]])
    return st.sampled_from([whole, value])
