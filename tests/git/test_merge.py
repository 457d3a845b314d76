"""Real merges: computed aside, published by compare-and-swap, whole after any death."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import merge as merging
from porch.git import repository, worktrees
from porch.git.merge import Conflict, MergeCandidate
from porch.git.moves import checkout_move
from porch.testing import kill_python_at
from tests.git_calls import GIT
from tests.repositories import make_repository, sh

TRAILER = "Porch-Effect: run-1/publish#1/git/merge/1"

pytestmark = pytest.mark.usefixtures("git_home")


def write(place: Path, **files: str) -> str:
    for name, text in files.items():
        (place / f"{name}.txt").write_text(text)
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", f"write {', '.join(files)}")
    return sh(place, "rev-parse", "HEAD")


def tree(repo: Path, name: str) -> Path:
    place = repo / "worktrees" / name
    worktrees.ensure_worktree(str(repo), str(place), name, "main")
    return place


def clean(place: Path) -> bool:
    return sh(place, "status", "--porcelain") == ""


@pytest.fixture
def parent(repo: Path) -> Path:
    return tree(repo, "parent")


@pytest.fixture
def child(repo: Path) -> Path:
    return tree(repo, "child")


def squash(repo: Path, source: str = "child", target: str = "parent") -> MergeCandidate | Conflict:
    scratch = str(repo / "worktrees" / "scratch")
    return merging.create_candidate(
        str(repo), target, source, f"feat({source}): implement", trailer=TRAILER, scratch=scratch
    )


def built(repo: Path, source: str = "child", target: str = "parent") -> MergeCandidate:
    made = squash(repo, source, target)
    assert isinstance(made, MergeCandidate)
    return made


def in_store(repo: Path, ours: str, theirs: str) -> str | Conflict:
    return merging.merge_commits(str(repo), ours, theirs)


def in_checkout(repo: Path, ours: str, theirs: str) -> str | Conflict:
    return merging.merge_in_checkout(str(repo), ours, theirs, str(repo / "worktrees" / "scratch"))


Merge = Callable[[Path, str, str], str | Conflict]
both_ways = pytest.mark.parametrize("merge", [in_store, in_checkout])


@both_ways
def test_two_sides_are_merged_without_touching_either(
    repo: Path, parent: Path, child: Path, merge: Merge
) -> None:
    write(parent, p="parent")
    write(child, c="child", a="one\ntwo\n")
    merged = merge(repo, "parent", "child")
    assert isinstance(merged, str)
    assert sh(repo, "ls-tree", "--name-only", merged).split() == [
        ".gitignore",
        "a.txt",
        "c.txt",
        "p.txt",
    ]
    assert clean(parent)
    assert clean(child)
    assert not (repo / "worktrees" / "scratch").exists()


@both_ways
def test_what_stands_on_the_other_side_already_is_the_merge_of_both(
    repo: Path, parent: Path, child: Path, merge: Merge
) -> None:
    write(child, c="child", a="one\ntwo\n")
    write(child, d="more")
    old, new = sh(repo, "rev-parse", "parent"), sh(repo, "rev-parse", "child")
    with GIT.heard() as commands:
        assert merge(repo, old, new) == merge(repo, new, old) == merge(repo, new, new)
    assert merge(repo, old, new) == sh(repo, "rev-parse", f"{new}^{{tree}}")
    assert commands == [] or merge is in_checkout


def test_the_change_of_a_commit_on_its_own_parent_is_the_commit(repo: Path, child: Path) -> None:
    write(child, c="child")
    write(child, a="one\ntwo\n")
    last, tree = sh(repo, "rev-parse", "child"), sh(repo, "rev-parse", "child^{tree}")
    with GIT.heard() as commands:
        on_parent = sh(repo, "rev-parse", "child~1^{tree}")
        assert merging.cherry_pick_tree(str(repo), on_parent, last) == tree
    assert commands == ["rev-parse"]
    elsewhere = merging.cherry_pick_tree(str(repo), sh(repo, "rev-parse", "main^{tree}"), last)
    assert isinstance(elsewhere, str)
    assert sh(repo, "ls-tree", "--name-only", elsewhere).split() == [".gitignore", "a.txt"]
    assert sh(repo, "show", f"{elsewhere}:a.txt") == "one\ntwo"


@both_ways
def test_a_conflict_names_its_files_and_leaves_nothing(
    repo: Path, parent: Path, child: Path, merge: Merge
) -> None:
    write(parent, a="parent\n", **{"ü b": "x"})
    write(child, a="child\n", **{"ü b": "y"}, fine="z")
    assert merge(repo, "parent", "child") == Conflict(("a.txt", "ü b.txt"))
    assert clean(parent)
    assert clean(child)
    assert len(worktrees.list_worktrees(str(repo))) == 3


@both_ways
def test_histories_without_an_ancestor_are_refused(repo: Path, merge: Merge) -> None:
    lonely = sh(repo, "commit-tree", "main^{tree}", "-m", "no parent")
    with pytest.raises(OutsideError, match="unrelated histories"):
        merge(repo, "main", lonely)


def test_a_git_that_cannot_merge_without_a_checkout_gives_the_same_candidate(
    repo: Path, parent: Path, child: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(parent, p="parent")
    write(child, c="child")
    new = built(repo)
    monkeypatch.setattr(merging, "MERGES_TREES", (99, 0))
    old = built(repo)
    assert sh(repo, "rev-parse", f"{new.commit}^{{tree}}") == sh(
        repo, "rev-parse", f"{old.commit}^{{tree}}"
    )
    assert merging.merge_commits(str(repo), "parent", "child") == repository.read_commit_tree(
        str(repo), new.commit
    )


@pytest.mark.req("V-061")
def test_a_candidate_is_one_commit_on_the_targets_head(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="1")
    write(child, c="2")
    head = write(parent, p="p")
    made = built(repo)
    assert made.old_head == head == sh(repo, "rev-parse", "parent"), "nothing is published"
    assert sh(repo, "rev-list", f"{head}..{made.commit}") == made.commit
    assert sh(repo, "log", "-1", "--format=%an|%s|%(trailers)", made.commit) == (
        f"Ann|feat(child): implement|{TRAILER}"
    )
    assert sh(repo, "show", f"{made.commit}:c.txt") == "2"


def test_a_candidate_of_nothing_new_is_the_head_itself(
    repo: Path, parent: Path, child: Path
) -> None:
    head = sh(repo, "rev-parse", "parent")
    assert squash(repo) == MergeCandidate(head, head)
    write(child, c="c")
    made = built(repo)
    assert (
        merging.publish_commit(str(repo), "parent", new=made.commit, old=head, checkout=str(parent))
        == "done"
    )
    assert squash(repo) == MergeCandidate(made.commit, made.commit), "its squash holds all of it"


def test_a_candidate_of_a_branch_that_is_gone_says_so(repo: Path, parent: Path) -> None:
    with pytest.raises(OutsideError, match="no branch 'child'"):
        squash(repo)


def test_a_conflict_of_a_candidate_publishes_nothing(repo: Path, parent: Path, child: Path) -> None:
    write(child, a="child\n")
    head = write(parent, a="parent\n")
    assert squash(repo) == Conflict(("a.txt",))
    assert sh(repo, "rev-parse", "parent") == head


# Publishing.


def test_publishing_moves_the_branch_and_its_files(repo: Path, parent: Path, child: Path) -> None:
    write(child, c="c")
    (child / "a.txt").unlink()
    sh(child, "commit", "-qam", "drop a")
    (parent / "x.log").write_text("ignored")
    (parent / "untracked.txt").write_text("left by a check")
    made = built(repo)
    for _ in range(2):
        assert (
            merging.publish_commit(
                str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
            )
            == "done"
        )
    assert sh(parent, "rev-parse", "HEAD") == made.commit
    assert sh(parent, "status", "--porcelain") == "?? untracked.txt"
    assert ((parent / "c.txt").read_text(), (parent / "a.txt").exists()) == ("c", False)


def test_publishing_a_branch_that_is_checked_out_nowhere(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="c")
    made = built(repo)
    worktrees.remove_worktree(str(repo), str(parent), None)
    assert (
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=None
        )
        == "done"
    )
    assert sh(repo, "rev-parse", "parent") == made.commit


@pytest.mark.parametrize("is_checked_out", [True, False])
def test_a_target_that_moved_meanwhile_is_stale_and_untouched(
    repo: Path, parent: Path, child: Path, is_checked_out: bool
) -> None:
    write(child, c="c")
    made = built(repo)
    head = write(parent, p="a sibling came first")
    place = str(parent) if is_checked_out else None
    assert (
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=place
        )
        == "stale"
    )
    assert sh(repo, "rev-parse", "parent") == head
    again = built(repo)
    assert (
        merging.publish_commit(
            str(repo), "parent", new=again.commit, old=again.old_head, checkout=place
        )
        == "done"
    )
    assert (parent / "c.txt").exists()


def test_a_swap_that_is_lost_at_the_last_moment_is_noticed(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="c")
    made = built(repo)
    head = write(parent, p="p")
    assert checkout_move.swap_ref(str(repo), "parent", made.commit, made.old_head) is False
    assert sh(repo, "rev-parse", "parent") == head
    with pytest.raises(OutsideError):
        checkout_move.swap_ref(str(repo), "parent", "no-such-commit", head)


def test_a_target_that_already_holds_the_commit_is_done(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="c")
    made = built(repo)
    merging.publish_commit(
        str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
    )
    head = write(parent, later="later")
    assert (
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
        )
        == "done"
    )
    assert sh(repo, "rev-parse", "parent") == head


def test_a_person_who_works_in_the_target_keeps_their_changes(repo: Path, child: Path) -> None:
    write(child, c="c")
    made = built(repo, target="main")
    (repo / "a.txt").write_text("mine\n")
    with pytest.raises(OutsideError, match=r"cannot update branch.*a\.txt"):
        merging.publish_commit(str(repo), "main", new=made.commit, old=made.old_head, checkout=None)
    assert sh(repo, "rev-parse", "main") == made.old_head
    assert (repo / "a.txt").read_text() == "mine\n"
    sh(repo, "checkout", "-q", "a.txt")
    assert (
        merging.publish_commit(str(repo), "main", new=made.commit, old=made.old_head, checkout=None)
        == "done"
    )
    assert clean(repo)
    assert (repo / "c.txt").exists()


def test_an_untracked_file_in_the_way_stops_the_move_before_it_begins(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="c")
    made = built(repo)
    (parent / "c.txt").write_text("mine")
    with pytest.raises(OutsideError, match=r"c\.txt"):
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
        )
    assert sh(repo, "rev-parse", "parent") == made.old_head
    assert (parent / "c.txt").read_text() == "mine"


@pytest.mark.parametrize("left", ["", "untracked.txt", "x.log", "deep/x.log", "inner/"])
def test_a_move_is_tried_first_wherever_anything_could_be_in_its_way(
    repo: Path, parent: Path, child: Path, left: str
) -> None:
    write(child, c="c")
    made, path = built(repo), parent / left
    if left.endswith("/"):
        make_repository(path, {"z.txt": "z\n"})
    elif left:
        path.parent.mkdir(exist_ok=True)
        path.write_text("left")
    with GIT.heard() as commands:
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
        )
    tried = ["read-tree"] if left else []
    files = [command for command in commands if command != "update-ref"]
    assert files == ["status", *tried, "read-tree"]
    assert (parent / "c.txt").read_text() == "c"


def test_a_target_in_the_middle_of_a_merge_does_not_move(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="c")
    made = built(repo)
    other = sh(repo, "commit-tree", "main^{tree}", "-p", "main", "-m", "same files")
    sh(parent, "merge", "-q", "--no-commit", "--no-ff", other)
    with pytest.raises(OutsideError, match="merge in progress"):
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
        )


def test_a_checked_out_target_is_only_fast_forwarded(repo: Path, parent: Path) -> None:
    head = sh(repo, "rev-parse", "main")
    lonely = sh(repo, "commit-tree", "main^{tree}", "-m", "no parent")
    with pytest.raises(OutsideError, match="is not based on"):
        merging.publish_commit(str(repo), "main", new=lonely, old=head, checkout=None)


def test_a_checkout_that_stands_elsewhere_is_refused(repo: Path, parent: Path, child: Path) -> None:
    write(child, c="c")
    made = built(repo)
    sh(parent, "checkout", "-q", "--detach")
    with pytest.raises(OutsideError, match="is on no branch"):
        merging.publish_commit(
            str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
        )


PUBLISH = """
import sys
from porch.git import merge as merging
repo, branch, new, old, checkout = sys.argv[1:]
merging.publish_commit(repo, branch, new=new, old=old, checkout=checkout or None)
"""
POINTS = (
    *("merge.after-mark", "merge.after-lock", "merge.before-swap"),
    *("merge.after-swap", "merge.after-checkout"),
)


def die_publishing(repo: Path, point: str, target: str, made: MergeCandidate, place: str) -> None:
    words = (str(repo), target, made.commit, made.old_head, place)
    dead = kill_python_at(point, PUBLISH, *words)
    assert dead.returncode == -signal.SIGKILL, dead.stderr


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("target", ["parent", "main"])
def test_a_publisher_that_was_killed_is_finished_by_the_next(
    repo: Path, parent: Path, child: Path, point: str, target: str
) -> None:
    write(child, c="c", a="changed\n")
    made = built(repo, target=target)
    place = str(parent) if target == "parent" else ""
    die_publishing(repo, point, target, made, place)
    assert (
        merging.publish_commit(
            str(repo), target, new=made.commit, old=made.old_head, checkout=place or None
        )
        == "done"
    )
    checkout = parent if target == "parent" else repo
    assert sh(checkout, "rev-parse", "HEAD") == made.commit
    assert clean(checkout)
    assert sh(repo, "for-each-ref", "refs/porch") == ""


@pytest.mark.parametrize("point", POINTS)
def test_a_worktree_left_behind_its_branch_is_repaired_at_the_next_launch(
    repo: Path, parent: Path, child: Path, point: str
) -> None:
    write(child, c="c", a="changed\n")
    made = built(repo)
    die_publishing(repo, point, "parent", made, str(parent))
    worktrees.ensure_worktree(str(repo), str(parent), "parent", "main")
    assert clean(parent)
    assert sh(repo, "for-each-ref", "refs/porch") == ""


def test_files_that_a_killed_git_had_already_written_are_no_obstacle(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, a="changed\n", c="c", d="d" * 100)
    made = built(repo)
    die_publishing(repo, "merge.after-swap", "parent", made, str(parent))
    (parent / "a.txt").write_text("changed\n")
    (parent / "c.txt").write_text("c")
    merging.publish_commit(
        str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
    )
    assert clean(parent)
    assert sh(repo, "for-each-ref", "refs/porch") == "", "nothing was odd, nothing is salvaged"


def test_what_is_neither_old_nor_new_is_salvaged_before_the_files_are_brought(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, a="changed\n", d="d" * 100)
    made = built(repo)
    die_publishing(repo, "merge.after-swap", "parent", made, str(parent))
    (parent / "d.txt").write_text("ddd")
    merging.publish_commit(
        str(repo), "parent", new=made.commit, old=made.old_head, checkout=str(parent)
    )
    assert clean(parent)
    assert (parent / "d.txt").read_text() == "d" * 100
    assert sh(repo, "show", "refs/porch/salvage/parent:d.txt") == "ddd"


def test_in_a_persons_checkout_the_repair_overwrites_nothing(repo: Path, child: Path) -> None:
    write(child, a="changed\n")
    made = built(repo, target="main")
    die_publishing(repo, "merge.after-swap", "main", made, "")
    (repo / "a.txt").write_text("mine\n")
    assert (
        merging.publish_commit(str(repo), "main", new=made.commit, old=made.old_head, checkout=None)
        == "done"
    )
    assert (repo / "a.txt").read_text() == "mine\n"
    assert sh(repo, "status", "--porcelain") == "M a.txt", "an edit of theirs, and nothing staged"


def test_work_that_began_after_the_move_is_not_taken_for_a_lag(
    repo: Path, parent: Path, child: Path
) -> None:
    write(child, c="c")
    made = built(repo)
    die_publishing(repo, "merge.after-checkout", "parent", made, str(parent))
    (parent / "a.txt").write_text("work\n")
    sh(parent, "add", "a.txt")
    worktrees.ensure_worktree(str(repo), str(parent), "parent", "main")
    assert sh(parent, "status", "--porcelain") == "M  a.txt"


# Tests into the instance branch, and back.


@pytest.fixture
def tests(repo: Path, parent: Path) -> Path:
    return tree(repo, "parent--tests")


def integrate(parent: Path, number: int = 1) -> str | Conflict:
    return merging.integrate_tests_branch(
        str(parent), "parent--tests", "test: round", f"{TRAILER}{number}"
    )


@pytest.mark.req("V-004")
def test_tests_land_on_the_instance_branch_as_one_commit(
    repo: Path, parent: Path, tests: Path
) -> None:
    write(tests, t1="t")
    write(tests, t2="t")
    head = write(parent, p="p")
    done = integrate(parent)
    assert done == sh(parent, "rev-parse", "HEAD")
    assert sh(parent, "rev-list", f"{head}..HEAD") == done
    assert clean(parent)
    assert (parent / "t2.txt").exists()
    assert integrate(parent) == done, "found by its trailer"


def test_tests_that_add_nothing_are_the_head_itself(parent: Path, tests: Path) -> None:
    assert integrate(parent) == sh(parent, "rev-parse", "HEAD")


def test_tests_in_conflict_leave_both_worktrees_clean(parent: Path, tests: Path) -> None:
    write(tests, a="tests\n")
    head = write(parent, a="parent\n")
    assert integrate(parent) == Conflict(("a.txt",))
    assert sh(parent, "rev-parse", "HEAD") == head
    assert clean(parent)


def test_integration_refuses_a_worktree_with_changes_or_without_a_branch(
    parent: Path, tests: Path
) -> None:
    write(tests, t="t")
    (parent / "a.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="has uncommitted changes"):
        integrate(parent)
    sh(parent, "checkout", "-q", "--detach")
    with pytest.raises(OutsideError, match="not on a branch"):
        integrate(parent)
    assert (parent / "a.txt").read_text() == "half done\n"


INTEGRATE = """
import sys
from porch.git import merge as merging
merging.integrate_tests_branch(sys.argv[1], "parent--tests", "test: round", sys.argv[2])
"""


@pytest.mark.parametrize("point", POINTS)
def test_an_integration_that_was_killed_is_one_commit_in_the_end(
    parent: Path, tests: Path, point: str
) -> None:
    write(tests, t="t")
    head = sh(parent, "rev-parse", "HEAD")
    dead = kill_python_at(point, INTEGRATE, str(parent), f"{TRAILER}1")
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    assert integrate(parent) == sh(parent, "rev-parse", "HEAD")
    assert sh(parent, "rev-list", "--count", f"{head}..HEAD") == "1"
    assert clean(parent)


def test_a_second_round_goes_through_after_the_tests_branch_moved_along(
    repo: Path, parent: Path, tests: Path
) -> None:
    left = write(tests, t="round one\n")
    integrate(parent, 1)
    head = write(parent, p="p")
    merging.move_branch(str(tests), head)
    assert sh(repo, "rev-parse", "parent--tests") == head
    assert clean(tests)
    assert (tests / "p.txt").exists()
    assert sh(repo, "rev-parse", "refs/porch/archive/parent--tests") == left
    write(tests, t="round two\n")
    assert integrate(parent, 2) == sh(parent, "rev-parse", "HEAD")
    assert (parent / "t.txt").read_text() == "round two\n"


def test_a_branch_that_is_merely_behind_is_fast_forwarded(
    repo: Path, parent: Path, tests: Path
) -> None:
    head = write(parent, p="p")
    for _ in range(2):
        merging.move_branch(str(tests), head)
    assert sh(tests, "rev-parse", "HEAD") == head
    assert sh(repo, "for-each-ref", "refs/porch") == ""


def test_a_branch_with_changes_in_its_worktree_is_not_moved(parent: Path, tests: Path) -> None:
    head = write(parent, p="p")
    (tests / "a.txt").write_text("half done\n")
    with pytest.raises(OutsideError, match="has uncommitted changes"):
        merging.move_branch(str(tests), head)
    assert (tests / "a.txt").read_text() == "half done\n"
    with pytest.raises(OutsideError, match="no commit"):
        merging.move_branch(str(tests), "f" * 40)


def test_a_branch_that_somebody_moves_at_the_same_time_is_said(parent: Path, tests: Path) -> None:
    old = sh(tests, "rev-parse", "HEAD")
    head = write(parent, p="p")
    write(tests, t="t")
    with pytest.raises(OutsideError, match="changed by another process"):
        merging.advance_branch(str(tests), "parent--tests", head, old)


def test_ancestry_of_an_unknown_commit_is_an_error(repo: Path) -> None:
    with pytest.raises(OutsideError):
        merging.has_ancestor(str(repo), "main", "f" * 40)
