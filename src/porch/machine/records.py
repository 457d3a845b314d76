"""A record: one fact, what it moved, and the effects that begin because of it; one line of JSON."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from porch.machine.facts import EffectFact, Fact, Item, Wish
from porch.machine.moves import Move
from porch.machine.state import InHand
from porch.model.codec import Codec

VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the journal."""

    seq: int
    at: str
    fact: Fact
    moves: tuple[Move, ...] = ()
    begun: tuple[InHand, ...] = ()


CODEC = Codec([*get_args(Fact), *get_args(EffectFact), *get_args(Move), Item, Wish, InHand])


def encode(record: Record) -> dict[str, Any]:
    return {
        "v": VERSION,
        "seq": record.seq,
        "at": record.at,
        "fact": CODEC.encode(record.fact),
        "moves": CODEC.encode(record.moves),
        "begun": CODEC.encode(record.begun),
    }


def decode(raw: dict[str, Any]) -> Record:
    return Record(
        raw["seq"],
        raw["at"],
        CODEC.decode(raw["fact"]),
        CODEC.decode_all(raw["moves"]),
        CODEC.decode_all(raw["begun"]),
    )


def decode_all(raws: Iterable[dict[str, Any]]) -> Iterator[Record]:
    """One after the other, so that nobody holds all of a long journal twice."""
    return map(decode, raws)
