"""Applying recorded moves; never looks at a protocol, so replay needs no file and no release."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from porch.machine import history
from porch.machine import moves as m
from porch.machine.facts import WishRefused, WishTaken
from porch.machine.records import Record
from porch.machine.state import (
    HOLD,
    Cost,
    Decision,
    Gate,
    InHand,
    Instance,
    Items,
    Run,
    Standing,
    State,
)

LOG_KEPT = 50
# Kinds of effects that are paid for.
PAID = ("agent", "review")


class _Draft:
    """A state being changed: each dictionary is copied once, when it is first written."""

    def __init__(self, state: State):
        self.base = state
        self.run, self.seq, self.at = state.run, state.seq, state.at
        self.turns, self.usd, self.tokens = state.turns, state.usd, state.tokens
        self.paused, self.outcome = state.paused, state.outcome
        self.told: deque[Record] = deque(maxlen=LOG_KEPT)
        self._own: dict[str, dict[Any, Any]] = {}

    def look(self, name: str) -> Mapping[Any, Any]:
        kept = self._own.get(name)
        return getattr(self.base, name) if kept is None else kept

    def own(self, name: str) -> dict[Any, Any]:
        kept = self._own.get(name)
        if kept is None:
            kept = self._own[name] = dict(getattr(self.base, name))
        return kept

    def has_changed(self) -> bool:
        return bool(self._own)

    def done(self) -> State:
        """In the order of the fields: by name it costs half as much again, at every record."""
        base, own = self.base, self._own.get
        return State(
            self.run,
            self.seq,
            self.at,
            own("positions", base.positions),
            own("marks", base.marks),
            own("tries", base.tries),
            own("visits", base.visits),
            own("memory", base.memory),
            own("spent", base.spent),
            own("items", base.items),
            own("decisions", base.decisions),
            own("gates", base.gates),
            own("in_hand", base.in_hand),
            own("wishes", base.wishes),
            _log(base.log, self.told),
            self.turns,
            self.usd,
            self.tokens,
            self.paused,
            self.outcome,
            own("instances", base.instances),
            own("held", base.held),
            own("costs", base.costs),
        )


def evolve(state: State, record: Record) -> State:
    """The state after one record."""
    return fold(state, (record,))


def fold(state: State, records: Iterable[Record]) -> State:
    """The state after many records, copying each dictionary at most once."""
    draft = _Draft(state)
    for record in records:
        _apply(draft, record)
    return draft.done()


def begin(state: State, begun: Iterable[InHand]) -> State:
    """The state after effects were begun, for the driver that has just applied the moves."""
    draft = _Draft(state)
    for hand in begun:
        _begin(draft, hand)
    return draft.done() if draft.has_changed() else state


def _apply(draft: _Draft, record: Record) -> None:
    draft.seq, draft.at = record.seq, record.at
    if history.is_told(record):
        draft.told.append(record)
    for move in record.moves:
        _APPLY[type(move)](draft, move)
    for hand in record.begun:
        _begin(draft, hand)
    if isinstance(record.fact, (WishTaken, WishRefused)):
        draft.own("wishes")[record.fact.wish.id] = record.seq


def _log(kept: Sequence[Mapping[str, Any]], records: Sequence[Record]) -> tuple[Any, ...]:
    """The last entries only: nobody pays for describing thousands of records that fall off."""
    if not records:
        return tuple(kept)
    fresh = [entry for record in records for entry in history.entries(record)]
    return (*kept, *fresh)[-LOG_KEPT:]


def _begin(draft: _Draft, hand: InHand) -> None:
    draft.own("in_hand")[hand.effect] = hand
    for name in hand.uses:
        if name.startswith(HOLD):
            draft.own("held")[name] = hand.position
    draft.own("tries").setdefault(hand.position, {})
    if hand.kind == "agent":
        draft.turns += 1


def _began(draft: _Draft, move: m.Began) -> None:
    draft.run = Run(
        name=move.run,
        id=move.id,
        title=move.title,
        protocol=move.protocol,
        digest=move.digest,
        subject=move.subject,
        inputs=move.inputs,
        project_dir=move.project_dir,
        status_file=move.status_file,
        worktree=move.worktree,
        base_commit=move.base_commit,
        agent=move.agent,
        script=move.script,
        started_at=draft.at,
    )


def _entered(draft: _Draft, move: m.Entered) -> None:
    draft.own("positions")[move.position] = Standing(
        move.position,
        move.instance,
        move.state,
        move.item,
        move.visit,
        draft.at,
        move.delay_s,
        move.because,
    )
    draft.own("visits")[(move.instance, move.state, move.item)] = move.visit


def _left(draft: _Draft, move: m.Left) -> None:
    for name in ("positions", "marks", "tries"):
        if move.position in draft.look(name):
            del draft.own(name)[move.position]
    held = [name for name, holder in draft.look("held").items() if holder == move.position]
    for name in held:
        del draft.own("held")[name]
    if move.position in draft.look("decisions"):
        _closed(draft, m.Closed(move.position))


def _held(draft: _Draft, move: m.Held) -> None:
    draft.own("held")[move.resource] = move.position


def _spawned(draft: _Draft, move: m.Spawned) -> None:
    draft.own("instances")[move.instance] = Instance(
        move.parent,
        move.key,
        move.spec,
        move.digest,
        move.branch,
        move.target,
        move.revision,
    )


def _told(draft: _Draft, move: m.Told) -> None:
    known = draft.look("instances")[move.instance]
    spec, digest = (move.spec, move.digest) if move.spec else (known.spec, known.digest)
    draft.own("instances")[move.instance] = replace(
        known, spec=spec, digest=digest, revision=move.revision
    )


def _remembered(draft: _Draft, move: m.Remembered) -> None:
    # Out and in again: the order of a memory is the order in which it was made.
    memory, scope = draft.own("memory"), (move.instance, move.item)
    kept = dict(memory.get(scope, {}))
    kept.pop(move.path, None)
    memory[scope] = {**kept, move.path: move.payload}


def _forgot(draft: _Draft, move: m.Forgot) -> None:
    memory, scope = draft.own("memory"), (move.instance, move.item)
    memory[scope] = {k: v for k, v in memory.get(scope, {}).items() if k != move.path}


def _charged(draft: _Draft, move: m.Charged) -> None:
    draft.own("spent")[move.budget] = move.spent


def _marked(draft: _Draft, move: m.Marked) -> None:
    marks = draft.own("marks")
    marks[move.position] = {**marks.get(move.position, {}), move.key: move.value}


def _postponed(draft: _Draft, move: m.Postponed) -> None:
    since = draft.at if move.is_instant else ""
    wait = {"name": move.name, "seconds": move.seconds, "since": since}
    _marked(draft, m.Marked(move.position, f"wait/{move.work}", wait))


def _settled(draft: _Draft, move: m.Settled) -> None:
    hand = draft.own("in_hand").pop(move.effect, None)
    draft.usd += move.usd
    draft.tokens += move.tokens
    if hand is not None and hand.state:
        _count(draft, hand.state, move)
    if hand is None or hand.position not in draft.look("positions"):
        return
    tries, key = draft.own("tries"), f"{hand.kind}/{hand.name}"
    ended = tries.get(hand.position, {})
    tries[hand.position] = {**ended, key: ended.get(key, 0) + 1}


def _count(draft: _Draft, state: str, move: m.Settled) -> None:
    costs = draft.own("costs")
    more = Cost(1, move.usd, move.tokens, move.seconds)
    costs[state] = costs.get(state, Cost()).plus(more)


def _asked(draft: _Draft, move: m.Asked) -> None:
    draft.own("decisions")[move.position] = Decision(
        move.position, move.kind, move.name, draft.at, move.digest, move.artifacts
    )
    if move.kind == "gate":
        draft.own("gates")[move.name] = Gate("pending", draft.at)


def _closed(draft: _Draft, move: m.Closed) -> None:
    decision = draft.own("decisions").pop(move.position, None)
    if decision is None or decision.kind != "gate":
        return
    status = _GATE_STATUS.get(move.exit, "waiting")
    _note(draft, decision.name, status, move.who)


def _note(draft: _Draft, gate: str, status: str, by: str) -> None:
    """A gate that waits to be asked is as good as new; an answered one says when and by whom."""
    asked = draft.look("gates").get(gate, Gate("waiting")).requested_at
    noted = Gate(status) if status == "waiting" else Gate(status, asked, draft.at, by)
    draft.own("gates")[gate] = noted


# An approval given with a reason in spite of a failure is an approval; leaving unanswered is none.
_GATE_STATUS = {"approved": "approved", "waived": "approved", "rejected": "rejected"}


def _itemised(draft: _Draft, move: m.Itemised) -> None:
    draft.own("items")[(move.instance, move.loop)] = Items(move.items, move.digest, move.finished)


def _finished(draft: _Draft, move: m.Finished) -> None:
    items, scope = draft.own("items"), (move.instance, move.loop)
    known = items.get(scope)
    if known is not None and move.item not in known.finished:
        items[scope] = replace(known, finished=(*known.finished, move.item))


def _paused(draft: _Draft, _: m.Paused) -> None:
    draft.paused = True


def _resumed(draft: _Draft, _: m.Resumed) -> None:
    draft.paused = False


def _pinned(draft: _Draft, move: m.Pinned) -> None:
    draft.run = replace(draft.run, digest=move.digest)


def _gate_noted(draft: _Draft, move: m.GateNoted) -> None:
    _note(draft, move.name, move.status, move.by)


def _ended(draft: _Draft, move: m.Ended) -> None:
    if not move.instance:
        draft.outcome = move.outcome
    known = draft.look("instances").get(move.instance)
    if known is not None:
        draft.own("instances")[move.instance] = replace(
            known, outcome=move.outcome, why=move.why, merged=move.merged
        )


_APPLY: Mapping[type, Callable[[_Draft, Any], None]] = {
    m.Began: _began,
    m.Entered: _entered,
    m.Left: _left,
    m.Remembered: _remembered,
    m.Forgot: _forgot,
    m.Charged: _charged,
    m.Marked: _marked,
    m.Postponed: _postponed,
    m.Settled: _settled,
    m.Asked: _asked,
    m.Closed: _closed,
    m.Itemised: _itemised,
    m.Finished: _finished,
    m.Paused: _paused,
    m.Resumed: _resumed,
    m.Pinned: _pinned,
    m.GateNoted: _gate_noted,
    m.Ended: _ended,
    m.Held: _held,
    m.Spawned: _spawned,
    m.Told: _told,
}
