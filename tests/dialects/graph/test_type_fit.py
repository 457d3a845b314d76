"""Which values can stand where another type is declared."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.dialects.graph.type_fit import find_misfit, find_record_misfit
from porch.model import types as t
from porch.model.sample_values import build_sample_value
from porch.model.typed_answers import check_value

TYPES: dict[str, t.Type] = {
    "Size": t.parse_type("Small | Large"),
    "Pair": t.Record((t.Field("id", t.Scalar("Text")), t.Field("n", t.parse_type("Maybe Int")))),
    "Tree": t.Record((t.Field("id", t.Scalar("Text")), t.Field("below", t.parse_type("[Tree]")))),
    "Wood": t.Record((t.Field("id", t.Scalar("Text")), t.Field("below", t.parse_type("[Wood]")))),
}


def misfit(given: str, wanted: str) -> str:
    return find_misfit(t.parse_type(given), t.parse_type(wanted), TYPES)


@pytest.mark.parametrize(
    "given, wanted",
    [
        ("Text", "Text"),
        ("FilePath", "Text"),
        ("Commit", "Blob"),
        ("Size", "Text"),
        ("Size", "Size"),
        ("(Small | Large)", "(Small | Large | Huge)"),
        ("Text", "Maybe Text"),
        ("[FilePath]", "[Text]"),
        ("(Text, Int)", "(Blob, Int)"),
        ("Tree", "Wood"),
        ("Pair", "Maybe Pair"),
    ],
)
def test_what_fits(given: str, wanted: str) -> None:
    assert misfit(given, wanted) == ""


@pytest.mark.parametrize(
    "given, wanted, said",
    [
        ("Int", "Text", "Int, not Text"),
        ("Text", "FilePath", "Text, not FilePath"),
        ("Maybe Text", "Text", "Maybe Text, not Text"),
        ("Text", "Size", "Text, not Size"),
        ("(A | B)", "(A | C)", "A | B, not A | C"),
        ("Text", "[Text]", "Text, not [Text]"),
        ("[Int]", "[Text]", "'[]' is Int, not Text"),
        ("(Text, Int)", "(Text, Text)", "'[1]' is Int, not Text"),
        ("(Text, Int)", "(Text, Int, Int)", "(Text, Int), not (Text, Int, Int)"),
        ("Text", "Pair", "Text, not Pair"),
        ("Tree", "Pair", "'below' is not one of its fields"),
        ("Pair", "Tree", "'below' is missing"),
        ("Text", "Nobody", "Text, not Nobody"),
    ],
)
def test_what_does_not_fit_is_named(given: str, wanted: str, said: str) -> None:
    assert misfit(given, wanted) == said


def record(**fields: str) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse_type(text)) for name, text in fields.items()))


def test_fields_may_come_from_elsewhere_and_go_elsewhere() -> None:
    given, wanted = record(id="Text", after="[Text]"), record(id="Text", file="FilePath")
    assert find_record_misfit(given, wanted, TYPES) == "'file' is missing"
    found = find_record_misfit(given, wanted, TYPES, supplied=["file"])
    assert found == "'after' is not one of its fields"
    assert find_record_misfit(given, wanted, TYPES, supplied=["file"], extra=["after"]) == ""


def test_a_field_that_is_said_although_it_is_supplied_must_fit() -> None:
    given, wanted = record(id="Text", file="Int"), record(id="Text", file="FilePath")
    assert (
        find_record_misfit(given, wanted, TYPES, supplied=["file"]) == "'file' is Int, not FilePath"
    )


def test_a_field_that_goes_elsewhere_and_is_declared_must_fit() -> None:
    given, wanted = record(after="[Text]"), record(after="Int")
    assert (
        find_record_misfit(given, wanted, TYPES, supplied=(), extra=["after"])
        == "'after' is [Text], not Int"
    )


scalars = st.sampled_from(["Text", "Int", "Bool", "FilePath", "Commit", "Blob", "Size", "Pair"])
texts = st.recursive(
    scalars,
    lambda inner: (
        inner.map(lambda of: f"[{of}]")
        | inner.filter(lambda of: not of.startswith("Maybe")).map(lambda of: f"Maybe {of}")
        | st.tuples(inner, inner).map(lambda two: f"({two[0]}, {two[1]})")
    ),
    max_leaves=3,
)


@settings(max_examples=150, deadline=None)
@given(texts, texts, st.booleans())
def test_a_value_of_a_type_that_fits_is_one_of_the_other(
    given: str, wanted: str, full: bool
) -> None:
    made = build_sample_value(t.parse_type(given), TYPES, full)
    if not misfit(given, wanted):
        assert check_value(made, t.parse_type(wanted), TYPES) == []
