"""What is told of a run at work: only what was measured."""

import json
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.machine.approvals import add_engine_states
from porch.show.cost import describe_money
from porch.show.fleet.live_status import LiveStatus, describe_live_status
from porch.testing import Rig

BUILD: dict[str, Any] = {
    "id": "build",
    "phased": True,
    "checks": {"unit": {"command": "true", "max_retries": 1, "retry_delay": 0}},
    "transition": {"on_complete": "ship"},
}
SHIPPED: dict[str, Any] = {
    "id": "build",
    "checks": {"unit": {"command": "true", "max_retries": 1}},
    "transition": {"on_complete": "ship"},
}
PANEL: dict[str, Any] = {
    "id": "draft",
    "substates": ["write", "consult"],
    "initial_substate": "write",
    "signals": {"WRITTEN": "draft:consult"},
    "consultation": {"on": "consult", "models": ["claude", "codex"]},
    "transition": {"on_complete": "build"},
}


def start(*phases: dict[str, Any]) -> Rig:
    text = json.dumps({"name": "p", "phases": [*phases, {"id": "ship"}]})
    protocol = parse_definition(text, "protocol.json").protocol
    assert protocol is not None
    return Rig(add_engine_states(protocol)).start()


def status_of(rig: Rig, allowed: float = 0, *, is_scripted: bool = False) -> LiveStatus:
    return describe_live_status(rig.protocol, rig.state, allowed, is_scripted=is_scripted)


def test_a_run_says_how_far_it_is_and_who_works() -> None:
    rig = start(BUILD)
    rig.reads("phase_1", "phase_2")
    status = status_of(rig)
    assert status.title == "0073 A title"
    assert (status.number, [row.phase for row in status.phases][:2]) == (1, ["build", "ship"])
    assert status.place == "build, plan phase 1 of 2: Phase_1"
    assert [(w.kind, w.name, w.place) for w in status.workers] == [
        ("agent", "build", "build, plan phase 1 of 2")
    ]
    assert status.spent == ""
    assert status.trouble == ""


def test_the_failure_of_the_attempt_before_is_told() -> None:
    rig = start(BUILD)
    rig.reads("phase_1")
    rig.exit("PHASE_COMPLETE")
    assert [w.kind for w in status_of(rig).workers] == ["check"]
    rig.check("unit", "failed")
    while any(hand.kind == "timer" for hand in rig.state.in_hand.values()):
        rig.fires()
    status = status_of(rig)
    assert status.place == "build, plan phase 1 of 1, attempt 2 of 2: Phase_1"
    assert status.trouble == "unit failed: unit says failed"
    assert status.spent == "2 agent turns, cost unknown"
    assert status_of(rig, is_scripted=True).spent == "2 agent turns"


def test_each_reviewer_at_work_is_told() -> None:
    rig = start(PANEL, BUILD)
    rig.exit("WRITTEN")
    while any(hand.kind == "check" for hand in rig.state.in_hand.values()):
        rig.check(next(h.name for h in rig.state.in_hand.values() if h.kind == "check"), "passed")
    assert [worker.name for worker in status_of(rig).workers] == ["claude", "codex"]


def test_the_last_phase_is_called_what_it_is_and_a_run_that_is_over_is_in_none() -> None:
    rig = start(SHIPPED)
    rig.exit("PHASE_COMPLETE")
    rig.check("unit", "passed")
    rig.exit("PHASE_COMPLETE")
    assert [row.phase for row in status_of(rig).phases] == ["build", "ship", "final checks"]
    assert status_of(rig).place == "final checks"
    while not rig.state.outcome:
        rig.check(next(h.name for h in rig.state.in_hand.values() if h.kind == "check"), "passed")
    status = status_of(rig)
    assert (status.number, status.place, status.workers) == (0, "", [])


@pytest.mark.parametrize(
    "turns, usd, allowed, expected",
    [
        (0, 0, 0, ""),
        (0, 0, 5, "0.00 of 5.00 USD"),
        (2, 0.5, 0, "0.50 USD"),
        (2, 0.5, 5, "0.50 of 5.00 USD"),
        (2, 0, 0, "cost unknown"),
        (2, 0, 5, "cost unknown (limit 5.00 USD)"),
    ],
)
def test_what_an_agent_did_not_tell_is_unknown_and_not_free(
    turns: int, usd: float, allowed: float, expected: str
) -> None:
    cost: Any = {"turns": turns, "usd": usd, "tokens": 0, "seconds": 0}
    assert describe_money(cost, allowed) == expected


def test_a_wait_before_the_next_try_is_told_like_work() -> None:
    rig = start(SHIPPED)
    rig.exit("PHASE_COMPLETE")
    rig.check("unit", "failed")
    assert [worker.kind for worker in status_of(rig).workers] == ["timer"]
