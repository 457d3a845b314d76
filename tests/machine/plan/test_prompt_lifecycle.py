"""The life of a prompt: each step against everything that must be so before it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.machine.plan import prompt_lifecycle as life
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import STEP_CONDITIONS, Prompt, unmet_conditions

ONE = PromptId(1)


def codes(action: str, prompt: Prompt, **others: Prompt) -> list[str]:
    known = {ONE: prompt}
    for name, other in others.items():
        number, _, letter = name.removeprefix("p").partition("_")
        known[PromptId(int(number), letter)] = other
    return [each.code for each in unmet_conditions(action, known, ONE)]


READY = Prompt(status="reviewed", in_progress=True, worktree_branch_name="b", testing="passed")


@pytest.mark.parametrize(
    "action, prompt, expected",
    [
        ("start-prompt", Prompt(), []),
        ("start-prompt", Prompt(status="merged"), ["already-merged", "other-variant-merged"]),
        ("start-prompt", Prompt(depends_on=(2,)), ["dependencies-not-merged"]),
        ("start-prompt", Prompt(variant_solution="discard"), ["variant-put-aside"]),
        ("record-implementation", Prompt(), ["not-started"]),
        ("record-implementation", Prompt(in_progress=True), []),
        ("record-implementation", Prompt(in_progress=True, kind="debug"), ["logging-gate-open"]),
        (
            "record-implementation",
            Prompt(in_progress=True, kind="debug", completed_debug_logging=True),
            [],
        ),
        ("review", Prompt(), ["invalid-status"]),
        ("review", Prompt(status="merged"), []),
        ("block-prompt-testing-gate", Prompt(), ["invalid-status"]),
        ("block-prompt-testing-gate", Prompt(status="tested"), []),
        ("block-debugging-logging-gate", Prompt(in_progress=True), ["not-debug"]),
        ("block-debugging-logging-gate", Prompt(kind="debug"), ["not-started"]),
        ("block-prompt-variants-gate", Prompt(status="implemented"), []),
        (
            "block-prompt-variants-gate",
            Prompt(status="implemented", requires_manual_testing=True),
            ["testing-not-passed"],
        ),
        ("merge-worktree", READY, []),
        ("merge-worktree", replace(READY, worktree_branch_name=""), ["no-worktree"]),
        ("merge-worktree", replace(READY, review="failed"), ["review-not-passed"]),
        ("merge-worktree", replace(READY, review="passed"), []),
        ("merge-worktree", replace(READY, review="outdated"), ["review-not-passed"]),
        ("merge-worktree", replace(READY, testing="", kind="debug"), ["testing-not-passed"]),
        ("merge-worktree", Prompt(), ["no-worktree", "invalid-status"]),
        ("complete-prompt", READY, ["not-merged"]),
        (
            "complete-prompt",
            replace(READY, variant_solution="alternative"),
            ["variant-put-aside"],
        ),
        ("complete-prompt", replace(READY, merge_commit_hash="abc"), []),
        ("write-prompt", Prompt(in_progress=True), ["already-in-progress"]),
        ("clear-prompt", Prompt(status="merged"), ["already-merged"]),
    ],
)
def test_each_step_says_everything_that_keeps_a_prompt_from_it(
    action: str, prompt: Prompt, expected: list[str]
) -> None:
    assert codes(action, prompt) == expected


def test_a_number_is_done_with_whichever_of_its_variants_is_merged() -> None:
    waiting = Prompt(depends_on=(2,))
    assert codes("start-prompt", waiting, p2_A=Prompt(), p2_B=Prompt()) == [
        "dependencies-not-merged"
    ]
    assert codes("start-prompt", waiting, p2_A=Prompt(), p2_B=Prompt(status="merged")) == []


@pytest.mark.req("E-040")
def test_of_variants_only_the_main_one_is_merged() -> None:
    known = {PromptId(1, "A"): READY, PromptId(1, "B"): replace(READY, variant_solution="main")}
    assert [c.code for c in unmet_conditions("merge-worktree", known, PromptId(1, "A"))] == [
        "variant-not-resolved"
    ]
    assert not unmet_conditions("merge-worktree", known, PromptId(1, "B"))
    aside = {**known, PromptId(1, "A"): replace(READY, variant_solution="alternative")}
    said = [c.code for c in unmet_conditions("merge-worktree", aside, PromptId(1, "A"))]
    assert said == ["variant-put-aside", "variant-not-resolved"]


def test_what_was_put_aside_counts_among_variants_once_there_was_a_choice() -> None:
    aside = replace(READY, variant_solution="discard")
    open_ = {PromptId(1, "A"): READY, PromptId(1, "B"): aside}
    assert life.compared_variants(open_, 1) == [PromptId(1, "A")]
    chosen = {**open_, PromptId(1, "A"): replace(READY, variant_solution="main")}
    assert life.compared_variants(chosen, 1) == [*chosen]


def test_a_variant_without_others_needs_no_choice() -> None:
    assert not unmet_conditions("merge-worktree", {PromptId(1, "A"): READY}, PromptId(1, "A"))


@pytest.mark.parametrize(
    "status, verdict, after",
    [
        ("implemented", "passed", "reviewed"),
        ("reviewed", "passed", "reviewed"),
        ("tested", "passed", "tested"),
        ("implemented", "failed", "implemented"),
        ("reviewed", "failed", "implemented"),
        ("tested", "failed", "tested"),
    ],
)
def test_a_review_moves_the_status_and_never_past_a_test(
    status: str, verdict: str, after: str
) -> None:
    assert life.fields_after_review(Prompt(status=status), verdict)["status"] == after


def test_a_review_that_could_not_be_read_moves_nothing() -> None:
    assert life.fields_after_review(Prompt(status="implemented"), "error") == {}


def test_new_work_is_untested_work() -> None:
    prompt = replace(READY, **life.fields_after_implementation(replace(READY, status="tested"), 2))
    assert (prompt.status, prompt.testing, prompt.current_iteration) == ("implemented", "", 2)


@pytest.mark.parametrize("before, after", [("", ""), ("passed", "outdated"), ("failed", "failed")])
def test_what_was_reviewed_is_not_what_there_is_after_new_work(before: str, after: str) -> None:
    assert life.fields_after_implementation(replace(READY, review=before), 2)["review"] == after


def test_fields_say_nothing_by_null_and_read_back_as_they_were() -> None:
    told = life.as_fields(replace(READY, depends_on=(1, 2)))
    assert told["merge_commit_hash"] is None
    assert told["depends_on"] == [1, 2]
    assert life.prompt_from_fields(told) == replace(READY, depends_on=(1, 2))


PROMPTS = st.builds(
    Prompt,
    kind=st.sampled_from(["feature", "debug"]),
    requires_manual_testing=st.booleans(),
    status=st.sampled_from(life.STATUSES),
    in_progress=st.booleans(),
    testing=st.sampled_from(["", "passed", "failed"]),
    review=st.sampled_from(["", "passed", "failed", "outdated"]),
    worktree_branch_name=st.sampled_from(["", "b"]),
    variant_solution=st.sampled_from(["", "main", "alternative", "discard"]),
    merge_commit_hash=st.sampled_from(["", "abc"]),
    completed_debug_logging=st.booleans(),
)


@given(PROMPTS, st.sampled_from(sorted(STEP_CONDITIONS)))
def test_nothing_is_merged_that_a_person_or_a_reviewer_has_not_let_pass(
    prompt: Prompt, action: str
) -> None:
    said: list[Any] = codes(action, prompt)
    if action in ("merge-worktree", "complete-prompt") and not said:
        assert prompt.is_written
        assert prompt.review in ("", "passed")
        assert prompt.testing == "passed" or not (
            prompt.kind == "debug" or prompt.requires_manual_testing
        )


SEEN = replace(
    READY, review="passed", reviewed_tree="t", tested_tree="t", requires_manual_testing=True
)


@pytest.mark.parametrize(
    "prompt, tree, expected",
    [
        (SEEN, "t", []),
        (SEEN, "u", ["review-outdated", "testing-outdated"]),
        (replace(SEEN, tested_tree="u"), "t", ["testing-outdated"]),
        (replace(SEEN, reviewed_tree="u"), "t", ["review-outdated"]),
        (replace(SEEN, reviewed_tree=""), "t", ["review-outdated"]),
        (replace(SEEN, review=""), "t", []),
        (replace(SEEN, requires_manual_testing=False), "u", ["review-outdated"]),
        # That somebody has reviewed a fix is no test of it.
        (replace(SEEN, kind="debug", reviewed_tree="u"), "u", ["testing-outdated"]),
        (replace(SEEN, kind="debug"), "u", ["review-outdated", "testing-outdated"]),
        (replace(SEEN, kind="debug", review="", reviewed_tree="u"), "u", ["testing-outdated"]),
        (replace(SEEN, testing="failed"), "u", ["review-outdated"]),
    ],
)
def test_what_was_seen_must_be_what_is_merged(
    prompt: Prompt, tree: str, expected: list[str]
) -> None:
    assert [each.code for each in life.outdated_conditions(prompt, tree)] == expected


def test_a_fix_without_its_logs_is_what_was_tried() -> None:
    fix = replace(SEEN, kind="debug", reviewed_tree="u")
    assert life.outdated_conditions(fix, "u", is_without_logs=True) == []
    feature = replace(fix, kind="feature")
    (condition,) = life.outdated_conditions(feature, "u", is_without_logs=True)
    assert condition.code == "testing-outdated"


def test_what_is_planned_anew_has_not_been_seen_by_anybody() -> None:
    after = replace(SEEN, **life.fields_after_replanning(replace(SEEN, status="tested")))
    assert (after.status, after.testing, after.review) == ("implemented", "", "outdated")
    assert life.fields_after_replanning(Prompt()) == {}
