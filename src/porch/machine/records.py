"""A record: one fact, what it moved, and the effects that begin because of it; one line of JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from msgspec import Struct

from porch.machine.facts import Fact, Item, Wish
from porch.machine.moves import Move
from porch.machine.state import InHand
from porch.model.tagged import TAG, TaggedJson

# Facts, moves and fields by the version of records that first had them; those not named here are
# as old as the format. An older release refuses what it does not know instead of misreading it.
VERSION_OF_TAG: Mapping[str, int] = {}
VERSION_OF_FIELD: Mapping[tuple[str, str], int] = {}


class JournalRecord(Struct, frozen=True):
    """One entry of the journal."""

    seq: int
    at: str
    fact: Fact
    moves: tuple[Move, ...] = ()
    begun: tuple[InHand, ...] = ()


JSON_FORM = TaggedJson([*get_args(Fact), *get_args(Move), Item, Wish, InHand])


def encode_record(record: JournalRecord) -> dict[str, Any]:
    fact, moves = JSON_FORM.encode(record.fact), JSON_FORM.encode(record.moves)
    return {
        "v": version_of_record(fact, moves),
        "seq": record.seq,
        "at": record.at,
        "fact": fact,
        "moves": moves,
        "begun": JSON_FORM.encode(record.begun),
    }


def version_of_record(fact: Mapping[str, Any], moves: Iterable[Mapping[str, Any]]) -> int:
    """The lowest version that knows everything in a record."""
    # Of what a fact holds only these are ours; a payload may well have a key like our tag.
    inner = (fact[name] for name in ("wish", "start") if fact.get(name))
    return max(map(_version_of_part, (fact, *inner, *moves)))


def _version_of_part(part: Mapping[str, Any]) -> int:
    tag = part[TAG]
    fields = (VERSION_OF_FIELD.get((tag, name), 1) for name in part)
    return max(VERSION_OF_TAG.get(tag, 1), *fields)


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
