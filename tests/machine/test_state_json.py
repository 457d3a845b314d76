"""A state that was folded can be kept and read again, whatever is in it; so can every record."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine import records, state_json
from porch.machine.state import InHand, RunState
from porch.model import definition as d
from porch.model import protocol as p
from porch.model import types as t
from porch.model.tagged import Tagged
from tests.corpus.run_dump import Kept, names

# Half a surrogate pair, a tag of ours as a key, whole numbers where a fraction may stand.
TEXT = st.text(max_size=6) | st.sampled_from(["", "is", "Item", "\ud800"])
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    Any: JSON,
    str: TEXT,
    int: st.integers(),
    float: NUMBER,
    bool: st.booleans(),
    type(None): st.none(),
}


@cache
def values(hint: Any) -> st.SearchStrategy[Any]:
    """Whatever a field of this type may hold."""
    if hint in SCALARS:
        return SCALARS[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is not ...:
        return st.tuples(*map(values, arguments))
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if arguments:
        return st.one_of(*map(values, arguments))
    return st.deferred(lambda: built(hint))


@cache
def built(cls: type[Tagged]) -> st.SearchStrategy[Any]:
    """Each field given or left at its default, if it has one."""
    known = {each.name: values(each.type) for each in fields(cls)}
    optional = {each.name for each in fields(cls) if not each.required}
    given_ = {name: one for name, one in known.items() if name not in optional}
    left = {name: known[name] for name in optional}
    return st.fixed_dictionaries(given_, optional=left).map(lambda each: cls(**each))


def through_text(raw: Any) -> Any:
    return json.loads(json.dumps(raw))


many = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(built(RunState))
def test_any_state_that_was_kept_is_read_again_as_it_was(state: RunState) -> None:
    raw = through_text(state_json.encode_state(state))
    again = state_json.decode_state(raw)
    assert again == state
    assert json.dumps(state_json.encode_state(again)) == json.dumps(raw)


@pytest.mark.parametrize("name", names())
def test_every_state_of_a_kept_journal_is_read_again_as_it_was(name: str) -> None:
    for step in Kept(name).steps():
        assert (
            state_json.decode_state(through_text(state_json.encode_state(step.after))) == step.after
        )


@many
@given(st.lists(values(f.Fact), min_size=1, max_size=1), st.lists(values(m.Move), max_size=3))
def test_any_record_is_read_again_as_it_was_and_written_as_it_was(
    facts: list[f.Fact], moves: list[m.Move]
) -> None:
    record = records.JournalRecord(1, "t", facts[0], tuple(moves), (InHand("e", "p", "k", "n"),))
    raw = through_text(records.encode_record(record))
    assert records.decode_record(raw) == record
    assert json.dumps(records.encode_record(records.decode_record(raw))) == json.dumps(raw)


# As journals on disk have them: a class may get another name, its tag may not.
TAGS = {
    "RunStarted",
    "RunAdopted",
    "RunnerStarted",
    "ExitAccepted",
    "TurnEndedSilent",
    "EffectFailed",
    "EffectInterrupted",
    "EffectStopped",
    "CheckEnded",
    "ReviewEnded",
    "ItemsRead",
    "FeedbackWritten",
    "DecisionAsked",
    "TimerFired",
    "CommitEnded",
    "GitEnded",
    "WishTaken",
    "WishRefused",
    "JournalRepaired",
    "StatusEdited",
    "WorkFinished",
    "Delivered",
    "BudgetReached",
    "CommandsDue",
    "ApprovalOutdated",
    "PinnedSettings",
    "SettingsPinned",
    "BaseMeasured",
    "Based",
    "ApprovalRestored",
    "PlanMoved",
    "QuestionPosed",
    "Began",
    "Entered",
    "Left",
    "Remembered",
    "Forgot",
    "Charged",
    "Marked",
    "Postponed",
    "Settled",
    "Asked",
    "Closed",
    "Itemised",
    "Finished",
    "Paused",
    "Reopened",
    "Resumed",
    "Pinned",
    "GateNoted",
    "Ended",
    "Spawned",
    "Awaited",
    "Told",
    "Held",
}


def test_facts_and_moves_have_the_tags_that_journals_on_disk_have() -> None:
    kinds: tuple[type[Tagged], ...] = (*get_args(f.Fact), *get_args(m.Move))
    assert {kind.__struct_config__.tag for kind in kinds} == TAGS


@pytest.mark.parametrize("of", [f, m, p, t])
def test_two_kinds_never_share_a_tag(of: Any) -> None:
    kinds = [each for each in vars(of).values() if isinstance(each, type)]
    own = [each for each in kinds if issubclass(each, Tagged) and each is not Tagged]
    assert len({each.__struct_config__.tag for each in own}) == len(own) > 5


@many
@given(st.lists(built(p.State), max_size=3), st.lists(built(p.Edge), max_size=3))
def test_any_definition_is_read_again_as_it_was(states: list[p.State], edges: list[p.Edge]) -> None:
    named = {f"s{number}": each for number, each in enumerate(states)}
    whole = d.Definition(p.Protocol("x", p.Target("s0"), named, tuple(edges)), {"s0": "Do it."})
    raw = through_text(d.encode_definition(whole))
    assert d.decode_definition(raw) == whole
    assert json.dumps(d.encode_definition(d.decode_definition(raw))) == json.dumps(raw)
