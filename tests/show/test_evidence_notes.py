"""What was measured and found good is told for the phase of a question, and for no other."""

import json
from typing import Any

from porch.dialects.registry import parse_definition
from porch.machine.approvals import add_engine_states
from porch.machine.exits.touched_files import list_touched_files
from porch.machine.facts import Payload
from porch.machine.state import RunState, Standing
from porch.model import protocol as p
from porch.show.decision import list_decisions
from porch.show.evidence_notes import (
    BEYOND,
    OUTSIDE,
    describe_measurement,
    list_abstentions,
    list_full_rounds,
)
from porch.testing import Rig
from porch.testing.rig import CheckResult

STATES = ("specify:gate", "specify:consult", "plan:consult", "one:gate", "one:consult")
PROTOCOL = p.Protocol(
    "p",
    p.Target("specify:gate"),
    {name: p.State(name, name.partition(":")[0], p.End("complete")) for name in STATES},
    (),
)


def test_full_rounds_of_the_phase_are_told() -> None:
    memory = {
        ("", ""): {
            "specify:consult.changes": {"coverage": "1 of 3 gave a verdict"},
            "specify:consult.approved": {"coverage": "3 of 3 gave a verdict"},
            "plan:consult.approved": {"coverage": "2 of 2 gave a verdict"},
        },
    }
    at = Standing("specify:gate#1", "", "specify:gate", "", 1, "")
    assert list_full_rounds(PROTOCOL, RunState(memory=memory), at) == ["3 of 3 gave a verdict"]


def test_a_round_from_which_somebody_was_missing_is_not_full() -> None:
    memory = {("", ""): {"one:consult.approved": {"coverage": "1 of 2", "abstained": [{}]}}}
    at = Standing("one:gate#1", "", "one:gate", "", 1, "")
    assert list_full_rounds(PROTOCOL, RunState(memory=memory), at) == []


def test_a_check_that_passed_before_it_failed_is_not_told_as_passed() -> None:
    checks = {name: {"command": "true", "max_retries": 1} for name in ("build", "test")}
    reading = parse_definition(
        json.dumps({"name": "p", "phases": [{"id": "one", "checks": checks}]}), "protocol.json"
    )
    assert reading.protocol is not None
    rig = Rig(add_engine_states(reading.protocol)).start()
    results: list[CheckResult] = ["passed", "failed"]
    while "ask" not in {hand.kind for hand in rig.state.in_hand.values()}:
        if results[0] == "failed":
            rig.fires()
        rig.exit(next(each.name for each in getattr(rig.request("agent"), "exits", ())))
        for name, result in zip(checks, results, strict=True):
            rig.check(name, result, f"t{rig.state.turns}")
        results = ["failed", "passed"]
    rig.asked()
    (asked,) = list_decisions(rig.protocol, rig.state)
    assert asked["evidence"] == ["passed: test"]


class ReadMemory(dict[str, Payload]):
    """Counts how often somebody goes through it."""

    def __init__(self, kept: dict[str, Payload]):
        super().__init__(kept)
        self.times = 0

    def items(self) -> Any:
        self.times += 1
        return super().items()


def test_a_picture_does_not_read_again_what_members_that_ended_remember() -> None:
    told: dict[str, Payload] = {
        "touched.impl": {"paths": ["tox.ini"]},
    }
    memory = {(f"m{number}", ""): ReadMemory(told) for number in range(50)}
    first = _tell_all(RunState(memory=memory))
    assert first == [["tox.ini"], []]
    once = [each.times for each in memory.values()]
    assert _tell_all(RunState(memory={**memory, ("more", ""): {}})) == first
    assert [each.times for each in memory.values()] == once


def _tell_all(state: RunState) -> list[list[str]]:
    return [
        list(list_touched_files(state)),
        list_abstentions(state),
    ]


def test_x1_what_changed_outside_is_a_report_of_its_own() -> None:
    changes = [f"branch b{number}: none -> 1" for number in range(22)]
    kept = {"changes": changes, "unpermitted": ["a.md"]}
    state = RunState(memory={("", ""): {"outside.one": kept}})
    assert describe_measurement(PROTOCOL, state)[BEYOND] == "a.md", "X10"
    told = describe_measurement(PROTOCOL, state)[OUTSIDE]
    assert "branch b19: none -> 1, and 2 more (you, another run or the agent" in told
