"""Every phase of a run with its outcome: what became of its work, checks, reviews and gates.

A phase is a group of states of the protocol. Inside a loop it has one part for each item of the
list. The rule is the same everywhere:

- A phase in which somebody stands is `working`, or `waiting` if a person is asked.
- A phase that nobody entered was not run.
- A phase that was left is `stale` if the run has since entered something in front of it: an earlier
  phase, or an earlier item of its list. So is an item that is not finished and has nobody at work.
- Otherwise it has passed only if nothing is missing: each required check was good the last time,
  the last round of its reviewers approved, and its gate was not passed in spite of a failure. What
  is missing is a gap. A person who answered after it let it pass: the phase was skipped or waived,
  by that person, with that reason. Where nobody did, the phase failed.

Each statement names the record (`seq`) that it rests on. Content on the disk is not looked at here.
"""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.account.outcomes import CHECK_OUTCOMES, Outcome, worst_outcome
from porch.machine import base_commands
from porch.machine.past import ENDED
from porch.machine.state import PastCheck, PastVisit, PositionKey, RunState, Standing
from porch.model.protocol import Agent, Check, Human, Join, Panel, Protocol, State

# Answers of people with which a run goes on without what is missing.
_LETS_PASS: Mapping[str, Outcome] = {"skip": "skipped", "waived": "waived", "approved": "waived"}


class Decided(Struct, frozen=True):
    """What a person answered: the record, who, and the reason if there is one."""

    seq: int
    at: str
    exit: str
    by: str
    text: str = ""


class CheckAccount(Struct, frozen=True):
    """One check of a phase: how it went the last time, and who let it pass if it was not good."""

    name: str
    outcome: Outcome
    required: bool
    runs: int = 0
    seq: int = 0
    at: str = ""
    tree: str = ""
    is_reused: bool = False
    is_flaky: bool = False
    let_pass: Decided | None = None


class ReviewAccount(Struct, frozen=True):
    """The last round of a panel; it is open if changes were asked for or no verdict was given."""

    state: str
    round: int
    result: str  # approved, changes, undecided; empty while it runs
    verdicts: Mapping[str, str]
    is_open: bool
    findings: tuple[str, ...] = ()
    limit: int = 0  # of rounds; 0 where the protocol does not say
    is_used_up: bool = False
    seq: int = 0
    let_pass: Decided | None = None


class GateAccount(Struct, frozen=True):
    """A gate: what a person decided about it, and for which files."""

    name: str
    status: str  # waiting, pending, approved, waived, rejected
    decided: Decided | None = None
    artifacts: Mapping[str, str] = {}


class PhaseAccount(Struct, frozen=True):
    """One phase, or one item of it; `parts` are the items of a phase inside a loop."""

    name: str
    title: str
    outcome: Outcome
    item: str = ""
    instance: str = ""
    seq: int = 0
    at: str = ""
    decided: Decided | None = None  # by whom a gap was let pass, or work was stopped
    checks: tuple[CheckAccount, ...] = ()
    reviews: tuple[ReviewAccount, ...] = ()
    gates: tuple[GateAccount, ...] = ()
    parts: tuple["PhaseAccount", ...] = ()

    @property
    def gaps(self) -> tuple[CheckAccount, ...]:
        """Required checks that were not good the last time."""
        bad = ("failed", "could not measure")
        own = (check for check in self.checks if check.required and check.outcome in bad)
        return (*own, *(gap for part in self.parts for gap in part.gaps))

    @property
    def passed_checks(self) -> list[str]:
        """Whatever they are about; of the last time."""
        found = (each for part in (self, *self.parts) for each in part.checks)
        return list(dict.fromkeys(each.name for each in found if each.outcome == "passed"))

    @property
    def open_reviews(self) -> list[ReviewAccount]:
        return [each for part in (self, *self.parts) for each in part.reviews if each.is_open]


def list_phases(protocol: Protocol, state: RunState, instance: str = "") -> list[PhaseAccount]:
    """The phases of a run, or of one instance of its tree, in the order of the protocol."""
    groups: dict[str, list[State]] = {}
    for kind in protocol.states.values():
        groups.setdefault(kind.group, []).append(kind)
    entries = _index_entries(protocol, state, instance)
    return [
        _make_phase(protocol, state, instance, group, kinds, entries)
        for group, kinds in groups.items()
        if any(_is_work(kind) for kind in kinds)
    ]


def find_phase(protocol: Protocol, state: RunState, standing: Standing) -> PhaseAccount | None:
    """The phase in which a position is; inside a loop with the item of the position alone."""
    group = protocol.group_of(standing.state)
    phases = (p for p in list_phases(protocol, state, standing.instance) if p.name == group)
    phase = next(phases, None)
    own = (part for part in phase.parts if part.item == standing.item) if phase else ()
    return replace(phase, parts=tuple(own)) if phase else None


def _is_work(kind: State) -> bool:
    """What the engine itself tries before the work is no phase of the protocol."""
    actor = kind.actor
    return isinstance(actor, Agent) or (isinstance(actor, Check) and not actor.listed)


def list_plan_phases(protocol: Protocol, state: RunState, instance: str = "") -> list[PhaseAccount]:
    """The items of a plan, each with the phases that it goes through as its parts."""
    phases = list_phases(protocol, state, instance)
    plan: list[PhaseAccount] = []
    for (owner, loop), listed in state.items.items():
        if owner != instance:
            continue
        groups = {kind.group for kind in protocol.states.values() if kind.loop == loop}
        for item in listed.items:
            parts = tuple(
                part
                for phase in phases
                if phase.name in groups
                for part in phase.parts
                if part.item == item.id
            )
            outcome = _sum_parts(parts, (item.id,) if item.id in listed.finished else ())
            decided = next((part.decided for part in parts if part.outcome == outcome), None)
            plan.append(
                PhaseAccount(
                    item.id,
                    item.title,
                    outcome,
                    item.id,
                    instance,
                    seq=max((part.seq for part in parts), default=0),
                    decided=decided,
                    parts=parts,
                )
            )
    return plan


def _make_phase(
    protocol: Protocol,
    state: RunState,
    instance: str,
    group: str,
    kinds: list[State],
    entries: Mapping[tuple[str, str], list["_Entry"]],
) -> PhaseAccount:
    title = next((kind.title for kind in kinds if kind.title), group)
    loop = next((kind.loop for kind in kinds if kind.loop), "")
    if not loop:
        return _Place(protocol, state, instance, "", group, kinds, entries).account(title)
    listed = state.items.get((instance, loop))
    parts = tuple(
        _Place(protocol, state, instance, item.id, group, kinds, entries).account(item.title)
        for item in (listed.items if listed else ())
    )
    outcome = _sum_parts(parts, listed.finished if listed else ())
    # A position without an item only reads the list.
    reads = any(
        each.instance == instance and not each.item and protocol.states[each.state].group == group
        for each in state.positions.values()
        if each.state in protocol.states
    )
    outcome = "working" if reads and outcome == "not run" else outcome
    decided = next((part.decided for part in parts if part.outcome == outcome), None)
    seq = max((part.seq for part in parts), default=0)
    return PhaseAccount(group, title, outcome, "", instance, seq=seq, decided=decided, parts=parts)


def _sum_parts(parts: tuple[PhaseAccount, ...], finished: tuple[str, ...]) -> Outcome:
    """An item may be finished without going through every phase of its loop, or through any."""
    outcomes: list[Outcome] = [
        part.outcome for part in parts if not (part.outcome == "not run" and part.item in finished)
    ]
    return worst_outcome(outcomes or (["nothing to run"] if finished else []))


class _Entry(Struct, frozen=True):
    """When a state in which somebody works or decides was entered last."""

    state: str
    seq: int


def _index_entries(
    protocol: Protocol, state: RunState, instance: str
) -> dict[tuple[str, str], list[_Entry]]:
    """The latest entries of an instance by loop and item; both are empty outside of loops."""
    entries: dict[tuple[str, str], list[_Entry]] = {}
    for (owner, name, item), visit in state.past_visits.items():
        kind = protocol.states.get(name)
        if kind and owner == instance and not isinstance(kind.actor, Join):
            entry = _Entry(name, visit.entered)
            entries.setdefault((kind.loop, item if kind.loop else ""), []).append(entry)
    return entries


class _Place(Struct, frozen=True):
    """One phase for one item of one instance, and what the past says of its states."""

    protocol: Protocol
    state: RunState
    instance: str
    item: str
    group: str
    kinds: list[State]
    entries: Mapping[tuple[str, str], list["_Entry"]]

    def account(self, title: str) -> PhaseAccount:
        visits = [(kind, visit) for kind in self.kinds if (visit := self._visit(kind.name))]
        checks = tuple(self._list_checks())
        reviews = tuple(self._list_reviews())
        gates = tuple(self._list_gates())
        outcome, last = self._judge(visits, checks, reviews, gates)
        by_person = self._find_decision(outcome, checks, reviews, gates)
        return PhaseAccount(
            self.group,
            title,
            outcome,
            self.item,
            self.instance,
            last.left or last.entered if last else 0,
            last.left_at or last.entered_at if last else "",
            by_person,
            checks,
            reviews,
            gates,
        )

    def _key(self, name: str) -> PositionKey:
        return (self.instance, name, self.item)

    def _visit(self, name: str) -> PastVisit | None:
        return self.state.past_visits.get(self._key(name))

    def _standing(self) -> list[Standing]:
        names = {kind.name for kind in self.kinds}
        return [
            each
            for each in self.state.positions.values()
            if each.state in names and (each.instance, each.item) == (self.instance, self.item)
        ]

    def _judge(
        self,
        visits: list[tuple[State, PastVisit]],
        checks: tuple[CheckAccount, ...],
        reviews: tuple[ReviewAccount, ...],
        gates: tuple[GateAccount, ...],
    ) -> tuple[Outcome, PastVisit | None]:
        # Of branches that one record leaves, those that gave no result say least.
        last = max(
            (visit for _, visit in visits),
            key=lambda v: (v.left or v.entered, bool(v.exit)),
            default=None,
        )
        standing = self._standing()
        if standing:
            asks = any(each.position in self.state.decisions for each in standing)
            tried = base_commands.is_ours(self.protocol) and base_commands.is_open(self.state)
            if tried and not asks and self.group != base_commands.STATE:
                return "not run", None  # nothing begins before the commands have run
            return ("waiting" if asks else "working"), last
        if last is None:
            return "not run", None
        if self._is_behind_rework(last):
            return "stale", last
        bad = ("failed", "could not measure")
        gaps: list[Outcome] = [
            _LETS_PASS[check.let_pass.exit] if check.let_pass else check.outcome
            for check in checks
            if check.required and check.outcome in bad
        ]
        gaps += [
            _LETS_PASS[review.let_pass.exit] if review.let_pass else "failed"
            for review in reviews
            if review.is_open
        ]
        gaps += ["waived" for gate in gates if gate.status == "waived"]
        gaps += ["skipped" for kind, visit in visits if self._was_skipped(kind, visit, visits)]
        if gaps:
            return worst_outcome(gaps), last
        if any(self._was_passed_over(kind, visit) for kind, visit in visits):
            return "not run", last
        is_human = any(
            visit is last and isinstance(kind.actor, Human) and kind.actor.kind != "gate"
            for kind, visit in visits
        )
        # With an item that is finished, the answer was that nothing is left to do.
        if is_human and last.exit not in _LETS_PASS and not self._is_finished_item():
            # A person ended the work here, or answered a question that nobody worked on since.
            return ("failed" if self.state.outcome else "stopped"), last
        if any(visit is last and self._ended_badly(kind, visit) for kind, visit in visits):
            return "failed", last
        return ("passed" if last.exit else "stopped"), last

    def _ended_badly(self, kind: State, last: PastVisit) -> bool:
        """The exit by which this was left is one that ended the run, or its instance, in vain."""
        return any(
            (instance, name, exit_) == (self.instance, kind.name, last.exit)
            and target in (f"{ENDED}failed", f"{ENDED}abandoned")
            for instance, name, exit_, _, target in self.state.past_ways
        )

    def _was_passed_over(self, kind: State, visit: PastVisit) -> bool:
        """Earlier releases left the last checks at once where they had never passed."""
        commands = kind.actor.commands if isinstance(kind.actor, Check) else ()
        return visit.exit == "passed" and any(
            not command.optional
            and (*self._key(kind.name), command.name) not in self.state.past_checks
            for command in commands
        )

    def _was_skipped(
        self, kind: State, visit: PastVisit, visits: list[tuple[State, PastVisit]]
    ) -> bool:
        """A person went on although the work had given no result, and no agent began again."""
        return (
            isinstance(kind.actor, Human)
            and visit.exit == "skip"
            and not any(
                isinstance(each.actor, Agent) and other.entered >= visit.left
                for each, other in visits
            )
        )

    def _is_behind_rework(self, last: PastVisit) -> bool:
        """Whether the run has entered something in front of this phase after it was left."""
        known = self.state.instances.get(self.instance)
        if (known.outcome if known else self.state.outcome) == "complete":
            # It came to its end without this, as a question need not be asked a second time.
            return False
        if self.item and self._is_behind_item(last):
            return True
        loop = self._loop()
        entries = [*self.entries.get(("", ""), ())]
        if loop:
            entries += self.entries.get((loop, self.item), ())
        else:
            entries += [e for (each, _), found in self.entries.items() if each for e in found]
        later = {entry.state for entry in entries if entry.seq >= last.left}
        later -= {kind.name for kind in self.kinds}
        # From a question of an agent one only comes back, so everything may lie in front of it.
        work = (k for k in self.kinds if not isinstance(k.actor, Human) or k.actor.kind == "gate")
        return bool(later) and any(later & self.protocol.states_in_front(k.name) for k in work)

    def _loop(self) -> str:
        return next((kind.loop for kind in self.kinds if kind.loop), "")

    def _is_finished_item(self) -> bool:
        listed = self.state.items.get((self.instance, self._loop()))
        return bool(self.item) and listed is not None and self.item in listed.finished

    def _is_behind_item(self, last: PastVisit) -> bool:
        """Whether the run went back to an earlier item of the list, or to the list itself."""
        if self._is_finished_item():
            return False
        loop = self._loop()
        names = (item.id for item in self.state.items[(self.instance, loop)].items)
        for item in takewhile(lambda name: name != self.item, names):
            if any(entry.seq >= last.left for entry in self.entries.get((loop, item), ())):
                return True
        places = {(each.instance, each.item) for each in self.state.positions.values()}
        return not self.state.outcome and (self.instance, self.item) not in places

    def _list_checks(self) -> Iterator[CheckAccount]:
        """Of a check that several states of the phase repeat, the latest result counts."""
        latest: dict[str, tuple[PastCheck | None, bool]] = {}
        for kind in self.kinds:
            for command in kind.actor.commands if isinstance(kind.actor, Check) else ():
                past = self.state.past_checks.get((*self._key(kind.name), command.name))
                known, required = latest.get(command.name, (None, False))
                newest = past if past and (known is None or past.seq > known.seq) else known
                latest[command.name] = (newest, required or not command.optional)
        for name, (past, required) in latest.items():
            if past is None:
                yield CheckAccount(name, "not run", required)
                continue
            yield CheckAccount(
                name,
                CHECK_OUTCOMES[past.result],
                required,
                past.runs,
                past.seq,
                past.at,
                past.tree,
                past.reused,
                past.flaky,
                None if past.result in ("passed", "skipped") else self._find_pass_after(past.seq),
            )

    def _find_pass_after(self, seq: int) -> Decided | None:
        """The first answer of a person after a record that let this phase go on."""
        answers = [
            visit
            for kind in self.kinds
            if isinstance(kind.actor, Human) and (visit := self._visit(kind.name))
            if visit.left > seq and visit.exit in _LETS_PASS
        ]
        first = min(answers, key=lambda visit: visit.left, default=None)
        return _make_decided(first) if first else None

    def _list_reviews(self) -> Iterator[ReviewAccount]:
        for kind in self.kinds:
            if not isinstance(kind.actor, Panel):
                continue
            visit = self._visit(kind.name)
            if visit is None:
                continue
            verdicts = {
                name: known.verdict
                for name in kind.actor.reviewers
                if (known := self.state.past_verdicts.get((*self._key(kind.name), name)))
                and known.visit == visit.visit
            }
            is_open = visit.exit in ("changes", "undecided") and not self._was_revised(visit)
            edges = [*self.protocol.edges_of(kind.name, "changes")]
            budget = next((edge.charges for edge in edges if edge.charges), "")
            limit = self.protocol.budgets[budget].limit + 1 if budget else 0
            payload = self._recall(f"{kind.name}.{visit.exit}") if visit.exit else {}
            yield ReviewAccount(
                kind.name,
                visit.visit - self._count_missed_rounds(kind.name, visit),
                visit.exit,
                verdicts,
                is_open,
                tuple(_finding_text(each) for each in payload.get("findings", ())),
                limit,
                visit.exit == "changes" and bool(budget) and not visit.charged,
                visit.left or visit.entered,
                self._find_pass_after(visit.left) if is_open else None,
            )

    def _count_missed_rounds(self, panel: str, last: PastVisit) -> int:
        """Before the last round, those that gave too few verdicts: they were not charged."""
        if self.item:
            # Ways are counted for all items together.
            return 0
        ways = self.state.past_ways.items()
        missed = sum(n for way, n in ways if way[:3] == (self.instance, panel, "undecided"))
        return missed - (last.exit == "undecided")

    def _recall(self, path: str) -> Mapping[str, Any]:
        memory = self.state.memory
        own = memory.get((self.instance, self.item), {}).get(path)
        return own or memory.get((self.instance, ""), {}).get(path) or {}

    def _was_revised(self, review: PastVisit) -> bool:
        """A protocol may let the author answer the findings and go on without another round."""
        agents = (kind for kind in self.kinds if isinstance(kind.actor, Agent))
        visits = (visit for kind in agents if (visit := self._visit(kind.name)))
        return any(visit.entered > review.left - 1 and visit.exit for visit in visits)

    def _list_gates(self) -> Iterator[GateAccount]:
        for kind in self.kinds:
            if not isinstance(kind.actor, Human) or kind.actor.kind != "gate":
                continue
            name = kind.actor.name
            known, visit = self.state.gates.get(name), self._visit(kind.name)
            approval = self.state.approvals.get(name)
            is_asked = any(
                each.kind == "gate" and each.name == name for each in self.state.decisions.values()
            )
            status = "pending" if is_asked else known.status if known else "waiting"
            decided = visit and visit.exit and visit.by
            yield GateAccount(
                name,
                "waiting" if status == "pending" and not is_asked else status,
                _make_decided(visit) if visit and decided else None,
                approval.artifacts if approval else {},
            )

    def _find_decision(
        self,
        outcome: Outcome,
        checks: tuple[CheckAccount, ...],
        reviews: tuple[ReviewAccount, ...],
        gates: tuple[GateAccount, ...],
    ) -> Decided | None:
        """Who let it pass, or ended it."""
        if outcome in ("skipped", "waived"):
            found = [check.let_pass for check in checks if check.let_pass]
            found += [review.let_pass for review in reviews if review.let_pass]
            found += [gate.decided for gate in gates if gate.status == "waived" and gate.decided]
            # Of several answers the one that has this outcome: a skip, then a waiver at the gate.
            mine = [each for each in found if _LETS_PASS.get(each.exit) == outcome]
            if found:
                return (mine or found)[-1]
        if outcome in ("skipped", "failed", "stopped"):
            people = [
                visit
                for kind in self.kinds
                if isinstance(kind.actor, Human) and (visit := self._visit(kind.name)) and visit.by
            ]
            last = max(people, key=lambda visit: visit.left, default=None)
            return _make_decided(last) if last else None
        return None


def _make_decided(visit: PastVisit) -> Decided:
    return Decided(visit.left, visit.left_at, visit.exit, visit.by, visit.text)


def _finding_text(finding: object) -> str:
    if isinstance(finding, Mapping):
        by, text = finding.get("by", ""), finding.get("finding", "")
        return f"{by}: {text}" if by else str(text)
    return str(finding)
