"""`porch run` with a protocol of steps: the same work, and an end that must be a declared one."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.prompts import plan_document, prompt_edits
from tests.whole.envoy.town import Town

INPUTS = ("--input", "prompt_num=1", "--input", "feature_branch=feat/x")
DONE = "SUCCESS_TRUE_MERGED_TRUE"


def script(town: Town, *entries: dict[str, Any]) -> str:
    path = town.home / "script.yaml"
    path.write_text(yaml.safe_dump({"agents": {"work": list(entries)}}))
    return str(path)


def found(town: Town) -> list[str]:
    town.found({"shop.py": "def total(prices): ...\n"}, {})
    plan_document.write_plan(town.where, "Shop", "It sums", "-")
    prompt_edits.write_prompt(
        town.where, parse_prompt_id(["1"]), prompt_edits.PromptWords(context="Sum them.")
    )
    hands = {"code": [{"shop.py": "def total(prices):\n    return sum(prices)\n"}]}
    return town.brief("implementation", hands, prompt_num=1, feature_branch="feat/x")


@pytest.mark.req("E-086")
def test_an_agent_of_a_run_follows_the_steps_to_a_declared_output(town: Town) -> None:
    words = found(town)
    entry = {"run": words, "say": "It is merged.", "signal": DONE}
    said = town.type("porch", "run", "implementation", *INPUTS, "--script", script(town, entry))
    assert " is complete." in said
    told = json.loads(Path(f"{words[-1]}.result").read_text())
    assert told["output"] == "{ success: true, merged: true }"
    assert town.prompt("1")["status"] == "merged"
    assert "return sum(prices)" in (town.root / "shop.py").read_text()
    town.is_whole()


def test_a_claim_that_is_not_so_goes_back_and_then_to_a_person(town: Town) -> None:
    found(town)
    entry = {"say": "It is merged.", "signal": DONE}
    given = ("--script", script(town, entry))
    said = town.type("porch", "run", "implementation", *INPUTS, *given, code=3)
    assert said.count("check claim failed") == 4
    assert "prompt 1 is not merged: its status is unimplemented" in town.type(
        "porch", "pending", "--json"
    )


def test_a_claim_is_mended_by_doing_what_was_claimed(town: Town) -> None:
    words = found(town)
    entries = ({"say": "It is merged.", "signal": DONE}, {"run": words, "signal": DONE})
    given = ("--script", script(town, *entries))
    said = town.type("porch", "run", "implementation", *INPUTS, *given)
    assert said.count("check claim failed") == 1
    assert " is complete." in said
    assert town.prompt("1")["status"] == "merged"


@pytest.mark.parametrize("signal", ["ALL_IS_WELL", None])
def test_what_is_no_declared_output_ends_nothing(town: Town, signal: str | None) -> None:
    found(town)
    entry = {"say": "I am done. { success: true, merged: true }", "signal": signal}
    given = ("--script", script(town, entry))
    said = town.type("porch", "run", "implementation", *INPUTS, *given, code=3)
    assert "ended without a signal" in said
    assert town.prompt("1")["status"] == "unimplemented"


def test_a_failure_is_a_declared_output_with_its_reason(town: Town) -> None:
    found(town)
    name = "SUCCESS_FALSE_MERGED_FALSE_REASON"
    entry = {"signal": name, "reason": "already_in_progress"}
    given = ("--script", script(town, entry))
    said = town.type("porch", "run", "implementation", *INPUTS, *given, code=1)
    assert "already_in_progress" in said
