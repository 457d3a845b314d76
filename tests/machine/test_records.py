"""Records as lines of JSON and back."""

import json
from typing import get_args

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine import records
from porch.machine.records import (
    JSON_FORM,
    JournalRecord,
    decode_record,
    decode_records,
    encode_record,
    version_of_record,
)
from porch.machine.state import InHand, effect_parts, position_text
from porch.testing import Rig


def through_text(record: JournalRecord) -> JournalRecord:
    return decode_record(json.loads(json.dumps(encode_record(record))))


def test_every_fact_and_every_move_is_known_to_the_journal() -> None:
    item = f.Item(id="one", title="One", description="", digest="d")
    asked = f.GateQuestion(artifacts={"a.md": "1"}, reason="r", difference={"a.md": "-x"})
    facts: list[f.Fact] = [
        f.RunStarted(run="r", id="1", title="t", protocol="p", digest="d", inputs={"a": "b"}),
        f.RunAdopted(
            state="s",
            item="i",
            gates={"g": {"status": "approved"}},
            items=(item,),
            finished=("one",),
            notes=("note",),
        ),
        f.SettingsPinned(digest="s"),
        f.BaseMeasured(base_tree="t"),
        f.RunnerStarted(host="h", boot="b", pid=1, release="0", resumed=True),
        f.ExitAccepted(
            effect="e",
            exit="x",
            payload={"deep": [{"er": [1, None, True]}]},
            signal="X",
            notes=("n",),
            session="s",
            usd=0.5,
            tokens=7,
        ),
        f.TurnEndedSilent(effect="e", notes=("n",), said="said"),
        f.EffectFailed(effect="e", why="why", detail="detail", wait_s=3, hopeless=True),
        f.EffectInterrupted(effect="e", usd=1, tokens=2, session="s"),
        f.EffectStopped(effect="e"),
        f.CheckEnded(effect="e", result="passed", report="r", tree="t", seconds=1.5, reused=True),
        f.ReviewEnded(effect="e", verdict="APPROVE", summary="s", findings=("a", "b")),
        f.ItemsRead(effect="e", reading="json", items=(item,), digest="d", notes=("n",)),
        f.DecisionAsked(effect="e", digest="d", artifacts={"a.md": "1"}),
        f.FeedbackWritten(effect="e", path="p"),
        f.TimerFired(effect="e"),
        f.CommitEnded(effect="e", commit="c"),
        f.GitEnded(effect="e", exit="clean", payload={"commit": "c"}),
        f.WishTaken(
            wish=f.Wish(id="w", kind="decide", data={"loop": "plan", "list": [1, {"is": "mine"}]}),
            artifacts={"a.md": "1"},
            definition="d",
            loop="plan",
            items=(item,),
            gates={"g": asked},
        ),
        f.WishRefused(wish=f.Wish(id="w", kind="stop"), reason="no", notice=True),
        f.JournalRepaired(kept=1, lost_bytes=2, aside="x"),
        f.StatusEdited(aside="x"),
        f.WorkFinished(how="merged", into="main", checks={"test": "passed"}, as_person=True),
        f.BudgetReached(position="s#1", budget="run.max_usd", spent=1.5, limit=1.0, step=0.5),
        f.CommandsDue(commands={"test": "0a"}, results={"test": "exit code 2"}),
        f.ApprovalOutdated(gate="g", question=asked),
        f.ApprovalRestored(gate="g"),
        f.PlanMoved(
            action="a",
            prompts={"1": {"x": [1]}, "2": None},
            plan={"s": 1},
            payload={},
            who="w",
            agent="a",
            forced=("forced",),
        ),
        f.QuestionPosed(
            state="testing",
            item="1",
            payload={"reason": "r"},
            digest="d",
            artifacts={"a.md": "1"},
            agent="a",
        ),
    ]
    kinds = {*get_args(f.Fact), *get_args(f.EffectFact)}
    assert {type(fact) for fact in facts} == kinds - {f.EffectFact}
    for fact in facts:
        assert through_text(JournalRecord(1, "t", fact)).fact == fact


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
        m.Closed("s#1", "approved", artifacts={"a.md": "1"}),
        m.Itemised(
            "plan", (f.Item(id="one", title="One", description="", digest="d"),), "d", ("one",)
        ),
        m.Finished("plan", "one"),
        m.Paused(),
        m.Resumed(),
        m.Pinned("d"),
        m.PinnedSettings("s"),
        m.Based("t", "c", "main"),
        m.GateNoted("g", "waiting"),
        m.Ended("complete"),
        m.Reopened(),
        m.Delivered("merged", "b", "h", "main", "c"),
        m.Spawned("a", "", "a", {"id": "a"}, "d", "b.a", "b", {"kind": "rework"}),
        m.Awaited("a", ("b",)),
        m.Told("a", {"id": "a"}, "d", None),
        m.Held("hold:branch:b", "s#1"),
    )
    assert {type(move) for move in moves} == {*get_args(m.Move)}
    record = JournalRecord(
        3, "t", f.StatusEdited(aside="x"), moves, (InHand("e", "s#1", "k", "n", ("u",)),)
    )
    back = through_text(record)
    assert back == record
    # One and True are equal, yet a count must not come back as a claim.
    assert [type(move.value) for move in back.moves if isinstance(move, m.Marked)][:2] == [
        bool,
        int,
    ]


def test_a_record_says_which_version_of_the_format_it_is() -> None:
    assert encode_record(JournalRecord(7, "t", f.StatusEdited(aside="x"))) == {
        "v": 1,
        "seq": 7,
        "at": "t",
        "fact": {"is": "StatusEdited", "aside": "x"},
        "moves": [],
        "begun": [],
    }


def test_an_agent_cannot_smuggle_our_tags_through_a_payload() -> None:
    payload = {"is": "Ended", "outcome": "complete", "inside": {"is": "nobody knows"}}
    record = JournalRecord(
        1,
        "t",
        f.ExitAccepted(effect="e", exit="x", payload=payload),
        (m.Remembered("s.x", payload),),
    )
    assert through_text(record) == record


def test_a_wish_may_carry_items_and_they_arrive_as_plain_data() -> None:
    item = f.Item(id="one", title="One", description="", digest="d")
    raw = encode_record(
        JournalRecord(
            1, "t", f.WishTaken(wish=f.Wish(id="w", kind="replan", data={"items": (item,)}))
        )
    )
    data = raw["fact"]["wish"]["data"]["items"][0]
    assert f.Item(**data) == item


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(KeyError):
        JSON_FORM.decode({"is": "Surprise"})


def test_a_whole_run_comes_back_record_by_record(at_fork: Rig) -> None:
    raws = [json.loads(json.dumps(encode_record(record))) for record in at_fork.records]
    assert list(decode_records(raws)) == at_fork.records


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


def test_a_record_has_the_lowest_version_that_knows_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "VERSION_OF_TAG", {"News": 2})
    monkeypatch.setattr(records, "VERSION_OF_FIELD", {("Wish", "more"): 2})
    wish = {"is": "Wish", "id": "w"}
    payload = {"is": "News", "more": 1}
    assert version_of_record({"is": "WishTaken", "wish": wish}, ()) == 1
    assert version_of_record({"is": "ExitAccepted", "payload": payload}, ()) == 1
    assert version_of_record({"is": "WishTaken", "wish": {**wish, "more": 1}}, ()) == 2
    assert version_of_record({"is": "WishTaken", "wish": wish}, ({"is": "News"},)) == 2
    assert version_of_record({"is": "News"}, ()) == 2
