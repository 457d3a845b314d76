"""A gate says what it requires and did not get, and what was left out on the way to it."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

MODELS = ["gemini", "codex", "claude"]


def verified(limit: int = 1) -> dict[str, Any]:
    return {
        "id": "specify",
        "steps": ["draft", "review", "final"],
        "verification": {"checks": {"has_3way": "echo nothing; false"}, "max_retries": limit},
        "consultation": {"on": "review", "models": MODELS, "type": "spec-review"},
        "gate": {"name": "ok", "requires": ["final", "consultation", "has_3way"]},
    }


def test_a_verification_at_its_limit_says_what_was_left_out_and_what_is_required(
    desk: "Desk",
) -> None:
    """T8: it jumped over the steps and the panel to the gate without a word."""
    desk.begin(verified(), {"id": "last"}, code=3)
    assert desk.started("review") == []
    (asked,) = json.loads(desk.porch("pending", "--json").out)["decisions"]
    assert asked["name"] == "ok"
    lines = asked["reason"].split("\n")
    assert "the verification failed, and 1 retry is used up: has_3way" in lines
    assert "left out because of that: review (reviewers), final" in lines
    assert "required and not done: final, consultation, has_3way" in lines
    told = " ".join(desk.porch("pending").out.split())
    assert "required and not done: final, consultation, has_3way" in told


def test_a_gate_that_got_what_it_requires_says_nothing_of_it(desk: "Desk") -> None:
    phase = verified()
    phase["verification"]["checks"] = {"has_3way": "true"}
    desk.begin(phase, {"id": "last"}, code=3)
    (asked,) = json.loads(desk.porch("pending", "--json").out)["decisions"]
    assert asked["name"] == "ok"
    assert "required" not in asked["reason"]
    assert "left out" not in asked["reason"]


def test_a_signal_that_never_came_is_named_where_the_phase_failed(desk: "Desk") -> None:
    """T8: 4 attempts, then `Analyze failed` without a reason."""
    phase = {"id": "analyze", "gate": {"name": "ok", "requires": ["signed_off"]}}
    signals = {"signed_off": {"description": "somebody has looked"}}
    agents = {"analyze": [{"signal": "PHASE_COMPLETE"}]}
    desk.begin(phase, {"id": "last"}, top={"signals": signals}, agents=agents, code=3)
    assert len(desk.started()) == 4
    (asked,) = json.loads(desk.porch("pending", "--json").out)["decisions"]
    assert asked["name"] == "failed:analyze"
    assert asked["reason"].split("\n")[-1] == "required and not done: signed_off"


def test_what_nothing_declares_is_refused_by_lint_and_at_the_start(desk: "Desk") -> None:
    phase = {"id": "analyze", "gate": {"name": "ok", "requires": ["signed_off"]}}
    desk.protocol("p", phase, {"id": "last"})
    for words in (("protocols", "lint", "p"), ("run", "p", "0001", "--title", "x", "--no-claude")):
        said = desk.porch(*words, code=2).all
        assert "requires 'signed_off'" in said
        assert "protocol.json:" in said
        assert "declare it in 'signals'" in said
    assert not desk.run_dir().exists()
