"""What led to a question of a tree, in words: no JSON, no internal names, and nothing empty."""

from typing import Any

import pytest

from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.model import protocol as p
from porch.show.board import tell_decision
from porch.show.decision import list_decisions
from tests.machine.instances.conftest import Grove, v3_protocol

__all__ = ["v3_protocol"]


@pytest.fixture
def leaf(v3_protocol: p.Protocol) -> Grove:
    """A root without children whose implementer works."""
    return Grove(add_engine_states(v3_protocol)).start().goes("", "impl")


def asked(grove: Grove, state: str = "person") -> dict[str, Any]:
    grove.tell(f.DecisionAsked(effect=grove.held("", state), digest=""))
    (decision,) = list_decisions(grove.protocol, grove.state)
    text = "\n".join(tell_decision(decision))
    for word in ("{", "[", "no_progress", "settled", "fault:", "None"):
        assert word not in text.replace("scaffold:fault", ""), text
    return dict(decision)


def fail(grove: Grove, state: str, why: str) -> None:
    effect = grove.held("", state)
    grove.tell(f.EffectFailed(effect=effect, why=why, detail="no 'x'", hopeless=True))


def test_e14_the_same_answer_twice_is_told_with_its_fields(leaf: Grove) -> None:
    """E14"""
    for _ in range(2):
        leaf.says(
            "", "impl", "RequestRetry", failingTests=["test_a", "test_b"], strategyTo="", tree="t"
        )
    told = asked(leaf)
    assert told["reason"] == (
        "impl: the agent gave the same answer twice (RequestRetry), and no file changed between."
    )
    assert told["reports"]["failing tests"] == "- test_a\n- test_b"
    assert "strategy to" not in told["reports"]
    assert not any("merged" in name for name in told["reports"])


def test_e14_an_answer_that_gives_up_is_told_with_its_fields(leaf: Grove) -> None:
    """E14"""
    leaf.says("", "impl", "Stuck", diagnosis="no library")
    told = asked(leaf)
    assert told["reason"] == "impl: the agent answered Stuck."
    assert told["reports"]["diagnosis"] == "no library"
    assert [each["meaning"] for each in told["options"]] == [
        "the planner plans again with what you write, and what has merged stays",
        "the run ends as failed, and its branches and files stay as they are",
    ]


def test_e14_tries_that_are_used_up_are_told(leaf: Grove) -> None:
    """E14"""
    for number in range(5):
        leaf.says("", "impl", "RequestRetry", diagnosis=f"diagnosis {number}")
    told = asked(leaf)
    assert told["reason"] == "impl: the agent asked for another try, and all tries are used up."
    assert told["reports"]["diagnosis"] == "diagnosis 4"


def test_e14_a_rejected_merge_tells_its_reason_and_the_limit(leaf: Grove) -> None:
    """E14"""
    for number in range(4):
        leaf.goes("", "merger")
        details = {"details": f"ugly {number}", "failingTests": ["test_a"]}
        leaf.says("", "merger", "MergeRejected", reason="IntegrationFailure", **details)
    told = asked(leaf)
    assert told["reason"].splitlines() == [
        "merger: the agent answered MergeRejected: IntegrationFailure",
        "The limit of 3 merges is reached.",
    ]
    assert told["reports"] == {"details": "ugly 3", "failing tests": "test_a"}


def test_e14_an_agent_that_failed_is_told_with_what_was_answered_before(leaf: Grove) -> None:
    """E14"""
    leaf.goes("", "merger")
    leaf.says("", "merger", "MergeRejected", details="ugly", failingTests=[])
    fail(leaf, "impl", "crashed")
    told = asked(leaf)
    assert told["reason"].splitlines()[0] == "impl: crashed: no 'x'"
    assert told["reports"] == {"MergeRejected: details": "ugly"}


def test_e14_a_fault_is_told_once(v3_protocol: p.Protocol) -> None:
    """E14"""
    grove = Grove(add_engine_states(v3_protocol)).start()
    effect = grove.held("", "scaffold")
    grove.tell(
        f.EffectFailed(effect=effect, why="outside", detail="t.j2:3", hopeless=True, fault=True)
    )
    told = asked(grove, "scaffold:fault")
    assert told["reason"] == "scaffold: outside: t.j2:3"
    assert told["reports"] == {}


def test_e14_children_that_failed_are_named_with_what_they_said(v3_protocol: p.Protocol) -> None:
    """E14"""
    grove = Grove(add_engine_states(v3_protocol)).start()
    for key in "abcd":
        grove.plan("", key)
        if "write_tests" in grove.at(""):
            grove.says("", "write_tests", "TestsReady")
            grove.git("", "integrate")
        grove.goes(key, "impl")
        grove.says(key, "impl", "Stuck", diagnosis=f"{key} has no library")
    told = asked(grove)
    assert told["reason"].splitlines() == [
        "children: Parts of the work failed: d.",
        "The limit of 3 epochs is reached.",
    ]
    assert "d has no library" in told["reports"]["failed"]


def test_e14_a_question_and_a_refused_move_tell_their_fields(leaf: Grove) -> None:
    """E14"""
    leaf.goes("", "publish")
    leaf.git("", "publish", "refused", reason="the checkout is in the way", isMine=True, no=False)
    told = asked(leaf, "blocked")
    assert told["reason"] == "the checkout is in the way"
    assert told["reports"] == {"is mine": "yes", "no": "no"}
