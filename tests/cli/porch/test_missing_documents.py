"""A document that is missing or not filled in is said before reviewers are paid."""

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

MODELS = ["gemini", "codex", "claude"]
DRAFT = {
    "id": "specify",
    "substates": ["draft", "consult"],
    "signals": {"SPEC_DRAFTED": "specify:consult"},
    "consultation": {"on": "consult", "models": MODELS, "type": "spec-review"},
    "gate": {"name": "ok"},
}


def failed_reports(desk: "Desk") -> list[str]:
    ended = desk.facts("CheckEnded")
    return [fact["report"] for fact in ended if fact["result"] == "failed"]


def asked(desk: "Desk") -> dict[str, Any]:
    (decision,) = json.loads(desk.porch("pending", "--json").out)["decisions"]
    return dict(decision)


def test_no_reviewer_is_paid_for_a_document_that_nobody_wrote(desk: "Desk") -> None:
    """T4: three reviewers were paid for each phase, and the gate said that spec.md is ready."""
    desk.begin(DRAFT, agents={"*": [{"signal": "SPEC_DRAFTED"}]}, code=3)
    assert desk.started("review") == []
    spec = "codev/projects/0001-x/spec.md"
    assert failed_reports(desk) == [f"{spec} is missing; write it, then give the signal again"] * 4
    assert f"{spec} is missing" in asked(desk)["reports"]["written_files"]
    assert asked(desk)["name"] == "failed:specify:draft"
    assert spec in desk.prompts()[1]


def test_an_agent_that_writes_it_then_goes_on_to_the_reviewers(desk: "Desk") -> None:
    written = {"write": {"{project_dir}/spec.md": "# Spec\n"}, "signal": "SPEC_DRAFTED"}
    agents = {"specify:draft": [{"signal": "SPEC_DRAFTED"}, written]}
    desk.begin(DRAFT, agents=agents, code=3)
    assert len(failed_reports(desk)) == 1
    assert len(desk.started("review")) == 3
    decision = asked(desk)
    assert (decision["name"], decision["artifacts"]) == ("ok", ["codev/projects/0001-x/spec.md"])
    assert "missing" not in decision


@pytest.mark.parametrize(
    "text, problem", [("", "empty"), (" \n\n", "empty"), ("# Spec of x\n", "still the template")]
)
def test_what_is_empty_or_as_its_template_was_is_not_filled_in(
    desk: "Desk", text: str, problem: str
) -> None:
    desk.write("codev/protocols/p/templates/spec.md", "# Spec of {{ title }}\n")
    written = {"write": {"{project_dir}/spec.md": text}, "signal": "SPEC_DRAFTED"}
    desk.begin(DRAFT, agents={"specify:draft": [written]}, code=3)
    assert f"codev/projects/0001-x/spec.md is {problem}; " in failed_reports(desk)[0]
    assert desk.started("review") == []


def test_a_gate_says_what_was_missing_when_it_was_asked(desk: "Desk") -> None:
    phase = {"id": "build", "gate": {"name": "ok", "artifacts": ["notes.md"]}}
    desk.begin(phase, {"id": "last"}, agents={"*": [{"say": "done"}]}, code=3)
    notes = "codev/projects/0001-x/notes.md"
    assert asked(desk)["missing"] == [notes]
    told = desk.porch("pending").out
    assert f"missing: {notes}" in told
    assert f"read: {notes}" not in told


@pytest.mark.parametrize(
    "phase",
    [
        pytest.param({"id": "review", "gate": "pr"}, id="the review that nobody named"),
        pytest.param(
            {"id": "a", "artifact": "src/**/*.py", "gate": "ok"}, id="any number of files"
        ),
        pytest.param({"id": "a", "artifact": "notes.md"}, id="nobody is asked about it"),
        pytest.param(
            {"id": "a", "artifact": "x.md", "gate": {"name": "ok", "artifact": "y.md"}},
            id="the gate is about another file",
        ),
        pytest.param(
            {"id": "specify", "gate": "ok", "checks": {"own": "true # spec.md"}},
            id="its own check looks for it",
        ),
    ],
)
def test_a_document_that_is_not_due_sends_nobody_back(desk: "Desk", phase: dict[str, Any]) -> None:
    desk.begin(phase, {"id": "last"}, agents={"*": [{"say": "done"}]}, code=None)
    assert failed_reports(desk) == []
    assert len(desk.started()) == (1 if "gate" in phase else 2)
