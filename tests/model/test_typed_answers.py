"""Answers held against their types: every problem is named where it is, and nothing raises."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.model import typed_answers
from porch.model import types as t


def _record(**fields: str) -> t.Record:
    return t.Record(tuple(t.Field(name, t.parse_type(text)) for name, text in fields.items()))


TYPES: dict[str, t.Type] = {
    "Planned": _record(criterionId="Text", approach="Text"),
    "Impact": t.parse_type("Trivial | Additive | Breaking"),
    "Node": _record(name="Text", kids="[Node]", next="Maybe Node"),
    "Chain": _record(next="Maybe Chain"),
    "Loop": t.Ref("Loop"),
    "Endless": _record(inner="Endless"),
}
PLAN = _record(testPlan="[Planned]", impact="Impact", note="Maybe Text", pair="(Text, Int)")
GOOD: dict[str, Any] = {
    "testPlan": [{"criterionId": "c1", "approach": "a"}],
    "impact": "Trivial",
    "note": None,
    "pair": ["a", 1],
}


def _problems(value: Any, text: str) -> list[str]:
    return typed_answers.check_value(value, t.parse_type(text), TYPES)


def test_a_good_answer_has_no_problems() -> None:
    assert typed_answers.check_value(GOOD, PLAN, TYPES) == []


def test_all_problems_are_listed_each_with_its_place() -> None:
    planned = {"criterionId": "c1", "approach": "a"}
    bad = {
        "testPlan": [planned, planned, {"criterionId": 7, "why": "x"}],
        "impact": "Huge",
        "pair": ["a"],
    }
    assert typed_answers.check_value(bad, PLAN, TYPES) == [
        "testPlan[2].criterionId: expected Text, got a number",
        "testPlan[2].approach: missing, expected Text",
        "testPlan[2]: unknown field 'why' (known: criterionId, approach)",
        "impact: expected one of Trivial, Additive, Breaking, got 'Huge'",
        "note: missing, expected Maybe Text",
        "pair: expected 2 values (Text, Int), got 1 values",
    ]


def test_places_begin_where_the_caller_says() -> None:
    found = typed_answers.check_value({"name": "x", "kids": [1]}, t.Ref("Node"), TYPES, "payload")
    assert found == [
        "payload.kids[0]: expected an object with name, kids, next, got a number",
        "payload.next: missing, expected Maybe Node",
    ]


@pytest.mark.parametrize(
    "value, text, wrong",
    [
        (True, "Int", "answer: expected Int, got true"),
        (5.5, "Int", "answer: expected Int, got a number with a fraction"),
        (5.0, "Int", "answer: expected Int, got a number"),
        (float("nan"), "Int", "answer: expected Int, got a number with a fraction"),
        (1, "Bool", "answer: expected Bool, got a number"),
        ("true", "Bool", "answer: expected Bool, got text"),
        (None, "Text", "answer: expected Text, got null"),
        (None, "Impact", "answer: expected one of Trivial, Additive, Breaking, got null"),
        (5, "Impact", "answer: expected one of Trivial, Additive, Breaking, got 5"),
        (False, "Impact", "answer: expected one of Trivial, Additive, Breaking, got false"),
        ([], "Impact", "answer: expected one of Trivial, Additive, Breaking, got a list"),
        ("x", "[Text]", "answer: expected [Text], got text"),
        ({}, "[Text]", "answer: expected [Text], got an object"),
        ({}, "(Text, Int)", "answer: expected 2 values (Text, Int), got an object"),
        (["a", "b"], "(Text, Int)", "[1]: expected Int, got text"),
        ("xyz1234", "Commit", "answer: expected a commit of 7 to 64 hex digits, got 'xyz1234'"),
        ("abcdef", "Commit", "answer: expected a commit of 7 to 64 hex digits, got 'abcdef'"),
        (
            "abc1234\n",
            "Commit",
            "answer: expected a commit of 7 to 64 hex digits, got 'abc1234\\n'",
        ),
        ("a\ud800", "Text", "answer: has an invalid character (a lone surrogate), which cannot be"),
        (object(), "Text", "answer: expected Text, got something that is not JSON"),
        ({}, "Nobody", "answer: the type 'Nobody' does not exist"),
        ({}, "Loop", "answer: the type 'Loop' does not exist"),
    ],
)
def test_a_wrong_value_is_named(value: Any, text: str, wrong: str) -> None:
    found = _problems(value, text)
    assert len(found) == 1
    assert found[0].startswith(wrong)


def test_a_number_too_long_to_print_is_only_called_a_number() -> None:
    [wrong] = _problems(10**5000, "Impact")
    assert wrong.endswith("Breaking, got a number")


def test_a_record_without_fields_takes_an_empty_object_only() -> None:
    assert typed_answers.check_value({}, t.Record(), TYPES) == []
    assert typed_answers.check_value([], t.Record(), TYPES) == [
        "answer: expected an object with no fields, got a list"
    ]
    assert typed_answers.check_value({"a": 1}, t.Record(), TYPES) == [
        "answer: unknown field 'a' (known: none)"
    ]


def test_a_long_stranger_is_shown_in_part() -> None:
    [wrong] = _problems("y" * 1000, "Impact")
    assert len(wrong) < 150
    assert wrong.endswith("y'...")


@pytest.mark.parametrize(
    "path", ["a", "src/a.py", ".", "a b/c", "./a//b/", ".github/x", "x.git/y", "...", "ü/é", "x/c:"]
)
def test_a_path_inside_the_repository_is_taken(path: str) -> None:
    assert _problems(path, "FilePath") == []


@pytest.mark.parametrize(
    "path, wrong",
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("/etc/passwd", "is absolute"),
        (" /etc", "is absolute"),
        ("//etc", "is absolute"),
        ("..", "contains '..'"),
        ("a/../b", "contains '..'"),
        ("a/.. /b", "contains '..'"),
        ("./../a", "contains '..'"),
        (".git", "is inside '.git'"),
        ("a/.GIT/config", "is inside '.git'"),
        ("a/.git./x", "is inside '.git'"),
        (" .git", "is inside '.git'"),
        ("a\0b", "does not print"),
        ("a\nb", "does not print"),
        ("a\x1b[0m", "does not print"),
        ("a\u202eb", "does not print"),
        ("a\ud800", "does not print"),
        ("a\\b", "has a backslash"),
        ("~/x", "begins with '~'"),
        ("./~/x", "begins with '~'"),
        ("C:/x", "begins with a drive letter"),
        pytest.param("x" * 256, "longer than file systems allow", id="long-name"),
        pytest.param("x/" * 2100 + "x", "longer than file systems allow", id="long-path"),
    ],
)
def test_a_path_that_leaves_the_repository_is_refused(path: str, wrong: str) -> None:
    [found] = _problems(path, "FilePath")
    assert wrong in found
    assert "\n" not in found


def test_text_is_taken_up_to_its_limit_in_bytes() -> None:
    assert _problems("ü" * (typed_answers.TEXT_LIMIT // 2), "Text") == []
    assert _problems("ü" * (typed_answers.TEXT_LIMIT // 2) + "u", "Text") == [
        "answer: 262145 bytes of text; the limit is 262144"
    ]
    assert _problems("x" * (typed_answers.TEXT_LIMIT + 1), "Blob") == []
    assert len(_problems("x" * (typed_answers.BLOB_LIMIT + 1), "Blob")) == 1


def _chain(links: int) -> dict[str, Any]:
    chain: dict[str, Any] = {"next": None}
    for _ in range(links):
        chain = {"next": chain}
    return chain


def test_depth_is_taken_up_to_its_limit() -> None:
    assert _problems(_chain(typed_answers.DEPTH_LIMIT - 1), "Chain") == []
    assert _problems(_chain(typed_answers.DEPTH_LIMIT), "Chain") == [
        "answer: nested more than 40 levels deep; use fewer levels"
    ]


def test_bottomless_values_do_not_drown_anybody() -> None:
    deep = _chain(100_000)
    found = typed_answers.check_value(deep, t.Ref("Chain"), TYPES, "payload")
    assert found == ["payload: nested more than 40 levels deep; use fewer levels"]
    mended, notes = typed_answers.repair_value(deep, t.Ref("Chain"), TYPES)
    assert mended is deep
    assert notes == []


def test_values_are_counted_up_to_their_limit() -> None:
    assert _problems(["x"] * (typed_answers.ITEM_LIMIT - 1), "[Text]") == []
    assert _problems([7] * typed_answers.ITEM_LIMIT, "[Text]") == [
        "answer: more than 10000 values; send fewer"
    ]


@pytest.mark.parametrize(
    "value, text, mended, notes",
    [
        ("5", "Int", 5, ["answer: read '5' as 5"]),
        (" -7 ", "Int", -7, ["answer: read ' -7 ' as -7"]),
        (5.0, "Int", 5, ["answer: read 5.0 as 5"]),
        ("true", "Bool", True, ["answer: read 'true' as true"]),
        ("False", "Bool", False, ["answer: read 'False' as false"]),
        (" Trivial\n", "Impact", "Trivial", ["answer: read ' Trivial\\n' as 'Trivial'"]),
        (" ./src//a.py ", "FilePath", "src/a.py", ["answer: read ' ./src//a.py ' as 'src/a.py'"]),
        ("./", "FilePath", ".", ["answer: read './' as '.'"]),
        (" abc1234", "Commit", "abc1234", ["answer: read ' abc1234' as 'abc1234'"]),
        (["5", 6], "[Int]", [5, 6], ["[0]: read '5' as 5"]),
        (["5", "5"], "(Text, Int)", ["5", 5], ["[1]: read '5' as 5"]),
        ("5", "Maybe Int", 5, ["answer: read '5' as 5"]),
        ({}, "Chain", {"next": None}, ["next: was missing, read as null"]),
    ],
)
def test_a_harmless_slip_is_mended_and_noted(
    value: Any, text: str, mended: Any, notes: list[str]
) -> None:
    found, said = typed_answers.repair_value(value, t.parse_type(text), TYPES)
    assert (found, type(found), said) == (mended, type(mended), notes)


@pytest.mark.parametrize(
    "value, text",
    [
        ("x", "[Text]"),
        (5, "Text"),
        (" x ", "Text"),
        (" x ", "Blob"),
        ("5.5", "Int"),
        ("five", "Int"),
        ("\u0665", "Int"),
        ("9" * 16, "Int"),
        (5.5, "Int"),
        (1e300, "Int"),
        (float("inf"), "Int"),
        (True, "Int"),
        (1, "Bool"),
        ("yes", "Bool"),
        (None, "Bool"),
        ("trivial", "Impact"),
        (7, "Impact"),
        (7, "FilePath"),
        (7, "Commit"),
        ("/a/./b", "FilePath"),
        (["a"], "(Text, Int)"),
        ({"inner": {}}, "Endless"),
        ("null", "Maybe Int"),
        ([], "Planned"),
        ({}, "Nobody"),
    ],
)
def test_what_could_mean_something_else_is_left_alone(value: Any, text: str) -> None:
    found, notes = typed_answers.repair_value(value, t.parse_type(text), TYPES)
    assert (found, type(found), notes) == (value, type(value), [])


def test_repair_does_not_touch_what_it_was_given_and_keeps_strangers() -> None:
    said = {"testPlan": [], "impact": " Trivial", "pair": ["a", "1"], "more": "5"}
    mended, notes = typed_answers.repair_value(said, PLAN, TYPES)
    assert said == {"testPlan": [], "impact": " Trivial", "pair": ["a", "1"], "more": "5"}
    assert mended == GOOD | {"testPlan": [], "more": "5"}
    assert len(notes) == 3


_types = st.recursive(
    st.sampled_from(
        [
            *(t.Scalar(name) for name in t.SCALARS.values()),
            t.Enum(("Red", "Green")),
            *map(t.Ref, [*TYPES, "Nobody"]),
        ]
    ),
    lambda inner: (
        st.builds(t.ListOf, inner)
        | st.builds(t.Maybe, inner)
        | st.builds(lambda a, b: t.Tuple_((a, b)), inner, inner)
        | st.builds(lambda a, b: t.Record((t.Field("name", a), t.Field("next", b))), inner, inner)
    ),
    max_leaves=6,
)
_texts = st.text(max_size=6) | st.text(alphabet=" ./~.git:aC", max_size=8)
_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | _texts
    | st.characters(categories=["Cs"])
    | st.sampled_from(["5", " true", "Red ", "Trivial", "abc1234", " x/./y "])
)
_keys = st.sampled_from(["name", "next", "kids", "inner"]) | st.text(max_size=3)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(_json, _types)
def test_no_value_makes_the_judge_raise(value: Any, type_: t.Type) -> None:
    assert all(": " in one for one in typed_answers.check_value(value, type_, TYPES))


@settings(deadline=None)
@given(_json, _types)
def test_repair_is_done_after_one_time_and_makes_nothing_worse(value: Any, type_: t.Type) -> None:
    before = typed_answers.check_value(value, type_, TYPES)
    mended, notes = typed_answers.repair_value(value, type_, TYPES)
    assert len(typed_answers.check_value(mended, type_, TYPES)) <= len(before)
    again, more = typed_answers.repair_value(mended, type_, TYPES)
    assert repr(again) == repr(mended)
    assert more == []
    assert notes or repr(mended) == repr(value)


def test_a_number_that_is_none_is_left_as_it_is_and_no_note_says_otherwise() -> None:
    value = float("nan")
    repaired, notes = typed_answers.repair_value(value, t.Scalar("Text"), TYPES)
    assert repaired is value
    assert notes == []
