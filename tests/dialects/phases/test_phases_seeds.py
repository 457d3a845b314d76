"""The definitions that the seeds print, and the packaged ones, compile as they stand."""

from pathlib import Path

import pytest

from porch.dialects.registry import ProtocolReading, parse_definition
from porch.model.protocol import Agent, Edge, Human, Loop, Panel, Protocol, Target

CORPUS = Path(__file__).parents[2] / "corpus" / "phases"
PLAN = "plan.md|/codev/plans/${PROJECT_ID}-*.md"
PACKAGED = Path(__file__).parents[3] / "src" / "porch" / "protocols"


def read(path: Path) -> ProtocolReading:
    return parse_definition(path.read_text(encoding="utf-8"), path.name)


def protocol_of(name: str) -> Protocol:
    reading = read(CORPUS / name)
    assert reading.protocol is not None
    assert list(reading.findings) == []
    return reading.protocol


def only(protocol: Protocol, state: str, exit_: str) -> Edge:
    (edge,) = protocol.edges_of(state, exit_)
    return edge


def leads(protocol: Protocol, state: str, exit_: str) -> Target:
    return only(protocol, state, exit_).targets[0]


@pytest.fixture(scope="module")
def first() -> Protocol:
    return protocol_of("seed-spider-1.json")


@pytest.fixture(scope="module")
def second() -> Protocol:
    return protocol_of("seed-spider-2.json")


@pytest.fixture(scope="module")
def described() -> Protocol:
    return protocol_of("seed-format-spider.json")


@pytest.mark.req("P-080")
@pytest.mark.req("P-061")
def test_the_printed_spider_begins_at_its_initial_state(first: Protocol) -> None:
    assert first.initial == Target("specify:draft")


@pytest.mark.req("P-081")
def test_name_version_and_description_are_kept(first: Protocol) -> None:
    assert (first.name, first.version) == ("spider", "2.0.0")
    assert first.description.startswith("Specify")


@pytest.mark.req("P-062")
def test_substates_follow_in_the_order_of_the_file(first: Protocol) -> None:
    names = [name for name in first.states if name.startswith("specify:")]
    # Before reviewers or a person are asked, the document is looked for.
    assert names == [
        "specify:draft",
        "specify:draft:checks",
        "specify:consult",
        "specify:revise",
        "specify:revise:checks",
        "specify:gate",
    ]


@pytest.mark.req("P-063")
@pytest.mark.req("P-064")
def test_the_drafted_signal_leads_to_the_panel(first: Protocol) -> None:
    assert leads(first, "specify:draft", "SPEC_DRAFTED") == Target("specify:draft:checks")
    assert leads(first, "specify:draft:checks", "passed") == Target("specify:consult")
    actor = first.states["specify:draft"].actor
    assert isinstance(actor, Agent)
    assert actor.exits[0].signals == ("SPEC_DRAFTED", "READY_FOR_REVIEW", "SPEC_READY")


@pytest.mark.req("P-065")
@pytest.mark.req("P-066")
@pytest.mark.req("P-067")
def test_the_panel_has_the_models_type_and_manner_of_the_file(first: Protocol) -> None:
    panel = first.states["plan:consult"].actor
    assert panel == Panel(("gemini", "codex", "claude"), "plan-review", "plan", 2, True, (PLAN,))


@pytest.mark.req("P-068")
@pytest.mark.req("P-104")
def test_changes_go_to_the_reviser_until_three_rounds_are_used_up(first: Protocol) -> None:
    edge = only(first, "specify:consult", "changes")
    assert edge.targets == (Target("specify:revise"),)
    assert edge.spent == (Target("specify:gate"),)
    assert first.budgets[edge.charges].limit == 2


@pytest.mark.req("P-069")
def test_approval_of_the_reviewers_leads_to_the_gate_and_revision_back_to_them(
    first: Protocol,
) -> None:
    assert leads(first, "specify:consult", "approved") == Target("specify:gate")
    assert leads(first, "specify:revise", "REVISION_COMPLETE") == Target("specify:revise:checks")
    assert leads(first, "specify:revise:checks", "passed") == Target("specify:consult")


@pytest.mark.req("P-070")
@pytest.mark.req("P-073")
def test_an_unnamed_gate_is_called_after_its_phase(first: Protocol) -> None:
    gate = first.states["specify:gate"].actor
    assert isinstance(gate, Human)
    assert (gate.kind, gate.name) == ("gate", "specify_approval")
    assert gate.artifacts == ("spec.md|/codev/specs/${PROJECT_ID}-*.md",)


@pytest.mark.req("P-071")
@pytest.mark.req("P-072")
def test_gates_lead_to_a_substate_or_to_a_plan_phase(first: Protocol) -> None:
    assert leads(first, "specify:gate", "approved") == Target("plan:draft")
    assert leads(first, "plan:gate", "approved") == Target("implement", "phase_1")


@pytest.mark.req("P-074")
@pytest.mark.req("P-075")
@pytest.mark.req("P-076")
def test_phased_phases_are_one_loop_in_file_order(first: Protocol) -> None:
    assert first.loops == {"implement": Loop("implement", PLAN, "implement", Target("review"))}
    assert leads(first, "implement", "PHASE_COMPLETE") == Target("implement:checks")
    assert leads(first, "implement:checks", "passed") == Target("defend")
    assert leads(first, "defend:checks", "passed") == Target("evaluate")
    inside = {state.name for state in first.states.values() if state.loop == "implement"}
    assert {"implement:checks", "failed:defend", "blocked:evaluate"} <= inside


@pytest.mark.req("P-077")
def test_evaluate_steps_to_the_next_plan_phase_on_either_signal(first: Protocol) -> None:
    assert leads(first, "evaluate", "PHASE_COMPLETE") == Target(next_of="implement")
    actor = first.states["evaluate"].actor
    assert isinstance(actor, Agent)
    assert actor.exits[0].signals == ("PHASE_COMPLETE", "EVALUATION_COMPLETE")


@pytest.mark.req("P-078")
def test_the_review_completes_the_run(first: Protocol) -> None:
    assert leads(first, "review", "REVIEW_COMPLETE") == Target("complete:checks")
    assert leads(first, "complete:checks", "passed") == Target("complete")


@pytest.mark.req("P-079")
def test_a_failed_build_goes_back_to_its_agent_and_charges(first: Protocol) -> None:
    edges = list(first.edges_of("implement:checks", "failed"))
    assert [edge.targets for edge in edges] == [(Target("implement"),)] * 2
    assert edges[-1].charges == "implement:checks.build"
    assert edges[-1].spent == (Target("failed:implement"),)
    assert edges[-1].delay_s == 5


@pytest.mark.req("P-106")
@pytest.mark.req("P-107")
def test_a_trigger_names_the_panel_by_its_full_state(second: Protocol) -> None:
    assert isinstance(second.states["specify:review"].actor, Panel)
    for agent, signal in (("draft", "SPEC_DRAFTED"), ("revise", "REVISION_COMPLETE")):
        assert leads(second, f"specify:{agent}", signal) == Target(f"specify:{agent}:checks")
        assert leads(second, f"specify:{agent}:checks", "passed") == Target("specify:review")


def test_permissions_reach_the_agents_of_their_phase(second: Protocol) -> None:
    actor = second.states["implement"].actor
    assert isinstance(actor, Agent)
    assert actor.permissions == ("write:src/**", "bash:npm *")


@pytest.mark.req("F-035")
@pytest.mark.req("F-029")
def test_steps_around_the_panel_are_agents_in_order(described: Protocol) -> None:
    assert isinstance(described.states["specify:review"].actor, Panel)
    assert leads(described, "specify:review", "approved") == Target("specify:spec_final")
    assert leads(described, "specify:spec_final:checks", "passed") == Target("specify:gate")


@pytest.mark.req("F-027")
@pytest.mark.req("F-028")
@pytest.mark.req("F-030")
def test_a_named_gate_keeps_its_name_and_description(described: Protocol) -> None:
    gate = described.states["specify:gate"].actor
    assert isinstance(gate, Human)
    assert gate.name == "spec-approval"
    assert gate.description == "Human approves specification before planning"
    assert leads(described, "specify:recheck", "passed") == Target("plan")


@pytest.mark.req("F-031")
def test_a_gate_that_leads_to_null_completes_the_protocol(described: Protocol) -> None:
    assert leads(described, "review:recheck", "passed") == Target("complete:checks")
    assert leads(described, "complete:checks", "passed") == Target("complete")


@pytest.mark.req("F-014")
@pytest.mark.req("F-034")
def test_completing_the_last_phase_of_the_loop_takes_the_next_item(described: Protocol) -> None:
    assert leads(described, "evaluate", "PHASE_COMPLETE") == Target("evaluate:phase_completion")
    assert leads(described, "evaluate:phase_completion", "passed") == Target(next_of="implement")
    assert described.loops["implement"].after == Target("review")


@pytest.mark.req("F-033")
@pytest.mark.req("F-065")
@pytest.mark.req("F-022")
def test_tests_that_fail_go_to_the_phase_that_on_fail_names(described: Protocol) -> None:
    edge = next(described.edges_of("defend:checks", "failed"))
    assert edge.targets == (Target("implement"),)
    assert described.budgets[edge.charges].limit == 1
    labels = {told.path: told.label for told in described.states["implement"].inputs}
    assert labels["defend:checks.failed"] == "Failed checks"


@pytest.mark.req("F-041")
def test_verification_respawns_five_times_and_then_asks_at_the_gate(described: Protocol) -> None:
    edge = only(described, "review:verification", "failed")
    assert edge.targets == (Target("review"),)
    assert described.budgets[edge.charges].limit == 5
    assert edge.spent == (Target("review:gate"),)


@pytest.mark.req("F-008")
def test_a_failed_end_of_a_plan_phase_begins_it_again(described: Protocol) -> None:
    edge = only(described, "evaluate:phase_completion", "failed")
    assert edge.targets == (Target("implement"),)
    assert edge.spent == (Target("failed:evaluate"),)


@pytest.mark.req("F-009")
@pytest.mark.req("F-021")
def test_defaults_give_the_retries_of_a_check_that_says_none(described: Protocol) -> None:
    assert described.budgets["specify:spec_draft:checks.spec_exists"].limit == 2


@pytest.mark.req("F-046")
@pytest.mark.req("F-047")
@pytest.mark.req("F-007")
def test_a_common_signal_takes_every_phase_onward(described: Protocol) -> None:
    assert leads(described, "plan", "PHASE_COMPLETE") == Target("plan:checks")
    assert leads(described, "plan:checks", "passed") == Target("plan:gate")
    actor = described.states["plan"].actor
    assert isinstance(actor, Agent)
    blocked = actor.exits[-1]
    assert (blocked.name, blocked.needs_reason) == ("BLOCKED", True)
    assert blocked.description == "Signal implementation is blocked"


@pytest.mark.parametrize("name", ["spider", "change", "tick", "bugfix"])
def test_packaged_protocols_compile_without_a_finding(name: str) -> None:
    reading = read(PACKAGED / name / "protocol.json")
    assert reading.findings == ()
    assert reading.protocol is not None
    for state, files in reading.prompts.items():
        assert any((PACKAGED / name / file).is_file() for file in files), state
