"""Which words can be the name of a branch, mostly said without asking git."""

from pathlib import Path

import pytest

from porch.git.command import try_git
from porch.plan.claims.prompt_claims import _is_branch_name

NAMES = (
    *("main", "feature/x", "feature/x--implementation-1-A", "a/b/c", "0", "-a", "a-", "x-y/z-9"),
    *("", "/", "a/", "/a", "a//b", "-", "--", "a/-", "a.b", ".a", "a.", "a..b", "a.lock", "a b"),
    *("a~", "a^", "a:b", "a?b", "a*", "a[b", "a\\b", "@", "a@{b", "é", "²", "a_b", "HEAD", "a\n"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_one_if_git_says_so(tmp_path: Path, name: str) -> None:
    asked = try_git(str(tmp_path), "check-ref-format", f"refs/heads/{name}").returncode == 0
    assert _is_branch_name(str(tmp_path), name) == asked


@pytest.mark.parametrize("name", ["main", "feature/x--implementation-1-A", "a/b/c"])
def test_of_plain_words_git_is_not_asked(tmp_path: Path, name: str) -> None:
    assert _is_branch_name(str(tmp_path / "gone"), name)
