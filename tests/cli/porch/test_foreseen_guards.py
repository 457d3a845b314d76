"""What an answer is said to do is what the driver does, budgets and changed approvals included."""

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC = "codev/projects/0001-x/spec.md"
ONE = {"id": "one", "artifacts": ["spec.md"], "gate": {"name": "spec_ok", "next": "two"}}
TWO = {"id": "two", "name": "Plan", "gate": {"name": "plan_ok", "next": "three"}}
THREE = {"id": "three", "name": "Build"}
AGENTS = {"one": [{"write": {"{project_dir}/spec.md": "# Spec\n"}}]}


def effects(desk: "Desk") -> dict[str, str]:
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    return {option["answer"]: option.get("then", "") for option in asked["options"]}


def test_an_approval_behind_a_changed_file_says_that_a_person_is_asked_again(desk: "Desk") -> None:
    """T6: `starts Build`, while the driver asks to approve spec.md again."""
    desk.begin(ONE, TWO, THREE, code=3, agents=AGENTS)
    desk.porch("approve", "1", "spec_ok")
    desk.porch("resume", "1", code=3)
    assert effects(desk)["approved"] == "starts Build"
    desk.write(SPEC, "# Another\n")
    foreseen = "asks you first: spec_ok again, because its files changed"
    assert effects(desk)["approved"] == foreseen, "also where a row was drawn before"
    assert foreseen in desk.porch("status", "1").out.replace("\n", " ").replace("      ", "")
    assert foreseen in " ".join(desk.porch("explain", "1").out.split())
    desk.porch("approve", "1", "plan_ok")
    desk.porch("resume", "1", code=3)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert "changed since spec_ok was approved" in asked["reason"]


def test_an_approval_with_a_used_up_budget_says_that_a_person_is_asked_first(
    desk: "Desk",
) -> None:
    desk.write("codev/config.toml", "[budget]\nmax_turns = 1\n")
    desk.begin(ONE, THREE | {"id": "two"}, code=3, agents=AGENTS)
    assert effects(desk)["approved"] == "asks you first: the budget run.max_turns is used up"
    desk.porch("approve", "1", "spec_ok")
    desk.porch("resume", "1", code=3)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert asked["name"] == "budget"


@pytest.mark.parametrize("page", [True, False])
def test_every_answer_of_a_failure_says_what_follows(desk: "Desk", page: bool) -> None:
    checks: Any = {"unit": {"command": "false", "max_retries": 0}}
    desk.begin({**THREE, "checks": checks}, code=3)
    said = desk.porch("status" if page else "pending", *(["1"] if page else [])).out
    assert len(re.findall(r"^  (Try again|Skip|Stop the run): .+ \(", said, re.MULTILINE)) == 3
