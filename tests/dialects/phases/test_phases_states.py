"""How each part of a phase becomes states, exits and edges."""

import json
from typing import Any

import pytest

from porch.dialects.registry import ProtocolReading, parse_definition
from porch.errors import errors_in
from porch.model.protocol import (
    Agent,
    Check,
    Command,
    Edge,
    Git,
    Guard,
    Human,
    Limits,
    Panel,
    Protocol,
    Target,
)

MODELS = ["gemini", "codex", "claude"]


def read(*phases: dict[str, Any], **top: Any) -> ProtocolReading:
    return parse_definition(json.dumps({"name": "p", "phases": list(phases), **top}), "p.json")


def compiled(*phases: dict[str, Any], **top: Any) -> Protocol:
    reading = read(*phases, **top)
    assert reading.protocol is not None, errors_in(reading.findings)
    return reading.protocol


def leads(protocol: Protocol, state: str, exit_: str) -> list[Target]:
    return [edge.targets[0] for edge in protocol.edges_of(state, exit_)]


def only(protocol: Protocol, state: str, exit_: str) -> Edge:
    (edge,) = protocol.edges_of(state, exit_)
    return edge


def agent(protocol: Protocol, state: str) -> Agent:
    actor = protocol.states[state].actor
    assert isinstance(actor, Agent)
    return actor


def human(protocol: Protocol, state: str) -> Human:
    actor = protocol.states[state].actor
    assert isinstance(actor, Human)
    return actor


def check(protocol: Protocol, state: str) -> Check:
    actor = protocol.states[state].actor
    assert isinstance(actor, Check)
    return actor


def exits(protocol: Protocol, state: str) -> dict[str, tuple[str, ...]]:
    return {exit_.name: exit_.signals for exit_ in agent(protocol, state).exits}


# --- phases ---------------------------------------------------------------------------------


@pytest.mark.req("F-013")
def test_a_bare_phase_is_one_agent_that_leads_to_the_next() -> None:
    protocol = compiled({"id": "a", "type": "once"}, {"id": "b"})
    assert list(protocol.states) == [
        "a", "failed:a", "blocked:a", "b", "failed:b", "blocked:b", "abandoned", "complete",
    ]  # fmt: skip
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("b")]
    assert leads(protocol, "b", "PHASE_COMPLETE") == [Target("complete")]
    assert leads(protocol, "a", "silent") == [Target("failed:a")]
    assert leads(protocol, "a", "exhausted") == [Target("failed:a")]


@pytest.mark.req("F-011")
@pytest.mark.req("F-012")
def test_a_phase_lends_its_name_and_description_to_its_states() -> None:
    protocol = compiled({"id": "a", "name": "Alpha", "description": "First"})
    state = protocol.states["a"]
    assert (state.group, state.title, state.description) == ("a", "Alpha", "First")
    assert human(protocol, "failed:a").title == "Alpha failed"


@pytest.mark.req("F-015")
def test_prompts_are_looked_for_in_prompts_and_then_beside_the_file() -> None:
    reading = read(
        {"id": "a", "prompt": "x.md"}, {"id": "b"}, {"id": "c", "prompt": "prompts/c.md"}
    )
    assert reading.prompts["a"] == ("prompts/x.md", "x.md")
    assert reading.prompts["b"] == ("prompts/b.md", "b.md")
    assert "prompts/c.md" in reading.prompts["c"]
    elsewhere = read({"id": "a"}, config={"prompts_dir": "texts/"})
    assert elsewhere.prompts["a"] == ("texts/a.md", "a.md")


def test_places_point_at_the_phase_the_gate_and_the_prompt() -> None:
    text = '{"name": "p", "phases": [\n {"id": "a",\n  "prompt": "x.md",\n  "gate": "g"}]}'
    places = parse_definition(text, "p.json").places
    assert [places[key].line for key in ("a", "a.prompt", "a:gate")] == [2, 3, 4]


def test_a_phase_of_build_and_verify_is_an_agent_with_a_panel_and_an_artifact() -> None:
    protocol = compiled(
        {
            "id": "specify",
            "type": "build_verify",
            "build": {"prompt": "s.md", "artifact": "codev/specs/${PROJECT_ID}-*.md"},
            "verify": {"type": "spec-review", "models": MODELS, "parallel": False},
            "max_iterations": 7,
            "on_complete": {"commit": True},
            "gate": "spec-approval",
            "next": None,
        }
    )
    panel = protocol.states["specify:consult"].actor
    assert isinstance(panel, Panel)
    assert (panel.review, panel.parallel, panel.quorum) == ("spec-review", False, 2)
    assert protocol.budgets["specify:rounds"].limit == 6
    assert agent(protocol, "specify").prompt == "s.md"
    assert human(protocol, "specify:gate").artifacts == ("/codev/specs/${PROJECT_ID}-*.md",)
    assert leads(protocol, "specify:gate", "approved") == [Target("specify:commit")]
    assert leads(protocol, "specify:commit", "clean") == [Target("complete")]


def test_verify_may_be_null_and_a_consultation_may_be_switched_off() -> None:
    phases = {"id": "a", "verify": None}, {"id": "b", "consultation": {"enabled": False}}
    assert not [s for s in compiled(*phases).states.values() if isinstance(s.actor, Panel)]


@pytest.mark.parametrize(
    "phase, artifacts",
    [
        ({"id": "specify"}, ("spec.md|/codev/specs/${PROJECT_ID}-*.md",)),
        ({"id": "plan"}, ("plan.md|/codev/plans/${PROJECT_ID}-*.md",)),
        ({"id": "review"}, ("review.md|/codev/reviews/${PROJECT_ID}-*.md|",)),
        ({"id": "other"}, ()),
        ({"id": "plan", "artifacts": ["a.md", "b.md"]}, ("a.md", "b.md")),
    ],
)
def test_artifacts_have_defaults_by_phase(
    phase: dict[str, Any], artifacts: tuple[str, ...]
) -> None:
    assert agent(compiled(phase), str(phase["id"])).artifacts == artifacts


def test_a_bare_terminal_phase_is_the_end_itself() -> None:
    protocol = compiled({"id": "a", "next": "done"}, {"id": "done", "terminal": True})
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("complete")]
    named = compiled({"id": "a", "next": "complete"}, {"id": "complete", "name": "Complete"})
    assert leads(named, "a", "PHASE_COMPLETE") == [Target("complete")]


def test_a_terminal_phase_with_work_leads_to_the_end() -> None:
    last = {"id": "b", "terminal": True, "prompt": "b.md"}
    protocol = compiled({"id": "a"}, last, {"id": "c"}, initial="a")
    assert leads(protocol, "b", "PHASE_COMPLETE") == [Target("complete")]
    listed = compiled({"id": "a"}, {"id": "b", "prompt": "b.md"}, {"id": "c"}, terminal=["b"])
    assert leads(listed, "b", "PHASE_COMPLETE") == [Target("complete")]
    idle = compiled({"id": "a"}, {"id": "verified"}, terminal="verified")
    assert leads(idle, "a", "PHASE_COMPLETE") == [Target("complete")]


def test_limits_come_from_config() -> None:
    config = {
        "claude_timeout": 60,
        "consultation_timeout": 30,
        "poll_interval": 5,
        "max_gate_wait": 9,
    }
    protocol = compiled({"id": "a", "gate": True}, config=config)
    assert protocol.limits == Limits(60, 30, 5, 9)
    assert human(protocol, "a:gate").stale_after_s == 9
    # Where the file is silent the settings say it.
    assert human(compiled({"id": "a", "gate": {}}), "a:gate").stale_after_s == 0


@pytest.mark.parametrize(
    "top, subject",
    [
        ({}, "project"),
        ({"subject": "issue"}, "issue"),
        ({"input": {"type": "github-issue"}}, "issue"),
        ({"input": {"type": "task"}}, "none"),
    ],
)
def test_the_subject_is_said_or_follows_from_the_input(top: dict[str, Any], subject: str) -> None:
    assert compiled({"id": "a"}, **top).subject == subject


def test_permissions_may_be_said_for_all_phases_or_in_one() -> None:
    protocol = compiled({"id": "a"}, {"id": "b", "permissions": ["read:*"]}, permissions=["bash:*"])
    assert agent(protocol, "a").permissions == ("bash:*",)
    assert agent(protocol, "b").permissions == ("read:*",)


def test_an_initial_substate_is_where_the_phase_is_entered() -> None:
    protocol = compiled({"id": "a"}, {"id": "b", "steps": ["x", "y"], "initial_substate": "y"})
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("b:y")]


# --- steps and signals ----------------------------------------------------------------------


@pytest.mark.req("F-016")
def test_steps_run_in_order_each_ended_by_its_own_name() -> None:
    protocol = compiled({"id": "a", "steps": ["read", {"name": "write", "prompt": "w.md"}]})
    assert leads(protocol, "a:read", "PHASE_COMPLETE") == [Target("a:write")]
    assert leads(protocol, "a:write", "PHASE_COMPLETE") == [Target("complete")]
    assert exits(protocol, "a:read")["PHASE_COMPLETE"][-1] == "read"
    assert agent(protocol, "a:write").prompt == "w.md"


def test_steps_may_be_written_with_their_phase() -> None:
    assert "a:x" in compiled({"id": "a", "substates": ["a:x", "a:y"]}).states


def test_a_step_named_like_a_check_is_that_check() -> None:
    phase = {"id": "a", "steps": ["code", "build"], "checks": {"build": "make", "lint": "lint"}}
    protocol = compiled(phase)
    assert check(protocol, "a:build").commands == (Command("build", "make"),)
    assert check(protocol, "a:checks").commands == (Command("lint", "lint"),)
    assert leads(protocol, "a:checks", "passed") == [Target("a:build")]
    assert leads(protocol, "a:build", "failed") == [Target("a:code")] * 2


def test_a_declared_signal_is_the_only_one_beside_blocked() -> None:
    protocol = compiled({"id": "a", "signals": {"DONE": "b"}}, {"id": "b"})
    assert exits(protocol, "a") == {"DONE": ("DONE",), "BLOCKED": ("BLOCKED",)}
    assert leads(protocol, "a", "DONE") == [Target("b")]


def test_a_signal_of_a_phase_belongs_to_the_step_it_finishes() -> None:
    phase = {
        "id": "a",
        "steps": ["x", "y"],
        "signals": {"X_DONE": "a:y", "Y_DONE": "b", "BACK": "a:x"},
    }
    protocol = compiled(phase, {"id": "b"})
    assert list(exits(protocol, "a:x")) == ["X_DONE", "BACK", "BLOCKED"]
    assert list(exits(protocol, "a:y")) == ["Y_DONE", "BACK", "BLOCKED"]
    assert leads(protocol, "a:y", "BACK") == [Target("a:x")]
    assert only(protocol, "a:y", "BACK").spent == (Target("failed:a:y"),)


def test_a_signal_may_name_a_stage_without_its_phase_or_the_gate_by_name() -> None:
    phase = {"id": "a", "steps": ["x", "y"], "signals": {"ON": "y", "ASK": "g"}, "gate": "g"}
    protocol = compiled(phase)
    assert leads(protocol, "a:x", "ON") == [Target("a:y")]
    assert leads(protocol, "a:y", "ASK") == [Target("a:gate")]


def test_signals_may_be_a_list_of_names_or_of_mappings() -> None:
    signals = ["DONE", {"name": "ALSO", "transitions_to": "b", "requires": ["reason"]}]
    protocol = compiled({"id": "a", "signals": signals}, {"id": "b"})
    assert leads(protocol, "a", "DONE") == leads(protocol, "a", "ALSO") == [Target("b")]
    assert [exit_.needs_reason for exit_ in agent(protocol, "a").exits] == [False, True, True]


def test_a_signal_that_leads_elsewhere_is_followed_behind_checks_and_gate() -> None:
    phase = {
        "id": "a",
        "checks": {"c": "true"},
        "gate": {"name": "g"},
        "signals": {"DONE": "next_phase", "FAR": "c"},
    }
    protocol = compiled(phase, {"id": "b"}, {"id": "c"})
    assert leads(protocol, "a", "FAR") == [Target("a:checks")]
    assert only(protocol, "a", "DONE").forgets == ("a.FAR",)
    onward = list(protocol.edges_of("a:recheck", "passed"))
    assert [(edge.targets[0], edge.guards) for edge in onward] == [
        (Target("c"), (Guard("a.FAR"),)),
        (Target("b"), ()),
    ]


def test_a_signal_to_a_later_stage_passes_the_checks_first() -> None:
    phase = {
        "id": "a",
        "steps": ["x", "y", "consult"],
        "checks": {"c": "true"},
        "consultation": {"models": MODELS},
        "signals": {"READY": "a:consult", "SHORT": "a:gate"},
        "gate": {},
    }
    protocol = compiled(phase)
    assert leads(protocol, "a:y", "SHORT") == [Target("a:y:checks")]
    passed = list(protocol.edges_of("a:y:checks", "passed"))
    assert [(edge.targets[0], edge.guards) for edge in passed] == [
        (Target("a:gate"), (Guard("a:y.SHORT"),)),
        (Target("a:consult"), ()),
    ]


def test_a_signal_to_a_later_stage_goes_straight_there_without_checks() -> None:
    phase = {"id": "a", "steps": ["x", "y"], "signals": {"ASK": "a:gate"}, "gate": {"after": "y"}}
    assert leads(compiled(phase), "a:y", "ASK") == [Target("a:gate")]
    past = {"id": "a", "signals": {"ASK": "gate"}, "gate": {}, "verify": {"models": MODELS}}
    assert leads(compiled(past), "a", "ASK") == [Target("a:gate")]


def test_a_signal_that_leads_back_is_charged_and_tells_why() -> None:
    phases = {"id": "a"}, {"id": "b", "signals": {"DONE": "complete", "AGAIN": "a"}}
    protocol = compiled(*phases)
    edge = only(protocol, "b", "AGAIN")
    assert (edge.targets, edge.charges) == ((Target("a"),), "b.AGAIN")
    assert protocol.budgets["b.AGAIN"].limit == 3
    assert edge.spent == (Target("failed:b"),)
    assert edge.resets == ()
    labels = {told.path: told.label for told in protocol.states["a"].inputs}
    assert labels["b.AGAIN"] == "Sent back by b"


def test_current_phase_begins_the_phase_again() -> None:
    protocol = compiled(
        {"id": "a", "steps": ["x", "y"]}, signals={"AGAIN": {"transitions_to": "current_phase"}}
    )
    assert leads(protocol, "a:y", "AGAIN") == [Target("a:x")]


@pytest.mark.parametrize(
    "phases", [({"id": "b"},), ({"id": "b", "substates": ["draft", "revise"]},)]
)
def test_v19_a_common_signal_to_this_very_phase_begins_it_again_with_its_reason(
    phases: tuple[dict[str, Any], ...],
) -> None:
    inside = {**phases[0], "signals": {"REDO": "b", "READY": "c"}}
    own = compiled({"id": "a"}, inside, {"id": "c"})
    common = {"REDO": {"transitions_to": "b"}, "READY": {"transitions_to": "c"}}
    top = compiled({"id": "a"}, *phases, {"id": "c"}, signals=common)
    agents = [name for name, state in top.states.items() if state.group == "b"]
    speakers = [name for name in agents if isinstance(top.states[name].actor, Agent)]
    for name in speakers:
        assert leads(top, name, "REDO") == leads(own, name, "REDO") == [Target(speakers[0])]
        shown = [given.path for given in top.states[speakers[0]].inputs]
        assert f"{name}.REDO" in shown
        assert all(edge.charges for edge in top.edges_of(name, "REDO"))


def test_a_common_word_for_done_said_in_the_phase_it_leads_to_goes_on() -> None:
    common = {"PHASE_COMPLETE": {"transitions_to": "b"}}
    protocol = compiled({"id": "a"}, {"id": "b"}, {"id": "c"}, signals=common)
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("b")]
    assert leads(protocol, "b", "PHASE_COMPLETE") == [Target("c")]
    assert "TESTS_WRITTEN" in exits(protocol, "b")["PHASE_COMPLETE"]


def test_a_common_signal_is_overruled_by_the_phase() -> None:
    protocol = compiled(
        {"id": "a", "signals": {"X": "b"}}, {"id": "b"}, signals={"X": {"transitions_to": "a"}}
    )
    assert leads(protocol, "a", "X") == [Target("b")]


def test_verify_means_the_phases_own_reviewers_where_no_phase_is_called_so() -> None:
    phase = {"id": "a", "verify": {"models": MODELS}, "signals": {"DONE": "verify"}}
    assert leads(compiled(phase), "a", "DONE") == [Target("a:consult")]
    other = compiled({"id": "a", "signals": {"DONE": "verify"}}, {"id": "x"}, {"id": "verify"})
    assert leads(other, "a", "DONE") == [Target("verify")]


def test_blocked_asks_a_person_and_the_answer_reaches_the_agent() -> None:
    protocol = compiled({"id": "a"})
    assert leads(protocol, "a", "BLOCKED") == [Target("blocked:a")]
    ask = human(protocol, "blocked:a")
    assert (ask.kind, ask.shows) == ("question", ("a.BLOCKED",))
    assert leads(protocol, "blocked:a", "answered") == [Target("a")]
    assert leads(protocol, "blocked:a", "stopped") == [Target("abandoned")]
    labels = {told.path: told.label for told in protocol.states["a"].inputs}
    assert labels["blocked:a.answered"] == "Answer to your question"


# --- checks and verification ----------------------------------------------------------------


@pytest.mark.req("F-017")
def test_every_option_of_a_check_is_kept() -> None:
    checks = {
        "one": {
            "command": "make",
            "description": "Builds",
            "cwd": "web",
            "timeout": 9,
            "optional": True,
            "max_retries": 1,
            "retry_delay": 2,
            "on_fail": "retry",
        },
        "two": {"setting": "test", "if_missing": "skip", "required": False},
        "three": {"net_lines_below": 300},
        "four": {"changed": True, "optional": True},
        "five": {"command": "x", "rerun": 2, "optional": True},
    }
    protocol = compiled({"id": "a", "checks": checks})
    assert check(protocol, "a:checks").commands == (
        Command("one", "make", description="Builds", cwd="web", optional=True, timeout_s=9),
        Command("two", setting="test", optional=True, if_missing="skip"),
        Command("three", net_lines_below=300),
        Command("four", changed=True, optional=True),
        Command("five", "x", rerun=2, optional=True),
    )
    # Optional checks never fail, so only the third one is asked about.
    guards = [edge.guards for edge in protocol.edges_of("a:checks", "failed")]
    assert guards == [(Guard("a:checks.failed", "has", "three"),), ()]


def test_what_could_not_be_measured_spends_no_retry_of_an_agent_and_asks_a_person() -> None:
    protocol = compiled({"id": "a", "checks": {"build": "x", "tests": "y"}})
    edge = only(protocol, "a:checks", "unmeasured")
    assert (edge.targets, edge.charges, edge.guards) == ((Target("failed:a"),), "", ())


def test_checks_fail_one_by_one_and_each_has_its_own_budget() -> None:
    checks = {
        "build": {"command": "x", "max_retries": 1, "retry_delay": 0},
        "tests": {"command": "y", "on_fail": "a"},
    }
    protocol = compiled({"id": "a"}, {"id": "b", "checks": checks})
    failed = list(protocol.edges_of("b:checks", "failed"))
    assert [(e.guards, e.targets[0].state, e.charges, e.delay_s) for e in failed] == [
        ((Guard("b:checks.failed", "has", "build"),), "b", "b:checks.build", 0),
        ((Guard("b:checks.failed", "has", "tests"),), "a", "b:checks.tests", 5),
        ((), "b", "b:checks.build", 0),
    ]
    assert protocol.budgets["b:checks.build"].limit == 1
    passed = only(protocol, "b:checks", "passed")
    assert passed.resets == ("b:checks.build", "b:checks.tests")
    assert {"b:checks.failed", "b:checks.unmeasured"} <= set(passed.forgets)


def test_a_list_of_checks_is_named_by_its_items() -> None:
    checks = [{"name": "one", "command": "x"}, {"command": "y"}, "true && true", "lint"]
    protocol = compiled({"id": "a", "checks": checks}, defaults={"checks": {"lint": "make lint"}})
    commands = check(protocol, "a:checks").commands
    assert [(c.name, c.shell) for c in commands] == [
        ("one", "x"), ("check_2", "y"), ("check_3", "true && true"), ("lint", "make lint"),
    ]  # fmt: skip


def test_default_checks_run_where_a_phase_says_nothing_and_lend_their_commands() -> None:
    defaults = {"checks": {"build": {"command": "make", "timeout": 3}}, "max_retries": 1}
    protocol = compiled(
        {"id": "a"},
        {"id": "b", "checks": {"build": {"max_retries": 4}}},
        {"id": "c", "checks": {}},
        {"id": "d", "checks": {"build": None}},
        defaults=defaults,
    )
    assert check(protocol, "a:checks").commands == (Command("build", "make", timeout_s=3),)
    assert check(protocol, "b:checks") == check(protocol, "d:checks") == check(protocol, "a:checks")
    assert "c:checks" not in protocol.states
    assert [protocol.budgets[f"{p}:checks.build"].limit for p in "abd"] == [1, 4, 1]


def test_silence_is_taken_for_done_only_where_checks_tell() -> None:
    optional = {"c": {"command": "true", "optional": True}}
    protocol = compiled(
        {"id": "a", "checks": {"c": "true"}},
        {"id": "b", "checks": optional},
        {"id": "c", "next": None},
    )
    assert leads(protocol, "a", "silent") == [Target("a:checks")]
    assert leads(protocol, "b", "silent") == [Target("failed:b")]
    assert leads(protocol, "c", "silent") == [Target("complete:checks")]


@pytest.mark.req("F-019")
@pytest.mark.req("F-032")
def test_a_transition_is_followed_and_its_on_fail_serves_the_checks() -> None:
    protocol = compiled(
        {"id": "a", "transition": {"on_complete": "c"}},
        {"id": "b"},
        {
            "id": "c",
            "checks": {"t": "x"},
            "transition": {"on_fail": "b", "on_complete": "next_phase"},
        },
    )
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("c")]
    assert leads(protocol, "c:checks", "failed") == [Target("b")] * 2
    assert leads(protocol, "c:checks", "passed") == [Target("complete")]


def test_verification_stands_behind_the_checks_and_without_a_gate_fails_the_phase() -> None:
    phase = {"id": "a", "checks": {"c": "x"}, "verification": {"checks": {"v": "y"}}}
    protocol = compiled(phase)
    assert leads(protocol, "a:checks", "passed") == [Target("a:verification")]
    assert leads(protocol, "a:verification", "unmeasured") == [Target("failed:a")]
    edge = only(protocol, "a:verification", "failed")
    assert (edge.charges, edge.spent) == ("a:verification", (Target("failed:a"),))
    assert protocol.budgets["a:verification"].limit == 5
    assert leads(protocol, "a:verification", "passed") == [Target("complete")]


# --- panels ---------------------------------------------------------------------------------


@pytest.mark.req("F-020")
@pytest.mark.req("F-036")
@pytest.mark.req("F-037")
def test_a_panel_stands_behind_the_only_agent() -> None:
    said = {"models": MODELS[:1], "type": "impl-review", "parallel": False, "max_rounds": 1}
    protocol = compiled({"id": "a", "consultation": said}, {"id": "b"})
    assert protocol.states["a:consult"].actor == Panel(
        ("gemini",), "impl-review", "a", 1, False, ()
    )
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("a:consult")]
    assert leads(protocol, "a:consult", "approved") == [Target("b")]
    edge = only(protocol, "a:consult", "changes")
    assert (edge.targets, edge.spent) == ((Target("a"),), (Target("undecided:a"),))
    assert protocol.budgets["a:rounds"].limit == 0


def test_reviewers_without_a_verdict_are_a_persons_business() -> None:
    protocol = compiled({"id": "a", "consultation": {"models": MODELS}}, {"id": "b"})
    ask = human(protocol, "undecided:a")
    assert (ask.kind, ask.name) == ("undecided", "a_review")
    assert leads(protocol, "a:consult", "undecided") == [Target("undecided:a")]
    assert leads(protocol, "undecided:a", "retry") == [Target("a:consult")]
    assert leads(protocol, "undecided:a", "waived") == [Target("b")]
    assert leads(protocol, "undecided:a", "rejected") == [Target("a")]
    assert leads(protocol, "undecided:a", "stopped") == [Target("abandoned")]


def test_rounds_have_many_spellings() -> None:
    panel = {"models": MODELS}
    for phase, top in (
        ({"consultation": {**panel, "max_consultation_rounds": 5}}, {}),
        ({"consultation": panel, "max_consultation_rounds": 5}, {}),
        ({"verify": panel, "max_iterations": 5}, {}),
        ({"verify": panel}, {"defaults": {"max_iterations": 5}}),
        ({"verify": panel}, {"defaults": {"max_consultation_rounds": 5}}),
        ({"verify": {}}, {"defaults": {"verify": {**panel, "max_rounds": 5}}}),
        ({"verify": panel}, {"config": {"max_consultation_rounds": 5}}),
    ):
        assert compiled({"id": "a", **phase}, **top).budgets["a:rounds"].limit == 4


@pytest.mark.parametrize("name", ["consult", "consultation", "review"])
def test_the_panel_is_found_by_its_usual_names(name: str) -> None:
    protocol = compiled({"id": "a", "steps": ["x", name], "consultation": {"models": MODELS}})
    assert isinstance(protocol.states[f"a:{name}"].actor, Panel)


def test_next_of_a_consultation_names_the_state_that_mends() -> None:
    panel = {"models": MODELS, "next": "a:polish"}
    protocol = compiled({"id": "a", "steps": ["x", "consult", "polish"], "consultation": panel})
    assert leads(protocol, "a:consult", "changes") == [Target("a:polish")]
    assert leads(protocol, "a:consult", "approved") == [Target("complete")]
    assert leads(protocol, "a:polish", "REVISION_COMPLETE") == [Target("a:consult")]
    assert leads(protocol, "a:polish", "PHASE_COMPLETE") == [Target("a:consult")]


def test_next_of_a_consultation_may_name_an_agent_before_the_panel() -> None:
    steps = ["x", "y", "consult", "revise"]
    panel = {"models": MODELS, "next": "x"}
    protocol = compiled({"id": "a", "steps": steps, "consultation": panel})
    assert leads(protocol, "a:consult", "changes") == [Target("a:x")]
    assert leads(protocol, "a:consult", "approved") == [Target("a:revise")]


def test_next_of_a_consultation_may_name_another_phase() -> None:
    onward = compiled(
        {"id": "a", "consultation": {"models": MODELS, "next": "c"}}, {"id": "b"}, {"id": "c"}
    )
    assert leads(onward, "a:consult", "approved") == [Target("c")]
    back = compiled({"id": "a"}, {"id": "b", "consultation": {"models": MODELS, "next": "a"}})
    assert leads(back, "b:consult", "changes") == [Target("a")]
    assert leads(back, "b:consult", "approved") == [Target("complete")]


def test_agents_behind_the_panel_follow_its_approval() -> None:
    panel = {"models": MODELS}
    phase = {"id": "a", "steps": ["x", "consult", "revise", "final"], "consultation": panel}
    protocol = compiled(phase)
    assert leads(protocol, "a:consult", "changes") == [Target("a:revise")]
    assert leads(protocol, "a:consult", "approved") == [Target("a:final")]


# --- gates ----------------------------------------------------------------------------------


@pytest.mark.req("F-018")
def test_a_gate_may_be_a_name_or_a_mapping() -> None:
    for gate in ("ok", {"name": "ok"}, {"id": "ok"}):
        protocol = compiled({"id": "a", "gate": gate}, {"id": "b"})
        assert human(protocol, "a:gate").name == "ok"
        assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("a:gate")]
        assert leads(protocol, "a:gate", "approved") == [Target("b")]
    assert "a:gate" not in compiled({"id": "a", "gate": False}).states


def test_approval_measures_again_and_waiving_does_not() -> None:
    phase = {"id": "a", "checks": {"c": "x"}, "gate": {}}
    protocol = compiled(phase, {"id": "b"})
    assert leads(protocol, "a:gate", "approved") == [Target("a:recheck")]
    assert leads(protocol, "a:gate", "waived") == [Target("b")]
    assert leads(protocol, "a:gate", "rejected") == [Target("a")]
    assert check(protocol, "a:recheck") == Check((Command("c", "x"),), reuse=True)
    failed = only(protocol, "a:recheck", "failed")
    assert (failed.targets, failed.charges) == ((Target("a"),), "a:recheck")
    assert human(protocol, "a:gate").shows == ("a:checks.failed", "a:checks.unmeasured")


def test_an_approval_over_a_failed_verification_is_not_measured_again() -> None:
    phase = {
        "id": "a",
        "checks": {"same": "x", "c": "z"},
        "verification": {"checks": {"same": "y", "v": "v"}, "max_retries": 0},
        "gate": {},
    }
    protocol = compiled(phase)
    edges = list(protocol.edges_of("a:gate", "approved"))
    assert [(edge.targets[0].state, [g.path for g in edge.guards]) for edge in edges] == [
        ("complete", ["a:verification.failed"]),
        ("complete", ["a:verification.unmeasured"]),
        ("a:recheck", []),
    ]
    assert human(protocol, "a:gate").override == (
        "a:verification.failed",
        "a:verification.unmeasured",
    )
    names = [command.name for command in check(protocol, "a:recheck").commands]
    assert names == ["same", "c", "verification-same", "v"]


def test_a_rejection_goes_to_the_reviser_with_fresh_rounds() -> None:
    phase = {
        "id": "a",
        "steps": ["draft", "consult", "revise"],
        "consultation": {"models": MODELS},
        "gate": {"after": "revise"},
    }
    protocol = compiled(phase)
    edge = only(protocol, "a:gate", "rejected")
    assert (edge.targets, edge.resets) == ((Target("a:revise"),), ("a:rounds",))
    paths = {told.path for told in protocol.states["a:revise"].inputs}
    assert {"a:gate.rejected", "a:consult.changes", "undecided:a.rejected"} <= paths
    assert human(protocol, "a:gate").shows == ("a:consult.changes",)


def test_reviewers_of_a_later_round_hear_whoever_mended_what_they_found() -> None:
    phase = {
        "id": "a",
        "steps": ["draft", "consult", "revise"],
        "checks": {"c": "true"},
        "consultation": {"models": MODELS},
        "gate": {"after": "revise"},
    }
    protocol = compiled(phase, {"id": "b"})
    heard = ["a:consult.changes", "undecided:a.rejected", "a:gate.rejected", "said.a:revise"]
    assert sorted(told.path for told in protocol.states["a:consult"].inputs) == sorted(heard)
    mine = [edge for edge in protocol.edges if protocol.states[edge.state].group == "a"]
    out = [edge for edge in mine if Target("b") in edge.targets]
    assert out
    assert all("said.a:revise" in edge.forgets for edge in out), "the next visit begins afresh"


def test_reviewers_hear_the_only_agent_there_is_and_an_earlier_phase_that_mends() -> None:
    alone = compiled({"id": "a", "consultation": {"models": MODELS}})
    (panel,) = [state for state in alone.states.values() if isinstance(state.actor, Panel)]
    assert "said.a" in [told.path for told in panel.inputs]
    back = {"id": "b", "consultation": {"models": MODELS, "next": "a"}}
    protocol = compiled({"id": "a"}, back)
    (panel,) = [state for state in protocol.states.values() if isinstance(state.actor, Panel)]
    assert "said.a" in [told.path for told in panel.inputs]


def test_a_gate_in_the_middle_lets_the_later_steps_follow() -> None:
    phase = {"id": "a", "steps": ["x", "y"], "checks": {"c": "t"}, "gate": {"after": "x"}}
    protocol = compiled(phase, {"id": "b"})
    assert leads(protocol, "a:x:checks", "passed") == [Target("a:gate")]
    assert leads(protocol, "a:recheck", "passed") == [Target("a:y")]
    assert leads(protocol, "a:y:checks", "passed") == [Target("b")]
    assert leads(protocol, "failed:a:y", "skip") == [Target("b")]
    inner = {**phase, "gate": {"after": "x", "next": "a:y"}}
    assert leads(compiled(inner, {"id": "b"}), "a:recheck", "passed") == [Target("a:y")]


def test_a_gate_before_the_panel_is_not_where_its_rounds_end() -> None:
    phase = {
        "id": "a",
        "steps": ["x", "consult"],
        "consultation": {"models": MODELS},
        "gate": {"after": "x"},
    }
    protocol = compiled(phase)
    assert leads(protocol, "a:x", "PHASE_COMPLETE") == [Target("a:gate")]
    assert leads(protocol, "a:gate", "approved") == [Target("a:consult")]
    assert only(protocol, "a:consult", "changes").spent == (Target("undecided:a"),)


@pytest.mark.req("F-029")
def test_a_gate_waits_for_what_nobody_but_the_agent_can_say() -> None:
    phase = {
        "id": "a",
        "checks": {"c": "x"},
        "verification": {"checks": {"v": "x"}},
        "consultation": {"models": MODELS},
        "gate": {"requires": ["c", "v", "consultation", "seen", "signed"]},
    }
    protocol = compiled(phase, signals={"seen": {}, "signed": {}})
    assert {"seen", "signed"} <= set(exits(protocol, "a"))
    guarded, fallback = protocol.edges_of("a", "PHASE_COMPLETE")
    assert guarded.guards == (Guard("a.seen"), Guard("a.signed"))
    assert guarded.targets == (Target("a:checks"),)
    assert (fallback.targets, fallback.charges) == ((Target("a"),), "a:requires")
    assert fallback.spent == (Target("failed:a"),)


def test_a_required_word_that_is_a_signal_already_is_not_made_twice() -> None:
    phase = {"id": "a", "signals": {"DONE": "next_phase"}, "gate": {"requires": ["DONE"]}}
    assert list(exits(compiled(phase), "a")) == ["DONE", "BLOCKED"]


def test_a_required_word_is_not_mistaken_for_a_word_that_says_done() -> None:
    gate = {"requires": ["review_complete"]}
    phase = {"id": "a", "steps": ["phase_complete"], "gate": gate}
    said = exits(compiled(phase, signals={"review_complete": {}}), "a:phase_complete")
    assert said["review_complete"] == ("review_complete",)
    assert said["PHASE_COMPLETE"] == (
        "PHASE_COMPLETE", "PHASE_IMPLEMENTED", "TESTS_WRITTEN", "EVALUATION_COMPLETE",
    )  # fmt: skip


def test_a_commit_that_git_refuses_asks_a_person_who_can_go_on_without_it() -> None:
    phase = {"id": "a", "name": "Alpha", "on_complete": {"commit": ["x.md", "y.md"]}}
    protocol = compiled(phase, {"id": "b"})
    assert protocol.states["a:commit"].actor == Git(("x.md", "y.md"), "p: Alpha x.md, y.md")
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("a:commit")]
    assert leads(protocol, "a:commit", "refused") == [Target("failed:a")]
    skips = list(protocol.edges_of("failed:a", "skip"))
    assert [(edge.targets[0].state, [g.path for g in edge.guards]) for edge in skips] == [
        ("b", ["a:commit.refused"]),
        ("b", ["a:commit.conflict"]),
        ("a:commit", []),
    ]
    assert "a:commit.refused" in human(protocol, "failed:a").shows
    assert "x:commit" not in compiled({"id": "x", "on_complete": {"commit": False}}).states


def test_a_failed_phase_is_retried_with_fresh_budgets_skipped_or_stopped() -> None:
    phase = {"id": "a", "checks": {"c": "x"}, "gate": {}}
    protocol = compiled(phase)
    retry = only(protocol, "failed:a", "retry")
    assert (retry.targets, retry.resets) == ((Target("a"),), ("a:checks.c", "a:recheck"))
    assert leads(protocol, "failed:a", "skip") == [Target("a:gate")]
    assert leads(protocol, "failed:a", "stopped") == [Target("abandoned")]
    assert human(protocol, "failed:a").shows == (
        "a:checks.failed", "a:checks.unmeasured", "a:recheck.failed", "a:recheck.unmeasured",
        "a.exhausted", "a.silent",
    )  # fmt: skip


# --- loops ----------------------------------------------------------------------------------


def test_a_single_phase_may_be_a_loop_that_names_itself() -> None:
    ways = {"on_complete": "implement", "on_all_phases_complete": "review"}
    protocol = compiled(
        {"id": "implement", "type": "per_plan_phase", "transition": ways},
        {"id": "x"},
        {"id": "review"},
    )
    assert leads(protocol, "implement", "PHASE_COMPLETE") == [Target(next_of="implement")]
    assert protocol.loops["implement"].after == Target("review")


def test_a_gate_inside_a_loop_is_asked_for_each_item() -> None:
    gate = {"next": "implement"}
    protocol = compiled(
        {"id": "implement", "phased": True}, {"id": "evaluate", "phased": True, "gate": gate}
    )
    assert protocol.states["evaluate:gate"].loop == "implement"
    assert leads(protocol, "evaluate:gate", "approved") == [Target(next_of="implement")]
    assert protocol.loops["implement"].after == Target("complete")


@pytest.mark.parametrize(
    "said, source",
    [
        ("plan", "thoughts.md"),
        ("idle", "plan.md|/codev/plans/${PROJECT_ID}-*.md"),
        ("notes/plan.md", "/notes/plan.md"),
    ],
)
def test_the_list_of_a_loop_is_read_from_a_phases_artifact_or_a_file(
    said: str, source: str
) -> None:
    protocol = compiled(
        {"id": "plan", "artifact": "thoughts.md"},
        {"id": "idle"},
        {"id": "work", "phased": True, "phases_from": said},
    )
    assert protocol.loops["work"].source == source


def test_two_runs_of_phased_phases_are_two_loops() -> None:
    protocol = compiled(
        {"id": "a", "phased": True}, {"id": "b"}, {"id": "c", "phased": True}, {"id": "d"}
    )
    assert {name: loop.after.state for name, loop in protocol.loops.items()} == {"a": "b", "c": "d"}


def test_the_end_of_a_plan_phase_is_measured_and_can_be_skipped_by_a_person() -> None:
    protocol = compiled(
        {"id": "a", "phased": True}, {"id": "b", "phased": True}, phase_completion={"c": "x"}
    )
    assert leads(protocol, "b", "PHASE_COMPLETE") == [Target("b:phase_completion")]
    failed = only(protocol, "b:phase_completion", "failed")
    assert (failed.targets, failed.charges) == ((Target("a"),), "phase_completion")
    assert protocol.budgets["phase_completion"].limit == 3
    assert "phase_completion" not in only(protocol, "b", "PHASE_COMPLETE").resets
    skips = list(protocol.edges_of("failed:b", "skip"))
    assert skips[0].guards == (Guard("b:phase_completion.failed", "cause"),)
    assert skips[0].targets == (Target(next_of="a"),)
    for name in ("a", "b"):
        labels = {told.path: told.label for told in protocol.states[name].inputs}
        assert labels["b:phase_completion.failed"] == "Failed at the end of the plan phase"


def test_a_signal_inside_a_loop_may_name_a_plan_phase() -> None:
    signals = {"DONE": "next_phase", "FIRST": "a:phase_1"}
    protocol = compiled({"id": "a", "phased": True, "signals": signals})
    assert leads(protocol, "a", "FIRST") == [Target("a", "phase_1")]
    assert only(protocol, "a", "FIRST").charges == "a.FIRST"


def test_a_loop_that_leads_back_is_bounded() -> None:
    ways = {"on_all_phases_complete": "plan"}
    protocol = compiled(
        {"id": "plan", "signals": {"DONE": "work", "STOP": "complete"}},
        {"id": "work", "phased": True, "transition": ways},
    )
    assert only(protocol, "work", "PHASE_COMPLETE").charges == "work.PHASE_COMPLETE"


# --- the oldest files -----------------------------------------------------------------------

OLD = {
    "gates": [
        {
            "id": "specify_approval",
            "after_state": "specify:review",
            "next_state": "plan",
            "type": "human",
            "description": "Is it right?",
        }
    ],
    "transitions": {
        "specify:draft": {"default": "specify:review"},
        "specify:review": {"on_gate_pass": "plan", "wait_for": "specify_approval"},
        "plan": {"default": "complete", "on_backpressure_fail": "specify"},
    },
    "initial_state": "specify:draft",
}


def test_gates_and_transitions_beside_the_phases_are_understood() -> None:
    protocol = compiled(
        {
            "id": "specify",
            "substates": ["draft", "review"],
            "signals": {"READY": "specify:review"},
        },
        {"id": "plan", "backpressure": {"t": {"command": "x"}}},
        {"id": "complete", "terminal": True},
        **OLD,
    )
    assert leads(protocol, "specify:draft", "READY") == [Target("specify:review")]
    assert leads(protocol, "specify:review", "PHASE_COMPLETE") == [Target("specify:review:checks")]
    assert leads(protocol, "specify:review:checks", "passed") == [Target("specify:gate")]
    gate = human(protocol, "specify:gate")
    assert (gate.name, gate.description) == ("specify_approval", "Is it right?")
    assert leads(protocol, "specify:gate", "approved") == [Target("plan")]
    assert leads(protocol, "plan:checks", "failed") == [Target("specify:draft")] * 2
    assert leads(protocol, "plan:checks", "passed") == [Target("complete")]


def test_a_common_gate_fills_in_what_the_phase_only_names() -> None:
    gates = {"ok": {"description": "Sure?", "next": "c", "artifacts": ["x.md"]}}
    protocol = compiled({"id": "a", "gate": "ok"}, {"id": "b"}, {"id": "c"}, gates=gates)
    gate = human(protocol, "a:gate")
    assert (gate.description, gate.artifacts) == ("Sure?", ("x.md",))
    assert leads(protocol, "a:gate", "approved") == [Target("c")]
    placed = compiled({"id": "a"}, {"id": "b"}, gates={"ok": {"phase": "a"}})
    assert human(placed, "a:gate").name == "ok"


def test_transitions_may_be_a_list_with_signals() -> None:
    transitions = [
        {"from": "a", "to": "c"},
        {"from": "c", "to": "b", "on": "BACK"},
        {"from": "c", "on_gate_pass": "complete", "on_all_phases_complete": None},
    ]
    protocol = compiled({"id": "a"}, {"id": "b"}, {"id": "c"}, transitions=transitions)
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("c")]
    assert leads(protocol, "c", "BACK") == [Target("b")]
    plain = compiled({"id": "a"}, {"id": "b"}, {"id": "c"}, transitions={"a": "c", "_x": 3})
    assert leads(plain, "a", "PHASE_COMPLETE") == [Target("c")]


BUILT: dict[str, Any] = {"type": "build_verify", "verify": {"models": ["m"]}}


def test_q1_the_phases_own_next_wins_over_a_signal_of_all_phases() -> None:
    """`verify` is the review of a build-verify phase there, and a phase at the end of the file."""
    protocol = compiled(
        {"id": "specify", **BUILT, "gate": "spec_ok", "next": "plan"},
        {"id": "plan", **BUILT, "gate": "plan_ok", "next": "build"},
        {"id": "build", "phased": True, "transition": {"on_all_phases_complete": "verify"}},
        {"id": "verify", "gate": "last_ok", "next": None},
        signals={"PHASE_COMPLETE": {"transitions_to": "verify"}, "BUILT": "verify"},
    )
    assert leads(protocol, "specify", "PHASE_COMPLETE") == [Target("specify:checks")]
    assert leads(protocol, "specify", "BUILT") == [Target("specify:checks")]
    assert leads(protocol, "specify:checks", "passed") == [Target("specify:consult")]
    assert leads(protocol, "specify:consult", "approved") == [Target("specify:gate")]
    assert leads(protocol, "specify:gate", "approved") == [Target("plan")]
    assert leads(protocol, "build", "PHASE_COMPLETE") == [Target(next_of="build")]
    assert leads(protocol, "verify", "PHASE_COMPLETE") == [Target("verify:gate")]


def test_q1_a_word_for_done_never_jumps_over_phases() -> None:
    common = {"REVIEW_COMPLETE": {"transitions_to": "c"}}
    reading = read({"id": "a"}, {"id": "b"}, {"id": "c"}, signals=common)
    assert reading.protocol is not None
    assert leads(reading.protocol, "a", "REVIEW_COMPLETE") == [Target("b")]
    (finding,) = [f for f in reading.findings if f.code == "no-meaning"]
    assert finding.severity == "note"
    assert "leads where it leads by itself, and not always to 'c'" in finding.message


def escalation(protocol: Protocol, phase: str) -> tuple[str, ...]:
    return tuple(option.exit for option in human(protocol, f"escalated:{phase}").options)


def test_q2_escalate_asks_a_person_who_can_retry_skip_or_stop() -> None:
    protocol = compiled(
        {"id": "look", "signals": {"FOUND": "fix", "TOO_BIG": "escalate"}},
        {"id": "fix", "checks": {"c": {"command": "x", "on_fail": "escalate"}}, "gate": "ok"},
        signals={"LOST": {"transitions_to": "escalate", "requires": "reason"}},
    )
    assert leads(protocol, "look", "TOO_BIG") == [Target("escalated:look")]
    assert leads(protocol, "look", "LOST") == [Target("escalated:look")]
    assert leads(protocol, "fix:checks", "failed")[0] == Target("escalated:fix")
    assert escalation(protocol, "look") == ("retry", "skip", "stopped")
    assert human(protocol, "escalated:look").shows == ("look.TOO_BIG", "look.LOST")
    assert leads(protocol, "escalated:look", "retry") == [Target("look")]
    assert leads(protocol, "escalated:look", "skip") == [Target("fix")]
    assert leads(protocol, "escalated:look", "stopped") == [Target("abandoned")]
    assert leads(protocol, "escalated:fix", "skip") == [Target("fix:gate")]
    assert "escalated:a" not in compiled({"id": "a"}).states


@pytest.mark.parametrize(
    "keys",
    [
        {"on_too_complex": "escalate"},
        {"transition": {"on_complete": "b", "on_too_complex": "escalate"}},
    ],
)
def test_q2_on_too_complex_is_a_signal_with_a_reason(keys: dict[str, Any]) -> None:
    protocol = compiled({"id": "a", **keys}, {"id": "b"})
    (exit_,) = [e for e in agent(protocol, "a").exits if e.name == "TOO_COMPLEX"]
    assert exit_.needs_reason
    assert leads(protocol, "a", "TOO_COMPLEX") == [Target("escalated:a")]
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("b")]


def test_q2_on_too_complex_may_name_a_phase_and_claims_nothing() -> None:
    """No check has to pass for it: nothing is said to be done."""
    big = {"id": "plan"}
    protocol = compiled(
        {"id": "a", "checks": {"c": "x"}, "on_too_complex": "plan"}, {"id": "b"}, big
    )
    assert leads(protocol, "a", "TOO_COMPLEX") == [Target("plan")]
    assert leads(protocol, "a", "PHASE_COMPLETE") == [Target("a:checks")]
    old = compiled({"id": "a"}, big, transitions={"a": {"on_too_complex": "escalate"}})
    assert leads(old, "a", "TOO_COMPLEX") == [Target("escalated:a")]
    assert "escalated:a" not in compiled({"id": "a", "on_too_complex": None}).states


def test_q2_a_phase_that_is_done_cannot_escalate() -> None:
    (finding,) = errors_in(read({"id": "a", "next": "escalate"}).findings)
    assert finding.code == "wrong-value"
    assert "'escalate' in 'signals', 'on_fail' or 'on_too_complex'" in finding.fix


def test_q2_where_too_complex_leads_is_said_once() -> None:
    twice = {"id": "a", "on_too_complex": "escalate", "signals": {"TOO_COMPLEX": "complete"}}
    (finding,) = errors_in(read(twice).findings)
    assert finding.code == "said-twice"


def test_q2_a_phase_may_be_called_escalate() -> None:
    protocol = compiled({"id": "a", "signals": {"BIG": "escalate"}}, {"id": "escalate"})
    assert leads(protocol, "a", "BIG") == [Target("escalate")]


@pytest.mark.parametrize(
    "plan, source",
    [
        (
            {"id": "plan", "artifact": "codev/plans/${PROJECT_TITLE}.md"},
            "/codev/plans/${PROJECT_TITLE}.md",
        ),
        ({"id": "plan", "artifact": "codev/ways/${PROJECT_ID}.md"}, "/codev/ways/${PROJECT_ID}.md"),
        ({"id": "design", "artifact": ["why.md", "codev/plans/*.md"]}, "/codev/plans/*.md"),
        (
            {"id": "design", "artifact": "docs/explanation.md"},
            "plan.md|/codev/plans/${PROJECT_ID}-*.md",
        ),
    ],
)
def test_q3_the_plan_is_looked_for_where_the_protocol_puts_it(
    plan: dict[str, Any], source: str
) -> None:
    reading = read(
        plan, {"id": "build", "phased": True, "artifact": "plans/of-${PLAN_PHASE_ID}.md"}
    )
    assert reading.protocol is not None
    found = reading.protocol.loops["build"].source
    assert found in (source, "|".join(source.split("|")[::-1]))
    unwritten = [f for f in reading.findings if f.code == "unwritten-plan"]
    assert bool(unwritten) == ("explanation" in str(plan))
