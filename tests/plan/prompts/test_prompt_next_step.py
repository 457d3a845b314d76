"""Whoever takes a prompt up is told the first step that is not done yet."""

import pytest

from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.plan.prompts.prompt_next_step import describe_next_step, start_command

WRITTEN = {"status": "implemented", "worktree_branch_name": "b"}
DEBUG = {"kind": "debug", "completed_debug_logging": True}


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({}, "record-implementation 1_A --iteration 1 "),
        ({"kind": "debug"}, "block-debugging-logging-gate 1_A"),
        (DEBUG, "record-implementation 1_A --iteration 1 "),
        (WRITTEN, "envoy review 1_A"),
        ({**WRITTEN, "review": "outdated"}, "envoy review 1_A"),
        ({**WRITTEN, "review": "failed"}, "--iteration 2 --refinement-reason"),
        ({**WRITTEN, "review": "passed", "testing": "failed"}, "--iteration 2 --refinement"),
        ({**WRITTEN, **DEBUG, "review": "passed"}, "block-prompt-testing-gate 1_A"),
        ({**WRITTEN, "review": "passed"}, "block-prompt-variants-gate 1_A"),
        ({**WRITTEN, "review": "passed", "variant_solution": "main"}, "git merge-worktree 1_A"),
        ({"status": "merged"}, "complete-prompt 1_A"),
    ],
)
def test_n4_the_first_step_that_is_not_done_is_named(
    fields: dict[str, object], expected: str
) -> None:
    known = {PromptId(1, "A"): Prompt(**fields), PromptId(1, "B"): Prompt()}  # type: ignore[arg-type]
    assert expected in describe_next_step(known, PromptId(1, "A"))


def test_the_command_names_who_worked_on_it() -> None:
    assert start_command(PromptId(2), Prompt()).endswith("start-prompt 2 --specialist NAME")
    told = start_command(PromptId(2), Prompt(delegated_to="backend"), take_over=True)
    assert told == "envoy plan start-prompt 2 --specialist backend --take-over"
