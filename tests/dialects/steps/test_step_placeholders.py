"""Placeholders: filled once, with or without their brackets, and ready for a prompt."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.dialects.steps.compiler import render_steps_template
from porch.dialects.steps.file_records import StepProtocol
from porch.dialects.steps.placeholders import fill_placeholders
from porch.model.parameters import Parameter
from porch.show import prompt as prompts

if TYPE_CHECKING:
    from tests.dialects.steps.conftest import Merge

DECLARED = (
    Parameter("prompt_num", "integer"),
    Parameter("variant", "string", optional=True),
    Parameter("feature_branch", "string"),
)
PLAIN = {"prompt_num": "3", "feature_branch": "feat/x"}
WITH = {**PLAIN, "variant": "B"}


@pytest.mark.parametrize(
    "text, without, with_",
    [
        ("`c <PROMPT_NUM> [<VARIANT>]`", "`c 3`", "`c 3 B`"),
        ("`c <prompt_num> [<variant>] --x`", "`c 3 --x`", "`c 3 B --x`"),
        ("c <PROMPT_NUM> <VARIANT>.", "c 3.", "c 3 B."),
        ("[--letter <VARIANT> yes] x", " x", "--letter B yes x"),
        ("<FEATURE_BRANCH>[-<VARIANT>]", "feat/x", "feat/x-B"),
        ("<WORKTREE_BRANCH>", "feat/x--implementation-3", "feat/x--implementation-3-B"),
        ('"<worktree_branch>"', '"feat/x--implementation-3"', '"feat/x--implementation-3-B"'),
        ("<Prompt_Num> <OTHER> [x]", "<Prompt_Num> <OTHER> [x]", "<Prompt_Num> <OTHER> [x]"),
        ("[[<VARIANT>]]", "[]", "[B]"),
    ],
)  # fmt: skip
def test_placeholders_are_filled(text: str, without: str, with_: str) -> None:
    assert fill_placeholders(text, DECLARED, PLAIN) == without
    assert fill_placeholders(text, DECLARED, WITH) == with_


def test_a_placeholder_in_a_value_is_no_placeholder() -> None:
    given = {"prompt_num": "<VARIANT>", "variant": "<PROMPT_NUM>", "feature_branch": "x"}
    assert fill_placeholders("<PROMPT_NUM> <VARIANT>", DECLARED, given) == "<VARIANT> <PROMPT_NUM>"


def test_without_declared_inputs_nothing_is_filled() -> None:
    assert (
        fill_placeholders("<PROMPT_NUM> <WORKTREE_BRANCH>", (), WITH)
        == "<PROMPT_NUM> <WORKTREE_BRANCH>"
    )


def test_a_branch_needs_its_parts_and_no_input_of_its_name() -> None:
    assert fill_placeholders("<WORKTREE_BRANCH>", DECLARED[:2], WITH) == "<WORKTREE_BRANCH>"
    own = (*DECLARED, Parameter("worktree_branch", "string"))
    assert (
        fill_placeholders("<WORKTREE_BRANCH>", own, {**WITH, "worktree_branch": "mine"}) == "mine"
    )


def test_a_branch_without_declared_variants_has_no_letter() -> None:
    declared = (DECLARED[0], DECLARED[2])
    assert fill_placeholders("<WORKTREE_BRANCH>", declared, PLAIN) == "feat/x--implementation-3"


def test_names_that_differ_in_case_are_different_inputs() -> None:
    declared = (Parameter("a", "string"), Parameter("A", "string"))
    assert fill_placeholders("<a> <A>", declared, {"a": "small", "A": "large"}) == "small large"


TEXTS = st.lists(
    st.sampled_from(
        ["{", "}", "{{", "{%", "%}", "{#", "#}", "{% endraw %}", "{{ 7 }}", "'", "<items>", "\n",
         "[-<VARIANT>]", "<PROMPT_NUM>", "<WORKTREE_BRANCH>", " ", "word", "-", "\\", "{step:x}"]
    ),
    min_size=1,
).map("".join)  # fmt: skip


@given(TEXTS, st.booleans())
def test_a_prompt_says_what_the_printed_step_says(merge_text: str, has_variant: bool) -> None:
    from porch.dialects.steps.file_records import MergedStep, StepText
    from porch.dialects.steps.step_numbers import StepKey
    from porch.errors import Place

    declared = (*DECLARED, Parameter("items", "string"))
    inputs = {**(WITH if has_variant else PLAIN), "items": "{{ x }}"}
    text = f"x{merge_text}y"
    step = MergedStep(1, (1,), (StepText("a", StepKey((1,)), text, Place("a.yaml")),))
    steps = StepProtocol("a", "", declared, (), (step,), ("a",))
    said = prompts.render_template(render_steps_template(steps), "a.yaml", {"inputs": inputs})
    assert said.endswith(f"1: {fill_placeholders(text, declared, inputs)}\n")


def test_the_prompt_has_the_printed_numbers(steps: "Merge") -> None:
    found = steps("1: one\n2: go to step 2", "1.1: new").demand()
    assert "3: go to step 3\n" in render_steps_template(found)
