"""The type language: what is written is what is meant, and what is wrong is pointed at."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.model import types as t
from porch.model.tagged import Tagged, TaggedJson

TEXT, INT = t.Scalar("Text"), t.Scalar("Int")

_scalars = st.sampled_from([t.Scalar(name) for name in t.SCALARS.values()])
_names = st.from_regex(r"[A-Z][A-Za-z0-9_]{0,8}", fullmatch=True).filter(t.is_type_name)
_enums = st.lists(_names, min_size=2, max_size=4, unique=True).map(lambda n: t.Enum(tuple(n)))


def _larger(inner: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    tuples = st.lists(inner, min_size=2, max_size=3).map(lambda parts: t.Tuple_(tuple(parts)))
    solid = inner.filter(lambda one: not isinstance(one, t.Maybe))
    return st.builds(t.ListOf, inner) | st.builds(t.Maybe, solid) | tuples


written = st.recursive(_scalars | _enums | st.builds(t.Ref, _names), _larger, max_leaves=8)


@pytest.mark.parametrize(
    "text, type_",
    [
        ("Text", TEXT),
        ("Criterion", t.Ref("Criterion")),
        ("[Criterion]", t.ListOf(t.Ref("Criterion"))),
        ("Maybe Constraints", t.Maybe(t.Ref("Constraints"))),
        ("Maybe [ChildSpec]", t.Maybe(t.ListOf(t.Ref("ChildSpec")))),
        ("[(Text, Int)]", t.ListOf(t.Tuple_((TEXT, INT)))),
        ("Trivial | Additive | Breaking", t.Enum(("Trivial", "Additive", "Breaking"))),
        ("[Red|Green]", t.ListOf(t.Enum(("Red", "Green")))),
        ("Maybe (Red | Green)", t.Maybe(t.Enum(("Red", "Green")))),
        ("(Red | Green, Maybe Int)", t.Tuple_((t.Enum(("Red", "Green")), t.Maybe(INT)))),
        ("  ( Text ) ", TEXT),
        ("Maybe_2", t.Ref("Maybe_2")),
    ],
)
def test_an_expression_means_its_type(text: str, type_: t.Type) -> None:
    assert t.parse_type(text) == type_
    assert t.parse_type(t.format_type(type_)) == type_, "what is printed is read back"


@pytest.mark.parametrize(
    "text, column, part",
    [
        ("", 0, "missing at the end"),
        ("   ", 0, "missing at the end"),
        ("[", 1, "missing at the end"),
        ("[Text", 5, "expected ']' for the bracket at column 0, but the text ends"),
        ("[Text, Text]", 5, "expected ']' for the bracket at column 0, but found ','"),
        ("(Text, Text]", 11, "expected ')'"),
        ("[]", 1, "expected a type before ']'"),
        ("(Text,)", 6, "expected a type before ')'"),
        ("Maybe", 5, "missing at the end"),
        ("Maybe Maybe Text", 0, "Maybe of a Maybe"),
        ("Maybe (Maybe Text)", 0, "Maybe of a Maybe"),
        ("Maybe Red | Green", 10, "Maybe (A | B)"),
        ("text", 0, "did you mean 'Text'?"),
        ("filepath", 0, "did you mean 'FilePath'?"),
        ("[maybe Text]", 1, "did you mean 'Maybe'?"),
        ("Red | green", 6, "'green' starts with a small letter"),
        ("_Text", 0, "expected a type before '_Text'"),
        ("Red | Text", 6, "'Text' cannot be an option"),
        ("[Red] | Green", 0, "'[Red]' cannot be an option"),
        ("Red |", 5, "missing at the end"),
        ("Red | Green | Red", 14, "names 'Red' twice"),
        ("Text Int", 5, "unexpected 'Int' after a complete type"),
        ("[Text]]", 6, "unexpected ']' after"),
        ("Text?", 4, "unexpected '?'"),
        ("{a: Text}", 0, "unexpected '{'"),
        ("  Größe", 4, "unexpected 'ö'"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, column: int, part: str) -> None:
    with pytest.raises(t.TypeSyntax) as caught:
        t.parse_type(text)
    assert part in caught.value.message
    assert caught.value.column == column
    assert str(caught.value) == caught.value.message


def test_no_misspelling_suggests_a_type_out_of_nowhere() -> None:
    with pytest.raises(t.TypeSyntax) as caught:
        t.parse_type("criterion")
    assert "did you mean" not in caught.value.message


@pytest.mark.parametrize("opening, closing", [("[", "]"), ("(", ")")])
def test_brackets_nest_to_the_limit_and_no_further(opening: str, closing: str) -> None:
    deep = t.NESTING_LIMIT
    t.parse_type(opening * deep + "Text" + closing * deep)
    with pytest.raises(t.TypeSyntax) as caught:
        t.parse_type(opening * 100_000 + "Text")
    assert caught.value.column == deep


def test_a_hundred_thousand_maybes_are_refused_and_not_recursed_into() -> None:
    with pytest.raises(t.TypeSyntax, match="Maybe of a Maybe"):
        t.parse_type("Maybe " * 100_000 + "Text")


@settings(deadline=None)
@given(written)
def test_what_is_printed_is_read_back(type_: t.Type) -> None:
    assert t.parse_type(t.format_type(type_)) == type_


@settings(deadline=None)
@given(st.text(alphabet="AMaybe [](),|x", max_size=30))
def test_any_text_is_a_type_or_a_syntax_error_inside_the_text(text: str) -> None:
    try:
        type_ = t.parse_type(text)
    except t.TypeSyntax as wrong:
        column = wrong.column
    else:
        column = 0
        assert t.parse_type(t.format_type(type_)) == type_
    assert 0 <= column <= len(text)


def test_a_record_is_printed_in_braces() -> None:
    record = t.Record((t.Field("a", TEXT), t.Field("b", t.Maybe(t.Maybe(INT)))))
    assert t.format_type(record) == "{a: Text, b: Maybe (Maybe Int)}"


@pytest.mark.parametrize(
    "name, can",
    [("Spec", True), ("Text", False), ("Maybe", False), ("spec", False), ("A/B", False)],
)
def test_a_type_can_be_declared_under_a_name_that_means_it(name: str, can: bool) -> None:
    assert t.is_type_name(name) is can


class Holder(Tagged, frozen=True, tag="Holder"):
    type: t.Type
    types: t.Types


@settings(deadline=None)
@given(written, st.dictionaries(_names, written, max_size=3))
def test_types_travel_as_tagged_json(type_: t.Type, types: dict[str, t.Type]) -> None:
    form = TaggedJson([*t.CLASSES, Holder])
    record = t.Record((t.Field("one", type_), t.Field("two", t.Record())))
    holder = Holder(record, types)
    assert form.decode(json.loads(json.dumps(form.encode(holder)))) == holder


def test_unknown_names_are_listed_once_in_their_order() -> None:
    fields = (t.Field("a", t.parse_type("[(B, Known)]")), t.Field("b", t.parse_type("Maybe A")))
    record = t.Record((*fields, t.Field("c", t.parse_type("B"))))
    assert t.find_unknown_names(record, {"Known"}) == ["B", "A"]
    assert t.find_unknown_names(t.parse_type("Red | Green"), set()) == []


def test_a_name_is_resolved_by_one_step() -> None:
    types: dict[str, t.Type] = {"A": t.Ref("B"), "B": TEXT}
    assert t.resolve_reference(t.Ref("A"), types) == t.Ref("B")
    assert t.resolve_reference(t.Ref("C"), types) == t.Ref("C")
    assert t.resolve_reference(t.ListOf(t.Ref("A")), types) == t.ListOf(t.Ref("A"))


@pytest.mark.parametrize(
    "text, solid, is_nullable",
    [
        ("Text", TEXT, False),
        ("Alias", TEXT, False),
        ("Maybe Alias", TEXT, True),
        ("Perhaps", INT, True),
        ("Maybe Perhaps", INT, True),
        ("[Perhaps]", t.ListOf(t.Ref("Perhaps")), False),
        ("Nobody", t.Ref("Nobody"), False),
        ("Self", t.Ref("Self"), True),
    ],
)
def test_a_bare_type_has_no_names_around_it(text: str, solid: t.Solid, is_nullable: bool) -> None:
    types = {
        "Alias": TEXT,
        "Perhaps": t.parse_type("Maybe Int"),
        "Self": t.parse_type("Maybe Self"),
    }
    assert t.unwrap_type(t.parse_type(text), types) == (solid, is_nullable)


def test_fields_of_others_can_be_taken_out_of_a_record() -> None:
    record = t.Record((t.Field("a", TEXT), t.Field("b", INT)))
    assert t.remove_fields(record, {"a", "z"}) == t.Record((t.Field("b", INT),))


def _record(**fields: str) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse_type(text)) for name, text in fields.items()))


@pytest.mark.parametrize(
    "types, without_end",
    [
        ({"A": _record(a="A")}, ("A",)),
        ({"A": _record(a="[A]", b="Maybe A", c="[(Text, A)]", d="Maybe (A, A)")}, ()),
        ({"A": _record(a="(Text, A)")}, ("A",)),
        ({"A": _record(b="B"), "B": _record(c="C"), "C": _record(a="A")}, ("A", "B", "C")),
        ({"A": _record(b="B"), "B": _record(a="Maybe A")}, ()),
        ({"Out": _record(a="A"), "A": _record(a="A")}, ("A",)),
        ({"A": t.Ref("B"), "B": t.Ref("A")}, ("A", "B")),
        ({"A": t.parse_type("Maybe A")}, ("A",)),
        ({"A": t.parse_type("Maybe B"), "B": t.parse_type("Maybe A")}, ("A", "B")),
        ({"A": t.parse_type("[A]")}, ()),
        ({"A": t.parse_type("Maybe [A]")}, ()),
        ({"A": _record(x="Nobody")}, ()),
    ],
)
def test_only_a_list_or_a_maybe_ends_a_type_inside_itself(
    types: dict[str, t.Type], without_end: tuple[str, ...]
) -> None:
    assert t.find_endless_names(types) == without_end


def test_circular_names_contain_themselves_in_any_way() -> None:
    types: dict[str, t.Type] = {"A": _record(b="Maybe B"), "B": _record(a="[A]")}
    assert t.find_circular_names({"Top": _record(a="[A]"), "C": TEXT, **types}) == ("A", "B")


def test_a_chain_of_thousands_of_names_is_walked_without_recursion() -> None:
    types: dict[str, t.Type] = {f"T{n}": t.Ref(f"T{n + 1}") for n in range(1500)}
    assert t.find_endless_names(types) == ()
    assert t.unwrap_type(t.Ref("T0"), types) == (t.Ref("T1500"), False)


def test_the_weight_of_a_type_counts_its_parts() -> None:
    assert t.count_type_parts(t.parse_type("[(Text, Spec)]"), {"Spec": 10}) == 13
