"""Gates that do not hold what they seem to are found; their nearest legal twins are not."""

import json
from pathlib import Path
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import Finding, errors_in

ROOT = Path(__file__).parents[3]
GOOD_FILES = [
    *sorted((ROOT / "tests" / "corpus" / "phases").glob("*.json")),
    *sorted((ROOT / "src" / "porch" / "protocols").glob("*/protocol.json")),
    *sorted((ROOT / "examples").rglob("protocol.json")),
    *sorted((ROOT / "skeleton").rglob("protocol.json")),
]


def found(code: str, *phases: dict[str, Any], **top: Any) -> list[Finding]:
    text = json.dumps({"name": "p", "phases": list(phases), **top}, indent=1)
    return [f for f in parse_definition(text, "p.json").findings if f.code == code]


def requiring(word: str, **keys: Any) -> dict[str, Any]:
    return {"id": "a", "gate": {"name": "g", "requires": [word]}, **keys}


@pytest.mark.parametrize(
    "word, keys, near",
    [
        ("spec_finl", {"steps": ["spec_draft", "spec_final"]}, "spec_final"),
        ("test-pass", {"checks": {"tests_pass": "x"}}, "tests_pass"),
        ("Build", {"checks": {"build": "x"}}, "build"),
        ("bulid", {"checks": {"build": "x"}}, "build"),
        ("consultaton", {"consultation": {"models": ["m"]}}, "consultation"),
        ("SPEC_REDY", {"signals": {"SPEC_READY": "b"}}, "SPEC_READY"),
        ("pr_has_tests", {"verification": {"checks": {"pr_has_test": "x"}}}, "pr_has_test"),
    ],
)
def test_l1_a_gate_that_requires_nearly_a_known_name_is_an_error(
    word: str, keys: dict[str, Any], near: str
) -> None:
    (finding,) = found("unknown-step", requiring(word, **keys), {"id": "b"})
    assert finding.severity == "error"
    assert finding.fix == f"did you mean '{near}'?"
    assert finding.place is not None
    assert finding.place.line > 1
    assert found("unknown-step", requiring(near, **keys), {"id": "b"}) == []


def test_l1_a_gate_that_requires_something_that_nothing_declares_is_an_error() -> None:
    (finding,) = found("unknown-step", requiring("signed_off", checks={"build": "x"}), {"id": "b"})
    assert finding.severity == "error"
    assert "requires 'signed_off', which is not a step, signal, check or review" in finding.message
    assert finding.place is not None
    assert finding.place.line > 5
    assert "'signals'" in finding.fix
    signals = {"signed_off": {"description": "somebody has looked"}}
    assert found("unknown-step", requiring("signed_off", signals=signals), {"id": "b"}) == []
    assert found("unknown-step", requiring("signed_off"), {"id": "b"}, signals=signals) == []


def test_l5_a_gate_name_that_is_used_twice_is_an_error() -> None:
    one, two = {"id": "a", "gate": "approval"}, {"id": "b", "gate": {"name": "approval"}}
    (finding,) = found("duplicate-name", one, two)
    assert finding.severity == "error"
    assert finding.message == "the gates of 'a' and 'b' are both called 'approval'"
    assert finding.place is not None
    assert finding.place.line > 5
    assert found("duplicate-name", one, {"id": "b", "gate": {"name": "release"}}) == []


def test_l5_the_name_that_a_gate_gets_by_itself_counts_too() -> None:
    unnamed = {"id": "b", "gate": {"description": "well?"}}
    assert found("duplicate-name", {"id": "a", "gate": "b_approval"}, unnamed)
    assert found("duplicate-name", {"id": "a", "gate": "a_approval"}, unnamed) == []


def test_l5_names_are_compared_within_one_file() -> None:
    assert found("duplicate-name", {"id": "a", "gate": "approval"}) == []
    assert found("duplicate-name", {"id": "b", "gate": "approval"}) == []


PLAN = {"id": "plan", "gate": "plan_ok"}


def test_q1_a_signal_that_jumps_over_a_gated_phase_is_an_error_with_the_way() -> None:
    start = {"id": "start", "signals": {"DONE": "plan", "FAST": "build"}}
    (finding,) = found("gate-avoided", start, PLAN, {"id": "build"})
    assert finding.severity == "error"
    assert finding.message == (
        "there is a way around the gate 'plan_ok' of 'plan': start -> build -> complete; "
        "'FAST' of 'start' leads past it"
    )
    assert "'FAST' of 'start'" in finding.fix
    assert finding.place is not None
    assert finding.place.line == 8
    assert found("gate-avoided", {"id": "start"}, PLAN, {"id": "build"}) == []


def test_l13_a_way_around_is_found_also_in_a_file_with_errors() -> None:
    start = {"id": "start", "type": "onec", "signals": {"DONE": "plan", "FAST": "build"}}
    assert found("gate-avoided", start, PLAN, {"id": "build"})


def test_l13_the_signal_is_named_also_where_checks_stand_behind_it() -> None:
    start = {"id": "start", "checks": {"c": "x"}, "signals": {"DONE": "plan", "FAST": "build"}}
    (finding,) = found("gate-avoided", start, PLAN, {"id": "build"})
    assert "'FAST' of 'start'" in finding.fix
    assert finding.place is not None
    assert finding.place.line == 11


def test_l13_a_signal_to_a_step_behind_the_gate_of_its_own_phase_is_a_way_around_it() -> None:
    steps: dict[str, Any] = {"id": "a", "steps": ["draft", "final"]}
    gate = {"name": "g", "after": "draft"}
    around = {**steps, "gate": gate, "signals": {"READY": "gate", "NOW": "a:final"}}
    assert "a -> complete; 'NOW' of 'a:draft'" in found("gate-avoided", around)[0].message
    assert found("gate-avoided", {**steps, "gate": gate}) == []


def test_l13_a_failed_check_that_leads_past_a_gate_is_a_way_around_it() -> None:
    check = {"command": "x", "on_fail": "build", "max_retries": 1}
    start = {"id": "start", "checks": {"c": check}}
    (finding,) = found("gate-avoided", start, PLAN, {"id": "build"})
    assert "start -> build -> complete; 'failed' of 'start:checks'" in finding.message
    back = {"id": "start", "checks": {"c": {**check, "on_fail": "start"}}}
    assert found("gate-avoided", back, PLAN, {"id": "build"}) == []


def test_l13_a_run_that_begins_behind_a_gate_has_a_way_around_it() -> None:
    (finding,) = found("gate-avoided", PLAN, {"id": "build"}, initial="build")
    assert finding.message.endswith("build -> complete; the run begins behind it, at 'build'")
    assert finding.place is not None
    assert found("gate-avoided", PLAN, {"id": "build"}, initial="plan") == []


def test_l13_what_people_decide_about_a_failure_is_no_way_around_a_gate() -> None:
    reviewed = {"consultation": {"models": ["m"]}, "verification": {"checks": {"c": "x"}}}
    phases = ({"id": "a", "checks": {"d": "y"}, **reviewed}, {**PLAN, **reviewed}, {"id": "b"})
    assert found("gate-avoided", *phases) == []
    build = {"id": "build", "phased": True, "signals": {"DONE": "review"}}
    test = {"id": "test", "phased": True, "gate": "test_ok"}
    assert found("gate-avoided", {"id": "plan"}, build, test, {"id": "review"}) == []


def test_l13_every_gate_that_is_passed_by_gets_its_own_finding() -> None:
    start = {"id": "start", "signals": {"DONE": "plan", "FAST": "build"}}
    second = {"id": "second", "gate": "second_ok"}
    messages = [f.message for f in found("gate-avoided", start, PLAN, second, {"id": "build"})]
    assert ["'plan_ok'" in m or "'second_ok'" in m for m in messages] == [True, True]


def test_l13_many_gates_are_looked_at_in_good_time() -> None:
    phases = [{"id": f"p{n}", "gate": f"g{n}", "steps": ["x", "y"]} for n in range(90)]
    assert found("gate-avoided", *phases) == []


@pytest.mark.parametrize("path", GOOD_FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_seed_packaged_or_example_file_has_an_error(path: Path) -> None:
    reading = parse_definition(path.read_text(encoding="utf-8"), path.name)
    assert errors_in(reading.findings) == []
    assert reading.protocol is not None
