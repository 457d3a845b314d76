"""Journals of an earlier release mean what they meant, line by line and to the last byte."""

import json
from dataclasses import make_dataclass
from functools import cache
from typing import Any

import pytest

from porch.machine.facts import WishTaken
from porch.machine.moves import GateNoted
from porch.machine.records import decode_record, encode_record
from porch.machine.route import route_fact
from porch.model import definition
from porch.store import chain, payloads
from tests.corpus.run_dump import PAYLOADS, Kept, as_text, definition_of, names, plain

NAMES = names()
REDRAW = "python -m tests.corpus.make_corpus words"


@cache
def kept(name: str) -> Kept:
    return Kept(name)


def file_text(name: str, file: str) -> str:
    return (kept(name).directory / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_journal_is_read_to_the_same_dump(name: str) -> None:
    assert kept(name).trouble is None
    assert as_text(kept(name).dump()) == file_text(name, "dump.json")


@pytest.mark.parametrize("name", NAMES)
def test_a_journal_folded_at_once_is_the_journal_folded_record_by_record(name: str) -> None:
    assert list(kept(name).steps())[-1].after == kept(name).state


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_written_again_byte_by_byte(name: str) -> None:
    total = chain.START
    for record, line in zip(kept(name).records, kept(name).lines, strict=True):
        again, total = chain.render_record_line(record.seq, total, encode_record(record))
        assert again == line


@pytest.mark.parametrize("name", NAMES)
def test_every_line_decoded_and_encoded_is_the_same_json(name: str) -> None:
    """Also by a writer of another form: what is compared are values, with their kinds."""
    for raw in kept(name).scan.records:
        body = {key: value for key, value in raw.items() if key != "sum"}
        assert json.dumps(encode_record(decode_record(raw))) == json.dumps(body)


_ADDED = ("reason", "synthetic", "asked")


def unexplained(value: Any) -> Any:
    """Without the sentences of the machine itself, which another release may put better.

    And without how often a person was asked, which is kept with an answer since release 0.2.
    """
    if isinstance(value, list):
        return [unexplained(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {k: unexplained(each) for k, each in value.items() if k not in _ADDED}


# A gate that is waived says so since release 0.2; before, it said approved.
SAYS_WAIVED = "gate-waived"
# A retry repeats only what failed; before, it always began with the agent.
RETRIES_LESS = ("commit-refused",)


@pytest.mark.parametrize("name", NAMES)
def test_every_fact_of_a_kept_journal_still_moves_what_it_moved(name: str) -> None:
    for step in kept(name).steps():
        if name in RETRIES_LESS and isinstance(step.record.fact, WishTaken):
            continue
        moves = route_fact(step.protocol, step.before, step.record.fact)
        if name == SAYS_WAIVED:
            moves = tuple(each for each in moves if not isinstance(each, GateNoted))
        assert [type(each) for each in moves] == [type(each) for each in step.record.moves]
        assert unexplained(plain(moves)) == unexplained(plain(step.record.moves))


DIGESTS = sorted({digest for name in NAMES for digest in kept(name).pinned})


@pytest.mark.parametrize("digest", DIGESTS)
def test_a_pinned_definition_has_the_same_bytes_and_digest(digest: str) -> None:
    data = payloads.read_payload(str(PAYLOADS), digest)
    assert definition.serialize_definition(definition_of(digest)) == data
    assert definition.hash_definition(definition_of(digest)) == digest


@pytest.mark.parametrize("name", NAMES)
def test_people_read_of_a_kept_run_what_was_drawn_last(name: str) -> None:
    assert as_text(kept(name).words()) == file_text(name, "words.json"), f"if meant: {REDRAW}"


def test_the_corpus_has_a_run_of_every_kind() -> None:
    """A corpus that lost its runs would agree with everything."""
    facts = {raw["fact"]["is"] for name in NAMES for raw in kept(name).scan.records}
    moves = {m["is"] for name in NAMES for raw in kept(name).scan.records for m in raw["moves"]}
    assert facts == set(FACTS.split())
    assert moves == set(MOVES.split())
    protocols = {kept(name).state.run.protocol for name in NAMES}
    assert protocols >= set(PROTOCOLS.split())


# On the disk these names stay, whatever the classes are called.
FACTS = """
    RunStarted RunAdopted RunnerStarted ExitAccepted TurnEndedSilent EffectFailed EffectInterrupted
    EffectStopped CheckEnded ReviewEnded ItemsRead FeedbackWritten DecisionAsked TimerFired
    CommitEnded GitEnded WishTaken WishRefused JournalRepaired StatusEdited BudgetReached PlanMoved
    QuestionPosed
"""
MOVES = """
    Began Entered Left Remembered Forgot Charged Marked Postponed Settled Asked Closed Itemised
    Finished Paused Resumed Pinned GateNoted Ended Spawned Told Held
"""
PROTOCOLS = """
    spider tick bugfix v3 implementation debugging discovery bug-discovery note plan
"""


class Struct:
    """Has what structs have, and nothing of a dataclass."""

    __struct_fields__ = ("spent", "at")
    at = ("a", "")
    spent = True


def test_a_dump_does_not_tell_of_what_kind_of_class_a_value_was() -> None:
    made = make_dataclass("Made", [("at", Any), ("spent", Any)])(("a", ""), True)
    assert as_text(plain(made)) == as_text(plain(Struct()))
    assert as_text(plain({("x", 1): Struct(), ("y", 1): 0.0})) == as_text(
        {"pairs": [[["x", 1], {"at": ["a", ""], "spent": True}], [["y", 1], 0.0]]}
    )
