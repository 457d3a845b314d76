"""What is measured again in front of the end, and what is not (K12)."""

import json
from typing import Any

from porch.dialects.registry import parse_definition
from porch.errors import errors_in
from porch.model.protocol import LAST_ITEM, Check, Command, Protocol, Target

STATE = "complete:checks"
LAST = {"id": "last"}


def compiled(*phases: dict[str, Any], **top: Any) -> Protocol:
    text = json.dumps({"name": "p", "phases": list(phases), **top})
    reading = parse_definition(text, "p.json")
    assert reading.protocol is not None, errors_in(reading.findings)
    return reading.protocol


def repeated(protocol: Protocol) -> dict[str, Command]:
    state = protocol.states.get(STATE)
    actor = state.actor if state else Check(())
    assert isinstance(actor, Check)
    return {command.name: command for command in actor.commands}


def test_what_is_measured_in_two_phases_is_repeated_once() -> None:
    protocol = compiled(
        {"id": "a", "checks": {"tests": "run"}}, {"id": "b", "checks": {"tests": "run"}}, LAST
    )
    assert repeated(protocol)["tests"].evidence == (
        "evidence.a:tests", "evidence.b:tests", "evidence.complete:tests",
    )  # fmt: skip
    failed = list(protocol.edges_of(STATE, "failed"))
    person = (Target(f"failed:{STATE}"),)
    assert [edge.targets for edge in failed] == [person, (Target("b"),), (Target("b"),)]


def test_one_name_for_two_things_is_told_apart() -> None:
    protocol = compiled(
        {"id": "a", "checks": {"tests": "one"}}, {"id": "b", "checks": {"tests": "two"}}, LAST
    )
    assert {name: each.shell for name, each in repeated(protocol).items()} == {
        "a-tests": "one",
        "b-tests": "two",
    }


def test_what_is_of_its_moment_or_of_one_item_or_binds_nobody_is_not_repeated() -> None:
    checks = {
        "once": {"command": "x", "once": True},
        "optional": {"command": "y", "optional": True},
        "item": "grep $PLAN_PHASE_ID log",
    }
    protocol = compiled({"id": "a", "checks": checks}, LAST)
    assert STATE not in protocol.states


def test_nothing_is_repeated_where_it_is_measured_last_anyway() -> None:
    protocol = compiled(LAST, {"id": "a", "checks": {"tests": "run"}, "gate": {"name": "g"}})
    assert STATE not in protocol.states


def test_reviewers_behind_the_checks_take_their_time_too() -> None:
    panel = {"models": ["gemini"], "type": "review"}
    protocol = compiled({"id": "a", "checks": {"tests": "run"}, "consultation": panel})
    assert list(repeated(protocol)) == ["tests"]


def test_a_loop_is_gone_back_to_at_its_last_item_and_left_by_way_of_the_checks() -> None:
    phased = {"id": "a", "phased": True, "checks": {"tests": "run"}}
    protocol = compiled({"id": "plan"}, phased, {"id": "b", "phased": True})
    (_, failed, _) = protocol.edges_of(STATE, "failed")
    assert failed.targets == (Target("a", LAST_ITEM),)
    assert protocol.loops["a"].after == Target(STATE)
