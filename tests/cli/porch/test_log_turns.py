"""porch log --turns and --turn: which agents were asked, and what each of them did."""

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SECRET = "correct-horse-battery"
ENTRY: dict[str, Any] = {
    "tool": f"the token is {SECRET}\x1b[31m",
    "say": "I wrote it down.",
    "usage": {"usd": 0.25, "tokens": 1234},
}
REVIEWED: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "substates": ["draft", "consult", "revise"],
    "signals": {"SPEC_DRAFTED": "specify:consult"},
    "consultation": {"on": "consult", "models": ["gemini", "codex"], "type": "spec-review"},
}


@pytest.fixture
def written(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> "Desk":
    monkeypatch.setenv("MY_TOKEN", SECRET)
    desk.begin({"id": "write", "artifact": "text.md"}, agents={"write": [ENTRY]}, code=0)
    return desk


def test_turns_are_listed_with_number_place_agent_outcome_time_and_cost(written: "Desk") -> None:
    head, row = written.porch("log", "1", "--turns").out.splitlines()
    assert head.split() == ["TURN", "POSITION", "AGENT", "OUTCOME", "BEGAN", "TOOK", "COST"]
    words = row.split()
    assert words[:4] == ["1", "write#1", "scripted", "PHASE_COMPLETE"]
    assert words[-1] == "$0.2500"
    assert words[-2] == "s"
    (turn,) = written.porch("log", "1", "--turns", "--json").json["turns"]
    assert (turn["number"], turn["effect"]) == (1, written.started()[0])
    assert turn["tokens"] == 1234
    assert turn["seconds"] >= 0
    assert turn["parts"] == 1


def test_a_turn_is_told_in_words(written: "Desk") -> None:
    lines = written.porch("log", "1", "--turn", "1").out.splitlines()
    assert lines == [
        "# turn 1: write#1, PHASE_COMPLETE",
        "* script",
        "    the token is [redacted]",
        "",
        "I wrote it down.",
        "<signal>PHASE_COMPLETE</signal>",
        "",
        "final message:",
        "  (same text as above)",
        "- 1,234 tokens, $0.2500",
    ]


def test_the_raw_transcript_holds_no_secret_and_stays_json(written: "Desk") -> None:
    text = written.porch("log", "1", "--turn", "1", "--raw").out
    kinds = [json.loads(line)["type"] for line in text.splitlines()]
    assert kinds == ["session", "tool_start", "tool_end", "usage", "text", "final"]
    assert SECRET not in text
    told = written.porch("log", "1", "--turn", "1", "--raw", "--json").json
    assert told["lines"] == text.splitlines()


def test_the_events_of_a_turn_are_there_for_programs(written: "Desk") -> None:
    told = written.porch("log", "1", "--turn", "1", "--json").json
    (part,) = told["parts"]
    names = [event["is"] for event in part["events"]]
    assert names == ["Session", "ToolStarted", "ToolEnded", "Used", "Said", "Final"]
    assert part["agent"] == "scripted"
    assert SECRET not in json.dumps(told)


def test_reviews_are_turns_too_in_the_order_of_the_journal(desk: "Desk") -> None:
    reviews = {"specify:consult": {"*": [{"verdict": "APPROVE"}]}}
    desk.begin(REVIEWED, reviews=reviews, code=None)
    begun = [
        hand["effect"]
        for record in desk.records()
        for hand in record["begun"]
        if hand["kind"] in ("agent", "review")
    ]
    turns = desk.porch("log", "1", "--turns", "--json").json["turns"]
    assert [turn["effect"] for turn in turns] == begun
    assert [turn["number"] for turn in turns] == list(range(1, len(begun) + 1))
    assert [turn["outcome"] for turn in turns[1:3]] == ["APPROVE", "APPROVE"]
    assert {turn["name"] for turn in turns[1:3]} == {"gemini", "codex"}


def test_how_a_turn_went_wrong_is_its_outcome(desk: "Desk") -> None:
    entry = {"tries": [{"fail": "server"}, {"signal": None}, {"signal": None}]}
    desk.begin({"id": "write"}, agents={"write": [entry]}, code=None)
    outcomes = [t["outcome"] for t in desk.porch("log", "1", "--turns", "--json").json["turns"]]
    assert outcomes[0] == "failed: server"
    assert "no signal" in outcomes
    told = desk.porch("log", "1", "--turn", "1").out
    assert "! failed: server: " in told


def test_a_turn_that_goes_on_can_be_looked_at(desk: "Desk") -> None:
    desk.protocol("p", {"id": "write"})
    script = desk.script(agents={"write": [{"tool": "busy", "hang": True}]})
    runner = desk.start("run", "p", "0001", "--title", "x", "--here", "--script", script)
    desk.wait_for_turn("write#1/agent/write/0", "0001-x")
    path = desk.turn("write#1/agent/write/0") / "transcript.jsonl"
    desk.wait_for(lambda: "tool_end" in path.read_text())
    lines = desk.porch("log", "1", "--turn", "1").out.splitlines()
    assert lines == ["# turn 1: write#1, not ended", "* script", "    busy"]
    row = desk.porch("log", "1", "--turns").out.splitlines()[1]
    assert row.split()[3:5] == ["not", "ended"]
    assert runner.poll() is None


def test_a_typed_question_has_parts(desk: "Desk") -> None:
    desk.write(
        "spec.yaml",
        "id: sum\ndescription: A sum\nacceptanceCriteria:\n  - {id: c1, text: it is there}\n"
        "targetPath: src\ntestPath: tests/sum\n",
    )
    question = {
        "exit": "ClarificationNeeded",
        "payload": {"question": "Which?", "ambiguityReference": "it", "specSentence": "A sum"},
    }
    entry = {"exit": "Nonsense", "payload": {}, "refused": question}
    script = desk.script(agents={"./scaffold": [entry]})
    desk.porch("run", "v3", "spec.yaml", "--script", script, "--plain", code=3)
    turns = desk.porch("log", "sum", "--turns", "--json").json["turns"]
    number = next(turn["number"] for turn in turns if turn["parts"] == 2)
    assert turns[number - 1]["outcome"] == "ClarificationNeeded"
    whole = desk.porch("log", "sum", "--turn", str(number)).out
    assert "# part 1 of 2" in whole
    assert "= answer: Nonsense {}" in whole
    assert whole.index("Nonsense") < whole.index("# part 2 of 2") < whole.rindex("Which?")
    second = desk.porch("log", "sum", "--turn", f"{number}.2").out
    assert "Nonsense" not in second
    assert "Which?" in second
    desk.porch("log", "sum", "--turn", f"{number}.3", code=2)


@pytest.mark.parametrize("word", ["0", "2", "-1", "x", "1.", "1.0", "1.2", "01"])
def test_a_number_that_is_no_turn_is_refused_with_what_there_is(written: "Desk", word: str) -> None:
    said = written.porch("log", "1", f"--turn={word}", code=2).err
    assert "error[unknown-turn]" in said
    assert "known turns: 1 to 1" in said


@pytest.mark.parametrize(
    "words",
    [("--raw",), ("--turns", "--turn", "1"), ("--turns", "--raw"), ("--turn", "1", "--follow")],
)
def test_what_does_not_go_together_is_refused(written: "Desk", words: tuple[str, ...]) -> None:
    assert "fix: list the turns with --turns" in written.porch("log", "1", *words, code=2).err


def test_an_agent_that_is_not_known_here_is_not_guessed_at(written: "Desk") -> None:
    (written.turn(written.started()[0]) / "agent").write_text("oracle\n")
    assert "oracle" in written.porch("log", "1", "--turns").out
    said = written.porch("log", "1", "--turn", "1", code=2).err
    assert "error[unknown-transcript]" in said
    assert written.porch("log", "1", "--turn", "1", "--raw").out.startswith('{"type": "session"')


def test_what_was_told_with_the_start_of_a_turn_stands_above_it(written: "Desk") -> None:
    """E3: as when a conversation could not be continued."""
    note = "a new conversation: it is gone"
    (written.turn(written.started()[0]) / "note").write_text(note)
    lines = written.porch("log", "1", "--turn", "1").out.splitlines()
    assert lines[:3] == ["# turn 1: write#1, PHASE_COMPLETE", f"# {note}", "* script"]


def test_pieces_of_an_answer_are_not_shown_before_it_is_whole(written: "Desk") -> None:
    """E2: in pieces no secret is recognised."""
    directory = written.turn(written.started()[0])
    (directory / "agent").write_text("claude\n")
    whole = '{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}\n'
    (directory / "transcript.jsonl").write_text('{"type":"stream_event","event":{}}\n' + whole)
    assert written.porch("log", "1", "--turn", "1", "--raw").out == whole
    parts = written.porch("log", "1", "--turn", "1", "--json").json["parts"]
    assert [event["is"] for event in parts[0]["events"]] == ["Said"]


def test_a_turn_without_a_transcript_says_so(written: "Desk") -> None:
    (written.turn(written.started()[0]) / "transcript.jsonl").unlink()
    assert "# there is no transcript of this turn" in written.porch("log", "1", "--turn", "1").out
    assert written.porch("log", "1", "--turns").out.splitlines()[1].split()[2] == "-"
