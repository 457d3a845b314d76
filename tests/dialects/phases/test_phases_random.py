"""No document breaks the reader, and what it accepts keeps the rules of every protocol."""

import json
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from porch.dialects.phases.keys import KEYS
from porch.dialects.registry import parse_definition
from porch.errors import errors_in
from porch.model.protocol import Edge, End, Guard, Human, Protocol, Target
from porch.model.validate import exits_of, validate_protocol

PHASES = ["specify", "plan", "implement", "review"]
STEPS = ["draft", "consult", "revise", "final", "build", "extra"]
ALL_KEYS = sorted({key for keys in KEYS.values() for key in keys} | {"$schema", "_x", "phaze"})
ODD_TEXTS = ["", "x", "../up", "/etc", "a b", "reason", "once", "complete", "specify", "silent"]
quick = settings(max_examples=80, deadline=None)
seeds = st.integers(0, 2**32).map(Random)


def anything(dice: Random, depth: int = 3) -> Any:
    """Any JSON value, made of the words that the reader looks for."""
    kind = dice.randrange(9 if depth else 6)
    if kind < 3:
        return dice.choice(ODD_TEXTS)
    if kind < 6:
        return dice.choice([None, True, False, -1, 0, 1, 3, 2.5, 10**30])
    size = range(dice.randrange(4))
    if kind == 6:
        return [anything(dice, depth - 1) for _ in size]
    return {dice.choice(ALL_KEYS + ODD_TEXTS): anything(dice, depth - 1) for _ in size}


def shaped(dice: Random, kind: str) -> dict[str, Any]:
    """The right keys with any values at all."""
    keys = sorted(KEYS[kind])
    return {key: anything(dice) for key in dice.sample(keys, min(len(keys), dice.randrange(9)))}


@quick
@given(seeds)
def test_any_json_document_is_read_without_a_crash(dice: Random) -> None:
    reading = parse_definition(json.dumps(anything(dice, 5)), "p.json")
    assert (reading.protocol is None) == bool(errors_in(reading.findings))


@quick
@given(seeds)
def test_any_protocol_shaped_document_is_read_without_a_crash(dice: Random) -> None:
    phases = [
        {"id": name, **shaped(dice, "phase")} for name in dice.sample(PHASES, dice.randrange(5))
    ]
    reading = parse_definition(
        json.dumps({"name": "p", **shaped(dice, "protocol"), "phases": phases}), "p.json"
    )
    assert (reading.protocol is None) == bool(errors_in(reading.findings))
    assert all(finding.place is not None for finding in reading.findings)


def test_a_protocol_without_work_is_an_error() -> None:
    document = {"name": "p", "phases": [{"id": "review", "terminal": True}]}
    reading = parse_definition(json.dumps(document), "p.json")
    assert reading.protocol is None
    assert [finding.code for finding in errors_in(reading.findings)] == ["missing-key"]


class Author:
    """Writes protocols that are odd but mean something."""

    def __init__(self, dice: Random):
        self.dice = dice
        self.ids = dice.sample(PHASES, dice.randint(1, 4))
        self.steps = {id_: dice.sample(STEPS, dice.choice([0, 0, 2, 3, 4])) for id_ in self.ids}

    def maybe(self, value: Any, chance: float = 0.4) -> dict[str, Any]:
        return value if self.dice.random() < chance else {}

    def target(self, id_: str) -> str:
        inside = [f"{id_}:{step}" for step in self.steps[id_]]
        words = [*self.ids, *inside, "complete", "next_phase", "next_phase_or_review"]
        return self.dice.choice([*words, "current_phase"])

    def checks(self) -> dict[str, Any]:
        return {
            name: {
                "command": "true",
                **self.maybe({"on_fail": self.dice.choice(["retry", *self.ids])}),
                **self.maybe({"max_retries": self.dice.randrange(3)}),
                **self.maybe({"optional": True}, 0.2),
            }
            for name in self.dice.sample(["build", "tests", "lint"], self.dice.randint(1, 2))
        }

    def phase(self, id_: str) -> dict[str, Any]:
        steps = self.steps[id_]
        after = {"after": self.dice.choice(steps)} if steps else {}
        needed = {"requires": self.dice.sample(["sign", "tested", "seen", "agreed"], 2)}
        gate = {
            **self.maybe(after),
            **self.maybe({"next": self.target(id_)}),
            **self.maybe(needed, 0.3),
        }
        panel = {"models": ["a", "b"], **self.maybe({"next": self.target(id_)}, 0.3)}
        names = self.dice.sample(["DONE", "BACK", "PHASE_COMPLETE", "X_DRAFTED"], 2)
        ways = {
            "on_complete": self.target(id_),
            **self.maybe({"on_fail": self.dice.choice(self.ids)}),
            **self.maybe({"on_all_phases_complete": self.target(id_)}),
        }
        return {
            "id": id_,
            "artifact": "a.md",
            "substates": steps,
            **self.maybe({"phased": True}),
            **self.maybe({"checks": self.checks()}),
            **self.maybe({"verification": {"checks": self.checks(), "max_retries": 1}}, 0.3),
            **self.maybe({"consultation": {**panel, "max_rounds": self.dice.randint(1, 3)}}),
            **self.maybe({"gate": gate}),
            **self.maybe({"signals": {name: self.target(id_) for name in names}}),
            **self.maybe({"transition": ways}),
            **self.maybe({"on_complete": {"commit": True}}, 0.3),
        }

    def protocol(self) -> dict[str, Any]:
        common = {"PHASE_COMPLETE": {"transitions_to": self.target(self.ids[0])}, "X": None}
        return {
            "name": "p",
            "phases": [self.phase(id_) for id_ in self.ids],
            **self.maybe({"signals": common}, 0.3),
            **self.maybe({"phase_completion": self.checks()}),
        }


AUTHORS_FAULTS = {
    "unknown-state", "no-agent", "late-step", "wrong-value", "no-end", "unknown-step", "no-way-out",
    "gate-avoided",
}  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_what_the_compiler_draws_never_breaks_a_rule_of_the_model(dice: Random) -> None:
    reading = parse_definition(json.dumps(Author(dice).protocol()), "p.json")
    assert {finding.code for finding in errors_in(reading.findings)} <= AUTHORS_FAULTS
    if reading.protocol is not None:
        assert not errors_in(validate_protocol(reading.protocol, {}))


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_without_people_every_run_comes_to_rest_whatever_the_actors_answer(dice: Random) -> None:
    protocol = parse_definition(json.dumps(Author(dice).protocol()), "p.json").protocol
    if protocol is not None:
        Walk(protocol, dice).until_rest()


class Walk:
    """A run in a few lines: budgets and memory as the model describes them, stubborn actors."""

    def __init__(self, protocol: Protocol, dice: Random):
        self.protocol = protocol
        self.dice = dice
        self.state = protocol.initial.state
        self.item = 0
        self.memory: set[tuple[str, int]] = set()
        self.spent: dict[tuple[str, int], int] = {}
        self.habits: dict[str, str] = {}

    def until_rest(self) -> None:
        for _ in range(20_000):
            actor = self.protocol.states[self.state].actor
            if isinstance(actor, (Human, End)):
                return
            self.step()
        raise AssertionError(f"still going at {self.state}")

    def step(self) -> None:
        exits = exits_of(self.protocol.states[self.state])
        habit = self.habits.setdefault(self.state, self.dice.choice(exits))
        exit_ = habit if self.dice.random() < 0.8 else self.dice.choice(exits)
        self.memory.add((f"{self.state}.{exit_}", self.item))
        edges = self.protocol.edges_of(self.state, exit_)
        edge = next(edge for edge in edges if all(map(self.holds, edge.guards)))
        self.follow(edge)

    def holds(self, guard: Guard) -> bool:
        present = (guard.path, self.item) in self.memory
        return present and (guard.test == "present" or self.dice.random() < 0.5)

    def follow(self, edge: Edge) -> None:
        targets, key = edge.targets, (edge.charges, self.item)
        if edge.charges:
            if self.spent.get(key, 0) >= self.protocol.budgets[edge.charges].limit:
                targets = edge.spent
            else:
                self.spent[key] = self.spent.get(key, 0) + 1
        for name in edge.resets:
            self.spent.pop((name, self.item), None)
        for path in edge.forgets:
            self.memory.discard((path, self.item))
        self.go(targets[0])

    def go(self, target: Target) -> None:
        if target.next_of:
            loop = self.protocol.loops[target.next_of]
            self.item = (self.item + 1) % 3
            self.state = loop.first if self.item else loop.after.state
        else:
            self.state = target.state


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_l15_nothing_leads_out_of_a_loop_forward_before_unfinished_items_are_asked_about(
    dice: Random,
) -> None:
    protocol = parse_definition(json.dumps(Author(dice).protocol()), "p.json").protocol
    for edge in protocol.edges if protocol else ():
        loop = protocol.states[edge.state].loop if protocol else ""
        if protocol and loop and not edge.state.startswith("unfinished:"):
            beyond = [t for t in edge.targets if is_beyond(protocol, loop, t)]
            asking = (*edge.guards, Guard(loop, "unfinished"))
            fronts = [each.guards for each in protocol.edges_of(edge.state, edge.exit)]
            assert not beyond or asking in fronts


def is_beyond(protocol: Protocol, loop: str, target: Target) -> bool:
    last = max(
        protocol.order(name) for name, state in protocol.states.items() if state.loop == loop
    )
    is_later = bool(target.state) and protocol.order(target.state) > last
    return is_later and target.state != "abandoned"
