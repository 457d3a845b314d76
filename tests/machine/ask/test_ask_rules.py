"""The run of a round of questions: asked once, answered bit by bit, ended when nothing is open."""

from typing import Any

import pytest

from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.ask import run_rules
from porch.machine.ask.human_questions import build_ask_protocol
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord, decode_record, encode_record
from porch.machine.route import route_fact
from porch.machine.state import RunState
from porch.machine.wishes import find_refusal
from porch.model.protocol import Human

PROTOCOL = add_engine_states(build_ask_protocol())
QUESTIONS = [
    {"id": "q1", "options": [{}, {}, {}]},
    {"id": "q2", "options": [{}, {}], "free": True},
    {"id": "q3", "options": [{}, {}], "multi": True},
]
A = {"options": [1], "text": None, "note": None}
TEXT: dict[str, Any] = {"options": [], "text": "mine", "note": None}
BOTH = {"options": [1, 2], "text": None, "note": None}


class Asked:
    """A run of questions, moved by facts as its book would."""

    def __init__(self) -> None:
        self.state = RunState()
        self.records: list[JournalRecord] = []
        self.tell(f.RunStarted(run="ask_1", id="ask/1", title="t", protocol="ask", digest="d"))
        self.pose()

    def pose(self) -> None:
        blocks = {"q1": "Q1 one", "q2": {"$sha256": "a" * 64, "size": 9, "clip": "Q2 long"}}
        payload = {"reason": "all", "questions": QUESTIONS, "blocks": blocks}
        self.tell(f.QuestionPosed(state="questions", payload=payload))

    def tell(self, fact: f.Fact) -> None:
        moves = route_fact(PROTOCOL, self.state, fact)
        record = JournalRecord(self.state.seq + 1, "2026-01-01T00:00:00.000Z", fact, moves)
        self.records.append(record)
        self.state = evolve_state(self.state, record)

    def answer(self, form: Any = None, kind: str = "decide", position: str = "") -> str:
        """The reason of a refusal; nothing if it was taken."""
        at = position or next(iter(self.state.decisions), "")
        wish = f.Wish(
            id=f"w{self.state.seq}",
            kind=kind,
            position=at,
            exit="answered",
            text="said",
            who="ann",
            channel="cli",
            data={} if form is None else {"form": form},
        )
        refused = find_refusal(PROTOCOL, self.state, wish)
        if refused is None:
            self.tell(f.WishTaken(wish=wish))
        return refused.reason if refused else ""

    @property
    def reason(self) -> str:
        return str(run_rules.recall_posed(self.state)["reason"])


def problem(question: str, code: str = "unanswered") -> dict[str, str]:
    return {"question": question, "code": code, "message": f"{question} is {code}"}


def test_questions_stand_once_however_often_they_are_posed() -> None:
    asked = Asked()
    asked.pose()
    assert list(asked.state.decisions) == ["questions#1"]
    assert run_rules.open_ids(asked.state) == ["q1", "q2", "q3"]


def test_c8_what_was_answered_is_kept_and_only_the_rest_stands_again_in_the_same_record() -> None:
    asked = Asked()
    form = {"answers": {"q3": BOTH}, "problems": [problem("q1", "not_an_option"), problem("q2")]}
    assert asked.answer(form) == ""
    assert list(asked.state.decisions) == ["questions#2"]
    assert run_rules.open_ids(asked.state) == ["q1", "q2"]
    clipped = "Q2 long ... (9 bytes, sha256:aaaaaaaaaaaa)"
    assert asked.reason == f"q1: q1 is not_an_option\nQ1 one\n\nq2: q2 is unanswered\n{clipped}"
    known = run_rules.recall_answers(asked.state)
    assert (known["rounds"], known["refused"], known["by"]) == (1, {"text": 1}, "ann")


def test_the_run_ends_with_the_last_answer_and_is_not_asked_again() -> None:
    asked = Asked()
    assert asked.answer({"answers": {"q1": A, "q2": TEXT}}) == ""
    assert asked.state.outcome == ""
    assert asked.reason == "q3"
    assert asked.answer({"answers": {"q3": BOTH}}) == ""
    assert (asked.state.outcome, dict(asked.state.decisions)) == ("complete", {})
    asked.pose()
    assert (asked.state.outcome, dict(asked.state.positions)) == ("complete", {})
    assert run_rules.recall_answers(asked.state)["answers"] == {"q1": A, "q2": TEXT, "q3": BOTH}


def test_c8_an_answer_that_is_withdrawn_is_open_again_and_one_given_anew_replaces_the_old() -> None:
    asked = Asked()
    asked.answer({"answers": {"q1": A, "q2": TEXT}})
    asked.answer({"answers": {"q2": A}, "withdrawn": ["q1"], "problems": [problem("q1")]})
    assert run_rules.open_ids(asked.state) == ["q1", "q3"]
    assert run_rules.recall_answers(asked.state)["answers"] == {"q2": A}


def test_c8_after_three_replies_it_says_that_it_waits() -> None:
    asked = Asked()
    for _ in range(3):
        assert not asked.reason.startswith(run_rules.PARKED)
        assert asked.answer({"answers": {}, "problems": [problem("q1", "no_labels")]}) == ""
    assert asked.reason.startswith(run_rules.PARKED)
    assert asked.answer({"answers": {"q1": A, "q2": A, "q3": A}}) == ""
    assert asked.state.outcome == "complete"


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "A",
            None,
            [],
            {},
            {"options": "A"},
            {"options": [0]},
            {"options": [4]},
            {"options": [-1]},
        ),
        *({"options": [True]}, {"options": ["1"]}, {"options": [1.0]}, {"options": [1, 2]}),
        *({"options": []}, {"options": [], "text": "x"}, {"options": [1], "text": "x"}),
        *({"options": [1], "text": 7}, {"options": [1], "note": 7}, {"options": [], "text": ""}),
    ],
)
def test_an_answer_that_the_question_does_not_allow_is_refused_whoever_wrote_it(
    answer: Any,
) -> None:
    asked = Asked()
    told = "the answer to q1 is none that the question allows"
    assert asked.answer({"answers": {"q1": answer}}) == told
    assert len(asked.records) == 2


def test_what_is_allowed_is_what_the_question_says() -> None:
    for id_, answer in (("q2", TEXT), ("q3", BOTH), ("q1", {**A, "note": "why"})):
        assert Asked().answer({"answers": {id_: answer}}) == ""
    assert Asked().answer({"answers": {"q2": {"options": [1], "text": "x"}}}) != ""


@pytest.mark.parametrize(
    "form",
    [
        *(None, [], "q1: A", {}, {"answers": []}, {"answers": {"q9": A}}),
        *({"answers": {}, "withdrawn": "q1"}, {"answers": {}, "withdrawn": [1]}),
        *({"answers": {}, "problems": {}}, {"answers": {}, "problems": ["x"]}),
        {"answers": {}, "problems": [{"question": "q1", "code": 1, "message": "x"}]},
    ],
)
def test_a_form_that_is_none_is_refused(form: Any) -> None:
    asked = Asked()
    assert asked.answer(form) != ""
    assert len(asked.records) == 2


def test_nobody_stops_or_rolls_back_questions() -> None:
    asked = Asked()
    assert asked.answer({"answers": {}}, kind="stop") == "questions move only by answers to them"


def test_the_records_are_read_back_as_they_were_written() -> None:
    asked = Asked()
    asked.answer({"answers": {"q1": A}, "problems": [problem("q2")]})
    for record in asked.records:
        assert decode_record(encode_record(record)) == record


def test_the_protocol_of_questions_has_one_decision_and_nothing_leads_to_it() -> None:
    protocol = build_ask_protocol()
    people = [name for name, state in protocol.states.items() if isinstance(state.actor, Human)]
    assert people == ["questions"]
    assert [edge.targets for edge in protocol.edges] == [()]
