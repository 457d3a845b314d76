"""Real updates: a branch follows its parent, or stays whole where it was."""

import signal
import subprocess
from pathlib import Path

import pytest

from porch.adapters import updating, worktrees
from porch.adapters.merging import Conflict
from porch.adapters.updating import Updated
from porch.errors import OutsideError
from porch.testing import kill_python_at

TRAILER = "Porch-Effect: run-1/rebase#1/git/update/1"

pytestmark = pytest.mark.usefixtures("git_home")


def sh(directory: Path, *words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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
    worktrees.ensure(str(repo), str(place), "work", "main")
    return place


def updated(work: Path, rebase: bool) -> Updated:
    made = updating.update(str(work), "main", rebase)
    assert isinstance(made, Updated)
    return made


def test_a_rebase_puts_own_commits_on_the_new_base_and_maps_them(repo: Path, work: Path) -> None:
    old = [write(work, w="1\n"), write(work, w="2\n")]
    about = sh(work, "log", "-2", "--format=%an|%ad|%cn|%cd|%B")
    base = write(repo, m="m")
    made = updated(work, rebase=True)
    new = sh(work, "rev-list", "--reverse", f"{base}..HEAD").split()
    assert made == Updated(sh(work, "rev-parse", "HEAD"), dict(zip(old, new, strict=True)))
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
    assert updated(work, rebase=True) == Updated(later, first.mapping)


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
    assert updated(work, rebase) == Updated(base, {})
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
    assert updating.update(str(work), "main", rebase) == Conflict(("a.txt",))
    assert sh(work, "rev-parse", "HEAD") == head
    assert clean(work)
    assert refs(repo) == []


def test_an_update_refuses_changes_and_unknown_bases(repo: Path, work: Path) -> None:
    write(work, w="1\n")
    write(repo, m="m")
    (work / "w.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="holds changes"):
        updating.update(str(work), "main", True)
    assert (work / "w.txt").read_text() == "half done\n"
    with pytest.raises(OutsideError, match="no commit nowhere"):
        updating.update(str(work), "nowhere", True)


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
from porch.adapters import updating
updating.update(sys.argv[1], "main", sys.argv[2] == "rebase")
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
    assert updating.begin_conflicted(str(torn), "main") == ["a.txt"]
    assert "<<<<<<<" in (torn / "a.txt").read_text()
    assert updating.begin_conflicted(str(torn), "main") == ["a.txt"], "it is adopted"
    assert updating.finish_conflicted(str(torn), "Merge", TRAILER) == ["a.txt"]
    (torn / "a.txt").write_text("both\n")
    (torn / "help.txt").write_text("new")
    head = updating.finish_conflicted(str(torn), "Merge", TRAILER)
    assert head == sh(torn, "rev-parse", "HEAD")
    parents = sh(torn, "log", "-1", "--format=%P").split()
    assert parents[1:] == [sh(repo, "rev-parse", "main")]
    assert sh(torn, "log", "-1", "--format=%an|%s|%(trailers)") == f"Ann|Merge|{TRAILER}"
    assert clean(torn)
    assert refs(repo) == []
    assert updating.finish_conflicted(str(torn), "Merge", TRAILER) == head


def test_a_conflict_resolved_by_deletion_or_by_a_link_holds_no_markers(torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    (torn / "a.txt").unlink()
    (torn / "a.txt").symlink_to("sample.txt")
    assert isinstance(updating.finish_conflicted(str(torn), "m", TRAILER), str)
    (torn / "b.txt").write_text("b")


def test_a_conflict_resolved_by_deleting_the_file(torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    (torn / "a.txt").unlink()
    assert isinstance(updating.finish_conflicted(str(torn), "m", TRAILER), str)
    assert not (torn / "a.txt").exists()


def test_markers_that_the_agent_staged_are_still_markers(torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    sh(torn, "add", "-A")
    assert updating.finish_conflicted(str(torn), "m", TRAILER) == ["a.txt"]


def test_an_agents_own_commit_of_the_merge_is_taken(repo: Path, torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    (torn / "a.txt").write_text("<<<<<<< HEAD\nstill\n")
    sh(torn, "commit", "-qam", "mine")
    assert updating.finish_conflicted(str(torn), "m", TRAILER) == ["a.txt"]
    (torn / "a.txt").write_text("both\n")
    with pytest.raises(OutsideError, match="not all of it committed"):
        updating.finish_conflicted(str(torn), "m", TRAILER)
    sh(torn, "commit", "-qam", "mine again")
    assert updating.finish_conflicted(str(torn), "m", TRAILER) == sh(torn, "rev-parse", "HEAD")
    assert refs(repo) == []


def test_a_merge_that_the_agent_gave_up_is_not_taken_for_a_finished_one(torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    sh(torn, "merge", "--abort")
    with pytest.raises(OutsideError, match="no merge is going on"):
        updating.finish_conflicted(str(torn), "m", TRAILER)


def test_a_repository_that_the_agent_made_inside_is_not_committed(torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    (torn / "a.txt").write_text("both\n")
    sh(torn, "init", "-q", "inner")
    (torn / "inner" / "x").write_text("x")
    assert isinstance(updating.finish_conflicted(str(torn), "m", TRAILER), str)
    assert worktrees.dirty(str(torn)) == ["inner/"]


def test_a_merge_commit_whose_maker_died_before_tidying_is_adopted(torn: Path) -> None:
    updating.begin_conflicted(str(torn), "main")
    theirs = sh(torn, "rev-parse", "MERGE_HEAD")
    (torn / "a.txt").write_text("both\n")
    head = updating.finish_conflicted(str(torn), "m", TRAILER)
    sh(torn, "update-ref", "MERGE_HEAD", theirs)
    assert updating.finish_conflicted(str(torn), "m", TRAILER) == head
    assert not Path(sh(torn, "rev-parse", "--git-path", "MERGE_HEAD")).exists()


def test_a_merge_cut_while_it_began_is_begun_anew(repo: Path, torn: Path) -> None:
    """As a killed git leaves it: files of the other side, and no merge that git knows of."""
    sh(torn, "update-ref", "refs/porch/begun/work", "HEAD")
    (torn / "sample.txt").write_text("half")
    assert updating.begin_conflicted(str(torn), "main") == ["a.txt"]
    assert (torn / "sample.txt").read_text().endswith("of markers\n")
    assert sh(repo, "show", "refs/porch/salvage/work:sample.txt") == "half"


def test_a_merge_begins_only_in_a_clean_worktree(torn: Path) -> None:
    (torn / "a.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="only in a clean worktree"):
        updating.begin_conflicted(str(torn), "main")
    assert (torn / "a.txt").read_text() == "half done\n"


def test_a_merge_that_git_refuses_is_said(torn: Path) -> None:
    (torn / "sample.txt").write_text("untracked, in the way")
    with pytest.raises(OutsideError, match="overwritten"):
        updating.begin_conflicted(str(torn), "main")


def test_an_aborted_merge_leaves_a_clean_tree_and_keeps_the_attempt(repo: Path, torn: Path) -> None:
    head = sh(torn, "rev-parse", "HEAD")
    updating.begin_conflicted(str(torn), "main")
    (torn / "a.txt").write_text("an attempt\n")
    (torn / "notes.txt").write_text("notes")
    for _ in range(2):
        updating.abort(str(torn))
        assert sh(torn, "rev-parse", "HEAD") == head
        assert clean(torn)
        assert refs(repo) == ["refs/porch/salvage/work"]
    assert sh(repo, "show", "refs/porch/salvage/work:a.txt") == "an attempt"
    assert sh(repo, "show", "refs/porch/salvage/work:notes.txt") == "notes"


def test_an_aborted_rebase_of_an_agent_puts_the_branch_back(torn: Path) -> None:
    head = sh(torn, "rev-parse", "HEAD")
    subprocess.run(["git", "rebase", "main"], cwd=torn, capture_output=True, check=False)
    with pytest.raises(OutsideError, match="no branch"):
        updating.update(str(torn), "main", True)
    updating.abort(str(torn))
    assert sh(torn, "symbolic-ref", "--short", "HEAD") == "work"
    assert sh(torn, "rev-parse", "HEAD") == head
    assert clean(torn)


def test_an_aborted_cherry_pick_leaves_a_clean_tree(torn: Path) -> None:
    subprocess.run(["git", "cherry-pick", "main"], cwd=torn, capture_output=True, check=False)
    updating.abort(str(torn))
    assert clean(torn)


def test_work_that_belongs_to_no_merge_is_not_thrown_away_by_an_abort(torn: Path) -> None:
    (torn / "a.txt").write_text("work\n")
    with pytest.raises(OutsideError, match="not clean"):
        updating.abort(str(torn))
    assert (torn / "a.txt").read_text() == "work\n"
