"""How the packaged v3 works together: what is passed on, filled, measured, charged, and asked."""

from functools import cache
from pathlib import Path

import pytest

from porch.dialects.registry import parse_definition
from porch.model import protocol as p
from porch.model import types as t
from porch.model.sample_values import build_sample_value
from porch.model.typed_answers import check_value
from porch.run.definitions import library
from porch.tree.answers.answer_schema import (
    flat_schema,
    parse_flat_answer,
    schemas_per_exit,
    union_schema,
)

FILE = Path(library.PACKAGED) / "v3" / "v3.graph.yaml"


@cache
def v3() -> p.Protocol:
    reading = parse_definition(FILE.read_text("utf-8"), str(FILE))
    assert reading.protocol is not None
    return reading.protocol


def agents() -> dict[str, p.Agent]:
    states = v3().states.items()
    return {name: state.actor for name, state in states if isinstance(state.actor, p.Agent)}


def agent(state: str) -> p.Agent:
    return agents()[state]


AGENTS = sorted(agents())


def all_exits() -> dict[tuple[str, str], p.Exit]:
    return {(name, exit_.name): exit_ for name, a in agents().items() for exit_ in a.exits}


def exit_of(state: str, name: str) -> p.Exit:
    return all_exits()[state, name]


@pytest.mark.req("V-017")
def test_what_work_begins_with_is_what_tests_and_implementation_get() -> None:
    first = ["scaffoldCommit", "interfaceFile", "contractSuite", "testPlan"]
    assert [each.name for each in exit_of("scaffold", "InitWork").record.fields][:4] == first
    for state in ("write_tests", "review", "impl"):
        assert take(state, "scaffold").paths == ("scaffold.InitWork",)


def take(state: str, name: str) -> p.Take:
    ask = agent(state).ask
    assert ask is not None
    return next(each for each in ask.takes if each.name == name)


@pytest.mark.req("V-018", "V-019", "V-020")
def test_payloads_reach_the_next_node_whole() -> None:
    assert take("impl", "testsReady").paths == ("write_tests.TestsReady",)
    assert take("review", "implResult").paths == ("impl.TestsPassed",)
    assert take("merger", "tddApproval").paths == ("review.Approved",)


@pytest.mark.req("V-016")
def test_a_merge_is_told_to_siblings_as_its_event_with_the_new_head() -> None:
    interrupt = v3().interrupt
    assert interrupt is not None
    assert (interrupt.on, interrupt.event) == ("publish.clean", "merger.MergeComplete")
    event, said = v3().types["MergeEvent"], exit_of("merger", "MergeComplete").record
    assert isinstance(event, t.Record)
    assert {*event.fields} < {*said.fields}
    assert take("rebase", "newParentHead").paths == ("engine.update.newParentHead",)


@pytest.mark.req("V-015", "V-019", "V-055")
def test_the_engine_fills_what_it_knows_better() -> None:
    filled = {key: exit_.filled for key, exit_ in all_exits().items() if exit_.filled}
    assert filled == {
        ("scaffold", "InitWork"): {"scaffoldCommit": "engine.head"},
        ("write_tests", "TestsReady"): {"testsCommit": "engine.head"},
        ("review", "Approved"): {"patch": "engine.patch"},
        ("impl", "TestsPassed"): {"commitHash": "engine.head"},
        ("impl", "Stuck"): {"attempts": "engine.attempts.count"},
        ("merger", "MergeComplete"): {
            "mergeCommit": "candidate.clean.commit",
            "author": "instance.id",
        },
        ("rebase", "RebaseClean"): {"newBase": "engine.head"},
        ("rebase", "RebaseAdapted"): {"newBase": "engine.head"},
    }
    assert exit_of("impl", "TestsPassed").advisory == ("iterations",)


@pytest.mark.req("V-023")
def test_children_and_interfaces_may_be_null_and_are_never_left_out() -> None:
    record = exit_of("scaffold", "InitWork").record
    least = build_sample_value(record, v3().types, full=False)
    assert least["childSpecs"] is None
    assert least["interfaces"] is None
    assert check_value({**least, "childSpecs": []}, record, v3().types) == []
    fewer = {name: value for name, value in least.items() if name != "childSpecs"}
    assert check_value(fewer, record, v3().types)


@pytest.mark.req("V-034")
def test_tests_are_written_and_work_is_reviewed_by_one_role_with_one_memory() -> None:
    write, review = agent("write_tests"), agent("review")
    assert write.role == review.role == "tests"
    assert write.ask is not None
    assert review.ask is not None
    assert write.ask.memory == review.ask.memory == ("coveredCriteria", "pendingTests")
    assert (write.ask.workspace, review.ask.workspace) == ("tests", "read")


@pytest.mark.req("V-037", "V-051", "V-040", "V-065")
def test_claims_are_measured_before_they_are_believed() -> None:
    names = {key: [m.name for m in exit_.measures] for key, exit_ in all_exits().items()}
    assert {key: words for key, words in names.items() if words} == {
        ("scaffold", "InitWork"): ["covers", "once", "names", "disjoint", "exists", "builds"],
        ("write_tests", "TestsReady"): ["exists", "within", "red"],
        ("review", "Approved"): ["empty", "covers", "ran"],
        ("review", "MoreTests"): ["some"],
        ("impl", "TestsPassed"): ["builds", "green", "finished", "untouched"],
        ("merger", "MergeComplete"): ["raised"],
        ("rebase", "RebaseClean"): ["settled", "builds", "green"],
        ("rebase", "RebaseAdapted"): ["settled", "builds", "green"],
        ("rebase", "RebaseConflict"): ["in_conflict"],
    }


@pytest.mark.req("V-052")
def test_a_retry_charges_an_attempt_and_becomes_stuck_when_none_is_left() -> None:
    (edge,) = v3().edges_of("impl", "RequestRetry")
    assert (edge.charges, edge.spent_as) == ("attempts", "Stuck")
    assert v3().budgets["attempts"] == p.Budget("attempts", 4, first=1)


@pytest.mark.req("V-041", "V-055")
def test_what_cannot_go_on_goes_to_the_parent_and_at_the_root_to_a_person() -> None:
    for state, exit_ in (("review", "Reject"), ("impl", "Stuck")):
        up, here = v3().edges_of(state, exit_)
        assert up.guards == (p.Guard("parent", "filled"),)
        assert (up.targets[0].state, here.targets[0].state) == ("failed", "person")


@pytest.mark.req("V-067")
def test_a_conflict_of_a_rebase_goes_to_whom_the_file_belongs() -> None:
    edges = list(v3().edges_of("rebase", "RebaseConflict"))
    assert edges[0].guards[0] == p.Guard("write_tests.TestsReady", "empty")
    owned = (
        "scaffold.InitWork.interfaceFile scaffold.InitWork.contractSuite "
        "write_tests.TestsReady.testFiles"
    )
    assert edges[2].guards[0] == p.Guard("update.conflict.files", "touches", owned)


@pytest.mark.req("V-101")
def test_the_judge_is_no_node_but_the_tests_role_of_the_parent() -> None:
    judge = agent("judge")
    assert judge.role == "tests"
    assert judge.ask is not None
    assert judge.ask.of_parent
    assert [name for name in AGENTS if agent(name).role == "judge"] == []


def exits(state: str) -> dict[str, t.Record]:
    return {each.name: each.record for each in agent(state).exits}


def left_out(state: str) -> dict[str, tuple[str, ...]]:
    return {each.name: tuple(each.filled) for each in agent(state).exits}


@pytest.mark.req("V-105")
@pytest.mark.parametrize("state", AGENTS)
def test_the_canonical_schema_of_a_state_is_one_of_its_exits(state: str) -> None:
    schema = union_schema(exits(state), v3().types, left_out(state))
    named = [form["properties"]["exit"]["const"] for form in schema["oneOf"]]
    assert named == list(exits(state))
    assert all(form["additionalProperties"] is False for form in schema["oneOf"])


@pytest.mark.req("V-105")
@pytest.mark.parametrize("state", AGENTS)
def test_every_exit_has_a_flat_schema_without_what_the_engine_fills(state: str) -> None:
    schemas = schemas_per_exit(exits(state), v3().types, left_out(state))
    for each in agent(state).exits:
        schema = schemas[each.name]
        asked = [f.name for f in each.record.fields if f.name not in each.filled]
        assert (schema["type"], schema["required"]) == ("object", asked)
        assert "oneOf" not in schema
        assert "anyOf" not in schema


@pytest.mark.req("V-105")
@pytest.mark.parametrize("state", AGENTS)
def test_one_flat_schema_holds_all_exits_and_is_read_back(state: str) -> None:
    schema = flat_schema(exits(state), v3().types, left_out(state))
    assert schema["properties"]["exit"]["enum"] == list(exits(state))
    for each in agent(state).exits:
        payload = build_sample_value(
            t.remove_fields(each.record, tuple(each.filled)), v3().types, full=False
        )
        answer = {**dict.fromkeys(schema["properties"]), **payload, "exit": each.name}
        name, read = parse_flat_answer(answer, exits(state))
        assert name == each.name
        assert {key: read[key] for key in payload} == payload


def test_the_file_is_about_as_long_as_it_was_meant_to_be() -> None:
    assert len(FILE.read_text("utf-8").splitlines()) < 300
