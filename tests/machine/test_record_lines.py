"""A record that was read is written again as the same line, whatever agents and people said."""

import json
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord, decode_record, encode_record
from porch.machine.state import InHand
from porch.store import chain
from tests.corpus.run_dump import field_names

HALVES = ["\ud800", "a\udfff", "\udc00b", "\U0001f600", "\u2028", "\x00", "\x7f", 'a"\\/']
FLOATS = [1e16, 1e22, 1e-7, 0.1 + 0.2, -0.0, 0.0, 1.0, 5e-324, 1.7976931348623157e308]
NUMBERS = [0, 1, -1, 2**53 + 1, 2**63, 2**64, -(2**70)]

texts = st.text(max_size=5) | st.sampled_from(HALVES)
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(FLOATS)
numbers = st.integers() | st.sampled_from(NUMBERS)
scalars = st.none() | st.booleans() | numbers | floats | texts
keys = texts | st.sampled_from(["is", "v", "sum", "$sha256", ""])
tagged = st.fixed_dictionaries({"is": st.sampled_from(["Ended", "Item", "nobody", 7, None])})
anything = st.recursive(
    scalars | tagged,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


def of_type(hint: Any) -> st.SearchStrategy[Any]:
    """Values for a field as porch itself may put them there: a sum of money may be `0`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of(*map(of_type, arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(of_type(arguments[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(keys, of_type(arguments[1]), max_size=2)
    return PLAIN[hint] if hint in PLAIN else objects(hint)


PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    bool: st.booleans(),
    int: numbers,
    float: floats | numbers,
    Any: anything,
    NoneType: st.none(),
}


@cache
def objects(kind: type) -> st.SearchStrategy[Any]:
    """Any value of a class; some of its fields are left to their defaults."""
    hints, without = get_type_hints(kind), needed(kind)
    every = {name: of_type(hints[name]) for name in field_names(kind) or ()}
    return st.fixed_dictionaries(
        {name: each for name, each in every.items() if name in without},
        optional={name: each for name, each in every.items() if name not in without},
    ).map(lambda given_: kind(**given_))


def needed(kind: type) -> set[str]:
    """The fields without a default: those that the class cannot do without."""
    names = field_names(kind) or ()
    everything: dict[str, Any] = dict.fromkeys(names, None)
    return {name for name in names if not can_be_made(kind, everything, name)}


def can_be_made(kind: type, everything: Mapping[str, Any], without: str) -> bool:
    try:
        kind(**{name: value for name, value in everything.items() if name != without})
    except TypeError:
        return False
    return True


def line_of(record: JournalRecord) -> bytes:
    return chain.render_record_line(record.seq, chain.START, encode_record(record))[0]


def again(line: bytes) -> bytes:
    return line_of(decode_record(json.loads(line)))


FACTS = [kind for kind in get_args(f.Fact) if field_names(kind) is not None]
MOVES = list(get_args(m.Move))


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=12)
def test_any_fact_is_written_again_as_the_same_line(kind: type, data: st.DataObject) -> None:
    line = line_of(JournalRecord(1, "t", data.draw(objects(kind))))
    assert again(line) == line


@pytest.mark.parametrize("kind", MOVES, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=12)
def test_any_move_is_written_again_as_the_same_line(kind: type, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(objects(kind), min_size=1, max_size=2).map(tuple))
    line = line_of(JournalRecord(1, "t", f.StatusEdited(aside="x"), drawn))
    assert again(line) == line


@given(st.lists(objects(InHand), max_size=3).map(tuple))
@settings(max_examples=12)
def test_any_effect_that_begins_is_written_again_as_the_same_line(begun: Any) -> None:
    line = line_of(JournalRecord(1, "t", f.StatusEdited(aside="x"), (), begun))
    assert again(line) == line


@given(anything)
@example({"is": "Item", "id": "1"})
@example([1, 1.0, True, 0, 0.0, -0.0, False, None, "", [], {}])
@example(1e16)
@settings(max_examples=40)
def test_plain_data_comes_back_with_its_kinds(value: Any) -> None:
    """`1`, `1.0` and `true` are equal to Python and three things in a journal."""
    fact = f.ExitAccepted(effect="e", exit="x", payload={"in": value})
    back = decode_record(
        json.loads(line_of(JournalRecord(1, "t", fact, (m.Marked("s#1", "k", value),))))
    )
    assert isinstance(back.fact, f.ExitAccepted)
    (move,) = back.moves
    assert isinstance(move, m.Marked)
    assert repr(back.fact.payload["in"]) == repr(move.value) == repr(plain(value))


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


EMPTY = "".join([])
LINES = [
    # What equals its default is left out, though it is another object.
    (f.ExitAccepted(effect="e", exit="x", payload={}, signal=EMPTY, notes=(), usd=0.0, tokens=0,
                    envelope={}), ""),
    (f.ExitAccepted(effect="e", exit="x", usd=-0.0, seconds=0.0), ""),
    (f.EffectFailed(effect="e", why="x", wait_s=0.0, hopeless=False), ""),
    # A claim is no count, and a count is no claim.
    (f.ExitAccepted(effect="e", exit="x", tokens=False), '"tokens":false'),
    (f.EffectFailed(effect="e", why="x", hopeless=0), '"hopeless":0'),  # type: ignore[arg-type]
    (f.ExitAccepted(effect="e", exit="x", usd=1), '"usd":1'),
    (f.ExitAccepted(effect="e", exit="x", usd=1.0), '"usd":1.0'),
    (f.ExitAccepted(effect="e", exit="x", usd=1e16), '"usd":1e+16'),
    (f.ExitAccepted(effect="e", exit="x", usd=1e22), '"usd":1e+22'),
    (f.ExitAccepted(effect="e", exit="x", usd=0.1 + 0.2), '"usd":0.30000000000000004'),
    (f.ExitAccepted(effect="e", exit="x", usd=1e-7), '"usd":1e-07'),
    (f.ExitAccepted(effect="e", exit="x", payload={"n": -0.0}), '"payload":{"n":-0.0}'),
    (f.ExitAccepted(effect="e", exit="x", payload={"n": 2**70}),
     '"payload":{"n":1180591620717411303424}'),
    (f.ExitAccepted(effect="e", exit="x", payload={"is": "Item"}), '"payload":{"is":"Item"}'),
    (f.ExitAccepted(effect="e", exit="x", payload={
        "in": f.Item(id="1", title="t", description="", digest="d")}),
     '"payload":{"in":{"id":"1","title":"t","description":"","digest":"d","text":""}}'),
    (f.ExitAccepted(effect="e", exit="x", said="\ud800 ä"), r'"said":"\ud800 \u00e4"'),
    (f.ExitAccepted(effect="e", exit="x", said="ä \u2028\x7f"), '"said":"ä \u2028\x7f"'),
]  # fmt: skip


@pytest.mark.parametrize("fact, told", LINES)
def test_the_line_of_an_odd_value_is_the_one_that_was_always_written(
    fact: f.Fact, told: str
) -> None:
    is_exit = isinstance(fact, f.ExitAccepted)
    front = '"ExitAccepted","effect":"e","exit"' if is_exit else '"EffectFailed","effect":"e","why"'
    inside = f'{{"is":{front}:"x"{f",{told}" if told else ""}}}'
    head = f'{{"v":1,"seq":1,"at":"t","fact":{inside},"moves":[],"begun":[],"sum":"'
    line = line_of(JournalRecord(1, "t", fact))
    assert line.decode().startswith(head)
    assert again(line) == line


@pytest.mark.parametrize("value, told", [(True, ""), (1, ',"value":1'), (1.0, ',"value":1.0')])
def test_a_mark_that_is_only_set_says_nothing_more(value: Any, told: str) -> None:
    line = line_of(JournalRecord(1, "t", f.StatusEdited(aside="x"), (m.Marked("s#1", "k", value),)))
    assert f'"moves":[{{"is":"Marked","position":"s#1","key":"k"{told}}}]' in line.decode()
    assert again(line) == line
