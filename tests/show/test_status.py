"""The status file: the seed's keys, read back equal by any YAML reader, sealed by its last line."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.machine.facts import Item
from porch.machine.state import Decision, GateStatus, LoopItems, Run, RunState, Standing
from porch.model import protocol as p
from porch.show import status, status_yaml
from porch.show.shapes import StatusDocument

AT = "2026-01-19T10:15:00.000Z"
RUN = Run(
    name="0073-user-auth",
    id="0073",
    title="user-auth",
    protocol="spider",
    worktree="worktrees/spider_0073_user-auth",
    started_at="2026-01-19T10:00:00.000Z",
)
ITEMS = tuple(
    Item(id=f"phase_{n}", title=title, description=f"do {title}", digest="d")
    for n, title in ((1, "Database schema"), (2, "API endpoints"), (3, "Frontend"))
)


def gate(name: str) -> p.Human:
    return p.Human("gate", name, f"Approve {name}?", (p.Option("approved", "goes on"),))


def make_protocol() -> p.Protocol:
    agent = p.Agent("builder")
    states = (
        p.State("specify:draft", "specify", agent, title="Specify"),
        p.State("specify:gate", "specify", gate("specify_approval"), title="Specify approval"),
        p.State("plan:gate", "plan", gate("plan_approval")),
        p.State("implement", "implement", agent, title="Implement", loop="plan"),
        p.State("implement:checks", "implement", p.Check(()), loop="plan"),
        p.State("implement:gate", "implement", gate("phase_approval"), loop="plan"),
        p.State("failed:implement", "implement", agent, loop="plan"),
    )
    return p.Protocol(
        "spider", p.Target("specify:draft"), {state.name: state for state in states}, ()
    )


def standing(state: str, item: str = "", visit: int = 1, instance: str = "") -> Standing:
    front = f"{instance}/" if instance else ""
    text = f"{front}{state}{':' + item if item else ''}#{visit}"
    return Standing(text, instance, state, item, visit, AT)


def state_at(*positions: Standing, **changes: Any) -> RunState:
    values: dict[str, Any] = {
        "run": RUN,
        "seq": 41,
        "at": AT,
        "positions": {each.position: each for each in positions},
        "turns": 5,
    }
    return RunState(**{**values, **changes})


def document_at(*positions: Standing, **changes: Any) -> StatusDocument:
    return status.make_status_document(make_protocol(), state_at(*positions, **changes))


@pytest.mark.req("P-082", "P-087")
def test_the_document_has_the_keys_of_the_status_file_in_their_order() -> None:
    document = document_at(standing("specify:draft"))
    assert list(document) == [
        "id",
        "title",
        "protocol",
        "state",
        "current_phase",
        "worktree",
        "gates",
        "phases",
        "plan_phases",
        "iteration",
        "started_at",
        "last_updated",
        "log",
    ]
    assert document["id"] == "0073"
    assert document["title"] == "user-auth"
    assert document["protocol"] == "spider"
    assert document["worktree"] == "worktrees/spider_0073_user-auth"
    assert document["iteration"] == 5
    assert document["started_at"] == "2026-01-19T10:00:00.000Z"
    assert document["last_updated"] == AT


@pytest.mark.req("P-057", "P-061")
@pytest.mark.parametrize(
    "position,label",
    [
        (standing("specify:draft", visit=3), "specify:draft"),
        (standing("implement", "phase_2"), "implement:phase_2"),
        (standing("implement:checks", "phase_2", 2), "implement:checks:phase_2"),
        (standing("failed:implement", "phase_2"), "failed:implement:phase_2"),
    ],
)
def test_the_state_is_the_position_without_its_visit(position: Standing, label: str) -> None:
    assert document_at(position)["state"] == label


@pytest.mark.parametrize("outcome", ["complete", "failed", "abandoned"])
def test_a_run_that_is_over_says_how_it_ended(outcome: str) -> None:
    document = document_at(outcome=outcome)
    assert (document["state"], document["current_phase"]) == (outcome, "")


def test_a_run_that_has_not_begun_stands_nowhere() -> None:
    assert document_at()["state"] == ""


def test_the_run_itself_is_shown_before_the_instances_inside_it() -> None:
    inner, outer = standing("implement", "phase_9", instance="child"), standing("specify:draft")
    assert document_at(inner, outer)["state"] == "specify:draft"
    assert document_at(inner)["state"] == "child/implement:phase_9"


def test_only_a_stopped_run_says_paused_and_says_it_after_its_state() -> None:
    position = standing("specify:draft")
    document = document_at(position, paused=True)
    assert document["state"] == "specify:draft"
    assert document["paused"] is True
    assert list(document)[3:5] == ["state", "paused"]
    assert "paused" not in document_at(position)


@pytest.mark.req("P-058")
def test_the_current_phase_is_the_title_of_the_plan_phase_else_of_the_state() -> None:
    items = {("", "plan"): LoopItems(ITEMS, "d")}
    assert document_at(standing("implement", "phase_2"), items=items)["current_phase"] == (
        "API endpoints"
    )
    assert document_at(standing("specify:draft"))["current_phase"] == "Specify"
    assert document_at(standing("plan:gate"))["current_phase"] == "plan"
    assert document_at(standing("implement", "phase_9"), items=items)["current_phase"] == (
        "Implement"
    )
    assert document_at(standing("gone"))["current_phase"] == "gone"


@pytest.mark.req("P-059", "P-086")
def test_each_plan_phase_is_complete_in_progress_or_pending() -> None:
    items = {
        ("", "plan"): LoopItems(ITEMS, "d", ("phase_1",)),
        ("child", "plan"): LoopItems(ITEMS, "d"),
    }
    assert document_at(standing("implement", "phase_2"), items=items)["phases"] == {
        "phase_1": {"status": "complete", "outcome": "nothing to run"},
        "phase_2": {"status": "in_progress"},
        "phase_3": {"status": "pending"},
    }


def test_an_item_of_two_loops_is_complete_only_when_both_have_finished_it() -> None:
    both = {("", "plan"): LoopItems(ITEMS, "d", ("phase_1",)), ("", "docs"): LoopItems(ITEMS, "d")}
    assert document_at(standing("specify:draft"), items=both)["phases"]["phase_1"] == {
        "status": "pending"
    }


@pytest.mark.req("P-126")
def test_plan_phases_are_listed_with_title_and_description() -> None:
    items = {("", "plan"): LoopItems(ITEMS[:1], "d"), ("child", "plan"): LoopItems(ITEMS, "d")}
    assert document_at(standing("implement", "phase_1"), items=items)["plan_phases"] == [
        {"id": "phase_1", "title": "Database schema", "description": "do Database schema"}
    ]


@pytest.mark.req("P-084", "P-183")
def test_only_the_gate_that_is_being_asked_says_pending() -> None:
    position = standing("specify:gate")
    document = document_at(
        position,
        decisions={position.position: Decision(position.position, "gate", "specify_approval", AT)},
        gates={"specify_approval": GateStatus("pending", AT)},
    )
    assert document["gates"] == {
        "specify_approval": {"status": "pending", "requested_at": AT},
        "plan_approval": {"status": "waiting"},
        "phase_approval": {"status": "waiting"},
    }
    found = re.findall(
        r"^.*status: pending.*$", status_yaml.render_status_file(document, 41), re.MULTILINE
    )
    assert found == [f'  specify_approval: {{ status: pending, requested_at: "{AT}" }}']


def test_decided_gates_say_when_and_by_whom_and_abandoned_ones_wait_again() -> None:
    gates = document_at(
        standing("specify:draft"),
        gates={
            "plan_approval": GateStatus("rejected", AT, AT, "ana"),
            "specify_approval": GateStatus("approved", "", AT, "unknown (from a file)"),
            "phase_approval": GateStatus("waiting", AT, AT),
            "former": GateStatus("approved", AT, AT, "ana"),
            "lost": GateStatus("pending", AT),
        },
    )["gates"]
    assert gates == {
        "specify_approval": {
            "status": "approved",
            "decided_at": AT,
            "by": "unknown (from a file)",
        },
        "plan_approval": {
            "status": "rejected",
            "requested_at": AT,
            "decided_at": AT,
            "by": "ana",
        },
        "phase_approval": {"status": "waiting"},
        "former": {"status": "approved", "requested_at": AT, "decided_at": AT, "by": "ana"},
        "lost": {"status": "waiting"},
    }


@pytest.mark.req("P-088", "P-089")
def test_the_log_keeps_the_last_fifty_entries_with_all_their_fields() -> None:
    moved = {"ts": AT, "event": "state_change", "from": None, "to": "specify:draft"}
    signal = {"ts": AT, "event": "signal", "signal": "SPEC_READY", "result": "specify:consult"}
    document = document_at(standing("specify:draft"), log=(signal,) * 30 + (moved,) * 49)
    assert len(document["log"]) == 50
    loaded = yaml.safe_load(status_yaml.render_status_file(document, 41))
    assert loaded["log"][0] == signal
    assert loaded["log"][-1] == moved


@pytest.mark.req("P-083", "P-091")
def test_a_yaml_reader_reads_the_whole_file_back_and_the_id_stays_text() -> None:
    document = document_at(
        standing("implement", "phase_2"),
        items={("", "plan"): LoopItems(ITEMS, "d")},
        gates={"plan_approval": GateStatus("approved", AT, AT, "ana")},
        log=({"ts": AT, "event": "adopted", "notes": ["a", "b"], "kept": 3, "late": True},),
    )
    text = status_yaml.render_status_file(document, 41)
    assert yaml.safe_load(text) == document
    assert text.startswith('id: "0073"\n')
    assert text.startswith(status_yaml.render_status_yaml(document) + "# porch seq=41 sha256=")


def test_words_in_a_plan_do_not_look_like_a_gate_to_a_hook_that_greps() -> None:
    alarming = "mend status: pending in the list"
    document = document_at(
        standing("implement", "phase_1"),
        items={
            ("", "plan"): LoopItems(
                (Item(id="phase_1", title=alarming, description=alarming, digest="d"),), "d"
            )
        },
        gates={alarming: GateStatus("approved", AT, AT, alarming)},
        log=({"ts": AT, "event": "wish", "text": alarming},),
    )
    text = status_yaml.render_status_file(document, 41)
    assert "status: pending" not in text
    assert yaml.safe_load(text) == document


TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(
        ["", "0073", "1e3", "yes", "null", "a: b", "# c", "x\ny", "\x7f\x85\u2028\ufeff", "\\\"'"]
    ),
)
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(
    title=TEXTS,
    gates=st.dictionaries(
        TEXTS,
        st.builds(
            lambda word, at: {"status": word, "requested_at": at},
            st.sampled_from(status.GATE_STATUSES),
            TEXTS,
        ),
        max_size=3,
    ),
    phases=st.dictionaries(TEXTS, st.fixed_dictionaries({"status": TEXTS}), max_size=3),
    log=st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), max_size=4),
)
@settings(deadline=None)
def test_whatever_the_texts_hold_the_file_reads_back_equal(
    title: str, gates: dict[str, Any], phases: dict[str, Any], log: list[dict[str, Any]]
) -> None:
    document = {"id": "0073", "title": title, "gates": gates, "phases": phases, "log": log}
    text = status_yaml.render_status_file(document, 7)
    assert yaml.safe_load(text) == document
    assert status_yaml.parse_signature(text) == (7, True)
    assert all(char.isprintable() or char == "\n" for char in text)


def test_half_a_character_becomes_the_replacement_character() -> None:
    text = status_yaml.render_status_file({"title": "a\ud800b"}, 1)
    assert yaml.safe_load(text) == {"title": "a\ufffdb"}
    text.encode()


def test_a_value_of_no_plain_kind_is_written_as_its_text() -> None:
    assert yaml.safe_load(status_yaml.render_status_file({"n": 1.5}, 1)) == {"n": "1.5"}


@given(st.data())
@settings(deadline=None)
def test_any_change_of_a_sealed_file_shows(data: st.DataObject) -> None:
    text = status_yaml.render_status_file({"id": "0073", "title": "user-auth"}, 41)
    body = text.index("# porch")
    at = data.draw(st.integers(0, body - 1))
    char = data.draw(st.characters(exclude_characters=text[at]))
    assert status_yaml.parse_signature(text[:at] + char + text[at + 1 :]) == (41, False)


@pytest.mark.parametrize("added", ["id: 74\n", "\n", " "])
def test_what_is_added_below_the_last_line_shows(added: str) -> None:
    text = status_yaml.render_status_file({"id": "0073"}, 41)
    assert status_yaml.parse_signature(text + added) == (41, False)
    assert status_yaml.parse_signature(text[:-1]) == (41, False)


def test_a_file_of_somebody_else_carries_no_signature() -> None:
    assert status_yaml.parse_signature('id: "0073"\n') is None
    assert status_yaml.parse_signature("# porch seq=x sha256=12\n") is None
