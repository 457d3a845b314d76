"""Branches of prompts in real repositories: merged without a checkout, put away without a loss."""

import os
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.errors import BusyError, FailedError, OutsideError, PorchError
from porch.git.merge import Conflict
from porch.plan.branches import implementation_branches as branches
from porch.plan.branches import merged_branches
from porch.plan.branches.branch_names import branch_of, feature_of
from porch.plan.branches.implementation_branches import MergedBranch
from porch.store.where import ProjectPaths, find_project
from porch.testing import kill_python_at
from tests.repositories import sh

FEATURE = "feat/x"
ONE = "feat/x--implementation-1"
MESSAGE = "Merge prompt 1 implementation"
MERGE = """
import sys
from porch.plan.branches import implementation_branches as b; from porch.store import where
here = where.find_project(sys.argv[1])
b.merge_branch(here, "feat/x", "feat/x--implementation-1", "Merge prompt 1")
"""
ARCHIVE = """
import sys
from porch.plan.branches import implementation_branches as b; from porch.store import where
b.archive_branch(where.find_project(sys.argv[1]), "feat/x--implementation-1")
"""


@pytest.fixture
def where(repo: Path) -> ProjectPaths:
    """The main checkout is on the feature branch."""
    sh(repo, "switch", "-qc", FEATURE)
    return find_project(str(repo))


def worktree(repo: Path, branch: str = ONE) -> Path:
    place = repo.parent / branch.replace("/", "_")
    sh(repo, "worktree", "add", "-q", "-b", branch, str(place), FEATURE)
    return place


def write(place: Path, name: str, text: str) -> str:
    (place / name).write_text(text)
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", f"write {name}")
    return sh(place, "rev-parse", "HEAD")


def head(repo: Path, name: str) -> str:
    return sh(repo, "rev-parse", name)


def merged(where: ProjectPaths, branch: str = ONE) -> MergedBranch:
    found = branches.merge_branch(where, FEATURE, branch, MESSAGE)
    assert isinstance(found, MergedBranch)
    return found


def code(error: PorchError) -> str:
    return error.findings[0].code


# Names


@given(st.text(min_size=1), st.integers(1, 999_999), st.sampled_from(["", "A", "Q", "Z"]))
def test_a_name_that_was_made_is_read_again(feature: str, number: int, variant: str) -> None:
    feature = feature.replace("\n", "-")
    assert feature_of(branch_of(feature, number, variant)) == (feature, number, variant)


@pytest.mark.parametrize(
    "name",
    [
        *("feat/x", "", "--implementation-1", "x--implementation-", "x--implementation-0"),
        *("x--implementation-01", "x--implementation-1-a", "x--implementation-1-AB"),
        *(
            "x--implementation-1-",
            "x/implementation-1",
            "x--implementation-1\n",
            "x-implementation-1",
        ),
        *("x--implementation-٣", "x--implementation-1 ", "archive/x--implementation-1/y"),
    ],
)
def test_other_names_are_not_of_prompts(name: str) -> None:
    assert feature_of(name) is None


def test_the_last_mark_in_a_name_counts() -> None:
    name = "x--implementation-1--implementation-2-B"
    assert feature_of(name) == ("x--implementation-1", 2, "B")


# Merging


def test_a_merge_has_both_heads_as_parents_and_moves_the_files(
    repo: Path, where: ProjectPaths
) -> None:
    place = worktree(repo)
    source = write(place, "one.txt", "1\n")
    old = write(repo, "other.txt", "2\n")
    done = merged(where)
    assert done == MergedBranch(head(repo, FEATURE), found_existing=False)
    assert sh(repo, "log", "-1", "--format=%P", FEATURE).split() == [old, source]
    text = sh(repo, "log", "-1", "--format=%B", FEATURE)
    assert text == f"{MESSAGE}\n\nPorch-Effect: plan/feat/x/merge/1"
    assert (repo / "one.txt").read_text() == "1\n"
    assert sh(repo, "status", "--porcelain") == ""
    assert head(place, "HEAD") == source


def test_a_merge_that_could_be_a_fast_forward_is_a_commit_all_the_same(
    repo: Path, where: ProjectPaths
) -> None:
    source = write(worktree(repo, f"{ONE}-B"), "one.txt", "1\n")
    done = merged(where, f"{ONE}-B")
    assert done.commit != source
    assert "plan/feat/x/merge/1_B" in sh(repo, "log", "-1", "--format=%B", done.commit)


def test_a_feature_branch_moves_in_a_worktree_of_its_own(repo: Path, where: ProjectPaths) -> None:
    write(worktree(repo), "one.txt", "1\n")
    sh(repo, "switch", "-q", "main")
    home = repo.parent / "home-of-x"
    sh(repo, "worktree", "add", "-q", str(home), FEATURE)
    merged(find_project(str(home)))
    assert (home / "one.txt").exists()
    assert not (repo / "one.txt").exists()


def test_a_feature_branch_that_nobody_has_checked_out_moves_alone(
    repo: Path, where: ProjectPaths
) -> None:
    write(worktree(repo), "one.txt", "1\n")
    sh(repo, "switch", "-q", "main")
    done = merged(where)
    assert head(repo, FEATURE) == done.commit
    assert sh(repo, "status", "--porcelain") == ""


def test_a_conflict_names_the_files_and_touches_nothing(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    source = write(place, "a.txt", "theirs\n")
    old = write(repo, "a.txt", "ours\n")
    assert branches.merge_branch(where, FEATURE, ONE, MESSAGE) == Conflict(("a.txt",))
    assert (head(repo, FEATURE), head(repo, ONE)) == (old, source)
    assert (repo / "a.txt").read_text() == "ours\n"
    assert sh(repo, "status", "--porcelain") == ""
    assert not (repo / ".git/MERGE_HEAD").exists()


def test_a_checkout_with_changes_refuses_and_keeps_them(repo: Path, where: ProjectPaths) -> None:
    write(worktree(repo), "one.txt", "1\n")
    old = head(repo, FEATURE)
    (repo / "a.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="has uncommitted changes"):
        merged(where)
    assert (head(repo, FEATURE), (repo / "a.txt").read_text()) == (old, "half done\n")


def test_an_untracked_file_in_the_way_is_not_overwritten(repo: Path, where: ProjectPaths) -> None:
    write(worktree(repo), "one.txt", "1\n")
    old = head(repo, FEATURE)
    (repo / "one.txt").write_text("mine\n")
    with pytest.raises(OutsideError):
        merged(where)
    assert (head(repo, FEATURE), (repo / "one.txt").read_text()) == (old, "mine\n")


def test_what_is_merged_already_is_found_with_its_merge(repo: Path, where: ProjectPaths) -> None:
    write(worktree(repo), "one.txt", "1\n")
    done = merged(where)
    write(repo, "later.txt", "2\n")
    write(worktree(repo, "feat/x--implementation-2"), "two.txt", "2\n")
    merged(where, "feat/x--implementation-2")
    last = head(repo, FEATURE)
    assert merged(where) == MergedBranch(done.commit, found_existing=True)
    assert head(repo, FEATURE) == last


def test_a_merge_by_a_person_is_found_too(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    write(place, "one.txt", "1\n")
    sh(repo, "merge", "-q", "--no-ff", "-m", "by hand", ONE)
    assert merged(where) == MergedBranch(head(repo, FEATURE), found_existing=True)


def test_after_a_fast_forward_the_branch_itself_is_what_came_in(
    repo: Path, where: ProjectPaths
) -> None:
    source = write(worktree(repo), "one.txt", "1\n")
    sh(repo, "merge", "-q", "--ff-only", ONE)
    assert merged(where) == MergedBranch(source, found_existing=True)
    write(repo, "later.txt", "2\n")
    assert merged(where) == MergedBranch(source, found_existing=True)


def test_more_work_on_a_merged_branch_is_merged_again(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    write(place, "one.txt", "1\n")
    first = merged(where)
    write(place, "one.txt", "1\n2\n")
    second = merged(where)
    assert (second.found_existing, second.commit != first.commit) == (False, True)
    assert (repo / "one.txt").read_text() == "1\n2\n"


@pytest.mark.parametrize("feature, branch", [(FEATURE, "feat/x--implementation-9"), ("no", ONE)])
def test_a_branch_that_is_not_there_is_said(
    repo: Path, where: ProjectPaths, feature: str, branch: str
) -> None:
    worktree(repo)
    with pytest.raises(FailedError) as caught:
        branches.merge_branch(where, feature, branch, MESSAGE)
    assert code(caught.value) == "branch-not-found"


@pytest.mark.parametrize("point", ["merge.before-swap", "merge.after-swap", "merge.after-checkout"])
def test_a_merge_that_was_killed_is_finished_by_the_next(
    repo: Path, where: ProjectPaths, point: str
) -> None:
    source = write(worktree(repo), "one.txt", "1\n")
    old = head(repo, FEATURE)
    done = kill_python_at(point, MERGE, str(repo))
    assert done.returncode == -signal.SIGKILL, done.stderr
    again = merged(where)
    assert again.found_existing is (point != "merge.before-swap")
    assert head(repo, FEATURE) == again.commit
    assert sh(repo, "log", "-1", "--format=%P", FEATURE).split() == [old, source]
    assert sh(repo, "rev-list", "--count", "--merges", FEATURE) == "1"
    assert sh(repo, "status", "--porcelain") == ""
    assert (repo / "one.txt").read_text() == "1\n"


def test_merges_at_the_same_time_all_come_in(repo: Path, where: ProjectPaths) -> None:
    names = [branch_of(FEATURE, number) for number in (1, 2, 3)]
    for name in names:
        write(worktree(repo, name), f"{name[-1]}.txt", "1\n")
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda name: merged(where, name), names))
    assert sh(repo, "rev-list", "--count", "--merges", FEATURE) == "3"
    assert all((repo / f"{number}.txt").exists() for number in (1, 2, 3))
    assert sh(repo, "status", "--porcelain") == ""


@pytest.fixture
def restless(
    repo: Path, where: ProjectPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], None]:
    """Somebody who commits to the feature branch whenever a merge is being computed."""
    real = shutil.which("git")

    def begin(times: int) -> None:
        for number in range(times):
            (tmp_path / f"turn-{number}").touch()
        move = f'{real} -C {repo} commit-tree HEAD^{{tree}} -p HEAD -m "meanwhile"'
        script = tmp_path / "bin" / "git"
        script.parent.mkdir()
        script.write_text(
            f'#!/bin/sh\ncase " $* " in *" merge-tree "*)\n'
            f"turn=$(ls {tmp_path} | grep turn- | head -1)\n"
            f'[ -n "$turn" ] && rm {tmp_path}/$turn && '
            f"{real} -C {repo} update-ref HEAD $({move});; esac\n"
            f'exec {real} "$@"\n'
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")

    return begin


def test_a_feature_branch_that_moves_meanwhile_is_merged_again(
    repo: Path, where: ProjectPaths, restless: Callable[[int], None]
) -> None:
    source = write(worktree(repo), "one.txt", "1\n")
    write(repo, "other.txt", "so that there is something to merge\n")
    restless(2)
    done = merged(where)
    parents = sh(repo, "log", "-1", "--format=%P", done.commit).split()
    assert sh(repo, "log", "-1", "--format=%s", parents[0]) == "meanwhile"
    assert (parents[1], head(repo, FEATURE)) == (source, done.commit)


def test_a_feature_branch_that_never_rests_is_said_to_be_busy(
    repo: Path, where: ProjectPaths, restless: Callable[[int], None]
) -> None:
    write(worktree(repo), "one.txt", "1\n")
    write(repo, "other.txt", "so that there is something to merge\n")
    restless(branches.TRIES)
    with pytest.raises(BusyError) as caught:
        merged(where)
    assert code(caught.value) == "branch-busy"
    assert not (repo / "one.txt").exists()


# What is in, and what is not


def contained(repo: Path, branch: str = ONE) -> bool:
    return merged_branches.is_contained(str(repo), FEATURE, branch)


def begun(repo: Path) -> bool:
    return merged_branches.has_begun(str(repo), FEATURE, ONE)


def test_a_branch_is_in_when_its_commits_are_or_others_that_do_the_same(
    repo: Path, where: ProjectPaths
) -> None:
    place = worktree(repo)
    write(place, "one.txt", "1\n")
    write(place, "two.txt", "2\n")
    assert not contained(repo)
    write(repo, "other.txt", "3\n")
    sh(repo, "cherry-pick", f"{ONE}~1")
    assert not contained(repo)
    sh(repo, "cherry-pick", ONE)
    write(repo, "two.txt", "changed after it came in\n")
    assert contained(repo)


def test_a_squashed_branch_is_in(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    write(place, "one.txt", "1\n")
    write(place, "one.txt", "1\n2\n")
    sh(repo, "merge", "-q", "--squash", ONE)
    sh(repo, "commit", "-qm", "squashed")
    assert contained(repo)
    sh(repo, "revert", "--no-edit", "HEAD")
    assert not contained(repo)


def test_what_a_merge_on_the_branch_changed_by_hand_counts(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    write(repo, "other.txt", "3\n")
    sh(place, "merge", "-q", "--no-ff", "--no-commit", FEATURE)
    write(place, "by-hand.txt", "4\n")
    assert not contained(repo)


def test_unrelated_histories_are_not_in(repo: Path, where: ProjectPaths) -> None:
    sh(repo, "switch", "-q", "--orphan", ONE)
    sh(repo, "commit", "-q", "--allow-empty", "-m", "apart")
    assert not contained(repo)


def test_a_branch_that_was_just_made_has_not_begun(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    assert contained(repo)
    assert not begun(repo)
    write(repo, "other.txt", "3\n")
    assert not begun(repo)
    write(place, "one.txt", "1\n")
    assert begun(repo)
    merged(where)
    assert begun(repo)


def test_a_branch_that_was_merged_by_fast_forward_has_begun(
    repo: Path, where: ProjectPaths
) -> None:
    write(worktree(repo), "one.txt", "1\n")
    sh(repo, "merge", "-q", "--ff-only", ONE)
    assert begun(repo)


# Putting away


def names(repo: Path) -> list[str]:
    return sh(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


@pytest.mark.req("E-039")
def test_a_branch_is_put_away_with_its_head_and_without_its_worktree(
    repo: Path, where: ProjectPaths
) -> None:
    place = worktree(repo)
    source = write(place, "one.txt", "1\n")
    assert branches.find_worktree_path(where, ONE) == str(place)
    assert branches.archive_branch(where, ONE) == f"archive/{ONE}"
    assert (head(repo, f"archive/{ONE}"), names(repo)) == (
        source,
        [f"archive/{ONE}", FEATURE, "main"],
    )
    assert not place.exists()
    assert branches.find_worktree_path(where, ONE) is None
    assert branches.archive_branch(where, ONE) == f"archive/{ONE}"


@pytest.mark.req("E-039")
def test_uncommitted_work_is_kept(repo: Path, where: ProjectPaths) -> None:
    place = worktree(repo)
    (place / "half.txt").write_text("half\n")
    branches.archive_branch(where, ONE)
    kept = sh(repo, "for-each-ref", "--format=%(refname)", "refs/porch/salvage").split()
    assert [sh(repo, "show", f"{ref}:half.txt") for ref in kept] == ["half"]


def test_a_second_one_of_the_same_name_is_put_beside(repo: Path, where: ProjectPaths) -> None:
    heads = []
    for number in range(3):
        heads.append(write(worktree(repo), "one.txt", f"{number}\n"))
        branches.archive_branch(where, ONE)
    archived = [f"archive/{ONE}", f"archive/{ONE}-2", f"archive/{ONE}-3"]
    assert [head(repo, name) for name in archived] == heads
    assert branches.archive_branch(where, ONE) == f"archive/{ONE}-3"
    sh(repo, "branch", ONE, heads[1])
    assert branches.archive_branch(where, ONE) == f"archive/{ONE}-2"
    assert ONE not in names(repo)


def test_without_a_branch_there_is_nothing_to_put_away(repo: Path, where: ProjectPaths) -> None:
    assert branches.archive_branch(where, ONE) == ""
    assert branches.find_worktree_path(where, ONE) is None


def test_a_branch_in_the_main_checkout_is_not_put_away(repo: Path, where: ProjectPaths) -> None:
    sh(repo, "switch", "-qc", ONE)
    with pytest.raises(FailedError) as caught:
        branches.archive_branch(where, ONE)
    assert code(caught.value) == "branch-checked-out"
    assert ONE in names(repo)


@pytest.mark.parametrize("reason", ["", "on a stick"])
def test_a_locked_worktree_is_not_removed(repo: Path, where: ProjectPaths, reason: str) -> None:
    place = worktree(repo)
    sh(repo, "worktree", "lock", *(("--reason", reason) if reason else ()), str(place))
    assert branches.list_locked_branches(str(repo)) == {ONE: reason}
    with pytest.raises(FailedError) as caught:
        branches.archive_branch(where, ONE)
    assert code(caught.value) == "worktree-locked"
    assert place.is_dir()


def test_a_worktree_whose_directory_is_gone_is_in_nobodys_way(
    repo: Path, where: ProjectPaths
) -> None:
    place = worktree(repo)
    source = write(place, "one.txt", "1\n")
    shutil.rmtree(place)
    assert branches.find_worktree_path(where, ONE) is None
    assert branches.archive_branch(where, ONE) == f"archive/{ONE}"
    assert head(repo, f"archive/{ONE}") == source
    assert str(place) not in sh(repo, "worktree", "list")


@pytest.mark.parametrize(
    "point", ["worktree.after-archive", "worktree.after-aside", "worktree.after-remove"]
)
def test_putting_away_that_was_killed_is_finished_by_the_next(
    repo: Path, where: ProjectPaths, point: str
) -> None:
    place = worktree(repo)
    source = write(place, "one.txt", "1\n")
    done = kill_python_at(point, ARCHIVE, str(repo))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert branches.archive_branch(where, ONE) == f"archive/{ONE}"
    assert (head(repo, f"archive/{ONE}"), ONE in names(repo)) == (source, False)
    assert not place.exists()
