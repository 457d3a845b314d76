"""Specialists explore, people choose, a plan is made: `discovery` and `bug-discovery`."""

import json
import sys
from typing import Any

import pytest
import yaml

from tests.whole.envoy.town import People, Town

DOCS = {
    "docs/money.md": "# Money\n\nAmounts are whole cents. Never use floats for prices.\n",
    "docs/pages.md": "# Pages\n\nEvery page is rendered on the server.\n",
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "page.py": "def page(total):\n    return f'<b>{total}</b>'\n",
}
MANIFEST = {"designs": [{"screenshot_file_name": "basket.png", "description": "the basket"}]}
BACKEND: dict[str, Any] = {
    "topics": ["how are amounts of money stored", "where are pages rendered"],
    "notes": "Only the standard library.",
    "approaches": [
        {"number": 1, "description": "Count in cents", "context": "sum ints", "files": ["shop.py"]},
        {"number": 2, "letter": "A", "description": "Round at the end", "context": "round(x, 2)",
         "files": ["shop.py", "page.py"], "questions": ["Who rounds?", "How often?"]},
        {"number": 2, "letter": "B", "description": "Round each price", "context": "round all",
         "files": ["shop.py"]},
    ],
}  # fmt: skip
FRONTEND: dict[str, Any] = {
    "design": True,
    "topics": ["where are pages rendered"],
    "notes": "No scripts.",
    "approaches": [
        {"number": 1, "description": "Show cents", "context": "f'{x:.2f}'", "files": ["page.py"]}
    ],
}
DONE = "{ success: true }"


def called(told: dict[str, Any], verb: str) -> list[str]:
    return [call[0] for call in told["calls"] if call[0].startswith(verb)]


def segment(name: str) -> dict[str, str]:
    return {"agent_name": name, "segment_context": "Prices are shown as 0.30000000000000004"}


@pytest.mark.req("E-086", "E-058", "E-059", "E-084")
def test_two_specialists_a_choice_a_rework_and_a_plan_that_is_accepted(town: Town) -> None:
    town.found(DOCS, {})
    town.envoy("plan", "init")
    (town.plan / "design" / "manifest.yaml").write_text(yaml.safe_dump(MANIFEST))
    both = [town.send("discovery", hands, **segment(name))
            for name, hands in (("backend", BACKEND), ("frontend", FRONTEND))]  # fmt: skip
    backend, frontend = (each.came() for each in both)
    for told in (backend, frontend):
        assert told["output"] == DONE
        assert told["trail"] == [1, 2, 3, 4, 5, 6]
    assert len(called(backend, "knowledge search docs")) == 2
    assert called(backend, "plan read-design-manifest") == []
    assert called(frontend, "plan read-design-manifest") == ["plan read-design-manifest"]
    rework(town)
    plan(town)
    town.is_whole()


def rework(town: Town) -> None:
    """One approach is to be different, one variant is not wanted, one has questions."""
    feedback = {
        "backend_1": {"user_required_changes": "keep the cents when it is divided"},
        "backend_2_A": {"question_answers": [{"question": "Who rounds?", "answer": "The shop"},
                                             {"question": "How often?", "answer": "Once"}]},
        "backend_2_B": {"rejected": True},
    }  # fmt: skip
    with People(town, {"findings_gate": [{"approach_feedback": feedback}]}):
        gate = town.envoy("plan", "block-findings-gate", "--wait", "20")
    assert gate["rejected_approaches"] == [{"specialist_name": "backend", "approach_id": "2_B"}]
    assert [each["approach_id"] for each in gate["affected_approaches"]] == ["1", "2"]
    again = {**BACKEND, "approaches": BACKEND["approaches"][:1]}
    references = [{"specialist_name": "backend", "approach_num": "1"},
                  {"specialist_name": "backend", "approach_num": "2"}]  # fmt: skip
    told = town.follow("discovery", again, **segment("backend"), approach_references=references)
    assert told["output"] == DONE
    assert called(told, "plan get-finding-approach") == [
        "plan get-finding-approach backend 1", "plan get-finding-approach backend 2",
    ]  # fmt: skip
    with People(town, {"findings_gate": [("porch", "approve", "plan/feat/x", "findings")]}):
        gate = town.envoy("plan", "block-findings-gate", "--wait", "20")
    assert (gate["affected_approaches"], gate["channel"]) == ([], "cli")


def plan(town: Town) -> None:
    """What was found becomes prompts, whose plan is changed once and then accepted."""
    known = town.envoy("plan", "get-findings", "--full")
    approaches = {
        (each["specialist"], one["approach_id"]): one
        for each in known["specialists"]
        for one in each["approaches"]
    }
    assert sorted(approaches) == [("backend", "1"), ("backend", "2"), ("frontend", "1")]
    assert "keep the cents" in approaches["backend", "1"]["approach_detail"]
    assert "docs/money.md" in json.dumps(known)
    answered = approaches["backend", "2"]["user_addressed_questions"]
    assert [each["answer"] for each in answered] == ["The shop", "Once"]
    town.envoy("plan", "write-plan", "--title", "Cents", "--objective", "o", "--context", "c")
    words = ("--files", "shop.py", "--criteria", "It adds")
    town.envoy("plan", "write-prompt", "1", *words, "--context", "first")
    town.envoy("plan", "write-prompt", "2", *words, "--context", "x", "--depends-on", "1")
    wish = {"prompt_feedback": {"1": {"user_required_changes": "name the limits"}}}
    with People(town, {"plan_gate": [wish]}):
        gate = town.envoy("plan", "block-plan-gate", "--wait", "20")
    assert gate["has_user_required_changes"] is True
    assert gate["prompt_changes"] == [
        {"prompt_id": "1", "user_required_changes": "name the limits"}
    ]
    assert town.envoy("plan", "check")["stage"] == "draft"
    town.envoy("plan", "write-prompt", "1", "--context", "first, with limits")
    with People(town, {"plan_gate": [{"thoughts": "go"}]}):
        gate = town.envoy("plan", "block-plan-gate", "--wait", "20")
    assert (gate["has_user_required_changes"], gate["thoughts"]) == (False, "go")
    assert town.envoy("plan", "check")["stage"] == "in_progress"
    heard = (town.plan / "user_input.md").read_text()
    for words_ in ("keep the cents", "The shop", "name the limits", "go"):
        assert heard.count(words_) == 1


@pytest.mark.req("E-086")
def test_a_fault_is_explored_with_what_the_linter_says(town: Town) -> None:
    town.found({**DOCS, "shop.py": "def total(prices:\n"}, {})
    hands = {
        **BACKEND,
        "linter": [sys.executable, "-m", "py_compile", "shop.py"],
        "approaches": [
            {"number": 1, "letter": "A", "description": "A bracket is missing", "context": "line 1",
             "files": ["shop.py"]},
            {"number": 1, "letter": "B", "description": "The file was cut", "context": "line 1",
             "files": ["shop.py"], "questions": ["Since when?", "Who saved it?"]},
        ],
    }  # fmt: skip
    told = town.follow("bug-discovery", hands, **segment("backend_1"))
    assert told["output"] == DONE
    assert told["trail"] == [1, 2, 3, 4, 5, 6]
    found = yaml.safe_load((town.plan / "findings" / "backend_1.yaml").read_text())
    assert [(each["number"], each["variant"]) for each in found["approaches"]] == [
        (1, "A"), (1, "B"),
    ]  # fmt: skip
    assert all("SyntaxError" in each["approach_detail"] for each in found["approaches"])
    assert found["notes"].startswith("Only the standard library.")
    town.is_whole()
