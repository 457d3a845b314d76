"""Every finding that was dealt with has a test of its name, and a guard that this test notices."""

import re
from pathlib import Path

import pytest

from tools.child_guards import CHILD_GUARDS
from tools.drive_guards import DRIVE_GUARDS
from tools.guards import GUARDS
from tools.way_guards import WAY_GUARDS
from tools.web_guards import WEB_GUARDS
from tools.worktree_guards import WORKTREE_GUARDS

TESTS = Path(__file__).resolve().parent.parent
ALL = (*GUARDS, *DRIVE_GUARDS, *WORKTREE_GUARDS, *WAY_GUARDS, *CHILD_GUARDS, *WEB_GUARDS)
FINDINGS = (
    *(f"k{number}" for number in range(1, 13)),
    *(f"v{number}" for number in range(1, 21)),
    *(f"l{number}" for number in range(1, 19)),
    *("n1", "n3", "n4", "n11", "r1", "r3", "r6", "r7", "r14", "r16"),
)
# Of what porch says, delivers and pays for; their guards begin with these words.
SAID = (
    *(f"T{number}" for number in range(1, 20)),
    *("X3", "X5", "X9", *(f"X{number}" for number in range(11, 18))),
    *("H38", "R3", "Q2", "Q3", "Q8", "Q9", "Q10", "Q11", "E5", "E6"),
)
# What was found in runs and plans; not all of it is a guard that can be switched off.
NAMED = (*(f"r{number}" for number in range(1, 18)), *(f"n{number}" for number in range(1, 12)))


@pytest.fixture(scope="module")
def names() -> list[str]:
    files = sorted(TESTS.glob("**/test_*.py"))
    return [n for f in files for n in re.findall(r"def (test_\w+)\(", f.read_text("utf-8"))]


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_finding_has_a_test_of_its_name_and_a_guard_that_needs_it(
    finding: str, names: list[str]
) -> None:
    named = [name for name in names if name.startswith(f"test_{finding}_")]
    assert named
    assert [guard.name for guard in ALL if guard.test in named] != []


@pytest.mark.parametrize("finding", NAMED)
def test_a_finding_has_a_test_of_its_name(finding: str, names: list[str]) -> None:
    assert [name for name in names if name.startswith(f"test_{finding}_")]


@pytest.mark.parametrize("finding", SAID)
def test_a_finding_about_what_porch_says_has_a_guard(finding: str) -> None:
    assert [guard.name for guard in ALL if guard.name.startswith(f"{finding}: ")]


def test_the_test_of_a_guard_stands_in_one_place(names: list[str]) -> None:
    assert [guard.name for guard in ALL if names.count(guard.test) != 1] == []


def test_the_text_of_a_guard_stands_once_and_is_not_what_replaces_it() -> None:
    sources = TESTS.parent / "src" / "porch"
    texts = {guard.module: (sources / guard.module).read_text("utf-8") for guard in ALL}
    assert [guard.name for guard in ALL if texts[guard.module].count(guard.text) != 1] == []
    assert [guard.name for guard in ALL if guard.text == guard.without] == []
