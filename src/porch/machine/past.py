"""What the records of a run have shown so far, folded into its state for the account.

The machine itself needs only where a run stands and what it remembers. Memory forgets (an edge may
drop what is void) and marks are gone once a position is left, so neither can say what became of a
phase. This fold keeps, for each place of the protocol, the latest visit, the latest result of each
check and the latest verdict of each reviewer, each with the number of the record that says so. It
needs no protocol, so journals of any age have a past.

A place is (instance, state, item). A visit ends with an exit where the record remembers one for
that place before the position is left; a visit that ends without one was cut short, for example by
a rollback. `charged` says that leaving took something from a budget: an edge that charges and did
not was taken because its budget was used up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.state import (
    PastAnswer,
    PastCheck,
    PastTurn,
    PastVerdict,
    PastVisit,
    PositionKey,
    effect_parts,
)

DENIALS_KEPT = 5  # of what an agent was not allowed to do in its latest turn
TEXT_KEPT = 500  # of what a person said with an answer; the journal has all of it
ANSWERED = "answered"
_QUESTION_FIELDS = ("question", "reason")  # of what an agent said when it asked
ENDED = "end:"  # in the place of a state, for ways that end the run or an instance


class StateDraft(Protocol):
    """A state that is being changed."""

    def look(self, name: str) -> Mapping[Any, Any]: ...

    def own(self, name: str) -> dict[Any, Any]: ...


def note_record(draft: StateDraft, record: JournalRecord) -> None:
    """Add one record to the past; called before its moves are applied."""
    _note_fact(draft, record)
    if not record.moves:
        return
    places: dict[str, PositionKey] = {}  # of positions that this record itself enters
    exits: dict[PositionKey, str] = {}
    answers: dict[str, m.Closed] = {}
    departures: dict[str, str] = {}  # `state.exit` -> whether leaving charged a budget
    charged, source = "", ("", "", "")
    for move in record.moves:
        if isinstance(move, m.Remembered):
            state, _, exit_ = move.path.rpartition(".")
            exits[(move.instance, state, move.item)] = exit_
        elif isinstance(move, m.Charged):
            charged = "charged" if move.spent else charged
        elif isinstance(move, m.Closed):
            answers[move.position] = move
            _note_answer(draft, record, move)
        elif isinstance(move, m.Left):
            place = places.get(move.position) or _find_place(draft, move.position)
            if place is not None:
                exit_ = exits.get(place, "")
                _end_visit(draft, record, place, exit_, charged, answers.get(move.position))
                departures[f"{place[1]}.{exit_}"] = charged
                source = (place[0], place[1], exit_)
            charged = ""
        elif isinstance(move, m.Entered):
            place = places[move.position] = (move.instance, move.state, move.item)
            draft.own("past_visits")[place] = PastVisit(move.visit, record.seq, record.at)
            state, _, exit_ = move.because.rpartition(".")
            if move.because in departures:
                _count_way(
                    draft, (move.instance, state, exit_, departures[move.because], move.state)
                )
        elif isinstance(move, m.Ended) and source[0] == move.instance and source[2]:
            paid = departures.get(f"{source[1]}.{source[2]}", "")
            _count_way(draft, (*source, paid, f"{ENDED}{move.outcome}"))


def _find_place(draft: StateDraft, position: str) -> PositionKey | None:
    standing = draft.look("positions").get(position)
    return (standing.instance, standing.state, standing.item) if standing else None


def _end_visit(
    draft: StateDraft,
    record: JournalRecord,
    place: PositionKey,
    exit_: str,
    charged: str,
    answer: m.Closed | None,
) -> None:
    visit = draft.look("past_visits").get(place, PastVisit(0, 0))
    text = answer.text[:TEXT_KEPT] if answer and isinstance(answer.text, str) else ""
    draft.own("past_visits")[place] = replace(
        visit,
        left=record.seq,
        left_at=record.at,
        exit=exit_,
        charged=bool(charged),
        by=answer.who if answer else "",
        text=text,
    )


def _note_answer(draft: StateDraft, record: JournalRecord, move: m.Closed) -> None:
    """An answer to a question that somebody has asked counts for the rest of the run."""
    decision = draft.look("decisions").get(move.position)
    standing = draft.look("positions").get(move.position)
    if decision is None or standing is None:
        return
    if decision.kind != "question" or move.exit != ANSWERED or not move.text:
        return
    scopes = ((standing.instance, standing.item), (standing.instance, ""))
    found = (draft.look("memory").get(scope, {}).get(standing.because) for scope in scopes)
    payload: Mapping[str, Any] = next(filter(None, found), {})
    question = next((payload[key] for key in _QUESTION_FIELDS if payload.get(key)), decision.name)
    answer = PastAnswer(record.seq, standing.instance, move.who, question, move.text)
    draft.own("past_answers")[move.position] = answer


def _count_way(draft: StateDraft, way: tuple[str, str, str, str, str]) -> None:
    ways = draft.own("past_ways")
    ways[way] = ways.get(way, 0) + 1


def _note_fact(draft: StateDraft, record: JournalRecord) -> None:
    """Results of checks and verdicts, of effects that were really in hand."""
    fact = record.fact
    if not isinstance(fact, (f.CheckEnded, f.ReviewEnded, f.ExitAccepted, f.TurnEndedSilent)):
        return
    if fact.effect not in draft.look("in_hand"):
        return
    position, _, name = effect_parts(fact.effect)
    place = _find_place(draft, position)
    if place is None:
        return
    if isinstance(fact, (f.ExitAccepted, f.TurnEndedSilent)):
        draft.own("past_turns")[place] = _make_turn(record, fact)
    if isinstance(fact, (f.CheckEnded, f.ExitAccepted)) and fact.tree:
        draft.own("past_trees")[place[0]] = fact.tree
    if isinstance(fact, f.CheckEnded):
        results = draft.own("past_checks")
        runs = results[(*place, name)].runs if (*place, name) in results else 0
        results[(*place, name)] = PastCheck(
            record.seq, record.at, fact.result, runs + 1, fact.tree, fact.reused, fact.flaky
        )
    elif isinstance(fact, f.ReviewEnded):
        visit = draft.look("positions")[position].visit
        draft.own("past_verdicts")[(*place, name)] = PastVerdict(
            record.seq, record.at, visit, fact.verdict
        )


def _make_turn(record: JournalRecord, fact: f.ExitAccepted | f.TurnEndedSilent) -> PastTurn:
    notes = (note for note in fact.notes if note.startswith(f.DENIED))
    denied = tuple(note.removeprefix(f.DENIED)[:TEXT_KEPT] for note in notes)
    exit_ = fact.exit if isinstance(fact, f.ExitAccepted) else ""
    # The end of a long message says what the agent claims to have reached.
    return PastTurn(record.seq, record.at, exit_, fact.said[-TEXT_KEPT:], denied[-DENIALS_KEPT:])
