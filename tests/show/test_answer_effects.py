"""A button says what follows: which phase begins, where the work goes back to, or the end."""

import json
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.machine.facts import Item
from porch.machine.state import LoopItems, RunState, Standing
from porch.model.protocol import Protocol
from porch.show.answer_effects import describe_effect


def compiled(*phases: dict[str, Any]) -> Protocol:
    text = json.dumps({"name": "p", "phases": list(phases)})
    protocol = parse_definition(text, "protocol.json").protocol
    assert protocol is not None
    return protocol


def effect(protocol: Protocol, state: str, exit_: str, run: RunState | None = None) -> str:
    return describe_effect(
        protocol, run or RunState(), Standing(f"{state}#1", "", state, "", 1, ""), exit_
    )


def test_it_names_the_phase_that_begins_or_the_way_back() -> None:
    protocol = compiled(
        {"id": "one", "name": "Specify", "gate": {"name": "go", "next": "two"}},
        {"id": "two", "name": "Build", "gate": {"name": "end", "next": None}},
    )
    assert effect(protocol, "one:gate", "approved") == "starts Build"
    assert effect(protocol, "one:gate", "rejected") == "goes back to Specify"
    assert effect(protocol, "two:gate", "approved") == "ends the run: complete"
    assert effect(protocol, "one:gate", "no such") == ""


def test_it_passes_over_the_checks_behind_a_gate() -> None:
    protocol = compiled(
        {
            "id": "one",
            "checks": {"build": {"command": "true"}},
            "gate": {"name": "go", "next": "two"},
        },
        {"id": "two"},
    )
    assert effect(protocol, "one:gate", "approved") == "starts two after its checks"


@pytest.mark.parametrize("number,told", [(1, " (1 phase)"), (3, " (3 phases)")])
def test_it_counts_the_phases_of_a_plan_that_was_read(number: int, told: str) -> None:
    protocol = compiled(
        {"id": "plan", "artifacts": ["plan.md"], "gate": {"name": "go", "next": "do"}},
        {"id": "do", "type": "per_plan_phase", "phases_from": "plan.md"},
    )
    loop = protocol.states["do"].loop
    items = tuple(
        Item(id=f"phase_{n}", title="t", description="", digest="") for n in range(number)
    )
    state = RunState(items={("", loop): LoopItems(items, "")})
    assert effect(protocol, "plan:gate", "approved", state) == f"starts do{told}"
    assert effect(protocol, "plan:gate", "approved") == "starts do"


def test_it_passes_over_what_porch_commits_itself() -> None:
    protocol = compiled(
        {
            "id": "one",
            "artifacts": ["spec.md"],
            "on_complete": {"commit": True},
            "gate": {"name": "go", "next": "two"},
        },
        {"id": "two"},
    )
    assert any(name.endswith(":commit") for name in protocol.states)
    assert effect(protocol, "one:gate", "approved") == "starts two"
