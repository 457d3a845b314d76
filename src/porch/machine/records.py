"""A record: one fact, what it moved, and the effects that begin because of it; one line of JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NotRequired, TypedDict, get_args

from msgspec import Struct, ValidationError, convert

from porch.machine.facts import Fact, GateQuestion, Item, Wish
from porch.machine.moves import Move
from porch.machine.state import InHand
from porch.model.tagged import TAG, TaggedJson
from porch.text.printable import TEXT_REF_KEY

# Facts, moves and fields by the version of records that first had them; those not named here are
# as old as the format. An older release refuses what it does not know instead of misreading it.
VERSION_OF_TAG: Mapping[str, int] = {
    "ApprovalOutdated": 2,
    "CommandsDue": 3,
    "ApprovalRestored": 2,
    "SettingsPinned": 2,
    "PinnedSettings": 2,
    "WorkFinished": 3,
    "BaseMeasured": 3,
    "Based": 3,
    "Delivered": 3,
    "Awaited": 3,
    "Reopened": 3,
}
VERSION_OF_FIELD: Mapping[tuple[str, str], int] = {
    ("RunStarted", "heading"): 3,
    ("RunStarted", "request_from"): 3,
    ("Began", "heading"): 3,
    ("Began", "request_from"): 3,
    ("JournalRepaired", "as_person"): 2,
    ("JournalRepaired", "by"): 2,
    ("JournalRepaired", "decisions"): 3,
    ("RunnerStarted", "as_person"): 2,
    ("Wish", "claimed"): 2,
    ("ReviewEnded", "reply"): 2,
    ("WishTaken", "artifacts"): 2,
    ("WishTaken", "definition"): 2,
    ("WishTaken", "settings"): 2,
    ("WishTaken", "loop"): 2,
    ("WishTaken", "items"): 2,
    ("WishTaken", "gates"): 2,
    ("Closed", "artifacts"): 2,
    ("ExitAccepted", "touched"): 2,
    ("TurnEndedSilent", "touched"): 2,
    ("ExitAccepted", "uncompared"): 3,
    ("TurnEndedSilent", "uncompared"): 3,
    ("RunStarted", "base_tree"): 2,
    ("Began", "base_tree"): 2,
    ("RunStarted", "settings"): 2,
    ("Began", "settings"): 2,
    ("CheckEnded", "flaky"): 2,
    ("CheckEnded", "touched"): 2,
    ("ReviewEnded", "touched"): 2,
    ("RunnerStarted", "detached"): 3,
    ("RunStarted", "own_worktree"): 3,
    ("Began", "own_worktree"): 3,
    ("Began", "branch"): 3,
    ("Began", "into"): 3,
    ("ExitAccepted", "commit"): 3,
    ("Spawned", "part"): 3,
    ("RunStarted", "commits_nothing"): 3,
    ("Began", "commits_nothing"): 3,
    ("RunStarted", "trust"): 3,
    ("Began", "trust"): 3,
    ("SettingsPinned", "trust"): 3,
    ("PinnedSettings", "trust"): 3,
    ("CommitEnded", "passed_over"): 3,
    ("ReviewEnded", "tree"): 3,
    ("ReviewEnded", "reused"): 3,
    ("ExitAccepted", "outside"): 3,
    ("TurnEndedSilent", "outside"): 3,
    ("EffectFailed", "outside"): 3,
    ("EffectInterrupted", "outside"): 3,
    ("EffectStopped", "outside"): 3,
    ("ReviewEnded", "outside"): 3,
    ("CheckEnded", "outside"): 3,
    ("RunAdopted", "paused"): 3,
}
_TAGS_WITH_NEW_FIELDS = frozenset(tag for tag, _ in VERSION_OF_FIELD)
VERSION_OF_VALUE: Mapping[tuple[str, str, str], int] = {("CheckEnded", "result", "skipped"): 2}


class JournalRecord(Struct, frozen=True):
    """One entry of the journal."""

    seq: int
    at: str
    fact: Fact
    moves: tuple[Move, ...] = ()
    begun: tuple[InHand, ...] = ()


class RawRecord(TypedDict):
    """A record as its line holds it: its fact and its moves are tagged JSON."""

    v: int
    seq: int
    at: str
    fact: dict[str, Any]
    moves: list[dict[str, Any]]
    begun: list[dict[str, Any]]
    sum: NotRequired[str]


class MalformedRecord(Exception):
    """A record that is chained as it should be and still says nothing; `why` follows `line N`."""

    def __init__(self, seq: int, why: str):
        super().__init__(f"record {seq} {why}")
        self.seq = seq
        self.why = why


class _RecordShape(Struct, frozen=True):
    """What every record has, for checking one; records are made by `JSON_FORM`."""

    seq: int
    at: str
    fact: Fact
    moves: tuple[Move, ...]
    begun: tuple[InHand, ...]


JSON_FORM = TaggedJson([*get_args(Fact), *get_args(Move), Item, Wish, GateQuestion, InHand])


def encode_record(record: JournalRecord) -> RawRecord:
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
    version = VERSION_OF_TAG.get(tag, 1)
    # Every record asks this of all its parts, and nearly all of them have nothing that is new.
    for name in part if tag in _TAGS_WITH_NEW_FIELDS else ():
        version = max(version, VERSION_OF_FIELD.get((tag, name), 1))
    if "result" in part:
        version = max(version, VERSION_OF_VALUE.get((tag, "result", part["result"]), 1))
    return version


def decode_record(raw: RawRecord) -> JournalRecord:
    """The record that was written; `MalformedRecord` if nobody can have written it so."""
    try:
        _check_shape(raw)
        return JournalRecord(
            raw["seq"],
            raw["at"],
            JSON_FORM.decode(raw["fact"]),
            JSON_FORM.decode_all(raw["moves"]),
            JSON_FORM.decode_all(raw["begun"]),
        )
    except (ValidationError, KeyError, TypeError, ValueError) as error:
        raise MalformedRecord(int(raw["seq"]), f"is malformed: {error}") from error


def _check_shape(raw: RawRecord) -> None:
    try:
        convert(raw, _RecordShape)
    except ValidationError:
        # Truth and numbers are one for Python, so an older release may have written 0 for false.
        convert(_as_texts_and_numbers(raw), _RecordShape, strict=False)


def _as_texts_and_numbers(value: Any) -> Any:
    """The long texts of a large record are files; what stands for one is no text."""
    if isinstance(value, dict):
        if isinstance(value.get(TEXT_REF_KEY), str):
            return ""
        return {key: _as_texts_and_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_texts_and_numbers(item) for item in value]
    return int(value) if isinstance(value, bool) else value


def decode_records(raws: Iterable[RawRecord]) -> Iterator[JournalRecord]:
    """One after the other, so that nobody holds all of a long journal twice."""
    return map(decode_record, raws)
