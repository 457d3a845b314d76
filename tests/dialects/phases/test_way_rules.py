"""Ways that lead round, nowhere or out too early are found; their nearest legal twins are not."""

import json
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import Finding
from porch.model.protocol import Human, Target

Phase = dict[str, Any]
PLAN: Phase = {"id": "plan"}
REVIEW: Phase = {"id": "review"}


def file_of(*phases: Phase, **top: Any) -> str:
    return json.dumps({"name": "p", "phases": list(phases), **top}, indent=1)


def found(code: str, *phases: Phase, **top: Any) -> list[Finding]:
    return [
        f for f in parse_definition(file_of(*phases, **top), "p.json").findings if f.code == code
    ]


def place_of(text: str, word: str) -> str:
    """Where a text stands for the last time in the file, as findings write it."""
    before = text[: text.rindex(word)]
    return f"p.json:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def test_l3_on_fail_of_a_phase_without_checks_must_lead_somewhere() -> None:
    bad = {"id": "a", "transition": {"on_complete": "review", "on_fail": "xyz"}}
    (finding,) = found("unknown-state", bad, REVIEW)
    assert finding.severity == "error"
    assert "'on_fail' in 'a' leads to 'xyz'" in finding.message
    assert str(finding.place) == place_of(file_of(bad, REVIEW), '"xyz"')
    for word in ("retry", "review", "a", None):
        good = {"id": "a", "transition": {"on_complete": "review", "on_fail": word}}
        assert found("unknown-state", good, REVIEW) == []


def test_l3_the_same_word_is_reported_once_where_checks_use_it() -> None:
    bad = {"id": "a", "checks": {"c": "x", "d": "y"}, "transition": {"on_fail": "xyz"}}
    assert len(found("unknown-state", bad, REVIEW)) == 1


ONLY_TO_ITSELF: list[Phase] = [
    {"next": "a"},
    {"transition": {"on_complete": "a"}},
    {"gate": {"name": "g", "next": "a"}},
    {"signals": {"DONE": "a"}},
    {"signals": {"DONE": "current_phase"}},
    {"steps": ["one", "two"], "next": "a:one"},
]


@pytest.mark.parametrize("keys", ONLY_TO_ITSELF)
def test_l10_a_phase_whose_only_way_leads_to_itself_is_an_error(keys: Phase) -> None:
    start = {"id": "start", "signals": {"SHORT": "end", "LONG": "a"}}
    (finding,) = found("no-way-out", start, {"id": "a", **keys}, {"id": "end"})
    assert finding.severity == "error"
    assert finding.message == "phase 'a' can never be left: its only way leads back to it"
    assert finding.place is not None
    assert finding.place.line > 1
    assert "next_phase" in finding.fix


@pytest.mark.parametrize(
    "keys",
    [
        {"next": "end"},
        {"next": None},
        {"signals": {"AGAIN": "a", "DONE": "end"}},
        {"signals": {"AGAIN": "a", "DONE": "next_phase"}},
        {"signals": {"AGAIN": "a"}, "next": "end"},
        {"next": "a", "signals": {"DONE": "end"}},
        {"steps": ["one", "two"], "signals": {"ONE_DONE": "two"}},
        {"steps": ["one", "consult"], "consultation": {"models": ["m"], "next": "one"}},
        {"phased": True, "next": "a"},
        {"phased": True, "transition": {"on_complete": "a", "on_all_phases_complete": "end"}},
    ],
)
def test_l10_a_phase_with_another_way_is_left_alone(keys: Phase) -> None:
    assert found("no-way-out", PLAN, {"id": "a", **keys}, {"id": "end"}) == []


def test_l10_a_signal_of_the_whole_file_is_a_way_too() -> None:
    back = {"id": "a", "signals": {"AGAIN": "a"}}
    assert found("no-way-out", back, REVIEW)
    common = {"PHASE_COMPLETE": {"transitions_to": "next_phase"}}
    assert found("no-way-out", back, REVIEW, signals=common) == []
    # Onward is where the phase leads, and that is itself.
    assert found("no-way-out", {"id": "a", "next": "a"}, REVIEW, signals=common)


def test_l11_a_phase_all_of_whose_ways_lead_back_is_an_error() -> None:
    bad = {"id": "a", "next": "a", "signals": {"X": "current_phase", "Y": "retry"}}
    (finding,) = found("no-way-out", bad, REVIEW)
    assert finding.message == "phase 'a' can never be left: each of its 3 ways leads back to it"
    assert (
        found("no-way-out", {**bad, "signals": {"X": "current_phase", "Y": "review"}}, REVIEW) == []
    )


def test_l11_a_phase_of_a_loop_that_leads_to_itself_never_reaches_the_others() -> None:
    bad = {"id": "build", "phased": True, "next": "build"}
    assert found("no-way-out", PLAN, bad, {"id": "test", "phased": True}, REVIEW)
    assert found("no-way-out", PLAN, {"id": "test", "phased": True}, bad, REVIEW)
    assert found("no-way-out", PLAN, bad, REVIEW) == []


def test_l12_a_loop_that_the_file_does_not_bound_is_noted_with_the_bound() -> None:
    back = {"id": "check", "signals": {"BAD": "work", "GOOD": "review"}}
    (finding,) = found("own-bound", {"id": "work"}, back, REVIEW)
    assert finding.severity == "note"
    assert "'BAD' of 'check' leads back to 'work'" in finding.message
    assert "3 times" in finding.message
    assert "check.BAD" in finding.message
    assert str(finding.place) == place_of(file_of({"id": "work"}, back, REVIEW), '"BAD"')
    assert found("own-bound", {"id": "work"}, {"id": "check"}, REVIEW) == []


def test_l12_a_person_on_the_way_round_is_bound_enough() -> None:
    back = {"id": "check", "signals": {"BAD": "work", "GOOD": "review"}}
    assert found("own-bound", {"id": "work", "gate": "g"}, back, REVIEW) == []


@pytest.mark.parametrize(
    "check, top, notes",
    [
        ({"command": "x", "on_fail": "work"}, {}, 1),
        ({"command": "x", "on_fail": "work", "max_retries": 2}, {}, 0),
        ({"command": "x", "on_fail": "work"}, {"defaults": {"max_retries": 2}}, 0),
        ({"command": "x", "on_fail": "work"}, {"config": {"max_retries": 2}}, 0),
        ({"command": "x", "on_fail": "retry"}, {}, 0),
        ("x", {}, 0),
    ],
)
def test_l12_a_check_that_leads_back_to_a_phase_says_how_often_or_is_noted(
    check: Any, top: dict[str, Any], notes: int
) -> None:
    phases = ({"id": "work"}, {"id": "test", "checks": {"c": check}}, REVIEW)
    said = found("own-bound", *phases, **top)
    assert len(said) == notes
    assert all("3 times" in finding.message and finding.place for finding in said)


def test_l12_a_text_as_check_takes_the_way_of_its_phase_and_the_limit_of_the_file() -> None:
    test = {"id": "test", "checks": {"c": "x"}, "transition": {"on_fail": "work"}}
    assert len(found("own-bound", {"id": "work"}, test)) == 1
    assert found("own-bound", {"id": "work"}, test, defaults={"max_retries": 1}) == []


def test_l14_a_loop_over_a_plan_that_no_phase_writes_is_a_warning() -> None:
    build = {"id": "build", "type": "per_plan_phase"}
    text = file_of({"id": "think"}, build, REVIEW)
    (finding,) = found("unwritten-plan", {"id": "think"}, build, REVIEW)
    assert finding.severity == "warning"
    assert "no phase before it writes plan.md" in finding.message
    assert str(finding.place) == place_of(text, '{\n   "id": "build"')


@pytest.mark.parametrize(
    "before, keys",
    [
        ({"id": "plan"}, {}),
        ({"id": "plan", "artifact": "codev/plans/x.md"}, {}),
        ({"id": "think", "artifact": "plan.md"}, {}),
        ({"id": "think"}, {"phases_from": "think"}),
        ({"id": "think"}, {"phases_from": "docs/list.md"}),
    ],
)
def test_l14_a_plan_before_the_loop_or_a_named_file_is_enough(before: Phase, keys: Phase) -> None:
    assert found("unwritten-plan", before, {"id": "build", "phased": True, **keys}, REVIEW) == []


def test_l14_a_plan_that_comes_after_the_loop_is_no_plan() -> None:
    build = {"id": "build", "phased": True}
    assert len(found("unwritten-plan", build, {"id": "plan"})) == 1
    assert len(found("unwritten-plan", {**build, "phases_from": "later"}, {"id": "later"})) == 1


def test_l15_a_signal_out_of_the_loop_is_a_warning() -> None:
    build = {"id": "build", "phased": True, "signals": {"DONE": "review"}}
    (finding,) = found("early-exit", PLAN, build, REVIEW)
    assert finding.severity == "warning"
    assert "signal 'DONE' of phase 'build' leads to 'review'" in finding.message
    assert str(finding.place) == place_of(file_of(PLAN, build, REVIEW), '"review"\n   }')
    good = {**build, "signals": {"DONE": "next_phase_or_review"}}
    assert found("early-exit", PLAN, good, REVIEW) == []
    once = {**build, "phased": False}
    assert found("early-exit", PLAN, once, REVIEW) == []


def test_l15_a_way_out_in_the_middle_of_the_loop_is_a_warning() -> None:
    build = {"id": "build", "phased": True, "next": "review"}
    test = {"id": "test", "phased": True}
    (finding,) = found("early-exit", PLAN, build, test, REVIEW)
    assert "the way of phase 'build' leads to 'review'" in finding.message
    panel = {"id": "build", "phased": True, "consultation": {"models": ["m"], "next": "review"}}
    (finding,) = found("early-exit", PLAN, panel, test, REVIEW)
    assert "the way of phase 'build' leads to 'review'" in finding.message
    assert found("early-exit", PLAN, test, build, REVIEW) == []


def test_l15_the_way_of_the_last_phase_of_a_loop_is_taken_when_all_items_are_done() -> None:
    build = {"id": "build", "phased": True, "next": "end"}
    reading = parse_definition(file_of(PLAN, build, REVIEW, {"id": "end"}), "p.json")
    assert reading.protocol is not None
    assert reading.protocol.loops["build"].after == Target("end")
    (edge,) = reading.protocol.edges_of("build", "PHASE_COMPLETE")
    assert edge.targets == (Target(next_of="build"),)


def test_l15_what_follows_all_phases_is_said_by_the_key_for_it_first() -> None:
    ways = {"on_complete": "end", "on_all_phases_complete": "review"}
    build = {"id": "build", "phased": True, "transition": ways}
    reading = parse_definition(file_of(PLAN, build, REVIEW, {"id": "end"}), "p.json")
    assert reading.protocol is not None
    assert reading.protocol.loops["build"].after == Target("review")


def test_l15_a_person_is_asked_before_unfinished_items_are_left() -> None:
    signals = {"DONE": "review", "STOP_EARLY": "end"}
    build = {"id": "build", "phased": True, "signals": signals}
    protocol = parse_definition(file_of(PLAN, build, REVIEW, {"id": "end"}), "p.json").protocol
    assert protocol is not None
    for exit_, there in signals.items():
        state = f"unfinished:build:{there}"
        asking, leaving = protocol.edges_of("build", exit_)
        assert [guard.test for guard in asking.guards] == ["unfinished"]
        assert asking.targets == (Target(state),)
        # To where the loop leads anyway, so that its last item is called finished.
        onward = Target(next_of="build") if there == "review" else Target(there)
        assert leaving.targets == (onward,)
        assert isinstance(protocol.states[state].actor, Human)
        assert protocol.states[state].loop == "build"
        (more,) = protocol.edges_of(state, "retry")
        assert more.targets == (Target(next_of="build"),)
        (skipped,) = protocol.edges_of(state, "skip")
        assert skipped.targets == (Target(there),)


def test_l15_a_protocol_without_such_a_signal_asks_nothing_more() -> None:
    build = {"id": "build", "phased": True}
    protocol = parse_definition(file_of(PLAN, build, REVIEW), "p.json").protocol
    assert protocol is not None
    assert not [name for name in protocol.states if name.startswith("unfinished:")]
