"""V17: a record that is chained and still malformed is state that cannot be trusted."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from porch.machine.records import JournalRecord, MalformedRecord, decode_record
from porch.store import chain

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

GATED = {"id": "one", "gate": {"name": "g", "next": None}}
Raw = dict[str, Any]
LAST = {"at": "2026-01-01T00:00:00.000Z", "fact": {"is": "TimerFired", "effect": "e"}}
SOUND: Raw = {"v": 1, **LAST, "moves": [], "begun": []}
MALFORMED: dict[str, Raw] = {
    "no fact": {**SOUND, "fact": None},
    "an empty fact": {**SOUND, "fact": {}},
    "an unknown fact": {**SOUND, "fact": {"is": "Abracadabra"}},
    "a fact that is a text": {**SOUND, "fact": "TimerFired"},
    "an unknown field": {**SOUND, "fact": {"is": "TimerFired", "effect": "e", "more": 1}},
    "a field that is missing": {**SOUND, "fact": {"is": "TimerFired"}},
    "a field of the wrong kind": {**SOUND, "fact": {"is": "TimerFired", "effect": ["e"]}},
    "no moves": {**SOUND, "moves": None},
    "moves that are a text": {**SOUND, "moves": "Left"},
    "a move that is none": {**SOUND, "moves": [{"is": "TimerFired", "effect": "e"}]},
    "an unknown move": {**SOUND, "moves": [{"is": "Flown"}]},
    "a time that is a number": {**SOUND, "at": 5},
    "effects that are numbers": {**SOUND, "begun": [1]},
    "a move from where nobody is": {
        **SOUND,
        "moves": [{"is": "Remembered", "path": "x.y", "payload": 3}],
    },
}
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status", "1"),
    ("status",),
    ("pending",),
    ("log", "1"),
    ("log", "1", "--all"),
    ("log", "1", "--json"),
    ("log", "1", "--turns"),
    ("explain", "1"),
    ("next", "1"),
    ("check", "1"),
    ("done", "1"),
    ("approve", "1"),
    ("reject", "1", "--reason", "r"),
    ("answer", "1", "g", "yes"),
    ("retry", "1"),
    ("skip", "1", "--reason", "r"),
    ("stop", "1"),
    ("rollback", "1", "one"),
    ("replan", "1"),
    ("upgrade", "1"),
    ("resume", "1"),
)


def append(desk: "Desk", record: Raw) -> int:
    """A record with a good sum behind all others, as only somebody with porch's code writes one."""
    file = desk.run_dir() / "journal.jsonl"
    last = desk.records()[-1]
    seq = int(last["seq"]) + 1
    line, _ = chain.render_record_line(seq, last["sum"], {**record, "seq": seq})
    file.write_bytes(file.read_bytes() + line)
    return seq


@pytest.mark.parametrize("kind", MALFORMED)
def test_v17_a_chained_but_malformed_record_is_named_by_its_line_in_every_command(
    desk: "Desk", kind: str
) -> None:
    desk.begin(GATED, code=3)
    seq = append(desk, MALFORMED[kind])
    before = (desk.run_dir() / "journal.jsonl").read_bytes()
    for words in COMMANDS:
        said = desk.porch(*words, code=5)
        assert f"line {seq} of" in said.all, (words, said)
        assert "porch repair" in said.all
    assert (desk.run_dir() / "journal.jsonl").read_bytes() == before


def test_v17_a_record_that_does_not_fit_the_state_is_damage_too(desk: "Desk") -> None:
    desk.begin(GATED, code=3)
    gone = {"is": "Told", "instance": "nobody"}
    seq = append(desk, {**SOUND, "moves": [gone]})
    said = desk.porch("resume", "1", code=5)
    assert f"line {seq} of" in said.err
    assert "does not follow from the records before it" in said.err


@pytest.mark.parametrize("kind", ["an unknown fact", "moves that are a text"])
def test_v17_repair_keeps_what_stands_before_a_malformed_record(desk: "Desk", kind: str) -> None:
    desk.begin(GATED, code=3)
    good = desk.records()
    append(desk, MALFORMED[kind])
    append(desk, SOUND)
    told = desk.porch("repair", "1", "--json").json
    assert told["kept"] == len(good)
    assert desk.records()[: len(good)] == good
    repaired = desk.facts("JournalRepaired")
    assert [fact["kept"] for fact in repaired] == [len(good)]
    assert (desk.run_dir() / repaired[0]["aside"]).exists()
    desk.porch("approve", "1")
    desk.porch("resume", "1")
    assert "not damaged" in desk.porch("repair", "1").out


def test_k2_a_repair_says_who_did_it_and_by_whose_word(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.repositories import ACCOUNT

    desk.begin(GATED, code=3)
    append(desk, MALFORMED["an unknown fact"])
    monkeypatch.setenv("CLAUDECODE", "1")
    desk.porch("repair", "1", code=2)
    desk.porch("repair", "1", "--as-person")
    (fact,) = desk.facts("JournalRepaired")
    assert (fact["by"], fact["as_person"]) == (ACCOUNT, True)


def decode_raw(raw: Any) -> JournalRecord:
    return decode_record(raw)


def test_v17_a_long_text_that_lies_in_a_file_is_no_malformed_one() -> None:
    ref = {"$sha256": "0" * 64, "size": 9000, "clip": "it said"}
    fact = {"is": "CheckEnded", "effect": "e", "result": "failed", "report": ref}
    record = decode_raw({**SOUND, "seq": 3, "fact": fact})
    assert json.loads(json.dumps(record.fact.report)) == ref  # type: ignore[union-attr]
    with pytest.raises(MalformedRecord, match="record 3 is malformed"):
        decode_raw({**SOUND, "seq": 3, "fact": {**fact, "report": {"other": 1}}})
