"""`porch ask`: questions are decisions with a journal of their own; only people answer them."""

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from porch.store import where as places
from porch.track.questions.ask_run import AskRun, pose_questions
from tests.claims.questions.rounds import CLOSED, FREE, OPEN, make_round

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open, Said

ROUND = make_round(CLOSED, FREE)
BOTH = f"questions:\n  - {CLOSED}\n  - {FREE}\n"
CHOSEN = {"options": [1], "text": None, "note": None}


@pytest.fixture
def asker(desk: "Desk") -> "Desk":
    desk.write("q.yaml", BOTH)
    return desk


def reply(desk: "Desk", text: str, *words: str, code: int = 0) -> Any:
    desk.write("reply.txt", text)
    return desk.porch("ask", "q.yaml", "--reply", "reply.txt", "--json", *words, code=code).json


def run_of(said: "Said") -> str:
    return str(said.json["run"]).replace("/", "_")


def test_questions_are_printed_and_wait_in_pending(asker: "Desk") -> None:
    said = asker.porch("ask", "q.yaml", code=3)
    assert said.out.startswith("Q1 Which store?\n   A) Redis\n")
    (decision,) = asker.porch("pending", "--json").json["decisions"]
    assert (decision["kind"], decision["name"]) == ("question", "questions")
    assert "Q2 How long?" in decision["reason"]
    assert decision["id"].startswith("ask/")
    assert decision["options"][0]["command"] == f'porch answer {decision["id"]} questions "..."'


def test_a_file_of_questions_that_is_not_there_is_the_callers_to_fix(asker: "Desk") -> None:
    said = asker.porch("ask", "none.yaml", code=2).err
    assert "'none.yaml' cannot be read: No such file or directory" in said
    assert "give the path of a file with questions" in said


def test_an_asking_is_one_run_however_often_somebody_asks(asker: "Desk") -> None:
    first = asker.porch("ask", "q.yaml", "--json", code=3)
    again = asker.porch("ask", "q.yaml", "--json", code=3)
    assert first.json == again.json
    assert first.json["problems"] == [
        {"question": "q1", "code": "unanswered", "message": "it has no answer yet"},
        {"question": "q2", "code": "unanswered", "message": "it has no answer yet"},
    ]
    assert len(asker.records(run_of(first))) == 2


def test_a_reply_is_read_and_what_is_missing_is_asked_again(asker: "Desk") -> None:
    said = reply(asker, "q1: A\nq2: E", code=3)
    assert said["answers"] == {"q1": CHOSEN}
    assert [(each["question"], each["code"]) for each in said["problems"]] == [
        ("q2", "letter_out_of_range")
    ]
    assert (said["state"], said["open"]) == ("asking", ["q2"])
    assert said["ask"]["text"].startswith("Not possible: there is no option E")
    done = reply(asker, "C) for ever")
    assert done["answers"] == {
        "q1": CHOSEN,
        "q2": {"options": [], "text": "for ever", "note": None},
    }
    assert (done["problems"], done["state"], done["open"]) == ([], "answered", [])
    assert asker.porch("ask", "q.yaml", "--json").json["answers"] == done["answers"]
    assert asker.porch("pending", "--json").json["decisions"] == []


def test_answers_and_what_is_open_are_told_in_words(asker: "Desk") -> None:
    asker.write("reply.txt", "Hello\nq1: A) because\nq9: x")
    said = asker.porch("ask", "q.yaml", "--reply", "reply.txt", code=3)
    assert said.out.splitlines()[:4] == [
        "note: text outside of any answer: Hello",
        "note: text for q9, which was not asked: x",
        "q1: A) Redis (because)",
        "q9: there is no question q9; the questions are: q1, q2",
    ]
    assert "Q2 How long?" in said.out
    asker.write("reply.txt", "A")
    assert asker.porch("ask", "q.yaml", "--reply", "reply.txt").out == (
        "q1: A) Redis (because)\nq2: A) One day\n"
    )


def test_questions_are_answered_where_all_decisions_are(asker: "Desk") -> None:
    id_ = asker.porch("ask", "q.yaml", "--json", code=3).json["run"]
    said = asker.porch("answer", id_, "questions", "q1: C\nq2: nope) x")
    assert "still open" not in said.out
    assert asker.porch("ask", "q.yaml", "--json").json["answers"]["q1"]["options"] == [3]


def test_an_answer_behind_porch_answer_says_what_it_left_open(asker: "Desk") -> None:
    id_ = asker.porch("ask", "q.yaml", "--json", code=3).json["run"]
    refused = asker.porch("answer", id_, "questions", "maybe", code=2)
    assert "answer-not-read" in refused.err
    said = asker.porch("answer", id_, "questions", "q1: B\nq2: E")
    assert "still open:\nq2: there is no option E" in said.out
    assert len(asker.records(id_.replace("/", "_"))) == 3


def test_c8_an_answer_can_be_given_anew_or_taken_back_while_something_is_open(
    asker: "Desk",
) -> None:
    reply(asker, "q1: A", code=3)
    assert reply(asker, "q1: C", code=3)["answers"]["q1"]["options"] == [3]
    said = reply(asker, "q1: no, not that\nq2: A", code=3)
    assert (list(said["answers"]), said["open"]) == (["q2"], ["q1"])


def test_c8_after_three_rounds_it_waits_and_still_takes_an_answer(asker: "Desk") -> None:
    for expected in ("asking", "asking", "awaiting_answers"):
        assert reply(asker, "maybe", code=3)["state"] == expected
    asker.write("reply.txt", "maybe")
    told = asker.porch("ask", "q.yaml", "--reply", "reply.txt", code=3).out
    assert "it waits in `porch pending`" in told
    assert reply(asker, "A, A")["state"] == "answered"


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_reply_is_no_round_and_leaves_no_record(asker: "Desk", text: str) -> None:
    before = asker.porch("ask", "q.yaml", "--json", code=3)
    said = reply(asker, text, code=3)
    assert {each["code"] for each in said["problems"]} == {"unanswered"}
    assert len(asker.records(run_of(before))) == 2


def test_an_empty_reply_to_answered_questions_asks_nothing_anew(asker: "Desk") -> None:
    first = reply(asker, "A, A")
    again = reply(asker, " \n")
    assert (again["answers"], again["run"]) == (first["answers"], first["run"])
    assert again["notes"] == ["the reply says nothing, so the answers stay as they are"]
    assert asker.porch("pending", "--json").json["decisions"] == []


def test_questions_that_were_answered_can_be_answered_anew_in_another_run(asker: "Desk") -> None:
    first = reply(asker, "A, A")
    second = reply(asker, "B, B")
    assert second["run"] == f"{first['run']}_2"
    assert second["notes"][0].startswith(f"these questions were answered before, in {first['run']}")
    assert second["answers"]["q1"]["options"] == [2]
    assert asker.porch("ask", "q.yaml", "--json").json["run"] == second["run"]
    assert reply(asker, "q1: A", code=3)["run"] == f"{first['run']}_3"


@pytest.mark.req("C-005")
def test_c10_a_tool_is_tried_once_more_and_then_text_is_asked_for(asker: "Desk") -> None:
    call = json.loads(asker.porch("ask", "q.yaml", "--as", "claude", code=3).out)
    assert [each["question"] for each in call["questions"]] == ["Which store?", "How long?"]
    wrong = json.dumps({"answers": {"Which store?": "Valkey", "How long?": "A month"}})
    said = reply(asker, wrong, "--as", "claude", code=3)
    assert said["answers"] == {"q2": {"options": [], "text": "A month", "note": None}}
    assert said["ask"]["as"] == "claude"
    (again,) = said["ask"]["calls"][0]["questions"]
    assert again["question"].startswith("Not possible: 'Valkey' is not one of the options")
    wrong = json.dumps({"answers": {again["question"]: "valkey 8"}})
    assert reply(asker, wrong, "--as", "claude", code=3)["ask"]["as"] == "text"


def test_c13_the_journal_keeps_what_was_said_by_whom_and_how(asker: "Desk") -> None:
    said = reply(asker, '{"answers": {"Which store?": "File"}}', "--as", "claude", code=3)
    (fact,) = asker.facts("WishTaken", str(said["run"]).replace("/", "_"))
    assert fact["wish"]["text"] == '{"answers": {"Which store?": "File"}}'
    assert fact["wish"]["data"]["form"]["transport"] == "claude"
    assert (fact["wish"]["channel"], bool(fact["wish"]["who"])) == ("cli", True)


def test_a_long_answer_is_kept_whole(asker: "Desk") -> None:
    long = "word " * 30_000
    said = reply(asker, f"q1: A\nq2: {long}")
    assert said["answers"]["q2"]["text"] == long.strip()


def test_long_questions_are_kept_whole(desk: "Desk") -> None:
    long = "word " * 700
    desk.write("q.yaml", f"questions:\n  - {{text: {long}, options: [Yes, No], context: {long}}}\n")
    desk.porch("ask", "q.yaml", code=3)
    id_ = desk.porch("pending", "--json").json["decisions"][0]["id"]
    desk.porch("answer", id_, "questions", "yes")
    assert desk.porch("ask", "q.yaml", "--json").json["answers"]["q1"]["options"] == [1]


@pytest.mark.parametrize("sign", ["CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX"])
def test_c15_an_agent_asks_and_never_answers(
    asker: "Desk", sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(sign, "1")
    asked = asker.porch("ask", "q.yaml", "--json", code=3)
    asker.write("reply.txt", "A, A")
    refused = asker.porch("ask", "q.yaml", "--reply", "reply.txt", code=2)
    assert "not-a-person" in refused.err
    assert len(asker.records(run_of(asked))) == 2
    asker.porch("ask", "q.yaml", "--reply", "reply.txt", "--as-person")
    assert asker.facts("WishTaken", run_of(asked))[0]["wish"]["as_person"] is True


def test_a_reply_comes_from_standard_input(asker: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"q1: A\r\nq2: B\r\n")))
    assert asker.porch("ask", "q.yaml", "--reply", "-", "--json").json["problems"] == []


@pytest.mark.req("C-002")
def test_a_file_that_is_wrong_is_refused_and_nothing_is_asked(desk: "Desk") -> None:
    desk.write("q.yaml", f"protocol: ask-single-question-closed\n{BOTH}")
    said = desk.porch("ask", "q.yaml", code=2)
    assert "too-many-questions" in said.err
    assert desk.porch("pending", "--json").json["decisions"] == []
    (desk.root / "q.yaml").write_bytes(b"\xff\xfe")
    assert "unreadable" in desk.porch("ask", "q.yaml", code=2).err
    desk.porch("ask", "missing.yaml", code=2)


def test_what_a_tool_cannot_carry_is_refused_and_nothing_is_asked(desk: "Desk") -> None:
    desk.write("q.yaml", f"questions:\n  - {OPEN}\n")
    assert "tool-cannot-ask" in desk.porch("ask", "q.yaml", "--as", "claude", code=2).err
    assert desk.porch("pending", "--json").json["decisions"] == []
    assert desk.porch("ask", "q.yaml", "--as", "gemini", code=3).out


def test_advice_goes_to_people_and_not_into_the_output(desk: "Desk") -> None:
    desk.write("q.yaml", "questions:\n  - {text: a, options: [only], free: true}\n")
    said = desk.porch("ask", "q.yaml", "--json", code=3)
    assert "warning[option-count]" in said.err
    assert said.json["state"] == "asking"


def test_a_reply_that_nobody_wrote_by_hand_is_refused(asker: "Desk") -> None:
    asker.write("reply.txt", "x" * 1_000_001)
    assert "reply-too-long" in asker.porch("ask", "q.yaml", "--reply", "reply.txt", code=2).err
    asker.porch("ask", "q.yaml", "--reply", "missing.txt", code=2)


def test_nobody_drives_questions(asker: "Desk") -> None:
    id_ = asker.porch("ask", "q.yaml", "--json", code=3).json["run"]
    assert "no-driver" in asker.porch("resume", id_, code=2).err
    assert "not running" not in asker.porch("status", id_).out
    assert "not running" not in asker.porch("pending").out


def test_questions_whose_asking_was_cut_off_are_posed_by_whoever_comes_next(asker: "Desk") -> None:
    first = asker.porch("ask", "q.yaml", "--json", code=3)
    journal = asker.run_dir(run_of(first)) / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    again = asker.porch("ask", "q.yaml", "--json", code=3)
    assert again.json["problems"] == first.json["problems"]
    assert len(asker.records(run_of(first))) == 2


def test_two_who_ask_at_once_ask_once(asker: "Desk") -> None:
    where = places.find_project(str(asker.root))
    run = AskRun(where, "123")
    states = [pose_questions(run, ROUND), pose_questions(run, ROUND)]
    assert [state.seq for state in states] == [2, 2]


def test_at_a_terminal_the_questions_are_asked_at_once(asker: "Desk", open_: "Open") -> None:
    seen = open_("ask", "q.yaml", columns=200)
    seen.until("end your reply with an empty line")
    seen.type("q1: A\nq2: E\n\n")
    seen.until("there is no option E")
    seen.until("end your reply with an empty line")
    seen.type("B\n\n")
    seen.until("q2: B) A week")
    assert seen.leave() == 0


def test_at_a_terminal_silence_leaves_the_questions_open(asker: "Desk", open_: "Open") -> None:
    seen = open_("ask", "q.yaml", columns=200)
    seen.until("end your reply with an empty line")
    seen.type("\x04")
    assert seen.leave() == 3
