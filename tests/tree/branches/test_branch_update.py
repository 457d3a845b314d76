"""Real updates: a branch follows its parent, or stays whole where it was."""

import signal
import subprocess
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import worktrees
from porch.git.merge import Conflict
from porch.testing import kill_python_at
from porch.tree.branches import branch_update
from porch.tree.branches.branch_update import UpdatedBranch
from tests.repositories import sh

TRAILER = "Porch-Effect: run-1/rebase#1/git/update/1"

pytestmark = pytest.mark.usefixtures("git_home")


def write(place: Path, **files: str) -> str:
    for name, text in files.items():
        (place / f"{name}.txt").write_text(text)
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", f"write {', '.join(files)}\n\nBody: {place.name}")
    return sh(place, "rev-parse", "HEAD")


def clean(place: Path) -> bool:
    return sh(place, "status", "--porcelain") == ""


def refs(repo: Path, below: str = "refs/porch") -> list[str]:
    return sh(repo, "for-each-ref", "--format=%(refname)", below).splitlines()


@pytest.fixture
def work(repo: Path) -> Path:
    place = repo / "worktrees" / "work"
    worktrees.ensure_worktree(str(repo), str(place), "work", "main")
    return place


def updated(work: Path, rebase: bool) -> UpdatedBranch:
    made = branch_update.update_branch(str(work), "main", rebase)
    assert isinstance(made, UpdatedBranch)
    return made


def test_a_rebase_puts_own_commits_on_the_new_base_and_maps_them(repo: Path, work: Path) -> None:
    old = [write(work, w="1\n"), write(work, w="2\n")]
    about = sh(work, "log", "-2", "--format=%an|%ad|%cn|%cd|%B")
    base = write(repo, m="m")
    made = updated(work, rebase=True)
    new = sh(work, "rev-list", "--reverse", f"{base}..HEAD").split()
    assert made == UpdatedBranch(sh(work, "rev-parse", "HEAD"), dict(zip(old, new, strict=True)))
    assert sh(work, "rev-parse", "HEAD~2") == base
    assert sh(work, "log", "-2", "--format=%an|%ad|%cn|%cd|%B") == about
    assert clean(work)
    assert sh(work, "cat-file", "-t", old[0]) == "commit"
    assert refs(repo) == [f"refs/porch/before/work/{base}"], "old hashes stay reachable"


def test_the_same_rebase_asked_again_gives_the_same_map(repo: Path, work: Path) -> None:
    write(work, w="1\n")
    write(repo, m="m")
    first = updated(work, rebase=True)
    assert updated(work, rebase=True) == first
    later = write(work, later="later")
    assert updated(work, rebase=True) == UpdatedBranch(later, first.mapping)


def test_a_merge_keeps_every_hash(repo: Path, work: Path) -> None:
    mine = write(work, w="1\n")
    base = write(repo, m="m")
    made = updated(work, rebase=False)
    assert made.mapping == {}
    assert sh(work, "log", "-1", "--format=%P").split() == [mine, base]
    assert clean(work)
    assert updated(work, rebase=False) == made
    assert updated(work, rebase=True) == made, "what contains the base is up to date"


@pytest.mark.parametrize("rebase", [True, False])
def test_a_branch_without_own_commits_is_fast_forwarded(
    repo: Path, work: Path, rebase: bool
) -> None:
    base = write(repo, m="m")
    assert updated(work, rebase) == UpdatedBranch(base, {})
    assert sh(work, "rev-parse", "HEAD") == base
    assert clean(work)


def test_history_with_merges_is_merged_even_where_a_rebase_was_asked(
    repo: Path, work: Path
) -> None:
    write(work, w="1\n")
    write(repo, m="m")
    updated(work, rebase=False)
    head = sh(work, "rev-parse", "HEAD")
    base = write(repo, m="n")
    made = updated(work, rebase=True)
    assert sh(work, "log", "-1", "--format=%P").split() == [head, base]
    assert made.mapping == {}
    assert updated(work, rebase=True) == made


def test_a_commit_that_the_parent_already_has_is_dropped_and_mapped(repo: Path, work: Path) -> None:
    same = write(work, w="1\n")
    own = write(work, x="x")
    base = write(repo, w="1\n")
    made = updated(work, rebase=True)
    assert made.mapping == {same: base, own: made.head}
    assert sh(work, "rev-list", "--count", f"{base}..HEAD") == "1"


@pytest.mark.parametrize("rebase", [True, False])
def test_a_conflict_leaves_branch_and_files_as_they_were(
    repo: Path, work: Path, rebase: bool
) -> None:
    write(work, x="fine")
    head = write(work, a="mine\n")
    write(repo, a="theirs\n")
    assert branch_update.update_branch(str(work), "main", rebase) == Conflict(("a.txt",))
    assert sh(work, "rev-parse", "HEAD") == head
    assert clean(work)
    assert refs(repo) == []


def test_an_update_refuses_changes_and_unknown_bases(repo: Path, work: Path) -> None:
    write(work, w="1\n")
    write(repo, m="m")
    (work / "w.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="has uncommitted changes"):
        branch_update.update_branch(str(work), "main", True)
    assert (work / "w.txt").read_text() == "half done\n"
    with pytest.raises(OutsideError, match="no commit nowhere"):
        branch_update.update_branch(str(work), "nowhere", True)


def test_no_hook_and_no_editor_takes_part(repo: Path, work: Path, tmp_path: Path) -> None:
    for name in ("pre-rebase", "post-rewrite", "post-checkout", "post-merge", "pre-merge-commit"):
        hook = repo / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        hook.chmod(0o755)
    sh(repo, "config", "core.editor", f"touch {tmp_path}/ran; false")
    (work / "w.txt").write_text("1\n")
    sh(work, "add", "w.txt")
    sh(work, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "w")
    (repo / "m.txt").write_text("m")
    sh(repo, "add", "m.txt")
    sh(repo, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "m")
    updated(work, rebase=True)
    assert not (tmp_path / "ran").exists()


UPDATE = """
import sys
from porch.tree.branches import branch_update as updating
updating.update_branch(sys.argv[1], "main", sys.argv[2] == "rebase")
"""


@pytest.mark.parametrize("how", ["rebase", "merge"])
@pytest.mark.parametrize("point", ["merge.before-swap", "merge.after-swap", "merge.after-checkout"])
def test_an_update_that_was_killed_ends_like_one_that_was_not(
    repo: Path, work: Path, point: str, how: str
) -> None:
    mine = write(work, w="1\n")
    base = write(repo, m="m", a="changed\n")
    dead = kill_python_at(point, UPDATE, str(work), how)
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    made = updated(work, how == "rebase")
    assert made.head == sh(work, "rev-parse", "HEAD")
    assert made.mapping == ({mine: made.head} if how == "rebase" else {})
    assert sh(work, "rev-list", "--count", f"{base}..HEAD") == ("1" if how == "rebase" else "2")
    assert clean(work)


# Conflicts that an agent resolves.


@pytest.fixture
def torn(repo: Path, work: Path) -> Path:
    """Both sides changed a.txt, and the parent brought a file that looks like a conflict."""
    write(work, a="mine\n")
    write(repo, a="theirs\n", sample="<<<<<<< a sample\n>>>>>>> of markers\n")
    return work


def test_a_conflict_is_left_with_its_markers_and_finished_when_they_are_gone(
    repo: Path, torn: Path
) -> None:
    assert branch_update.begin_conflicted_merge(str(torn), "main") == ["a.txt"]
    assert "<<<<<<<" in (torn / "a.txt").read_text()
    assert branch_update.begin_conflicted_merge(str(torn), "main") == ["a.txt"], "it is adopted"
    assert branch_update.finish_conflicted_merge(str(torn), "Merge", TRAILER) == ["a.txt"]
    (torn / "a.txt").write_text("both\n")
    (torn / "help.txt").write_text("new")
    head = branch_update.finish_conflicted_merge(str(torn), "Merge", TRAILER)
    assert head == sh(torn, "rev-parse", "HEAD")
    parents = sh(torn, "log", "-1", "--format=%P").split()
    assert parents[1:] == [sh(repo, "rev-parse", "main")]
    assert sh(torn, "log", "-1", "--format=%an|%s|%(trailers)") == f"Ann|Merge|{TRAILER}"
    assert clean(torn)
    assert refs(repo) == []
    assert branch_update.finish_conflicted_merge(str(torn), "Merge", TRAILER) == head


def test_a_conflict_resolved_by_deletion_or_by_a_link_holds_no_markers(torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    (torn / "a.txt").unlink()
    (torn / "a.txt").symlink_to("sample.txt")
    assert isinstance(branch_update.finish_conflicted_merge(str(torn), "m", TRAILER), str)
    (torn / "b.txt").write_text("b")


def test_a_conflict_resolved_by_deleting_the_file(torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    (torn / "a.txt").unlink()
    assert isinstance(branch_update.finish_conflicted_merge(str(torn), "m", TRAILER), str)
    assert not (torn / "a.txt").exists()


def test_markers_that_the_agent_staged_are_still_markers(torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    sh(torn, "add", "-A")
    assert branch_update.finish_conflicted_merge(str(torn), "m", TRAILER) == ["a.txt"]


def test_an_agents_own_commit_of_the_merge_is_taken(repo: Path, torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    (torn / "a.txt").write_text("<<<<<<< HEAD\nstill\n")
    sh(torn, "commit", "-qam", "mine")
    assert branch_update.finish_conflicted_merge(str(torn), "m", TRAILER) == ["a.txt"]
    (torn / "a.txt").write_text("both\n")
    with pytest.raises(OutsideError, match="not all of it is committed"):
        branch_update.finish_conflicted_merge(str(torn), "m", TRAILER)
    sh(torn, "commit", "-qam", "mine again")
    assert branch_update.finish_conflicted_merge(str(torn), "m", TRAILER) == sh(
        torn, "rev-parse", "HEAD"
    )
    assert refs(repo) == []


def test_a_merge_that_the_agent_gave_up_is_not_taken_for_a_finished_one(torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    sh(torn, "merge", "--abort")
    with pytest.raises(OutsideError, match="no merge is in progress"):
        branch_update.finish_conflicted_merge(str(torn), "m", TRAILER)


def test_a_repository_that_the_agent_made_inside_is_not_committed(torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    (torn / "a.txt").write_text("both\n")
    sh(torn, "init", "-q", "inner")
    (torn / "inner" / "x").write_text("x")
    assert isinstance(branch_update.finish_conflicted_merge(str(torn), "m", TRAILER), str)
    assert worktrees.list_changed_paths(str(torn)) == ["inner/"]


def test_a_merge_commit_whose_maker_died_before_tidying_is_adopted(torn: Path) -> None:
    branch_update.begin_conflicted_merge(str(torn), "main")
    theirs = sh(torn, "rev-parse", "MERGE_HEAD")
    (torn / "a.txt").write_text("both\n")
    head = branch_update.finish_conflicted_merge(str(torn), "m", TRAILER)
    sh(torn, "update-ref", "MERGE_HEAD", theirs)
    assert branch_update.finish_conflicted_merge(str(torn), "m", TRAILER) == head
    assert not Path(sh(torn, "rev-parse", "--git-path", "MERGE_HEAD")).exists()


def test_a_merge_cut_while_it_began_is_begun_anew(repo: Path, torn: Path) -> None:
    """As a killed git leaves it: files of the other side, and no merge that git knows of."""
    sh(torn, "update-ref", "refs/porch/begun/work", "HEAD")
    (torn / "sample.txt").write_text("half")
    assert branch_update.begin_conflicted_merge(str(torn), "main") == ["a.txt"]
    assert (torn / "sample.txt").read_text().endswith("of markers\n")
    assert sh(repo, "show", "refs/porch/salvage/work:sample.txt") == "half"


def test_a_merge_begins_only_in_a_clean_worktree(torn: Path) -> None:
    (torn / "a.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="only in a clean worktree"):
        branch_update.begin_conflicted_merge(str(torn), "main")
    assert (torn / "a.txt").read_text() == "half done\n"


def test_a_merge_that_git_refuses_is_said(torn: Path) -> None:
    (torn / "sample.txt").write_text("untracked, in the way")
    with pytest.raises(OutsideError, match="overwritten"):
        branch_update.begin_conflicted_merge(str(torn), "main")


def test_an_aborted_merge_leaves_a_clean_tree_and_keeps_the_attempt(repo: Path, torn: Path) -> None:
    head = sh(torn, "rev-parse", "HEAD")
    branch_update.begin_conflicted_merge(str(torn), "main")
    (torn / "a.txt").write_text("an attempt\n")
    (torn / "notes.txt").write_text("notes")
    for _ in range(2):
        branch_update.abort_unfinished_work(str(torn))
        assert sh(torn, "rev-parse", "HEAD") == head
        assert clean(torn)
        assert refs(repo) == ["refs/porch/salvage/work"]
    assert sh(repo, "show", "refs/porch/salvage/work:a.txt") == "an attempt"
    assert sh(repo, "show", "refs/porch/salvage/work:notes.txt") == "notes"


def test_an_aborted_rebase_of_an_agent_puts_the_branch_back(torn: Path) -> None:
    head = sh(torn, "rev-parse", "HEAD")
    subprocess.run(["git", "rebase", "main"], cwd=torn, capture_output=True, check=False)
    with pytest.raises(OutsideError, match="not on a branch"):
        branch_update.update_branch(str(torn), "main", True)
    branch_update.abort_unfinished_work(str(torn))
    assert sh(torn, "symbolic-ref", "--short", "HEAD") == "work"
    assert sh(torn, "rev-parse", "HEAD") == head
    assert clean(torn)


def test_an_aborted_cherry_pick_leaves_a_clean_tree(torn: Path) -> None:
    subprocess.run(["git", "cherry-pick", "main"], cwd=torn, capture_output=True, check=False)
    branch_update.abort_unfinished_work(str(torn))
    assert clean(torn)


def test_work_that_belongs_to_no_merge_is_not_thrown_away_by_an_abort(torn: Path) -> None:
    (torn / "a.txt").write_text("work\n")
    with pytest.raises(OutsideError, match="must be clean"):
        branch_update.abort_unfinished_work(str(torn))
    assert (torn / "a.txt").read_text() == "work\n"
