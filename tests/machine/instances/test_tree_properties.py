"""Any graph that reading accepts, with any answers: never stuck, always over, the same replayed."""

import json
import os
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.dialects.registry import parse_definition
from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.effects import PATIENT
from porch.machine.evolve import evolve_state
from porch.machine.exits.fault_questions import is_fault
from porch.machine.instances.child_specs import find_plan_problems
from porch.machine.state import RunState
from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import GitExit, Grove

Graph = dict[str, Any]
SLOW = list(HealthCheck)
EXAMPLES = 1_500 if os.environ.get("PORCH_TORTURE") == "full" else 75


class Plan:
    """A graph being drawn: blocks in a row, with charged ways back.

    An edge that charges a budget restores only budgets made before it, as nested ones do;
    otherwise two of them could restore each other for ever.
    """

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.states: Graph = {}
        self.edges: Graph = {}
        self.joins: Graph = {}
        self.budgets: Graph = {}
        self.entries: list[str] = ["plan"]

    def maybe(self) -> bool:
        return bool(self.draw(st.booleans()))

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def one_of(self, *things: Any) -> Any:
        return self.draw(st.sampled_from(things))

    def charged(self, **more: Any) -> Graph:
        lower = [name for name in self.budgets if self.maybe()]
        name = f"b{len(self.budgets)}"
        self.budgets[name] = self.number(0, 3)
        reset = {"reset": lower} if lower else {}
        return {"charge": name, "spent": self.one_of("halt", "failed"), **reset, **more}

    def agent(self, name: str, *exits: str, **more: Any) -> None:
        wide = {"workspace": self.one_of("main", "read"), **more}
        declared: Graph = {exit_: {} for exit_ in exits}
        self.states[name] = {"role": name, "template": "t.j2", "exits": declared, **wide}


def work(plan: Plan, name: str, onward: str) -> None:
    """An agent that may try again, or send the work back."""
    plan.agent(name, "Done", "Again", "Back", "Stop")
    plan.edges[f"{name}.Done"] = {"to": onward}
    plan.edges[f"{name}.Again"] = plan.charged(to=name)
    back = plan.one_of(*plan.entries)
    plan.edges[f"{name}.Back"] = {"to": back} if back == "plan" else plan.charged(to=back)
    ways = [{"when": plan.one_of("parent", "instance.target"), "to": "failed"}, {"to": "halt"}]
    plan.edges[f"{name}.Stop"] = ways[plan.number(0, 1) :]


def fork(plan: Plan, name: str, onward: str) -> None:
    """Two ways that part and meet; one of them may stay passed for later rounds."""
    left, right, join = f"{name}_left", f"{name}_right", f"{name}_join"
    plan.agent(name, "Done")
    void = [f"{left}.Done", f"{right}.Done"] if plan.maybe() else [f"{left}.Done"]
    plan.edges[f"{name}.Done"] = {"to": [left, right, join], "forget": void}
    for each in (left, right):
        plan.agent(each, "Done", "Again")
        plan.edges[f"{each}.Done"] = {"to": join}
        plan.edges[f"{each}.Again"] = plan.charged(to=plan.one_of(each, name))
    paths = [f"{left}.Done", f"{right}.Done"]
    kept = plan.number(0, 1)
    plan.joins[join] = {"rearm": paths[kept:], "latched": paths[:kept], "to": onward}


def gate(plan: Plan, name: str, onward: str) -> None:
    options = {"yes": {"means": "on"}, "no": {"means": "back"}}
    plan.states[name] = {"human": "gate", "options": options}
    plan.edges[f"{name}.yes"] = {"to": onward}
    plan.edges[f"{name}.no"] = {"to": plan.one_of(name, *plan.entries)}


def kids(plan: Plan, name: str, onward: str) -> None:
    failed = {"when": "failed", "to": plan.one_of("plan", "halt")}
    plan.edges[f"{name}.settled"] = [failed, {"to": onward}] if plan.maybe() else {"to": onward}


def merge(plan: Plan, name: str, onward: str) -> None:
    """A candidate is made and published; whoever is told of it brings itself up to date."""
    made = f"{name}_made"
    named = {"approved": "plan.Plan.print", "own": ["instance.spec.text"]}
    plan.states[made] = {"git": "candidate", "holds": ["target"], **named}
    plan.states[name] = {"git": "publish", "holds": ["target"], "candidate": f"{made}.clean"}
    plan.edges[f"{made}.clean"] = {"to": name}
    for exit_ in ("conflict", "refused"):
        plan.edges[f"{made}.{exit_}"] = plan.charged(to=plan.one_of(*plan.entries[1:], made))
        plan.edges[f"{name}.{exit_}"] = plan.charged(to=made)
    plan.edges[f"{name}.clean"] = {"to": onward}


BLOCKS: dict[str, Callable[[Plan, str, str], None]] = {"work": work, "fork": fork, "gate": gate}
PEOPLE = {"again": {"means": "plan again"}, "stopped": {"means": "it ends"}}


def interrupt(plan: Plan, before: list[str]) -> Graph:
    plan.states["update"] = {"git": "update", "holds": ["main"]}
    plan.agent("mend", "Done", "Give", holds=["main"])
    plan.edges["update.clean"] = {"to": "due"}
    plan.edges["update.conflict"] = {"to": "mend"}
    plan.edges["update.refused"] = {"to": plan.one_of("mend", "due")}
    plan.edges["mend.Done"] = {"to": "due"}
    plan.edges["mend.Give"] = plan.charged(to=before[0])
    adapted = {"adapted": {before[-1]: before[0]}} if plan.maybe() else {}
    sibling = {"state": "update", "on": "merge.clean", "event": "plan.Plan", "before": before}
    return {"interrupts": {"sibling": {**sibling, **adapted}}}


@st.composite
def graphs(draw: st.DrawFn, blocks: str) -> str:
    """Small protocols in the form that people write, of blocks of some kinds."""
    plan = Plan(draw)
    more = draw(st.lists(st.sampled_from(blocks.split()), max_size=2))
    kinds = [*more, "work"] if plan.maybe() else ["work", *more]
    names = [f"{kind}{i}" for i, kind in enumerate(kinds)]
    plan.agent("plan", "Plan", "Ask", holds=["branch"], input={"children": "engine.children"})
    plan.states["plan"]["exits"]["Plan"] = {
        "parts": "Maybe [Part]",
        "print": "Text = engine.patch",
    }
    middle = ["kids", *names] if plan.maybe() else [*names, "kids"]
    order = [*middle, "merge_made"]
    for name, onward in zip(order, [*order[1:], ""], strict=True):
        block = kids if name == "kids" else BLOCKS.get(name[:4])
        if block is not None:
            block(plan, name, onward)
            plan.entries += [name] if name in names else []
    merge(plan, "merge", "merged")
    is_aside = middle[0] == "kids" and plan.maybe()
    plan.edges["plan.Plan"] = {"to": ["kids", names[0]] if is_aside else middle[0]}
    plan.edges["plan.Ask"] = plan.charged(to="ask")
    plan.states["ask"] = {"human": "question", "options": PEOPLE}
    plan.states["person"] = {"human": "failure", "options": PEOPLE}
    for person in ("ask", "person"):
        plan.edges[f"{person}.again"] = {"to": "plan", "free": True, "reset": ["epochs"]}
        plan.edges[f"{person}.stopped"] = {"to": "failed"}
    plan.states |= {"merged": {"end": "complete"}, "failed": {"end": "failed"}}
    works = [name for name in names if name.startswith("work")]
    told = interrupt(plan, works) if plan.number(0, 3) else {}
    lower = list(plan.budgets)
    graph = {
        "document": {"name": "any"},
        "spec": "Part",
        "types": {"Part": {"id": "Text", "text": "FilePath"}},
        "budgets": {**plan.budgets, "epochs": plan.number(0, 2)},
        "epoch": {"state": "plan", "charge": "epochs", "spent": "halt", "reset": lower},
        "supervision": {"silent": "halt", "exhausted": "halt", "no_progress": "halt"},
        "spawn": {"state": "kids", "specs": "Plan.parts", "depth": 2, "fan_out": 2, "instances": 6},
        **told,
        "states": plan.states,
        "joins": plan.joins,
        "choices": {"halt": [{"when": "parent", "to": "failed"}, {"to": "person"}]},
        "edges": plan.edges,
    }
    # JSON is YAML without aliases.
    return json.dumps(graph)


def compiled(graph: str) -> p.Protocol:
    reading = parse_definition(graph, "any.graph.yaml")
    assert reading.protocol is not None, [str(each) for each in reading.findings]
    # As it is driven: with every state in which the engine itself asks a person.
    return add_engine_states(reading.protocol)


# Of the work, of porch itself, and of the agent's command line.
WHYS = ("crashed", "outside", "bad_request")
GIT: "list[GitExit]" = ["clean", "clean", "clean", "clean", "conflict", "refused"]


class Fate:
    """Decides what becomes of effects, by a number that hypothesis draws."""

    def __init__(self, seed: int, grove: "Grove"):
        self.dice = random.Random(seed)
        self.grove = grove
        self.over: list[str] = []

    def step(self) -> bool:
        """Something in hand ends; whether there was anything."""
        hands = [h for h in self.grove.state.in_hand.values() if h.kind != PATIENT]
        if not hands:
            return False
        hand = self.dice.choice(hands)
        self.over.append(hand.effect)
        if hand.effect in self.grove.queue.unwanted:
            self.grove.tell(f.EffectStopped(effect=hand.effect))
        elif self.dice.random() < 0.03:
            why, hopeless = self.dice.choice(WHYS), self.dice.random() < 0.5
            self.grove.tell(
                f.EffectFailed(effect=hand.effect, why=why, hopeless=hopeless, fault=is_fault(why))
            )
        else:
            self.ended(hand.effect, hand.kind, hand.position)
        return True

    def ended(self, effect: str, kind: str, position: str) -> None:
        standing = self.grove.state.positions[position]
        where = (standing.instance, position)
        if kind == "agent":
            first, *rest = [known.name for known in self.grove.request(*where).exits]
            exit_ = self.dice.choice([*rest, *[first] * 9])
            more: Graph = {"parts": self.parts(*where)} if exit_ == "Plan" else {}
            tree = self.dice.choice(["", "t", *(f"t{self.grove.state.seq}" for _ in range(9))])
            self.grove.says(*where, exit_, tree=tree, **more)
        elif kind == "git":
            self.grove.git(*where, self.dice.choice(GIT))
        elif kind == "timer":
            self.grove.tell(f.TimerFired(effect=effect))
        else:
            self.grove.tell(f.DecisionAsked(effect=effect, digest=""))

    def parts(self, instance: str, state: str) -> list[Any] | None:
        most = self.grove.request(instance, state).values["children"]["most"]
        count = self.dice.choice([0, most, most])
        names = self.dice.sample(["p", "q", "r"], count)
        parts = [{"id": name, "text": self.dice.choice("aaab")} for name in names]
        # Others may have planned meanwhile; a plan for which there is no room is refused.
        protocol, known = self.grove.protocol, self.grove.state
        plan = {"parts": parts}
        is_refused = find_plan_problems(protocol, known, instance, "plan.Plan", plan)
        return None if is_refused else parts or None

    def person(self) -> None:
        for place in list(self.grove.state.decisions)[:1]:
            standing = self.grove.state.positions[place]
            edges = self.grove.protocol.edges
            exits = [edge.exit for edge in edges if edge.state == standing.state]
            exit_ = exits[0] if self.dice.random() < 0.8 else self.dice.choice(exits)
            self.grove.decide(standing.instance, place, exit_, "because")

    def late(self) -> None:
        if self.over:
            before = self.grove.state
            self.grove.tell(
                f.ExitAccepted(
                    effect=self.dice.choice(self.over), exit="Plan", payload={"parts": None}
                )
            )
            assert self.grove.state.positions == before.positions

    def pause(self) -> None:
        kind = "resume" if self.grove.state.paused else "stop"
        if not self.grove.state.outcome:
            self.grove.tell(f.WishTaken(wish=f.Wish(id=f"w{self.grove.state.seq}", kind=kind)))


def is_replayed(grove: "Grove") -> bool:
    stepped = RunState()
    for record in grove.records:
        stepped = evolve_state(stepped, record)
    return grove.replayed() == stepped == grove.state


@pytest.mark.torture
@given(graph=graphs("work fork"), seed=st.integers(0, 2**32), slots=st.sampled_from([1, 2, 9]))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
def test_without_people_a_tree_ends_or_comes_to_rest_at_a_person(
    grove_of: "type[Grove]", graph: str, seed: int, slots: int
) -> None:
    protocol = compiled(graph)
    grove = grove_of(protocol, slots).start(text="a")
    fate = Fate(seed, grove)
    for _ in range(4_000):
        if not fate.step():
            break
    else:
        pytest.fail("still running")
    assert grove.state.outcome or grove.state.decisions
    # Between a plan and its children others may plan, too. What failed is done again under
    # another name whenever the graph comes back to the same plan, which costs a budget.
    assert len([name for name in grove.state.instances if "-r" not in name]) <= 9
    for key, spent in grove.state.spent.items():
        assert 0 <= spent <= protocol.budgets[key.rpartition("/")[2]].limit
    assert is_replayed(grove)


@pytest.mark.torture
@given(graph=graphs("work fork gate"), seed=st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
def test_with_people_late_answers_and_stops_a_tree_never_stands_still(
    grove_of: "type[Grove]", graph: str, seed: int
) -> None:
    grove = grove_of(compiled(graph), 2).start(text="a")
    fate = Fate(seed, grove)
    events = [fate.step] * 16 + [fate.person] * 3 + [fate.late, fate.pause]
    for _ in range(120):
        if grove.state.outcome:
            break
        fate.dice.choice(events)()
        if grove.state.paused and fate.dice.random() < 0.5:
            fate.pause()
    assert is_replayed(grove)


@pytest.mark.torture
@given(seed=st.integers(0, 2**32), slots=st.sampled_from([1, 3, 9]))
@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=SLOW)
def test_the_packaged_tree_keeps_all_of_this_whatever_is_answered(
    grove_of: "type[Grove]", v3_protocol: p.Protocol, seed: int, slots: int
) -> None:
    """The exits that end work are rare here, so that runs come far."""
    grove = grove_of(add_engine_states(v3_protocol), slots).start()
    dice = random.Random(seed)
    for _ in range(250):
        hands = [h for h in grove.state.in_hand.values() if h.kind != PATIENT]
        if not hands:
            break
        hand = dice.choice(hands)
        if hand.effect in grove.queue.unwanted:
            grove.tell(f.EffectStopped(effect=hand.effect))
        elif hand.kind == "ask":
            grove.tell(f.DecisionAsked(effect=hand.effect, digest=""))
        else:
            answer(grove, dice, hand.position)
    assert is_replayed(grove)


def answer(grove: "Grove", dice: random.Random, position: str) -> None:
    standing = grove.state.positions[position]
    where = (standing.instance, standing.state)
    if standing.state == "scaffold" and dice.random() < 0.8:
        most = grove.request(*where).values["children"]["most"]
        names = dice.sample("abc", dice.randint(0, min(3, most)))
        specs = [grove.spec(name, description=dice.choice("xy")) for name in names]
        grove.plan(standing.instance, *specs)
    elif dice.random() < 0.85:
        grove.ends_well(position)
    elif grove.request(*where).kind == "git":
        grove.git(*where, dice.choice(["conflict", "refused"]), children=["a"])
    else:
        grove.says(*where, dice.choice(grove.request(*where).exits).name)
