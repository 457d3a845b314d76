"""What was measured and found good is told for the phase of a question, and for no other."""

from typing import Any

from porch.machine.exits.touched_files import list_touched_files
from porch.machine.facts import Payload
from porch.machine.state import RunState, Standing
from porch.model import protocol as p
from porch.show.evidence_notes import list_abstentions, list_check_notes, list_good_evidence

STATES = ("specify:gate", "specify:consult", "plan:consult", "one:gate", "one:consult")
PROTOCOL = p.Protocol(
    "p",
    p.Target("specify:gate"),
    {name: p.State(name, name.partition(":")[0], p.End("complete")) for name in STATES},
    (),
)


def test_checks_and_reviews_of_the_phase_are_told() -> None:
    memory = {
        ("", ""): {
            "evidence.plan:sections": {"tree": "t"},
            "evidence.specify:lint": {"tree": "t"},
            "evidence.specify:test": {"tree": "t"},
            "specify:consult.changes": {"coverage": "1 of 3 gave a verdict"},
            "specify:consult.approved": {"coverage": "3 of 3 gave a verdict"},
            "plan:consult.approved": {"coverage": "2 of 2 gave a verdict"},
        },
        ("", "phase_1"): {"evidence.specify:types": {"tree": "t"}},
    }
    state = RunState(memory=memory)
    at = Standing("specify:gate#1", "", "specify:gate", "", 1, "")
    told = ["passed: lint, test", "reviews: 3 of 3 gave a verdict"]
    assert list_good_evidence(PROTOCOL, state, at).describe() == told
    inside = Standing("specify:gate:phase_1#1", "", "specify:gate", "phase_1", 1, "")
    assert list_good_evidence(PROTOCOL, state, inside).describe()[0] == "passed: lint, test, types"


def test_a_round_from_which_somebody_was_missing_is_not_good() -> None:
    memory = {("", ""): {"one:consult.approved": {"coverage": "1 of 2", "abstained": [{}]}}}
    at = Standing("one:gate#1", "", "one:gate", "", 1, "")
    assert list_good_evidence(PROTOCOL, RunState(memory=memory), at).describe() == []


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
        "check.passed": {"skipped": ["lint"]},
        "touched.impl": {"paths": ["tox.ini"]},
    }
    memory = {(f"m{number}", ""): ReadMemory(told) for number in range(50)}
    first = _tell_all(RunState(memory=memory))
    assert first == [["skipped: lint (there is no command to run)"], ["tox.ini"], []]
    once = [each.times for each in memory.values()]
    assert _tell_all(RunState(memory={**memory, ("more", ""): {}})) == first
    assert [each.times for each in memory.values()] == once


def _tell_all(state: RunState) -> list[list[str]]:
    return [
        list(list_check_notes(state)),
        list(list_touched_files(state)),
        list_abstentions(state),
    ]
