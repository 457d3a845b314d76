"""A tree of instances without git, agents or a clock: the test says how each effect ended."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

import porch
from porch.dialects.registry import parse_definition
from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import PATIENT
from porch.machine.evolve import apply_begun_effects, evolve_state, fold_records
from porch.machine.records import JournalRecord, decode_record, encode_record
from porch.machine.route import route_fact
from porch.machine.state import Instance, RunState
from porch.machine.wanted import wanted_effects
from porch.machine.wishes import find_refusal
from porch.model import protocol as p
from porch.run.engine.queue import EffectQueue
from porch.text import formats

GitExit = Literal["clean", "conflict", "refused"]
Values = dict[str, Any]


def spec(name: str = "root", **more: Any) -> Values:
    """What an instance is about; its one criterion bears its name."""
    return {
        "id": name,
        "description": f"the part {name}",
        "acceptanceCriteria": [{"id": f"{name}-1", "text": f"{name} works"}],
        "targetPath": f"src/{name}",
        "testPath": f"tests/{name}",
        **more,
    }


ANSWERS: Mapping[str, Values] = {
    "InitWork": {
        "scaffoldCommit": "5ca",
        "interfaceFile": "src/api.py",
        "contractSuite": "tests/contract",
        "testPlan": [],
        "childSpecs": None,
        "interfaces": None,
    },
    "ClarificationNeeded": {"question": "How?", "ambiguityReference": "", "specSentence": ""},
    "Answered": {"answer": "Thus."},
    "Revised": {"answer": "Thus.", "acceptanceCriteria": [{"id": "new-1", "text": "thus"}]},
    "PassUp": {"why": "I do not know"},
    "TestsReady": {"testsCommit": "7e5", "testFiles": ["tests/x.py"], "pendingCriteria": ["x-1"]},
    "InvalidScaffold": {"missingType": "T", "expectedLocation": "src/api.py"},
    "Approved": {"signOff": "good", "coverageReport": {}, "patch": "p"},
    "MoreTests": {"critiques": [{"issue": "slow"}], "additionalTests": []},
    "Reject": {"reason": "no", "missingCriteria": []},
    "Accepted": {"reason": "as agreed"},
    "Rejected": {"reason": "ContractViolation", "details": "red", "failingTests": ["t"]},
    "TestsPassed": {"commitHash": "c0de", "iterations": 1, "passedTests": ["t"]},
    "RequestRetry": {
        "diagnosis": "d",
        "strategyFrom": "a",
        "strategyTo": "b",
        "failingTests": ["t"],
    },
    "BlockedDependency": {"missingSymbol": "s", "expectedImportPath": "src/s.py"},
    "SpecAmbiguity": {"specSentence": "s", "contradictionTrace": "c", "question": "q"},
    "Stuck": {"diagnosis": "d", "recommendation": "r", "attempts": 1},
    "MergeComplete": {"mergeCommit": "", "author": "", "impactLevel": "Additive", "changes": []},
    "MergeRejected": {"reason": "BuildFailure", "details": "red", "failingTests": []},
    "RebaseClean": {"newBase": "b"},
    "RebaseAdapted": {"newBase": "b", "adaptations": []},
    "RebaseConflict": {
        "conflictFile": "src/x.py",
        "ourChange": "o",
        "theirChange": "t",
        "whyUnresolvable": "w",
    },
}
REFUSAL = {"reason": "IntegrationFailure", "details": "red", "failingTests": ["t"]}
# How each state ends where everything goes well.
WELL = {
    "scaffold": "InitWork",
    "write_tests": "TestsReady",
    "impl": "TestsPassed",
    "review": "Approved",
    "merger": "MergeComplete",
    "judge": "Accepted",
    "answer": "Answered",
    "rebase": "RebaseClean",
}


class Grove:
    """One run of a tree: each fact is routed, recorded and followed by what a driver would start.

    After every record it is seen to that nothing stands still, that no id comes twice, that what
    was asked again for some positions is what all of them want, and that what began is what the
    order of asking and the holders allow.
    """

    def __init__(self, protocol: p.Protocol, slots: int = 9):
        self.protocol = protocol
        self.slots = slots
        self.state = RunState()
        self.records: list[JournalRecord] = []
        self.queue = EffectQueue({e.AGENT_SLOT: slots})
        self.queue.load(protocol, self.state)
        self.begun: set[str] = set()

    spec = staticmethod(spec)

    def start(self, into: str = "main", **more: Any) -> "Grove":
        return self.start_with(spec(complexityConstraints=None, **more), into)

    def start_with(self, about: Values, into: str = "main") -> "Grove":
        name = f"{self.protocol.name}/7"
        self.tell(
            f.RunStarted(
                run=name,
                id="7",
                title="t",
                protocol=self.protocol.name,
                digest="d",
                spec=about,
                branch="b",
                into=into,
            )
        )
        return self

    def tell(self, fact: f.Fact) -> JournalRecord:
        """One fact, one record."""
        moves = route_fact(self.protocol, self.state, fact)
        seq = self.state.seq + 1
        at = f"2026-01-01T00:{seq // 60 % 60:02}:{seq % 60:02}Z"
        moved = evolve_state(self.state, JournalRecord(seq, at, fact, moves))
        self.queue.refresh(self.protocol, moved, moves)
        due = self._due(moved)
        record = JournalRecord(seq, at, fact, moves, tuple(self.queue.choose()))
        assert [hand.effect for hand in record.begun] == due
        for hand in record.begun:
            self.queue.take(hand)
        self.state = apply_begun_effects(moved, record.begun)
        self.records.append(record)
        self._look()
        return record

    def _due(self, state: RunState) -> list[str]:
        """The rule as it is written: in the order of asking, whatever all it uses is free for."""
        used = Counter(name for hand in state.in_hand.values() for name in hand.uses)
        due = []
        for request in self.queue.waiting.values():
            room = {name: self.slots if name == e.AGENT_SLOT else 1 for name in request.uses}
            is_free = all(used[name] < room[name] for name in request.uses)
            holders = {state.held.get(name, request.position) for name in request.uses}
            if is_free and holders <= {request.position}:
                used.update(request.uses)
                due.append(request.id)
        return due

    def _look(self) -> None:
        fresh = [hand.effect for hand in self.records[-1].begun]
        assert len(fresh) == len(set(fresh))
        assert not self.begun.intersection(fresh)
        self.begun.update(fresh)
        self._look_at_what_is_wanted()
        self._look_at_who_lives()
        for resource, position in self.state.held.items():
            assert position in self.state.positions, resource

    def _look_at_what_is_wanted(self) -> None:
        state = self.state
        every = {place: wanted_effects(self.protocol, state, place) for place in state.positions}
        known = {place: found for place, found in self.queue._by_position.items() if found}
        assert known == {place: found for place, found in every.items() if found}
        if not state.outcome and not state.paused:
            assert state.in_hand or state.decisions, "stuck"

    def _look_at_who_lives(self) -> None:
        """Who lives stands somewhere or waits; who is over stands nowhere and has nobody below."""
        standing = {each.instance for each in self.state.positions.values()}
        living = {name for name, known in self.state.instances.items() if not known.outcome}
        waiting = {name for name in living if self.state.instances[name].after}
        assert standing == living - waiting
        assert all(self.state.instances[name].parent in living for name in living)

    def at(self, instance: str = "") -> set[str]:
        """The states in which an instance stands."""
        return {s.state for s in self.state.positions.values() if s.instance == instance}

    def place(self, instance: str, state: str) -> str:
        """The position of an instance in a state; a position stands for itself."""
        if state in self.state.positions:
            return state
        found = [
            s.position
            for s in self.state.positions.values()
            if (s.instance, s.state) == (instance, state)
        ]
        assert found, f"{instance or 'the root'} stands at {self.at(instance)}, not at {state}"
        return found[-1]

    def of(self, instance: str) -> Instance:
        return self.state.instances[instance]

    def recall(self, instance: str, path: str) -> Any:
        return self.state.memory.get((instance, ""), {}).get(path)

    def request(self, instance: str, state: str) -> Any:
        """What a position wants now, whether or not it could begin."""
        return wanted_effects(self.protocol, self.state, self.place(instance, state))[0]

    def runs(self, instance: str, state: str) -> bool:
        """Whether a process for this state is in hand."""
        hands = self.state.in_hand.values()
        return state in self.at(instance) and any(
            hand.position == self.place(instance, state) for hand in hands
        )

    def held(self, instance: str, state: str) -> str:
        position = self.place(instance, state)
        found = [h.effect for h in self.state.in_hand.values() if h.position == position]
        assert found, f"nothing is in hand for {position}"
        return found[0]

    def says(self, instance: str, state: str, exit_: str, **more: Any) -> JournalRecord:
        """An agent's answer, accepted; every answer is given on content of its own."""
        effect, tree = self.held(instance, state), more.pop("tree", f"t{self.state.seq}")
        session = more.pop("session", f"{instance}~{self.request(instance, state).role}")
        payload = {**ANSWERS.get(exit_, {}), **more}
        seen = {"name": "tests", "result": "passed", "report": state}
        evidence = (seen,) if tree else ()
        return self.tell(
            f.ExitAccepted(
                effect=effect,
                exit=exit_,
                payload=payload,
                session=session,
                said="so",
                tree=tree,
                evidence=evidence,
            )
        )

    def git(
        self, instance: str, state: str, exit_: GitExit = "clean", **more: Any
    ) -> JournalRecord:
        effect, request = self.held(instance, state), self.request(instance, state)
        payload = {**_ended(request, exit_, self.state.seq), **more}
        return self.tell(f.GitEnded(effect=effect, exit=exit_, payload=payload))

    def decide(self, instance: str, state: str, exit_: str, text: str = "") -> JournalRecord:
        """A person is asked, if they were not yet, and answers."""
        place = self.place(instance, state)
        if place not in self.state.decisions:
            self.tell(f.DecisionAsked(effect=self.held(instance, state), digest=""))
        wish = f.Wish(
            id=f"w{self.state.seq}", kind="decide", position=place, exit=exit_, text=text, who="ada"
        )
        assert find_refusal(self.protocol, self.state, wish) is None
        return self.tell(f.WishTaken(wish=wish))

    def plan(self, instance: str = "", *children: str | Values, **more: Any) -> JournalRecord:
        """The planner's InitWork, with children by name or by spec."""
        specs = [spec(each) if isinstance(each, str) else each for each in children]
        return self.says(instance, "scaffold", "InitWork", childSpecs=specs or None, **more)

    def goes(self, instance: str, state: str = "") -> "Grove":
        """All goes well with an instance until it stands at a state and nowhere before, or ends."""
        for _ in range(60):
            hands = [h for h in self.state.in_hand.values() if self._is_before(h, instance, state)]
            if not hands:
                break
            self.ends_well(hands[0].position)
        assert not state or self.at(instance) == {state}, self.at(instance)
        assert state or self.of(instance).outcome, self.at(instance)
        return self

    def _is_before(self, hand: Any, instance: str, state: str) -> bool:
        standing = self.state.positions.get(hand.position)
        return (
            standing is not None
            and hand.kind != PATIENT
            and (standing.instance == instance and standing.state != state)
        )

    def ends_well(self, position: str) -> JournalRecord:
        standing = self.state.positions[position]
        instance, state = standing.instance, standing.state
        if state in WELL:
            return self.says(instance, state, WELL[state])
        return self.git(instance, state)

    def let_go(self) -> None:
        """What a driver does with what nobody wants any more."""
        for effect in sorted(self.queue.unwanted):
            self.tell(f.EffectStopped(effect=effect))

    def replayed(self) -> RunState:
        return fold_records(RunState(), map(decode_record, map(encode_record, self.records)))

    def moved(self, kind: type) -> Iterator[Any]:
        """All moves of a kind, in their order."""
        for record in self.records:
            yield from (move for move in record.moves if isinstance(move, kind))

    def entered(self, instance: str) -> list[str]:
        """The states that an instance has come to, in their order."""
        return [move.state for move in self.moved(m.Entered) if move.instance == instance]


def _ended(request: e.MoveBranch, exit_: str, seq: int) -> Values:
    commit = f"commit-{seq}"
    base = (request.values.get("update") or {}).get("newParentHead", "")
    trouble = {"base": base, "kind": "conflict", "files": ["src/x.py"], "report": "red"}
    ends: Mapping[tuple[str, str], Values] = {
        ("contract", "clean"): {"report": "all green"},
        ("contract", "refused"): {"children": [], "report": "one is red"},
        ("candidate", "clean"): {"commit": commit, "old": "old", "evidence": []},
        ("candidate", "refused"): REFUSAL,
        ("candidate", "conflict"): REFUSAL,
        ("update", "clean"): {"base": base, "commit": commit},
        ("update", "refused"): {**trouble, "kind": "regression"},
        ("update", "conflict"): trouble,
    }
    usual = {"commit": commit} if exit_ == "clean" else {"reason": "because"}
    return ends.get((request.op, exit_), usual)


@pytest.fixture(scope="session")
def v3_protocol() -> p.Protocol:
    file = Path(porch.__file__).parent / "protocols" / "v3" / "v3.graph.yaml"
    reading = parse_definition(file.read_text(encoding="utf-8"), file.name)
    assert reading.protocol is not None, reading.findings
    return reading.protocol


def read_graph(text: str, **others: str) -> p.Protocol:
    """A graph by its text; `others` are those that its children may follow."""

    def fetch(name: str) -> formats.Node | None:
        found = others.get(name)
        return formats.read_tree(found, f"{name}.graph.yaml") if found is not None else None

    reading = parse_definition(text, "g.graph.yaml", fetch)
    assert reading.protocol is not None, [str(each) for each in reading.findings]
    return reading.protocol


@pytest.fixture(scope="session")
def grove_of() -> type[Grove]:
    return Grove


@pytest.fixture
def v3(v3_protocol: p.Protocol) -> Grove:
    """The packaged protocol at its beginning: the root's planner works."""
    return Grove(v3_protocol).start()


@pytest.fixture
def family(v3: Grove) -> Grove:
    """The root has planned three children, and its own tests are written and integrated."""
    v3.plan("", "a", "b", "c")
    v3.says("", "write_tests", "TestsReady")
    v3.git("", "integrate")
    return v3
