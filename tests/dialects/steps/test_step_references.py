"""Steps that texts speak of: rewritten outside code, and doubted where they may mean another."""

from typing import TYPE_CHECKING

import pytest

from porch.dialects.steps.lint import (
    find_impossible_branches,
    find_unresolved_references,
    lint_references,
)
from porch.dialects.steps.references import mask_code, rewrite_references
from porch.errors import Finding

if TYPE_CHECKING:
    from tests.dialects.steps.conftest import Merge

SEVEN = "".join(f"{n}: title {n}\n" for n in range(1, 8))
# 1-6 are printed as they are, 6.1 and 6.2 as 7 and 8, 7 as 9, 8 as 10.
INSERTED = "6.1: log\n6.2: gate\n8: {id: last, text: end}\n"


@pytest.mark.parametrize(
    "text, printed",
    [
        ("go to step 7", "go to step 9"),
        ("Step 7 first", "Step 9 first"),
        ("STEP 7", "STEP 9"),
        ("**Go to step 7** (again)", "**Go to step 9** (again)"),
        ("see step 7.", "see step 9."),
        ("step 6.2, then", "step 8, then"),
        ("steps 7-8", "steps 9-10"),
        ("steps 6.1 \u2013 8", "steps 7 \u2013 10"),
        ("step 7-8", "step 9-10"),
        ("steps 7 and 8", "steps 9 and 10"),
        ("steps 6, 7 and 8", "steps 6, 9 and 10"),
        ("steps 6, 7, and 8 or 6.1", "steps 6, 9, and 10 or 7"),
        ("steps 7 to 8 & 6.1", "steps 9 to 10 & 7"),
        ("steps 6 through 7", "steps 6 through 9"),
        ("step\n7", "step\n9"),
        ("step 7 and 8 files", "step 9 and 8 files"),
        ("go to step {step:last}", "go to step 10"),
        ("{step:last}{step:last}", "1010"),
        ("`step 7` and step 7", "`step 7` and step 9"),
        ("``a ` step 7`` step 7", "``a ` step 7`` step 9"),
        ("`{step:last}`", "`{step:last}`"),
        ("a lone ` here\n\nstep 7 and ` there", "a lone ` here\n\nstep 9 and ` there"),
        ("```\nstep 7\n```\nstep 7", "```\nstep 7\n```\nstep 9"),
        ("~~~ x\nstep 7\n\nstep 7\n~~~\nstep 7", "~~~ x\nstep 7\n\nstep 7\n~~~\nstep 9"),
        ("  ```\n  step 7", "  ```\n  step 7"),
        ("text\n\n    * step 7 in a list", "text\n\n    * step 9 in a list"),
        ("> step 7 quoted", "> step 9 quoted"),
        ("a\r\nstep 7\rstep 7", "a\r\nstep 9\rstep 9"),
        ("step 7th, step 7a, step 7_x", "step 7th, step 7a, step 7_x"),
        ("substep 7, sub-step 7, mystep 7, steps: 7", "substep 7, sub-step 7, mystep 7, steps: 7"),
        ("step seven, step #7, 7, stepping 7", "step seven, step #7, 7, stepping 7"),
        ("step 07 and step 7.0", "step 07 and step 7.0"),
        ("step 99, {step:none}, {step:}", "step 99, {step:none}, {step:}"),
    ],
)
def test_references_are_printed_with_the_printed_numbers(
    steps: "Merge", text: str, printed: str
) -> None:
    assert rewrite_references(text, steps(SEVEN, INSERTED).demand()) == printed


@pytest.mark.parametrize("text", ["a`b`c\n```\nd\n```\ne\r\nf `g\n\nh` \ufeff", "\ufeffa `b`", ""])
def test_covered_code_leaves_every_other_character_in_its_place(text: str) -> None:
    covered = mask_code(text)
    assert len(covered) == len(text)
    assert all(new in (old, "\0") for new, old in zip(covered, text, strict=True))


def told(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(f.severity, f.code, str(f.place)) for f in findings]


def test_a_reference_to_no_step_is_an_error_for_the_check_and_a_warning_else(
    steps: "Merge",
) -> None:
    found = steps("1: see step 9 and {step:gone}\n2: {id: two, text: x}").demand()
    assert (
        told(lint_references(found)) == [("error", "unknown-reference", "protocols/a.yaml:4:3")] * 2
    )
    assert (
        told(find_unresolved_references(found))
        == [("warning", "unknown-reference", "protocols/a.yaml:4:3")] * 2
    )
    assert [f.fix for f in lint_references(found)] == [
        "steps that exist: 1, 2",
        "ids that exist: two",
    ]


def test_ids_that_exist_may_be_none(steps: "Merge") -> None:
    (found,) = lint_references(steps("1: see {step:gone}").demand())
    assert found.fix == "ids that exist: none"


def test_a_target_that_a_later_file_replaced_is_doubtful(steps: "Merge") -> None:
    found = steps("1: first\n2: go to step 1", "1: other").demand()
    (doubt,) = lint_references(found)
    assert told([doubt]) == [("warning", "step-replaced", "protocols/a.yaml:5:3")]
    assert "'first'" in doubt.message
    assert "'other'" in doubt.message


def test_a_text_of_the_middle_may_be_betrayed_by_the_top(steps: "Merge") -> None:
    found = steps("1: first\n2: x", "2: go to step 1", "1: other").demand()
    assert told(lint_references(found)) == [("warning", "step-replaced", "protocols/b.yaml:4:3")]


def test_whoever_writes_later_knows_what_was_replaced_before(steps: "Merge") -> None:
    assert lint_references(steps("1: first\n2: x", "1: other", "2: go to step 1").demand()) == []
    assert lint_references(steps("1: first\n2: x", "1: other\n2: go to step 1").demand()) == []


def test_a_step_that_the_author_never_saw_replaced_is_no_doubt(steps: "Merge") -> None:
    found = steps("1: x\n2: go to step 3", "3: new", "3: newer").demand()
    assert lint_references(found) == []


def test_a_number_that_is_printed_at_another_step_is_doubtful(steps: "Merge") -> None:
    (doubt,) = lint_references(steps(SEVEN, "6.1: " + "long " * 30 + "\n1: go to step 7").demand())
    assert told([doubt]) == [("warning", "step-ambiguous", "protocols/b.yaml:5:3")]
    assert "'title 7', printed as 8" in doubt.message
    assert "printed as 7 is 'long long" in doubt.message
    assert "...'" in doubt.message


def test_a_number_that_is_printed_nowhere_else_is_clear(steps: "Merge") -> None:
    assert lint_references(steps("2: see step 5\n5: x").demand()) == []


def test_an_anchor_is_never_doubtful(steps: "Merge") -> None:
    base = "1: {id: one, text: x}\n2: go to {step:one}"
    assert lint_references(steps(base, "0.1: x".replace("0.1", "1.1"), "1: other").demand()) == []


def test_counting_by_hand_is_found(steps: "Merge") -> None:
    """What the author of the first debugging protocol did: step 10 under neither reading."""
    base = "".join(f"{n}: title {n}\n" for n in range(1, 13))
    child = "6.1: log\n6.2: gate\n7: fix\n12: go to step 10 to fix it again"
    assert [f.code for f in lint_references(steps(base, child).demand())] == ["step-ambiguous"]


def test_e11_a_branch_below_the_feature_branch_is_found_with_the_name_to_write(
    steps: "Merge",
) -> None:
    named = "1: on `<FEATURE_BRANCH>/implementation-<N>`\n2: on <feature>--implementation-1"
    (found,) = find_impossible_branches(steps(named).demand(), "error")
    assert (found.code, found.severity) == ("impossible-branch", "error")
    assert "`<FEATURE_BRANCH>--implementation-`" in found.fix
