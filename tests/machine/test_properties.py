"""What must hold for every protocol and every order of events, however unlucky."""

import copy
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import evolve_state, fold_records
from porch.machine.state import RunState
from porch.machine.wanted import wanted_effects
from porch.model import protocol as p
from porch.model.validate import validate_protocol
from porch.testing import CheckResult, Rig, Verdict

T = p.Target
RESULTS: list[CheckResult] = ["passed", "passed", "failed", "unmeasured"]
VERDICTS: list[Verdict] = ["APPROVE", "APPROVE", "REQUEST_CHANGES", "ABSTAIN"]
LOST = ("silent", "exhausted", p.BLOCKED)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@dataclass
class Plan:
    """A protocol in the making: blocks one after the other, each with a way in and ways onward."""

    draw: st.DrawFn
    states: dict[str, p.State] = field(default_factory=dict)
    edges: list[p.Edge] = field(default_factory=list)
    budgets: dict[str, p.Budget] = field(default_factory=dict)
    loops: dict[str, p.Loop] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)
    joined: tuple[str, ...] = ()

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def state(self, name: str, actor: p.Actor, **more: object) -> str:
        inputs = tuple(p.Input(s, f"{s}.done") for s in list(self.states)[:2] if self.maybe())
        group = name.partition(":")[0]
        self.states[name] = p.State(name, group, actor, inputs=inputs, **more)  # type: ignore[arg-type]
        return name

    def edge(self, state: str, exits: tuple[str, ...], *targets: p.Target, **more: object) -> None:
        for exit_ in exits:
            self.edges.append(p.Edge(state, exit_, targets, **more))  # type: ignore[arg-type]


def agent(*exits: str) -> p.Agent:
    named = tuple(p.Exit(name, (name,)) for name in exits)
    return p.Agent("builder", exits=(*named, p.Exit(p.BLOCKED, needs_reason=True)))


def person(plan: Plan, kind: p.AskKind, name: str, *exits: str) -> p.Human:
    options = tuple(p.Option(exit_, exit_, plan.maybe()) for exit_ in exits)
    stale = 60.0 if plan.maybe() else 0
    return p.Human(kind, name, name, options, artifacts=("a.md",), stale_after_s=stale)


def check(plan: Plan) -> p.Check:
    names = ("unit", "lint/all")[: plan.draw(st.integers(1, 2))]
    return p.Check(tuple(p.Command(n, optional=plan.maybe()) for n in names), plan.maybe())


def panel(plan: Plan) -> p.Panel:
    return p.Panel(("codex", "gemini"), "any", "x", plan.draw(st.integers(1, 2)), plan.maybe())


def failure(plan: Plan, name: str, back: p.Target, onward: p.Target | None, **more: object) -> None:
    exits = ("retry", "skip", "stopped") if onward else ("retry", "stopped")
    plan.state(name, person(plan, "failure", name, *exits), **more)
    plan.edge(name, ("retry",), back)
    plan.edge(name, ("stopped",), T("stopped"))
    if onward:
        plan.edge(name, ("skip",), onward)


EXITS = {"check": ("passed", "failed", "unmeasured"), "panel": ("approved", "changes", "undecided")}


def work(plan: Plan, name: str, onward: p.Target, loop: str = "", item: str = "") -> None:
    """An agent, then perhaps a check and a panel behind it, with charged ways back."""
    head, failed = plan.state(f"{name}:do", agent("done", "other"), loop=loop), f"{name}:failed"
    steps = [kind for kind in ("check", "panel") if plan.maybe()]
    names = [f"{name}:{kind}" for kind in steps]
    following = [*[T(n) for n in names[1:]], onward]
    plan.edge(head, LOST, T(failed))
    plan.edge(head, ("done", "other"), T(names[0]) if names else onward)
    for kind, step, ahead in zip(steps, names, following, strict=False):
        way_back = plan.draw(st.sampled_from([head, *([] if loop else plan.entries)]))
        delay = plan.draw(st.sampled_from([0, 5]))
        charge = {"charges": step, "spent": (T(failed),), "delay_s": delay}
        plan.budgets[step] = p.Budget(step, plan.draw(st.integers(0, 2)))
        plan.state(step, check(plan) if kind == "check" else panel(plan), loop=loop)
        good, bad, lost = EXITS[kind]
        resets = (step,) if plan.maybe() else ()
        plan.edge(step, (good,), ahead, resets=resets, forgets=(f"{step}.{bad}",))
        plan.edge(step, (bad,), T(way_back), **charge)
        plan.edge(step, (lost,), T(failed))
    failure(plan, failed, T(head, item), onward, loop=loop)


def gate(plan: Plan, name: str, onward: p.Target) -> None:
    plan.state(name, person(plan, "gate", name, "approved", "rejected"))
    back = plan.draw(st.sampled_from([name, *plan.entries]))
    plan.edge(name, ("approved",), onward)
    plan.edge(name, ("rejected",), T(back), forgets=plan.joined)


def looped(plan: Plan, name: str, onward: p.Target) -> None:
    plan.loops[name] = p.Loop(name, "plan.md", f"{name}:do", onward)
    work(plan, name, T(next_of=name), name, "two" if plan.maybe() else "")


def forked(plan: Plan, name: str, onward: p.Target) -> None:
    branches = [f"{name}:{i}" for i in range(plan.draw(st.integers(2, 3)))]
    commit(plan, name, *map(T, branches))
    for branch in branches:
        plan.state(branch, agent("done"))
        plan.edge(branch, ("done",), T(f"{name}:join"))
        plan.edge(branch, LOST, T(f"{branch}:failed"))
        back = plan.draw(st.sampled_from([branch, *plan.entries]))
        failure(plan, f"{branch}:failed", T(back), None)
    paths = tuple(f"{branch}.done" for branch in branches)
    plan.joined = (*plan.joined, *paths)
    join = f"{name}:join"
    if plan.maybe():
        plan.state(join, agent("done"), waits_for=paths)
        plan.edge(join, ("done",), onward)
        plan.edge(join, LOST, T(f"{join}:failed"))
        failure(plan, f"{join}:failed", T(join), onward)
    else:
        plan.state(join, person(plan, "gate", join, "approved", "rejected"), waits_for=paths)
        plan.edge(join, ("approved",), onward)
        plan.edge(join, ("rejected",), T(name), forgets=paths)


def commit(plan: Plan, name: str, *onward: p.Target) -> None:
    plan.state(name, p.Git(("a.md",), "keep"))
    plan.edge(name, ("clean", "refused", "conflict"), *onward)


BLOCKS: dict[str, Callable[[Plan, str, p.Target], None]] = {
    "work": work,
    "gate": gate,
    "looped": looped,
    "forked": forked,
    "commit": commit,
}
ENTRY = {"work": ":do", "looped": ":do"}


@st.composite
def protocols(draw: st.DrawFn) -> p.Protocol:
    kinds = draw(st.lists(st.sampled_from(sorted(BLOCKS)), min_size=1, max_size=4))
    plan = Plan(draw)
    entries = [f"{kind}{i}{ENTRY.get(kind, '')}" for i, kind in enumerate(kinds)]
    for i, kind in enumerate(kinds):
        onward = T(entries[i + 1]) if i + 1 < len(kinds) else T("complete")
        plan.entries = entries[: i + 1]
        BLOCKS[kind](plan, f"{kind}{i}", onward)
    for name, outcome in (("complete", p.End("complete")), ("stopped", p.End("abandoned"))):
        plan.states[name] = p.State(name, name, outcome)
    edges, budgets = tuple(plan.edges), plan.budgets
    made = p.Protocol("any", T(entries[0]), plan.states, edges, budgets=budgets, loops=plan.loops)
    assert not [str(finding) for finding in validate_protocol(made, {})]
    return made


class Fate:
    """Decides what becomes of effects, by a number that hypothesis draws."""

    def __init__(self, seed: int, rig: Rig):
        self.dice = random.Random(seed)
        self.rig = rig

    def items(self) -> tuple[f.Item, ...]:
        names = [n for n in ("one", "two", "three") if self.dice.random() < 0.7]
        return tuple(
            f.Item(id=n, title=n, description="", digest=self.dice.choice("ab")) for n in names
        )

    def ended(self, effect: str, kind: str) -> f.EffectFact:
        """A truthful end of an effect: good, bad or broken."""
        if self.dice.random() < 0.1:
            return f.EffectFailed(effect=effect, why="crashed", hopeless=self.dice.random() < 0.1)
        return ENDS[kind](self, effect)

    def turn(self, effect: str) -> f.EffectFact:
        if self.dice.random() < 0.1:
            return f.TurnEndedSilent(effect=effect, session="s")
        exit_ = self.dice.choice(["done"] * 6 + ["other", "other", "BLOCKED", "surprise"])
        return f.ExitAccepted(effect=effect, exit=exit_, payload={"is": "mine", "list": [1]}, usd=1)

    def broken(self, effect: str) -> f.EffectFact:
        strange = self.ended(effect, self.dice.choice(sorted(ENDS)))
        ends: list[f.EffectFact] = [
            strange,
            f.EffectFailed(effect=effect, why="limit", wait_s=9),
            f.EffectInterrupted(effect=effect, session="s"),
            f.EffectStopped(effect=effect),
        ]
        return self.dice.choice(ends)

    def wish(self) -> f.Wish:
        choose, state = self.dice.choice, self.rig.state
        kinds = ["decide", "done", "done", "rollback", "rollback", "rollback", "replan", "upgrade"]
        kind = choose(["resume"] * 9 + kinds if state.paused else ["stop", *kinds])
        places = [*state.decisions, *state.positions, "nowhere#1"]
        exits = ["approved", "rejected", "retry", "skip", "stopped", "done", "done", "other"]
        target = choose([*(name for _, name, _ in state.visits), *self.rig.protocol.states])
        is_looped = self.rig.protocol.states[target].loop and self.dice.random() < 0.7
        data: dict[str, object] = {
            "state": target,
            "item": choose(["one", "two", "three"]) if is_looped else "",
            "loop": choose([*self.rig.protocol.loops, "none"]),
            "items": self.items(),
            "digest": "d1",
        }
        name, text = f"v{self.dice.randrange(400)}", choose(["", "why"])
        exit_, digest = choose(exits), choose(["", "", "", "d", "other"])
        return f.Wish(
            id=name,
            kind=kind,
            position=choose(places),
            exit=exit_,
            text=text,
            digest=digest,
            data=data,
        )

    def answer(self, place: str) -> str:
        """An answer to an open decision; ending the run is what people do least."""
        state = self.rig.state.positions[place].state
        exits = [edge.exit for edge in self.rig.protocol.edges if edge.state == state]
        return exits[0] if self.dice.random() < 0.7 else self.dice.choice(exits)


ENDS: dict[str, Callable[[Fate, str], f.EffectFact]] = {
    "agent": Fate.turn,
    "check": lambda fate, effect: f.CheckEnded(
        effect=effect, result=fate.dice.choice(RESULTS), tree="t"
    ),
    "review": lambda fate, effect: f.ReviewEnded(
        effect=effect, verdict=fate.dice.choice(VERDICTS), summary="s", findings=("x",)
    ),
    "feedback": lambda _, effect: f.FeedbackWritten(effect=effect, path="round.md"),
    "items": lambda fate, effect: f.ItemsRead(
        effect=effect, reading="json", items=fate.items(), digest="d"
    ),
    "ask": lambda _, effect: f.DecisionAsked(effect=effect, digest="d", artifacts={"a.md": "1"}),
    "timer": lambda _, effect: f.TimerFired(effect=effect),
    "stale": lambda _, effect: f.TimerFired(effect=effect),
    "commit": lambda fate, effect: f.CommitEnded(
        effect=effect, commit="c", refused=fate.dice.choice(["", "dirty"])
    ),
}


class AnyRun(RuleBasedStateMachine):
    """A run told random facts and wishes, looked at after each of them."""

    @initialize(
        protocol=protocols(), seed=st.integers(0, 2**32), instances=st.sampled_from(["", "a", "ab"])
    )
    def begin(self, protocol: p.Protocol, seed: int, instances: str) -> None:
        self.rig = Rig(protocol, slots=2)
        self.fate = Fate(seed, self.rig)
        self.begun: set[str] = set()
        self.tell(f.RunStarted(run="any/1", id="1", title="t", protocol="any", digest="d0"))
        first = protocol.initial.state
        for name in instances:
            before, move = self.rig.state, m.Entered(f"{name}/{first}#1", first, 1, "", name)
            self.rig.record(f.StatusEdited(aside="spawned"), (move,))
            self.look_at(before)

    def tell(self, fact: f.Fact) -> None:
        before, kept = self.rig.state, copy.deepcopy(self.rig.state)
        record = self.rig.tell(fact)
        assert before == kept
        self.look_at(before)
        hand = before.in_hand.get(getattr(fact, "effect", ""))
        is_late = hand is None or hand.position not in before.positions
        if isinstance(fact, f.EffectFact) and is_late:
            assert all(isinstance(move, m.Settled) for move in record.moves)
            assert self.rig.state.positions == before.positions

    def look_at(self, before: RunState) -> None:
        """Everything that must hold after a record."""
        record, state = self.rig.records[-1], self.rig.state
        fresh = [hand.effect for hand in record.begun]
        assert not self.begun.intersection(fresh)
        assert len(fresh) == len(set(fresh))
        self.begun.update(fresh)
        entered = [move for move in record.moves if isinstance(move, m.Entered)]
        for move in entered:
            assert move.visit > before.visits.get((move.instance, move.state, move.item), 0)
            assert move.position not in before.positions
        assert len({move.position for move in entered}) == len(entered)
        assert all(state.visits[key] >= visit for key, visit in before.visits.items())
        self.look_at_what_is_wanted(state)
        self.look_at_what_is_kept(state)

    def look_at_what_is_wanted(self, state: RunState) -> None:
        if not (state.outcome or state.paused):
            assert self.rig.wanted() or state.in_hand or state.decisions, "stuck"
        if not state.in_hand:
            assert not self.rig.wanted(), "wanted, free, and not begun"
        index = {place: found for place, found in self.rig.index.items() if found}
        every = {
            place: wanted_effects(self.rig.protocol, state, place) for place in state.positions
        }
        assert index == {place: found for place, found in every.items() if found}

    def look_at_what_is_kept(self, state: RunState) -> None:
        for kept in (state.marks, state.tries, state.decisions):
            assert kept.keys() <= state.positions.keys()
        if state.outcome:
            assert not state.positions
        for key, spent in state.spent.items():
            budget = key.rpartition("/")[2].partition("@")[0]
            assert 0 <= spent <= self.rig.protocol.budgets[budget].limit

    @rule(steps=st.sampled_from([10, 30, 60]))
    def time_passes(self, steps: int) -> None:
        """Mostly what is good for a run, with a little of everything else in between."""
        events = [self.something_in_hand_ends] * 12 + [self.a_person_answers] * 4
        events += [self.what_nobody_wants_is_stopped, self.somebody_wishes]
        for _ in range(steps):
            self.fate.dice.choice(events)()

    @rule()
    def something_in_hand_ends(self) -> None:
        hands = list(self.rig.state.in_hand.values())
        if hands:
            hand = self.fate.dice.choice(hands)
            self.tell(self.fate.ended(hand.effect, hand.kind))

    @rule()
    def something_in_hand_breaks(self) -> None:
        if self.rig.state.in_hand:
            self.tell(self.fate.broken(self.fate.dice.choice(list(self.rig.state.in_hand))))

    @rule()
    def a_late_or_unknown_fact_arrives(self) -> None:
        gone = sorted(self.begun - self.rig.state.in_hand.keys())
        effect = self.fate.dice.choice([*gone, "nobody#1/check/x/0", "rubbish"])
        self.tell(self.fate.broken(effect))

    @rule()
    def what_nobody_wants_is_stopped(self) -> None:
        for effect in self.rig.unwanted():
            self.tell(f.EffectStopped(effect=effect))

    @rule()
    def somebody_wishes(self) -> None:
        before, kept = self.rig.state, copy.deepcopy(self.rig.state)
        self.rig.wish(self.fate.wish(), now="d")
        assert before == kept
        if self.rig.state is not before:
            self.look_at(before)

    @rule()
    def a_person_answers(self) -> None:
        before = self.rig.state
        for place in self.fate.dice.sample(list(before.decisions), min(1, len(before.decisions))):
            self.rig.decide(self.fate.answer(place), "because", place)
            self.look_at(before)

    def teardown(self) -> None:
        if hasattr(self, "rig"):
            assert self.rig.replayed() == self.rig.state
            stepped = RunState()
            for record in self.rig.records:
                stepped = evolve_state(stepped, record)
            assert stepped == fold_records(RunState(), self.rig.records) == self.rig.state


EXAMPLES = 600 if os.environ.get("PORCH_TORTURE") == "full" else 60
AnyRun.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=12, deadline=None, suppress_health_check=SLOW
)
TestAnyRun = pytest.mark.torture(pytest.mark.req("P-004", "P-196")(AnyRun.TestCase))


@pytest.mark.torture
@given(protocols(), st.integers(0, 2**32), st.sampled_from(["", "a"]))
@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=SLOW)
def test_a_long_run_keeps_all_of_this(protocol: p.Protocol, seed: int, instances: str) -> None:
    run = AnyRun()
    run.begin(protocol, seed, instances)
    run.time_passes(200)
    run.teardown()


@given(protocols(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
def test_without_people_a_run_ends_or_comes_to_rest_at_a_person(
    protocol: p.Protocol, seed: int
) -> None:
    rig = Rig(protocol).start()
    fate = Fate(seed, rig)
    for _ in range(20_000):
        waiting = [h for h in rig.state.in_hand.values() if h.kind != "stale"]
        if not waiting:
            break
        hand = fate.dice.choice(waiting)
        rig.tell(fate.ended(hand.effect, hand.kind))
    else:
        pytest.fail("still running")
    assert rig.state.outcome or rig.state.decisions
