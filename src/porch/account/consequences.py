"""What each answer to a question would do, found by giving the answer to the machine itself.

A hypothetical request is checked and routed as the real one would be. What porch then does alone
(checks, commits, waits, reading the plan) is followed with every result it can have, until an agent
or reviewers would begin, a person would be asked, or the run would end. The first way is the one to
expect: checks pass unless the latest result on the same content says otherwise. The others are
possible. Moves of branches in a tree cannot be foreseen; there the way stops at git.

The driver asks before work begins whether budgets and approvals allow it; the caller hands that in
as `objection`, because the settings and the files are not the account's business. So are the files
of a question as they lie there now: an approval is refused if they are missing or were changed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from porch.account.gaps import Gap, list_gaps
from porch.account.outcomes import CHECK_OUTCOMES, Outcome
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine.approvals import asked_human
from porch.machine.base_commands import is_trial
from porch.machine.evolve import apply_begun_effects, evolve_state
from porch.machine.records import JournalRecord
from porch.machine.route import route_fact
from porch.machine.state import Decision, InHand, RunState
from porch.machine.wanted import wanted_effects
from porch.machine.wishes import find_refusal, is_approval
from porch.model.protocol import Human, Protocol

Objection = Callable[[Protocol, RunState, InHand], f.Fact | None]
Guard = Literal["", "budget", "approval"]
_STEPS = 40  # of porch's own; a protocol that has more between two answers is cut there
_WAYS = 16
PAUSED = "paused"
UNKNOWN_ITEM = "?"  # the first item of a list that was not read yet


class FilesNow(Struct, frozen=True):
    """The files of a question by their hashes now; nobody approves what is `unreadable`.

    Those in `changed` are not as they were when it was asked.
    """

    files: Mapping[str, str]
    unreadable: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class Stop(Struct, frozen=True):
    """Where a way ends: who acts next, at which state and item, or how the run ends."""

    who: Literal["agent", "reviewers", "person", "git", "plan", "end", "nobody"]
    state: str = ""
    item: str = ""
    name: str = ""
    visit: int = 0
    instance: str = ""
    guard: Guard = ""  # why a person is asked before the work of this state begins
    into: str = ""  # the branch into which the work is merged at the end


class Step(Struct, frozen=True):
    """Something that porch does by itself on the way."""

    kind: str  # check, commit, items, timer
    name: str
    result: Outcome | str


class Way(Struct, frozen=True):
    """One way on; `steps` say under which results porch takes it.

    `gaps` are why porch does not merge at the end, although the protocol says so: somebody has to
    accept first what has not passed.
    """

    steps: tuple[Step, ...]
    stops: tuple[Stop, ...]
    gaps: tuple[Gap, ...] = ()


class Consequence(Struct, frozen=True):
    """One possible answer; refused, or with the ways on from it, the expected one first."""

    exit: str
    needs_text: bool
    refused: str = ""
    ways: tuple[Way, ...] = ()
    changed: tuple[str, ...] = ()  # the files of which the changes must be accepted with it


def object_to_nothing(_protocol: Protocol, _state: RunState, _hand: InHand) -> None:
    """For who knows neither settings nor files."""


def foresee_answers(
    protocol: Protocol,
    state: RunState,
    decision: Decision,
    *,
    objection: Objection = object_to_nothing,
    now: FilesNow | None = None,
) -> list[Consequence]:
    """Every answer that a decision takes, and what it would do."""
    now = now or FilesNow(decision.artifacts)
    standing = state.positions[decision.position]
    kind = protocol.states.get(standing.state)
    if kind is None or not isinstance(kind.actor, Human):
        return []
    human = asked_human(protocol, standing, kind.actor)
    answers: list[Consequence] = []
    for option in human.options:
        request = f.Wish(
            id="foreseen",
            kind="decide",
            position=decision.position,
            exit=option.exit,
            text="a reason" if option.needs_text else "",
            who="somebody",
        )
        refusal = find_refusal(protocol, state, request, decision.digest)
        if refusal is not None:
            answers.append(Consequence(option.exit, option.needs_text, refusal.reason))
            continue
        lets_pass = is_approval(protocol, state, request)
        if lets_pass and now.unreadable:
            reason = "; ".join(now.unreadable)
            answers.append(Consequence(option.exit, option.needs_text, reason))
            continue
        # Ways that lead to the same place are one: its first results are the expected ones.
        ways: dict[tuple[Stop, ...], Way] = {}
        for way in _Walk(protocol, objection).follow(state, f.WishTaken(wish=request)):
            ways.setdefault(way.stops, way)
        changed = now.changed if lets_pass else ()
        told = Consequence(option.exit, option.needs_text, "", tuple(ways.values()), changed)
        answers.append(told)
    return answers


def find_merge_target(protocol: Protocol, state: RunState) -> str:
    """The branch into which porch merges the work of a complete run by itself; else nothing.

    A person has let the last gate pass, and nobody has finished the run yet. What lies in a
    person's own checkout is the person's to commit.
    """
    is_due = protocol.finish and state.outcome == "complete" and state.run.delivery is None
    return state.run.into if is_due and state.run.own_worktree else ""


class _Walk(Struct):
    """Follows what porch would do alone; `steps` and ways are limited, so it always ends."""

    protocol: Protocol
    objection: Objection
    left: int = _WAYS

    def follow(self, state: RunState, fact: f.Fact) -> Iterator[Way]:
        before = frozenset(state.positions)
        yield from self._go_on(self._apply(state, fact), before, ())

    def _apply(self, state: RunState, fact: f.Fact, *begun: e.Request) -> RunState:
        """The state after effects began and a fact arrived, as the driver would record both."""
        state = apply_begun_effects(state, map(e.as_in_hand, begun)) if begun else state
        moves = route_fact(self.protocol, state, fact)
        return evolve_state(state, JournalRecord(state.seq + 1, state.at, fact, moves))

    def _go_on(
        self, state: RunState, before: frozenset[str], steps: tuple[Step, ...]
    ) -> Iterator[Way]:
        if self.left <= 0:
            return
        if state.outcome:
            self.left -= 1
            into = find_merge_target(self.protocol, state)
            gaps = tuple(list_gaps(self.protocol, state)) if into else ()
            end = Stop("end", name=state.outcome, into="" if gaps else into)
            yield Way(steps, (end,), gaps)
            return
        if state.paused:
            self.left -= 1
            yield Way(steps, (Stop("nobody", name=PAUSED),))
            return
        # An answer that enters nothing lets everything go on where it stands.
        fresh = [place for place in state.positions if place not in before]
        fresh = fresh or list(state.positions)
        wanted = [w for place in fresh for w in wanted_effects(self.protocol, state, place)]
        own = [each for each in wanted if _is_own(each)]
        stops = tuple(self._stop(state, each) for each in wanted if not _is_own(each))
        stands = [place for place in fresh if self._is_alone(state, place)]
        if not own or len(steps) >= _STEPS:
            self.left -= 1
            idle = tuple(
                Stop("nobody", state.positions[place].state, state.positions[place].item)
                for place in stands
            )
            yield Way(steps, tuple(dict.fromkeys((*stops, *idle))) or (Stop("nobody"),))
            return
        for step, facts in self._results(state, own):
            after = state
            for request, fact in facts:
                if self._is_wanted(after, request):
                    after = self._apply(after, fact, request)
            yield from self._go_on(after, before, (*steps, *step))

    def _is_wanted(self, state: RunState, request: e.Request) -> bool:
        """Not any more where an earlier result of the same step has already moved the run on."""
        found = wanted_effects(self.protocol, state, request.position)
        return any(each.id == request.id for each in found)

    def _is_alone(self, state: RunState, place: str) -> bool:
        return not wanted_effects(self.protocol, state, place)

    def _stop(self, state: RunState, request: e.Request) -> Stop:
        standing = state.positions[request.position]
        where = (standing.state, standing.item)
        objection = self.objection(self.protocol, state, e.as_in_hand(request))
        if objection is not None:
            guard: Guard = "budget" if isinstance(objection, f.BudgetReached) else "approval"
            name = getattr(objection, "budget", "") or getattr(objection, "gate", "")
            return Stop("person", *where, name, standing.visit, standing.instance, guard)
        match request:
            case e.RunAgent() | e.AskAgent():
                who: Literal["agent", "reviewers", "person", "git", "plan"] = "agent"
            case e.AskReviewer() | e.WriteFeedback():
                who = "reviewers"
            case e.AskPerson() | e.StartTimer():
                who = "person"
            case e.ReadItems():
                who = "plan"
            case _:
                who = "git"
        return Stop(who, *where, request.name, standing.visit, standing.instance)

    def _results(
        self, state: RunState, own: list[e.Request]
    ) -> Iterator[tuple[tuple[Step, ...], list[tuple[e.Request, f.Fact]]]]:
        """The results that porch's next own work can have, the expected one first."""
        checks = [each for each in own if isinstance(each, e.RunCheck)]
        if checks:
            yield from self._check_results(state, checks)
            return
        request = own[0]
        match request:
            case e.CommitPaths() if state.run.commits_nothing:
                yield (), [(request, f.CommitEnded(effect=request.id, passed_over=True))]
            case e.CommitPaths():
                yield (
                    (Step("commit", request.name, "clean"),),
                    [(request, f.CommitEnded(effect=request.id, commit="foreseen"))],
                )
                yield (
                    (Step("commit", request.name, "refused"),),
                    [(request, f.CommitEnded(effect=request.id, refused="git refused"))],
                )
            case e.ReadItems():
                yield from self._list_results(state, request)
            case _:
                yield (), [(request, f.TimerFired(effect=request.id))]

    def _list_results(
        self, state: RunState, request: e.ReadItems
    ) -> Iterator[tuple[tuple[Step, ...], list[tuple[e.Request, f.Fact]]]]:
        """A list that was read before is expected again; of another nothing is known but that."""
        known = state.items.get((state.positions[request.position].instance, request.loop))
        lists = [known.items] if known else [(_unknown_item(request.loop),), ()]
        for items in lists:
            read = f.ItemsRead(
                effect=request.id,
                reading="plan",
                items=items,
                digest=known.digest if known else "",
            )
            yield (Step("items", request.loop, "read" if items else "empty"),), [(request, read)]
        lost = f.EffectFailed(effect=request.id, why="the list cannot be read", hopeless=True)
        yield (Step("items", request.loop, "could not measure"),), [(request, lost)]

    def _check_results(
        self, state: RunState, checks: list[e.RunCheck]
    ) -> Iterator[tuple[tuple[Step, ...], list[tuple[e.Request, f.Fact]]]]:
        """All checks of a state at once: all passed, one failed, or one not measured."""
        known = {check.id: self._last_result(state, check) for check in checks}
        passes = ["skipped" if check.is_moot else "passed" for check in checks]
        expected = [known[check.id] or passes[n] for n, check in enumerate(checks)]
        told: set[tuple[str, ...]] = set()
        binding = [n for n, c in enumerate(checks) if not (c.is_moot or c.command.optional)]
        variants = [expected, passes]
        for result in ("failed", "unmeasured"):
            variants += [
                [result if n == one else passes[n] for n in range(len(checks))]
                for one in binding[:1]
            ]
        for results in variants:
            if tuple(results) in told:
                continue
            told.add(tuple(results))
            yield (
                tuple(
                    Step("check", check.name, CHECK_OUTCOMES[result])
                    for check, result in zip(checks, results, strict=True)
                ),
                [
                    (check, f.CheckEnded(effect=check.id, result=result, tree=check.tree))  # type: ignore[arg-type]
                    for check, result in zip(checks, results, strict=True)
                ],
            )

    def _last_result(self, state: RunState, check: e.RunCheck) -> str:
        """The latest result of the same check in this phase, if the content is still the same."""
        standing = state.positions[check.position]
        group = self.protocol.states[standing.state].group
        if is_trial(self.protocol, standing.state):
            return ""  # what failed before the work runs again: no file shows what was mended
        results = [
            past
            for (instance, name, item, command), past in state.past_checks.items()
            if command == check.name
            and (instance, item) == (standing.instance, standing.item)
            and name in self.protocol.states
            and self.protocol.states[name].group == group
        ]
        last = max(results, key=lambda past: past.seq, default=None)
        content = state.past_trees.get(standing.instance, "")
        is_same = last is not None and (not content or last.tree in ("", content))
        return last.result if last is not None and is_same else ""


def _is_own(request: e.Request) -> bool:
    """Whether porch does it alone, and its results can be foreseen."""
    own = (e.RunCheck, e.CommitPaths, e.ReadItems, e.StartTimer)
    return isinstance(request, own) and request.kind != e.PATIENT


def _unknown_item(loop: str) -> f.Item:
    return f.Item(id=UNKNOWN_ITEM, title=loop, description="", digest="")
