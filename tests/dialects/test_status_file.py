"""Adopting status files: the present keys, the old ones, and honest notes about the rest."""

import pytest

from porch.dialects.plan_headings import PlanPhase
from porch.dialects.status_file import ForeignStatus, match_state, read_status_file
from porch.errors import DefinitionError, Finding, Place
from porch.model import protocol as p
from porch.show import status_yaml

PRESENT = """\
id: 0073
title: "user-auth"
protocol: "spider"
state: "implement:phase_2"
current_phase: "API endpoints"
worktree: ".worktrees/0073-user-auth"
gates:
  specify_approval: { status: approved, requested_at: "2026-01-19T10:00:00Z" }
  plan_approval: { status: pending }
phases:
  phase_1: { status: complete }
  phase_2: { status: in_progress }
plan_phases:
  - { id: phase_1, title: Schema, description: "tables, indexes" }
  - { id: phase_2, title: API }
iteration: 5
started_at: "2026-01-19T10:00:00Z"
last_updated: "2026-01-19T10:15:00Z"
log: []
"""
OLD = """\
id: '0076'
title: billing
protocol: spir
phase: implement
current_plan_phase: phase_2
plan_phases:
  - id: phase_1
    title: Schema
    status: complete
  - id: phase_2
    title: API
    stages: { implement: complete, defend: pending }
  - id: phase_3
    title: Web
    stages: { implement: complete, defend: done }
gates:
  spec-approval: { status: approved, approved_at: "2026-01-19T10:00:00Z" }
  plan-approval: approved
build_complete: true
history: [{ a: 1 }, { b: 2 }]
updated_at: "2026-01-19T10:15:00Z"
mood: fine
"""


def make_protocol() -> p.Protocol:
    agent = p.Agent("author")
    states = (
        p.State("specify:draft", "specify", agent),
        p.State("specify:consult", "specify", p.Panel(("a",), "r", "specify", 1)),
        p.State("implement", "implement", agent, loop="plan"),
        p.State("failed:implement", "implement", agent, loop="plan"),
        p.State("review", "review", agent),
        p.State("finished", "finished", p.End("complete")),
        p.State("given_up", "given_up", p.End("abandoned")),
    )
    return p.Protocol("spider", p.Target("specify:draft"), {s.name: s for s in states}, ())


def foreign(state: str, item: str = "", finished: tuple[str, ...] = ()) -> ForeignStatus:
    items = tuple(PlanPhase(f"phase_{n}", f"t{n}", "", "") for n in (1, 2))
    return ForeignStatus("0073", "x", "spider", state, item, {}, items, finished)


def refused(text: str) -> Finding:
    with pytest.raises(DefinitionError) as caught:
        match_state(make_protocol(), read_status_file(text, "status.yaml"))
    (found,) = caught.value.findings
    return found


def test_the_present_keys_are_understood_without_a_note() -> None:
    known = read_status_file(PRESENT, "status.yaml")
    assert (known.id, known.title, known.protocol) == ("0073", "user-auth", "spider")
    assert known.state == "implement:phase_2"
    assert known.gates == {
        "specify_approval": {"status": "approved", "at": "2026-01-19T10:00:00Z"},
        "plan_approval": {"status": "waiting"},
    }
    assert known.items == (
        PlanPhase("phase_1", "Schema", "tables, indexes", ""),
        PlanPhase("phase_2", "API", "", ""),
    )
    assert known.finished == ("phase_1",)
    assert known.signed_seq is None
    assert known.notes == ()


def test_the_old_keys_are_understood_and_what_is_lost_is_said() -> None:
    known = read_status_file(OLD, "status.yaml")
    assert (known.id, known.state, known.item) == ("0076", "implement", "phase_2")
    assert known.gates == {
        "spec-approval": {"status": "approved", "at": "2026-01-19T10:00:00Z"},
        "plan-approval": {"status": "approved"},
    }
    assert [item.id for item in known.items] == ["phase_1", "phase_2", "phase_3"]
    assert known.finished == ("phase_1", "phase_3")
    assert known.notes == (
        "phase_2 had finished implement; the whole phase is done again",
        "the entries of 'history' (2) are not used; they stay in the file",
        "'build_complete' is ignored: the checks run again",
        "unknown key 'mood'; it is ignored",
    )
    assert match_state(make_protocol(), known) == (
        "implement",
        "phase_2",
        ("the file says protocol 'spir'; the run uses spider",),
    )


def test_phases_without_a_list_are_items_by_their_id() -> None:
    known = read_status_file(
        "state: x\nphases: { phase_1: { status: complete }, phase_2: odd }", "s.yaml"
    )
    assert known.items == (
        PlanPhase("phase_1", "phase_1", "", ""),
        PlanPhase("phase_2", "phase_2", "", ""),
    )
    assert known.finished == ("phase_1",)


def test_what_cannot_be_used_becomes_a_note() -> None:
    known = read_status_file(
        "id: [1]\nstate: x\ngates: { a: { status: maybe }, b: 7 }\n"
        "plan_phases: [{ title: t }, 5, { id: p }, { id: p }]\nphases: 3\n",
        "s.yaml",
    )
    lost = "an entry of 'plan_phases' has no id of its own; it is skipped"
    assert known.notes == (
        "gate 'a' says 'maybe', which is read as not yet asked",
        "gate 'b' says '7', which is read as not yet asked",
        lost,
        lost,
        lost,
        "'phases' must be a mapping, not '3'",
        "'id' must be text, not a list",
    )
    assert known.gates == {"a": {"status": "waiting"}, "b": {"status": "waiting"}}


@pytest.mark.parametrize("text", ["- a\n", "just words\n"])
def test_what_has_no_keys_is_no_status(text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_status_file(text, "status.yaml")
    assert caught.value.findings[0].code == "not-a-status"


def test_a_file_of_ours_names_the_record_it_shows_and_reads_back() -> None:
    document = {
        "id": "0073",
        "title": "mend status: pending \x1b",
        "protocol": "spider",
        "state": "implement:phase_2",
        "paused": True,
        "gates": {"plan_approval": {"status": "approved", "decided_at": "now", "by": "ana"}},
        "phases": {"phase_1": {"status": "complete"}},
        "plan_phases": [{"id": "phase_1", "title": "t", "description": "d"}],
        "log": [{"ts": "now", "event": "signal"}],
    }
    known = read_status_file(status_yaml.render_status_file(document, 41), "status.yaml")
    assert known.signed_seq == 41
    assert known.title == "mend status: pending \x1b"
    assert known.gates == {"plan_approval": {"status": "approved", "at": "now"}}
    assert known.finished == ("phase_1",)
    assert known.notes == ("the entries of 'log' (1) are not used; they stay in the file",)


@pytest.mark.parametrize(
    "state,item,expected",
    [
        ("specify:draft", "", ("specify:draft", "")),
        ("specify:consult", "", ("specify:consult", "")),
        ("implement:phase_2", "", ("implement", "phase_2")),
        ("failed:implement:phase_2", "", ("failed:implement", "phase_2")),
        ("implement", "phase_2", ("implement", "phase_2")),
        ("implement", "", ("implement", "phase_1")),
        ("specify", "", ("specify:draft", "")),
        ("review", "phase_2", ("review", "")),
        ("complete", "", ("complete", "")),
        ("verified", "", ("complete", "")),
        ("finished", "", ("complete", "")),
    ],
)
def test_a_state_is_matched_exactly_or_by_its_phase(
    state: str, item: str, expected: tuple[str, str]
) -> None:
    assert match_state(make_protocol(), foreign(state, item)) == (*expected, ())


def test_an_unknown_part_of_a_known_phase_begins_the_phase_and_says_so() -> None:
    assert match_state(make_protocol(), foreign("specify:review")) == (
        "specify:draft",
        "",
        ("'specify:review' is not a state of spider; the run starts at specify:draft",),
    )
    name, _, notes = match_state(make_protocol(), foreign("failed:review"))
    assert (name, len(notes)) == ("review", 1)


def test_work_goes_on_at_the_first_phase_that_is_not_finished() -> None:
    at = match_state(make_protocol(), foreign("implement", "", ("phase_1",)))
    assert at == ("implement", "phase_2", ())
    over = match_state(make_protocol(), foreign("implement", "", ("phase_1", "phase_2")))
    assert over == ("implement", "", ())


def test_an_item_that_the_file_does_not_list_leaves_it_to_the_plan() -> None:
    bare = ForeignStatus("0073", "x", "spider", "implement:phase_9")
    assert match_state(make_protocol(), bare) == (
        "implement",
        "",
        ("'phase_9' is not a phase of the file; the plan is read again",),
    )
    name, item, notes = match_state(make_protocol(), foreign("implement:phase_9"))
    assert (name, item, len(notes)) == ("implement", "phase_1", 1)


def test_an_unknown_state_is_refused_at_its_place() -> None:
    found = refused("id: 1\nstate: implment:phase_1\n")
    assert found.code == "unknown-state"
    assert found.place == Place("status.yaml", 2, 8)
    assert found.fix == "did you mean 'implement'?"
    assert refused("phase: zzz\n").fix.startswith("phases: specify, implement")


@pytest.mark.parametrize("state", ["given_up", "failed", "abandoned"])
def test_a_run_that_was_given_up_is_not_gone_on_with(state: str) -> None:
    assert refused(f"state: {state}\n").code == "run-ended"
