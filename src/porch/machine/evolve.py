"""Applying recorded moves; never looks at a protocol, so replay needs no file and no release."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from porch.machine import moves as m
from porch.machine import past, status_log
from porch.machine.facts import EffectFailed, Fact, ReviewEnded, WishRefused, WishTaken
from porch.machine.records import JournalRecord
from porch.machine.state import (
    HOLD,
    Approval,
    Cost,
    Decision,
    Delivery,
    GateStatus,
    InHand,
    Instance,
    LoopItems,
    Run,
    RunState,
    Standing,
)

LOG_KEPT = 50
# Kinds of effects that are paid for.
PAID = ("agent", "review")


class _StateDraft:
    """A state being changed: each dictionary is copied once, when it is first written."""

    def __init__(self, state: RunState):
        self.base = state
        self.run, self.seq, self.at = state.run, state.seq, state.at
        self.turns, self.usd, self.tokens = state.turns, state.usd, state.tokens
        self.paused, self.outcome = state.paused, state.outcome
        self.told: deque[JournalRecord] = deque(maxlen=LOG_KEPT)
        self.is_free = False  # nobody worked for what the record tells
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

    def done(self) -> RunState:
        """In the order of the fields: by name it costs half as much again, at every record."""
        base, own = self.base, self._own.get
        return RunState(
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
            _extend_log(base.log, self.told),
            self.turns,
            self.usd,
            self.tokens,
            self.paused,
            self.outcome,
            own("instances", base.instances),
            own("held", base.held),
            own("costs", base.costs),
            own("approvals", base.approvals),
            own("past_visits", base.past_visits),
            own("past_checks", base.past_checks),
            own("past_verdicts", base.past_verdicts),
            own("past_ways", base.past_ways),
            own("past_trees", base.past_trees),
            own("past_turns", base.past_turns),
            own("past_answers", base.past_answers),
        )


def evolve_state(state: RunState, record: JournalRecord) -> RunState:
    """The state after one record."""
    return fold_records(state, (record,))


def fold_records(state: RunState, records: Iterable[JournalRecord]) -> RunState:
    """The state after many records, copying each dictionary at most once."""
    draft = _StateDraft(state)
    for record in records:
        _apply_record(draft, record)
    return draft.done()


def apply_begun_effects(state: RunState, begun: Iterable[InHand]) -> RunState:
    """The state after effects were begun, for the driver that has just applied the moves."""
    draft = _StateDraft(state)
    for hand in begun:
        _begin_effect(draft, hand)
    return draft.done() if draft.has_changed() else state


def _apply_record(draft: _StateDraft, record: JournalRecord) -> None:
    draft.seq, draft.at = record.seq, record.at
    draft.is_free = _was_free(record.fact)
    if status_log.has_entries(record):
        draft.told.append(record)
    past.note_record(draft, record)
    for move in record.moves:
        _APPLY[type(move)](draft, move)
    for hand in record.begun:
        _begin_effect(draft, hand)
    if isinstance(record.fact, (WishTaken, WishRefused)):
        draft.own("wishes")[record.fact.wish.id] = record.seq


def _was_free(fact: Fact) -> bool:
    """A verdict that was repeated, and a reviewer who could not be asked, took nobody's time."""
    if isinstance(fact, ReviewEnded):
        return fact.reused
    if not isinstance(fact, EffectFailed):
        return False
    return fact.hopeless and not (fact.seconds or fact.usd or fact.tokens)


def _extend_log(
    kept: Sequence[Mapping[str, Any]], records: Sequence[JournalRecord]
) -> tuple[Any, ...]:
    """The last entries only: nobody pays for describing thousands of records that fall off."""
    if not records:
        return tuple(kept)
    fresh = [entry for record in records for entry in status_log.render_log_entries(record)]
    return (*kept, *fresh)[-LOG_KEPT:]


def _begin_effect(draft: _StateDraft, hand: InHand) -> None:
    draft.own("in_hand")[hand.effect] = hand
    for name in hand.uses:
        if name.startswith(HOLD):
            draft.own("held")[name] = hand.position
    draft.own("tries").setdefault(hand.position, {})
    if hand.kind == "agent":
        draft.turns += 1


def _apply_began(draft: _StateDraft, move: m.Began) -> None:
    draft.run = Run(
        name=move.run,
        id=move.id,
        title=move.title,
        heading=move.heading,
        request_from=move.request_from,
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
        base_tree=move.base_tree,
        settings=move.settings,
        own_worktree=move.own_worktree,
        branch=move.branch,
        into=move.into,
        commits_nothing=move.commits_nothing,
        trust=move.trust,
    )


def _apply_delivered(draft: _StateDraft, move: m.Delivered) -> None:
    delivery = Delivery(move.how, move.branch, move.head, move.into, move.commit, move.url)
    draft.run = replace(draft.run, delivery=delivery)


def _apply_entered(draft: _StateDraft, move: m.Entered) -> None:
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


def _apply_left(draft: _StateDraft, move: m.Left) -> None:
    for name in ("positions", "marks", "tries"):
        if move.position in draft.look(name):
            del draft.own(name)[move.position]
    held = [name for name, holder in draft.look("held").items() if holder == move.position]
    for name in held:
        del draft.own("held")[name]
    if move.position in draft.look("decisions"):
        _apply_closed(draft, m.Closed(move.position))


def _apply_held(draft: _StateDraft, move: m.Held) -> None:
    draft.own("held")[move.resource] = move.position


def _apply_spawned(draft: _StateDraft, move: m.Spawned) -> None:
    draft.own("instances")[move.instance] = Instance(
        move.parent,
        move.key,
        move.spec,
        move.digest,
        move.branch,
        move.target,
        move.revision,
        part=move.part,
    )


def _apply_awaited(draft: _StateDraft, move: m.Awaited) -> None:
    known = draft.look("instances")[move.instance]
    draft.own("instances")[move.instance] = replace(known, after=move.after)


def _apply_told(draft: _StateDraft, move: m.Told) -> None:
    known = draft.look("instances")[move.instance]
    spec, digest = (move.spec, move.digest) if move.spec else (known.spec, known.digest)
    draft.own("instances")[move.instance] = replace(
        known, spec=spec, digest=digest, revision=move.revision
    )


def _apply_remembered(draft: _StateDraft, move: m.Remembered) -> None:
    # Out and in again: the order of a memory is the order in which it was made.
    memory, scope = draft.own("memory"), (move.instance, move.item)
    kept = dict(memory.get(scope, {}))
    kept.pop(move.path, None)
    memory[scope] = {**kept, move.path: move.payload}


def _apply_forgot(draft: _StateDraft, move: m.Forgot) -> None:
    memory, scope = draft.own("memory"), (move.instance, move.item)
    memory[scope] = {k: v for k, v in memory.get(scope, {}).items() if k != move.path}


def _apply_charged(draft: _StateDraft, move: m.Charged) -> None:
    draft.own("spent")[move.budget] = move.spent


def _apply_marked(draft: _StateDraft, move: m.Marked) -> None:
    marks = draft.own("marks")
    marks[move.position] = {**marks.get(move.position, {}), move.key: move.value}


def _apply_postponed(draft: _StateDraft, move: m.Postponed) -> None:
    since = draft.at if move.is_instant else ""
    wait = {"name": move.name, "seconds": move.seconds, "since": since}
    _apply_marked(draft, m.Marked(move.position, f"wait/{move.work}", wait))


def _apply_settled(draft: _StateDraft, move: m.Settled) -> None:
    hand = draft.own("in_hand").pop(move.effect, None)
    draft.usd += move.usd
    draft.tokens += move.tokens
    if hand is not None and hand.state and not draft.is_free:
        _add_cost(draft, hand.state, move)
    if hand is None or hand.position not in draft.look("positions"):
        return
    tries, key = draft.own("tries"), f"{hand.kind}/{hand.name}"
    ended = tries.get(hand.position, {})
    tries[hand.position] = {**ended, key: ended.get(key, 0) + 1}


def _add_cost(draft: _StateDraft, state: str, move: m.Settled) -> None:
    costs = draft.own("costs")
    more = Cost(1, move.usd, move.tokens, move.seconds)
    costs[state] = costs.get(state, Cost()).plus(more)


def _apply_asked(draft: _StateDraft, move: m.Asked) -> None:
    draft.own("decisions")[move.position] = Decision(
        move.position, move.kind, move.name, draft.at, move.digest, move.artifacts
    )
    if move.kind == "gate":
        draft.own("gates")[move.name] = GateStatus("pending", draft.at)


def _apply_closed(draft: _StateDraft, move: m.Closed) -> None:
    decision = draft.own("decisions").pop(move.position, None)
    if decision is None or decision.kind != "gate":
        return
    status = _GATE_STATUS.get(move.exit, "waiting")
    _note_gate(draft, decision.name, status, move.who)
    if status == "approved":
        _keep_approval(draft, decision, move)


def _keep_approval(draft: _StateDraft, decision: Decision, move: m.Closed) -> None:
    """An older release recorded one digest of all files; it counts if it is that of the asking."""
    is_as_asked = bool(move.digest) and move.digest == decision.digest
    known = move.artifacts or (decision.artifacts if is_as_asked else {})
    draft.own("approvals")[decision.name] = Approval(move.position, known, move.exit, move.who)


def _drop_approval(draft: _StateDraft, gate: str) -> None:
    if gate in draft.look("approvals"):
        del draft.own("approvals")[gate]


def _note_gate(draft: _StateDraft, gate: str, status: str, by: str) -> None:
    """A gate that waits to be asked is as good as new; an answered one says when and by whom."""
    asked = draft.look("gates").get(gate, GateStatus("waiting")).requested_at
    noted = GateStatus(status) if status == "waiting" else GateStatus(status, asked, draft.at, by)
    draft.own("gates")[gate] = noted


# An approval given with a reason in spite of a failure is an approval; leaving unanswered is none.
_GATE_STATUS = {"approved": "approved", "waived": "approved", "rejected": "rejected"}


def _apply_itemised(draft: _StateDraft, move: m.Itemised) -> None:
    draft.own("items")[(move.instance, move.loop)] = LoopItems(
        move.items, move.digest, move.finished
    )


def _apply_finished(draft: _StateDraft, move: m.Finished) -> None:
    items, scope = draft.own("items"), (move.instance, move.loop)
    known = items.get(scope)
    if known is not None and move.item not in known.finished:
        items[scope] = replace(known, finished=(*known.finished, move.item))


def _apply_paused(draft: _StateDraft, _: m.Paused) -> None:
    draft.paused = True


def _apply_resumed(draft: _StateDraft, _: m.Resumed) -> None:
    draft.paused = False


def _apply_pinned(draft: _StateDraft, move: m.Pinned) -> None:
    draft.run = replace(draft.run, digest=move.digest)


def _apply_pinned_settings(draft: _StateDraft, move: m.PinnedSettings) -> None:
    trust = tuple(dict.fromkeys((*draft.run.trust, *move.trust)))
    draft.run = replace(draft.run, settings=move.digest, trust=trust)


def _apply_based(draft: _StateDraft, move: m.Based) -> None:
    draft.run = replace(
        draft.run, base_tree=move.base_tree, base_commit=move.base_commit, into=move.into
    )


def _apply_gate_noted(draft: _StateDraft, move: m.GateNoted) -> None:
    _note_gate(draft, move.name, move.status, move.by)
    if move.status not in ("approved", "waived"):
        _drop_approval(draft, move.name)
    elif move.name in draft.look("approvals"):
        known = draft.own("approvals")[move.name]
        draft.own("approvals")[move.name] = replace(known, status=move.status)


def _apply_ended(draft: _StateDraft, move: m.Ended) -> None:
    if not move.instance:
        draft.outcome = move.outcome
    known = draft.look("instances").get(move.instance)
    if known is not None:
        draft.own("instances")[move.instance] = replace(
            known, outcome=move.outcome, why=move.why, merged=move.merged
        )


def _apply_reopened(draft: _StateDraft, _: m.Reopened) -> None:
    draft.outcome = ""


_APPLY: Mapping[type, Callable[[_StateDraft, Any], None]] = {
    m.Began: _apply_began,
    m.Entered: _apply_entered,
    m.Left: _apply_left,
    m.Remembered: _apply_remembered,
    m.Forgot: _apply_forgot,
    m.Charged: _apply_charged,
    m.Marked: _apply_marked,
    m.Postponed: _apply_postponed,
    m.Settled: _apply_settled,
    m.Asked: _apply_asked,
    m.Closed: _apply_closed,
    m.Itemised: _apply_itemised,
    m.Finished: _apply_finished,
    m.Paused: _apply_paused,
    m.Resumed: _apply_resumed,
    m.Pinned: _apply_pinned,
    m.PinnedSettings: _apply_pinned_settings,
    m.Based: _apply_based,
    m.GateNoted: _apply_gate_noted,
    m.Ended: _apply_ended,
    m.Reopened: _apply_reopened,
    m.Delivered: _apply_delivered,
    m.Held: _apply_held,
    m.Spawned: _apply_spawned,
    m.Awaited: _apply_awaited,
    m.Told: _apply_told,
}
