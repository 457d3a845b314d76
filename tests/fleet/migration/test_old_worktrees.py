"""An old worktree that cannot be moved is left as it is, and the reason is said."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.errors import FailedError
from porch.fleet.drivers.leftovers import take_back_unbegun
from porch.fleet.migration import old_worktrees
from porch.fleet.migration.old_tree import read_old_tree
from porch.fleet.migration.old_worktrees import OldWorktree
from porch.run.definitions.subject_names import RunSubject
from porch.run.verbs.start import find_own_worktree
from porch.run.worktrees.make import hold_run_worktree
from porch.store.where import find_project
from tests.repositories import at_home, make_repository, sh

RUNS = {"0073": "0073-search"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    at_home(tmp_path / "home", monkeypatch)
    root = make_repository(tmp_path / "project", {"a.txt": "a\n"})
    sh(root, "worktree", "add", "-q", "-b", "builder/0073", ".builders/0073")
    return root


def only_worktree(root: Path) -> OldWorktree:
    [worktree] = old_worktrees.list_old_worktrees(str(root), RUNS)
    return replace(worktree, protocol="spider")


def trouble(root: Path) -> str:
    return old_worktrees.find_trouble(str(root), only_worktree(root))


def test_what_stands_in_the_way_is_named(root: Path) -> None:
    assert trouble(root) == ""
    sh(root, "branch", "spider_0073_search")
    assert trouble(root) == "the branch spider_0073_search exists already"
    (root / "worktrees" / "spider_0073_search").mkdir(parents=True)
    assert trouble(root) == "worktrees/spider_0073_search is there already"
    sh(root / ".builders" / "0073", "checkout", "-q", "--detach")
    assert trouble(root) == "it is not on a branch"
    (root / ".builders" / "0073").rename(root / "elsewhere")
    assert "git worktree prune" in trouble(root)


def test_a_move_that_was_cut_short_behind_the_new_name_is_finished(root: Path) -> None:
    sh(root, "branch", "-m", "builder/0073", "spider_0073_search")
    assert trouble(root) == ""
    old_worktrees.move_worktree(str(root), only_worktree(root))
    place = root / "worktrees" / "spider_0073_search"
    assert sh(place, "branch", "--show-current") == "spider_0073_search"
    assert sh(root, "status", "--porcelain") == ""


def test_a_moved_worktree_is_that_of_its_run_and_is_never_taken_back(root: Path) -> None:
    old = root / ".builders" / "0073"
    (old / "b.txt").write_text("b\n")
    sh(old, "add", "-A")
    sh(old, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "by hand")
    old_worktrees.move_worktree(str(root), only_worktree(root))
    where = find_project(str(root))
    assert take_back_unbegun(where) == []
    about = RunSubject("0073-search", "0073", "search", "codev/projects/0073-search", "")
    place = root / "worktrees" / "spider_0073_search"
    with hold_run_worktree(where, "spider", about, print) as there:
        assert there.workspace == str(place)
        made = find_own_worktree(there, about)
        assert made is not None
        assert made.branch == "spider_0073_search"
        assert made.port_base
    assert (place / "b.txt").read_text() == "b\n"
    with pytest.raises(FailedError), hold_run_worktree(where, "spider", about, print):
        raise FailedError("the run did not begin")
    assert sh(root, "show", "spider_0073_search:b.txt") == "b"


def test_documents_that_are_no_project_by_their_name_are_named_and_a_readme_is_not(
    tmp_path: Path,
) -> None:
    specs = tmp_path / "codev" / "specs"
    for name in ("0003.md", "0007_under.md", "bugfix-142.md", "README.md", ".hidden.md", "a.txt"):
        specs.mkdir(parents=True, exist_ok=True)
        (specs / name).write_text("")
    (specs / "0004-nested").mkdir()
    found = read_old_tree(str(tmp_path))
    assert list(found.left) == [
        f"codev/specs/{name}"
        for name in ("0003.md", "0004-nested", "0007_under.md", "bugfix-142.md")
    ]
    assert set(found.left.values()) == {"its name is not NUMBER-name.md"}


def test_a_name_that_can_be_no_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "codev" / "specs").mkdir(parents=True)
    (tmp_path / "codev" / "specs" / "0001-...md").write_text("")
    found = read_old_tree(str(tmp_path))
    assert found.projects == ()
    assert list(found.left) == ["codev/specs/0001-...md"]
