"""Samples: whatever the type, they are right, they end, and their parts can be told apart."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.model import types as t
from porch.model.sample_values import build_sample_value
from porch.model.typed_answers import ITEM_LIMIT, check_value


def _record(**fields: str) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse_type(text)) for name, text in fields.items()))


SPEC = _record(
    id="Text",
    paths="[FilePath]",
    note="Maybe Text",
    base="Commit",
    line="Int",
    done="Bool",
    impact="Low | High",
    pair="(Text, Blob)",
)


def test_a_full_sample_fills_everything_with_texts_that_differ() -> None:
    assert build_sample_value(SPEC, {}, full=True) == {
        "id": "id",
        "paths": ["src/sample_4.txt", "src/sample_5.txt"],
        "note": "note",
        "base": f"{7:040x}",
        "line": 8,
        "done": True,
        "impact": "Low",
        "pair": ["pair[0]", "pair[1]"],
    }


def test_a_minimal_sample_has_only_what_must_be() -> None:
    assert build_sample_value(SPEC, {}, full=False) == {
        "id": "x",
        "paths": [],
        "note": None,
        "base": "0000000",
        "line": 0,
        "done": False,
        "impact": "Low",
        "pair": ["x", "x"],
    }


def test_texts_in_lists_say_where_they_are() -> None:
    types: dict[str, t.Type] = {"Plan": _record(test="Text")}
    assert build_sample_value(_record(plan="[Plan]"), types, full=True) == {
        "plan": [{"test": "plan[0].test"}, {"test": "plan[1].test"}]
    }
    assert build_sample_value(t.parse_type("Text"), types, full=True) == "text"


def test_what_contains_itself_is_filled_once_around() -> None:
    types: dict[str, t.Type] = {"Node": _record(name="Text", next="Maybe Node")}
    assert build_sample_value(t.Ref("Node"), types, full=False) == {"name": "x", "next": None}
    assert build_sample_value(t.Ref("Node"), types, full=True) == {
        "name": "name",
        "next": {"name": "next.name", "next": None},
    }


def test_lists_of_itself_end_too() -> None:
    types: dict[str, t.Type] = {"Tree": _record(kids="[Tree]"), "Onion": t.parse_type("[Onion]")}
    leaf: dict[str, Any] = {"kids": []}
    assert build_sample_value(t.Ref("Tree"), types, full=True) == {"kids": [leaf, leaf]}
    assert (
        check_value(build_sample_value(t.Ref("Onion"), types, full=True), t.Ref("Onion"), types)
        == []
    )


def _wide(levels: int, join: str) -> dict[str, t.Type]:
    ten = [f"f{n}" for n in range(10)]
    types: dict[str, t.Type] = {
        f"T{level}": _record(**dict.fromkeys(ten, f"{join} T{level + 1}"))
        for level in range(levels)
    }
    return types | {f"T{levels}": t.parse_type("Text")}


def test_a_type_that_multiplies_gets_a_sample_of_bearable_size() -> None:
    types = _wide(12, "Maybe")
    made = build_sample_value(t.Ref("T0"), types, full=True)
    assert made["f0"]["f0"]["f0"] is not None
    assert check_value(made, t.Ref("T0"), types) == []


def test_a_full_sample_over_the_limits_falls_back_to_the_smallest() -> None:
    names = {f"f{n}": "Text" for n in range(ITEM_LIMIT - 2)}
    types: dict[str, t.Type] = {"Big": _record(**names)}
    outer = _record(plan="[Text]", more="[Big]")
    assert build_sample_value(outer, types, full=True) == {"plan": [], "more": []}


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize(
    "types",
    [
        {"T0": _record(a="T0", b="T0")},
        {"T0": t.parse_type("(T0, T0)")},
        {"T0": t.Ref("T0")},
        {"T0": t.Ref("Nobody")},
        _wide(12, ""),
        {f"T{n}": _record(a=f"T{n + 1}") for n in range(50)} | {"T50": t.parse_type("Text")},
    ],
    ids=["endless", "endless-tuple", "alias", "unknown", "multiplied", "deep"],
)
def test_a_type_that_nothing_satisfies_has_a_sample_with_problems(
    types: dict[str, t.Type], full: bool
) -> None:
    assert check_value(build_sample_value(t.Ref("T0"), types, full), t.Ref("T0"), types) != []


_NAMES = ("A", "B", "C")
_expressions = st.recursive(
    st.sampled_from([t.Scalar(name) for name in t.SCALARS.values()])
    | st.just(t.Enum(("Red", "Green")))
    | st.sampled_from([t.Ref(name) for name in _NAMES]),
    lambda inner: (
        st.builds(t.ListOf, inner)
        | st.builds(t.Maybe, inner)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: t.Tuple_(tuple(parts)))
        | st.lists(inner, max_size=3).map(
            lambda kinds: t.Record(tuple(t.Field(f"f{n}", kind) for n, kind in enumerate(kinds)))
        )
    ),
    max_leaves=6,
)
_declared = st.fixed_dictionaries(dict.fromkeys(_NAMES, _expressions))


@settings(deadline=None)
@given(_declared.filter(lambda types: not t.find_endless_names(types)), _expressions, st.booleans())
def test_every_type_that_can_end_has_a_right_sample(
    types: dict[str, t.Type], type_: t.Type, full: bool
) -> None:
    assert check_value(build_sample_value(type_, types, full), type_, types) == []


@settings(deadline=None)
@given(_declared, _expressions, st.booleans())
def test_samples_end_whatever_the_types_are(
    types: dict[str, t.Type], type_: t.Type, full: bool
) -> None:
    made = build_sample_value(type_, types, full)
    assert repr(made) == repr(build_sample_value(type_, types, full))


def test_all_texts_of_a_full_sample_are_different() -> None:
    types: dict[str, t.Type] = {"One": _record(a="Text", b="[Text]"), "Two": _record(a="[One]")}
    texts: list[str] = []
    ahead = [build_sample_value(_record(x="Two", y="[Two]", z="(Text, Text)"), types, full=True)]
    while ahead:
        item = ahead.pop()
        if isinstance(item, str):
            texts.append(item)
        else:
            ahead.extend(item.values() if isinstance(item, dict) else item)
    assert len(texts) == len(set(texts)) > 10
