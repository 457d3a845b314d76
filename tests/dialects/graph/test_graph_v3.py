"""The packaged v3 as it compiles: its nodes, types, exits and edges are those of the document."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.model import protocol as p
from porch.model import types as t
from porch.model.sample_values import build_sample_value
from porch.model.typed_answers import check_value
from porch.model.validate import TYPED, exits_of
from porch.run.definitions import library

FILE = Path(library.PACKAGED) / "v3" / "v3.graph.yaml"
Fields = dict[str, str]


@cache
def v3() -> p.Protocol:
    reading = parse_definition(FILE.read_text("utf-8"), str(FILE))
    assert reading.protocol is not None
    return reading.protocol


def agent(state: str) -> p.Agent:
    actor = v3().states[state].actor
    assert isinstance(actor, p.Agent)
    return actor


def exit_of(state: str, name: str) -> p.Exit:
    return next(each for each in agent(state).exits if each.name == name)


def fields_of(record: t.Type) -> Fields:
    assert isinstance(record, t.Record)
    return {each.name: t.format_type(each.type) for each in record.fields}


def ways(state: str, exit_: str) -> list[tuple[str, ...]]:
    """Where an exit leads, by each of its edges in order."""
    return [tuple(x.state or "due" for x in edge.targets) for edge in v3().edges_of(state, exit_)]


def refusals(type_: t.Type, value: Any) -> list[str]:
    return check_value(value, type_, v3().types)


# Every type that the document shares between its nodes; lists and enums as the file spells them.
TYPES: dict[str, tuple[pytest.MarkDecorator, Fields]] = {
    "Spec": (pytest.mark.req("V-006"), {
        "id": "Text", "description": "Text", "acceptanceCriteria": "[Criterion]",
        "targetPath": "FilePath", "testPath": "FilePath",
        "complexityConstraints": "Maybe Constraints",
    }),
    "Constraints": (pytest.mark.req("V-007"), {"time": "Maybe Text", "space": "Maybe Text"}),
    "Criterion": (pytest.mark.req("V-008"), {"id": "Text", "text": "Text"}),
    "PlannedTest": (pytest.mark.req("V-009"), {
        "criterionId": "Text", "plannedTestName": "Text", "approach": "Text",
    }),
    "Critique": (pytest.mark.req("V-010"), {
        "file": "FilePath", "line": "Int", "issue": "Text", "requiredFix": "Text",
    }),
    "ChangeEntry": (pytest.mark.req("V-012"), {
        "symbol": "Text", "changeType": "ChangeType", "reason": "Text",
    }),
    "NodeInfo": (pytest.mark.req("V-013"), {"nodeId": "Text", "branch": "Text"}),
    "CoverageReport": (pytest.mark.req("V-014"), {
        "criteriaWithTests": "[(Text, Text)]", "criteriaMissing": "[Text]",
    }),
    "MergeEvent": (pytest.mark.req("V-016"), {
        "author": "Text", "impactLevel": "ImpactLevel", "changes": "[ChangeEntry]",
    }),
    "Adaptation": (pytest.mark.req("V-021"), {
        "symbol": "Text", "change": "Text", "reason": "Text",
    }),
    "ChildSpec": (pytest.mark.req("V-025"), {
        "id": "Text", "description": "Text", "acceptanceCriteria": "[Criterion]",
        "targetPath": "FilePath", "testPath": "FilePath",
    }),
}  # fmt: skip
# What the document does not have: other files that the work on a spec may write, and siblings
# whose work a child needs before it begins.
ADDED: dict[str, Fields] = {
    "Spec": {"alsoWrites": "Maybe [FilePath]"},
    "ChildSpec": {"after": "Maybe [Text]"},
}
CHANGE_TYPES = ("SignatureChange", "NewExport", "RemovedExport", "BehaviorChange")

# Every exit of every agent: which requirement, its fields, and where it leads.
Row = tuple[pytest.MarkDecorator, Fields, list[tuple[str, ...]]]
EXITS: dict[tuple[str, str], Row] = {
    ("scaffold", "InitWork"): (pytest.mark.req("V-023"), {
        "scaffoldCommit": "Commit", "interfaceFile": "FilePath", "contractSuite": "FilePath",
        "testPlan": "[PlannedTest]", "childSpecs": "Maybe [ChildSpec]",
        "interfaces": "Maybe [InterfaceFile]",
    }, [("children", "write_tests", "ready")]),
    ("scaffold", "ClarificationNeeded"): (pytest.mark.req("V-024"), {
        "question": "Text", "ambiguityReference": "Text", "specSentence": "Text",
    }, [("answer",), ("answer",), ("ask",), ("ask",)]),
    ("write_tests", "TestsReady"): (pytest.mark.req("V-037"), {
        "testsCommit": "Commit", "testFiles": "[FilePath]", "pendingCriteria": "[Text]",
    }, [("integrate",)]),
    ("write_tests", "InvalidScaffold"): (pytest.mark.req("V-038"), {
        "missingType": "Text", "expectedLocation": "FilePath",
    }, [("scaffold",), ("scaffold",)]),
    ("review", "Approved"): (pytest.mark.req("V-039"), {
        "signOff": "Text", "coverageReport": "CoverageReport", "patch": "Text",
    }, [("candidate",), ("merged",)]),
    ("review", "MoreTests"): (pytest.mark.req("V-040"), {
        "critiques": "[Critique]", "additionalTests": "[PlannedTest]",
    }, [("write_tests",), ("write_tests",), ("impl",), ("impl",)]),
    ("review", "Reject"): (pytest.mark.req("V-041"), {
        "reason": "Text", "missingCriteria": "[Text]",
    }, [("failed",), ("person",)]),
    ("impl", "TestsPassed"): (pytest.mark.req("V-051"), {
        "commitHash": "Commit", "iterations": "Int", "passedTests": "[Text]",
    }, [("review",)]),
    ("impl", "RequestRetry"): (pytest.mark.req("V-052"), {
        "diagnosis": "Text", "strategyFrom": "Text", "strategyTo": "Text", "failingTests": "[Text]",
    }, [("impl",)]),
    ("impl", "BlockedDependency"): (pytest.mark.req("V-053"), {
        "missingSymbol": "Text", "expectedImportPath": "FilePath",
    }, [("scaffold",), ("scaffold",)]),
    ("impl", "SpecAmbiguity"): (pytest.mark.req("V-054"), {
        "specSentence": "Text", "contradictionTrace": "Text", "question": "Text",
    }, [("scaffold",), ("scaffold",)]),
    ("impl", "Stuck"): (pytest.mark.req("V-055"), {
        "diagnosis": "Text", "recommendation": "Text", "attempts": "Int",
    }, [("failed",), ("person",)]),
    ("merger", "MergeComplete"): (pytest.mark.req("V-015"), {
        "mergeCommit": "Commit", "author": "Text", "impactLevel": "ImpactLevel",
        "changes": "[ChangeEntry]",
    }, [("judge",), ("publish",)]),
    ("merger", "MergeRejected"): (pytest.mark.req("V-060"), {
        "reason": "RejectReason", "details": "Text", "failingTests": "[Text]",
    }, [("impl",), ("impl",)]),
    ("rebase", "RebaseClean"): (pytest.mark.req("V-065"), {"newBase": "Commit"}, [("due",)]),
    ("rebase", "RebaseAdapted"): (pytest.mark.req("V-066"), {
        "newBase": "Commit", "adaptations": "[Adaptation]",
    }, [("due",)]),
    ("rebase", "RebaseConflict"): (pytest.mark.req("V-067"), {
        "conflictFile": "FilePath", "ourChange": "Text", "theirChange": "Text",
        "whyUnresolvable": "Text",
    }, [("scaffold",), ("scaffold",), ("scaffold",), ("scaffold",), ("impl",), ("impl",)]),
    ("judge", "Accepted"): (pytest.mark.req("V-101"), {"reason": "Text"}, [("publish",)]),
    ("judge", "Rejected"): (pytest.mark.req("V-101"), {
        "reason": "RejectReason", "details": "Text", "failingTests": "[Text]",
    }, [("impl",), ("impl",)]),
    ("answer", "Answered"): (pytest.mark.req("V-024"), {"answer": "Text"}, [("scaffold",)]),
    ("answer", "Revised"): (pytest.mark.req("V-024"), {
        "answer": "Text", "acceptanceCriteria": "[Criterion]",
    }, [("scaffold",)]),
    ("answer", "PassUp"): (pytest.mark.req("V-024"), {"why": "Text"}, [("ask",)]),
}  # fmt: skip
AGENTS = sorted({state for state, _ in EXITS})


@pytest.mark.req("V-001")
def test_the_five_nodes_are_roles_that_states_share() -> None:
    roles = {name: agent(name).role for name in AGENTS}
    assert roles == {
        "scaffold": "planner",
        "answer": "planner",
        "write_tests": "tests",
        "review": "tests",
        "judge": "tests",
        "impl": "impl",
        "rebase": "impl",
        "merger": "merger",
    }


def test_the_states_are_these_and_no_others() -> None:
    others = "integrate contract candidate publish update ask person blocked merged failed"
    assert sorted(v3().states) == sorted([*AGENTS, *others.split(), "children", "ready"])
    assert v3().initial == p.Target("scaffold")


def reqs(rows: Any) -> list[Any]:
    """One case a row, each with the requirement that it proves."""
    return [pytest.param(key, marks=row[0]) for key, row in rows.items()]


@pytest.mark.parametrize("name", reqs(TYPES))
def test_a_type_has_the_fields_of_the_document(name: str) -> None:
    assert fields_of(v3().types[name]) == {**TYPES[name][1], **ADDED.get(name, {})}


@pytest.mark.parametrize("name", reqs(TYPES))
def test_a_type_accepts_what_is_whole_and_refuses_less_more_and_other(name: str) -> None:
    type_ = v3().types[name]
    for is_full in (True, False):
        value = build_sample_value(type_, v3().types, is_full)
        assert refusals(type_, value) == []
        assert refusals(type_, {**value, "more": 1})
        for field in TYPES[name][1]:
            less = {key: inner for key, inner in value.items() if key != field}
            assert refusals(type_, less), field
            assert refusals(type_, {**value, field: {"no": "such"}}), field


@pytest.mark.req("V-006", "V-007")
def test_constraints_may_be_missing_whole_or_in_part_but_are_always_said() -> None:
    spec = build_sample_value(v3().types["Spec"], v3().types, full=True)
    for given in (None, {"time": None, "space": "O(1)"}, {"time": "O(n)", "space": None}):
        assert refusals(t.Ref("Spec"), {**spec, "complexityConstraints": given}) == []
    assert refusals(t.Ref("Spec"), {**spec, "complexityConstraints": {"time": "O(n)"}})


@pytest.mark.parametrize(
    "name, words",
    [
        pytest.param(
            "ImpactLevel", ("Trivial", "Additive", "Breaking"), marks=pytest.mark.req("V-011")
        ),
        pytest.param("ChangeType", CHANGE_TYPES, marks=pytest.mark.req("V-012")),
        pytest.param(
            "RejectReason",
            ("ContractViolation", "BuildFailure", "IntegrationFailure"),
            marks=pytest.mark.req("V-060"),
        ),
    ],
)
def test_an_enum_takes_its_words_and_no_other(name: str, words: tuple[str, ...]) -> None:
    assert v3().types[name] == t.Enum(words)
    assert all(refusals(t.Ref(name), word) == [] for word in words)
    assert all(refusals(t.Ref(name), word.lower()) for word in words)
    assert refusals(t.Ref(name), "Huge")


@pytest.mark.req("V-010")
def test_a_line_is_a_number_and_a_file_stays_in_the_repository() -> None:
    critique = {"file": "src/a.py", "line": 7, "issue": "i", "requiredFix": "f"}
    assert refusals(t.Ref("Critique"), critique) == []
    assert refusals(t.Ref("Critique"), {**critique, "line": "seven"})
    assert refusals(t.Ref("Critique"), {**critique, "file": "../a.py"})


@pytest.mark.req("V-014")
def test_coverage_is_told_in_pairs() -> None:
    report = {"criteriaWithTests": [["AC-1", "test_a"]], "criteriaMissing": []}
    assert refusals(t.Ref("CoverageReport"), report) == []
    assert refusals(t.Ref("CoverageReport"), {**report, "criteriaWithTests": [["AC-1"]]})
    assert refusals(t.Ref("CoverageReport"), {**report, "criteriaWithTests": [["a", "b", "c"]]})


@pytest.mark.parametrize("key", reqs(EXITS))
def test_an_exit_has_the_fields_of_the_document(key: tuple[str, str]) -> None:
    assert fields_of(exit_of(*key).record) == EXITS[key][1]


@pytest.mark.parametrize("key", reqs(EXITS))
def test_an_exit_leads_where_the_document_says(key: tuple[str, str]) -> None:
    assert ways(*key) == EXITS[key][2]


@pytest.mark.parametrize("key", reqs(EXITS))
def test_an_exit_accepts_what_is_whole_and_refuses_less_and_more(key: tuple[str, str]) -> None:
    record = exit_of(*key).record
    for is_full in (True, False):
        value = build_sample_value(record, v3().types, is_full)
        assert refusals(record, value) == []
        assert refusals(record, {**value, "more": 1})
        for field in value:
            assert refusals(record, {name: v for name, v in value.items() if name != field})


@pytest.mark.req("V-037", "V-051")
@pytest.mark.parametrize("state", AGENTS)
def test_an_exit_is_legal_only_in_its_own_state(state: str) -> None:
    mine = {name for of, name in EXITS if of == state}
    assert {*exits_of(v3().states[state])} == mine | {*TYPED}
    for _, name in EXITS:
        edges = list(v3().edges_of(state, name))
        assert bool(edges) == (name in mine), name
