"""A record: one fact, what it moved, and the effects that begin because of it; one line of JSON."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from msgspec import Struct

from porch.machine.facts import Fact, Item, Wish
from porch.machine.moves import Move
from porch.machine.state import InHand
from porch.model.tagged import TaggedJson

VERSION = 1


class JournalRecord(Struct, frozen=True):
    """One entry of the journal."""

    seq: int
    at: str
    fact: Fact
    moves: tuple[Move, ...] = ()
    begun: tuple[InHand, ...] = ()


JSON_FORM = TaggedJson([*get_args(Fact), *get_args(Move), Item, Wish, InHand])


def encode_record(record: JournalRecord) -> dict[str, Any]:
    return {
        "v": VERSION,
        "seq": record.seq,
        "at": record.at,
        "fact": JSON_FORM.encode(record.fact),
        "moves": JSON_FORM.encode(record.moves),
        "begun": JSON_FORM.encode(record.begun),
    }


def decode_record(raw: dict[str, Any]) -> JournalRecord:
    return JournalRecord(
        raw["seq"],
        raw["at"],
        JSON_FORM.decode(raw["fact"]),
        JSON_FORM.decode_all(raw["moves"]),
        JSON_FORM.decode_all(raw["begun"]),
    )


def decode_records(raws: Iterable[dict[str, Any]]) -> Iterator[JournalRecord]:
    """One after the other, so that nobody holds all of a long journal twice."""
    return map(decode_record, raws)
