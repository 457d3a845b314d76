"""Records as lines of JSON and back."""

import json
from typing import get_args

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import CODEC, VERSION, Record, decode, decode_all, encode
from porch.machine.state import InHand, effect_parts, position_text
from porch.testing import Rig


def through_text(record: Record) -> Record:
    return decode(json.loads(json.dumps(encode(record))))


def test_every_fact_and_every_move_is_known_to_the_codec() -> None:
    item = f.Item("one", "One", "", "d")
    facts: list[f.Fact] = [
        f.RunStarted("r", "1", "t", "p", "d", inputs={"a": "b"}),
        f.RunAdopted("s", "i", {"g": {"status": "approved"}}, (item,), ("one",), ("note",)),
        f.RunnerStarted("h", "b", 1, "0", True),
        f.ExitAccepted("e", "x", {"deep": [{"er": [1, None, True]}]}, "X", ("n",), "s", 0.5, 7),
        f.TurnEndedSilent("e", ("n",), "said"),
        f.EffectFailed("e", "why", "detail", 3, hopeless=True),
        f.EffectInterrupted("e", 1, 2, "s"),
        f.EffectStopped("e"),
        f.CheckEnded("e", "passed", "r", "t", 1.5, True),
        f.ReviewEnded("e", "APPROVE", "s", ("a", "b")),
        f.ItemsRead("e", "json", (item,), "d", ("n",)),
        f.DecisionAsked("e", "d", {"a.md": "1"}),
        f.FeedbackWritten("e", "p"),
        f.TimerFired("e"),
        f.CommitEnded("e", "c"),
        f.GitEnded("e", "clean", {"commit": "c"}),
        f.WishTaken(f.Wish("w", "decide", data={"loop": "plan", "list": [1, {"is": "mine"}]})),
        f.WishRefused(f.Wish("w", "stop"), "no", True),
        f.JournalRepaired(1, 2, "x"),
        f.StatusEdited("x"),
        f.BudgetReached("s#1", "run.max_usd", 1.5, 1.0, 0.5),
        f.PlanMoved("a", {"1": {"x": [1]}, "2": None}, {"s": 1}, {}, "w", "a", ("forced",)),
        f.QuestionPosed("testing", "1", {"reason": "r"}, "d", {"a.md": "1"}, "a"),
    ]
    kinds = {*get_args(f.Fact), *get_args(f.EffectFact)}
    assert {type(fact) for fact in facts} == kinds - {f.EffectFact}
    for fact in facts:
        assert through_text(Record(1, "t", fact)).fact == fact


def test_moves_and_begun_effects_come_back_equal() -> None:
    moves: tuple[m.Move, ...] = (
        m.Began("r", "1", "t", "p", "d"),
        m.Entered("s#1", "s", 1, "i", "inst", 5, "why"),
        m.Left("s#1"),
        m.Remembered("s.x", {"a": [1, 2]}, "i", "inst"),
        m.Forgot("s.x"),
        m.Charged("b", 0),
        m.Marked("s#1", "k"),
        m.Marked("s#1", "k", 1),
        m.Marked("s#1", "k", {"findings": ["x"]}),
        m.Postponed("s#1", "agent", "limit", 2, True),
        m.Settled("e", 0.5, 3),
        m.Asked("s#1", "gate", "g", "d", {"a": "1"}),
        m.Closed("s#1", "approved"),
        m.Itemised("plan", (f.Item("one", "One", "", "d"),), "d", ("one",)),
        m.Finished("plan", "one"),
        m.Paused(),
        m.Resumed(),
        m.Pinned("d"),
        m.GateNoted("g", "waiting"),
        m.Ended("complete"),
        m.Spawned("a", "", "a", {"id": "a"}, "d", "b.a", "b", {"kind": "rework"}),
        m.Told("a", {"id": "a"}, "d", None),
        m.Held("hold:branch:b", "s#1"),
    )
    assert {type(move) for move in moves} == {*get_args(m.Move)}
    record = Record(3, "t", f.StatusEdited("x"), moves, (InHand("e", "s#1", "k", "n", ("u",)),))
    back = through_text(record)
    assert back == record
    # One and True are equal, yet a count must not come back as a claim.
    assert [type(move.value) for move in back.moves if isinstance(move, m.Marked)][:2] == [
        bool,
        int,
    ]


def test_a_record_says_which_version_of_the_format_it_is() -> None:
    assert encode(Record(7, "t", f.StatusEdited("x"))) == {
        "v": VERSION,
        "seq": 7,
        "at": "t",
        "fact": {"is": "StatusEdited", "aside": "x"},
        "moves": [],
        "begun": [],
    }


def test_an_agent_cannot_smuggle_our_tags_through_a_payload() -> None:
    payload = {"is": "Ended", "outcome": "complete", "inside": {"is": "nobody knows"}}
    record = Record(1, "t", f.ExitAccepted("e", "x", payload), (m.Remembered("s.x", payload),))
    assert through_text(record) == record


def test_a_wish_may_carry_items_and_they_arrive_as_plain_data() -> None:
    item = f.Item("one", "One", "", "d")
    raw = encode(Record(1, "t", f.WishTaken(f.Wish("w", "replan", data={"items": (item,)}))))
    data = raw["fact"]["wish"]["data"]["items"][0]
    assert f.Item(**data) == item


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(KeyError):
        CODEC.decode({"is": "Surprise"})


def test_a_whole_run_comes_back_record_by_record(at_fork: Rig) -> None:
    raws = [json.loads(json.dumps(encode(record))) for record in at_fork.records]
    assert list(decode_all(raws)) == at_fork.records


@pytest.mark.parametrize(
    "instance,state,item,visit,text",
    [
        ("", "specify:draft", "", 1, "specify:draft#1"),
        ("", "implement", "phase_2", 3, "implement:phase_2#3"),
        ("feature-a", "code", "one", 12, "feature-a/code:one#12"),
    ],
)
@pytest.mark.parametrize("name", ["unit", "lint/all", "a#1 b"])
def test_an_effects_id_tells_its_position_whatever_the_names(
    instance: str, state: str, item: str, visit: int, text: str, name: str
) -> None:
    assert position_text(instance, state, item, visit) == text
    assert effect_parts(f"{text}/check/{name}/4") == (text, "check", name)


def test_an_id_that_is_none_belongs_to_no_position() -> None:
    assert effect_parts("rubbish") == ("", "", "rubbish")
