"""Refs of porch are written and removed as files, and git sees each of them."""

from pathlib import Path

import pytest

from porch.git.moves.own_refs import delete_own_refs, set_own_ref
from tests.git_calls import GIT
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")
REF = "refs/porch/entry/porch/v3_7/a/impl/1"


def refs(repo: Path) -> list[str]:
    return sh(repo, "for-each-ref", "--format=%(refname)", "refs/porch").splitlines()


@pytest.mark.parametrize("sync", [True, False])
def test_t7_a_ref_of_ours_costs_no_process_and_git_knows_it(repo: Path, sync: bool) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    with GIT.heard() as commands:
        set_own_ref(str(repo), REF, head, sync=sync)
    assert sh(repo, "rev-parse", REF) == head
    with GIT.heard() as more:
        delete_own_refs(str(repo), [REF, REF])
    assert (commands, more, refs(repo)) == ([], [], [])
    assert not (repo / ".git" / "refs" / "porch" / "entry").exists(), "no empty directory is left"


def test_t7_a_ref_that_was_packed_goes_with_all_its_copies(repo: Path) -> None:
    old = sh(repo, "rev-parse", "HEAD")
    set_own_ref(str(repo), REF, old)
    sh(repo, "pack-refs", "--all")
    sh(repo, "commit", "-q", "--allow-empty", "-m", "more")
    set_own_ref(str(repo), REF, sh(repo, "rev-parse", "HEAD"))
    assert sh(repo, "rev-parse", REF) == sh(repo, "rev-parse", "HEAD")
    delete_own_refs(str(repo), [REF])
    assert refs(repo) == []


def test_t7_what_is_not_plain_is_left_to_git(repo: Path) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    for ref, commit in (("refs/porch/ü", head), ("refs/other/x", head), (REF, "HEAD")):
        with GIT.heard() as commands:
            set_own_ref(str(repo), ref, commit)
        assert commands == ["update-ref"]
        assert sh(repo, "rev-parse", ref) == head
    delete_own_refs(str(repo), ["refs/porch/ü"])
    assert refs(repo) == [REF]


def test_t7_the_lock_of_a_writer_that_was_killed_is_no_obstacle(repo: Path) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    set_own_ref(str(repo), REF, head)
    (repo / ".git" / f"{REF}.lock").write_text("half")
    set_own_ref(str(repo), REF, head)
    assert sh(repo, "rev-parse", REF) == head
