"""What git keeps in plain files says the same as git; whatever is not plain is left to git."""

import subprocess
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import git_directory, merge, repository, worktrees
from porch.tree.branches import refs


def sh(place: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    place.mkdir()
    sh(place, "init", "-q", "-b", "main")
    sh(place, "config", "user.name", "ada")
    sh(place, "config", "user.email", "ada@localhost")
    sh(place, "commit", "-q", "--allow-empty", "-m", "one")
    return place


def test_heads_and_branches_are_read_as_git_reads_them(repo: Path) -> None:
    sh(repo, "branch", "porch/v3_a.b")
    head = sh(repo, "rev-parse", "HEAD")
    assert git_directory.read_ref(str(repo), "HEAD") == head
    assert git_directory.read_ref(str(repo), "refs/heads/porch/v3_a.b") == head
    assert git_directory.read_ref(str(repo), "refs/heads/nobody") is None
    assert git_directory.read_ref(str(repo), "MERGE_HEAD") is None


def test_packed_refs_are_found_too(repo: Path) -> None:
    sh(repo, "branch", "packed")
    sh(repo, "pack-refs", "--all")
    assert not (repo / ".git" / "refs" / "heads" / "packed").exists()
    assert git_directory.read_ref(str(repo), "refs/heads/packed") == sh(repo, "rev-parse", "packed")
    assert git_directory.read_ref(str(repo), "HEAD") == sh(repo, "rev-parse", "HEAD")


def test_a_linked_worktree_has_a_head_of_its_own_and_shares_the_rest(repo: Path) -> None:
    place = repo / "worktrees" / "a"
    worktrees.ensure_worktree(str(repo), str(place), "a", "main")
    sh(place, "commit", "-q", "--allow-empty", "-m", "two")
    found = git_directory.find_git_directory(str(place))
    assert found is not None
    assert git_directory.read_branch(found) == "a"
    assert git_directory.is_registered(str(place), found)
    assert git_directory.read_ref(str(place), "HEAD") == sh(place, "rev-parse", "HEAD")
    assert git_directory.read_ref(str(place), "refs/heads/main") == sh(repo, "rev-parse", "main")
    assert [each.path for each in git_directory.list_linked_worktrees(found.common)] == [str(place)]


def test_a_worktree_that_was_moved_away_is_not_taken_for_the_one_that_is_known(repo: Path) -> None:
    place = repo / "worktrees" / "a"
    worktrees.ensure_worktree(str(repo), str(place), "a", "main")
    place.rename(repo / "worktrees" / "b")
    found = git_directory.find_git_directory(str(repo / "worktrees" / "b"))
    assert found is not None
    assert not git_directory.is_registered(str(repo / "worktrees" / "b"), found)


def test_where_a_worktree_keeps_its_files_is_read_again_whenever_its_file_is_another(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    sh(repo, "worktree", "add", "-q", str(place))
    first = git_directory.find_git_directory(str(place))
    with monkeypatch.context() as patched:
        patched.setattr(git_directory, "_read_first_line", None)
        assert git_directory.find_git_directory(str(place)) == first
    sh(repo, "clone", "-q", str(repo), str(other))
    sh(repo, "worktree", "remove", str(place))
    assert git_directory.find_git_directory(str(place)) is None
    sh(other, "worktree", "add", "-q", str(place))
    again = git_directory.find_git_directory(str(place))
    assert again is not None
    assert Path(again.common) == other / ".git"
    (Path(again.own) / "HEAD").unlink()
    assert git_directory.find_git_directory(str(place)) is None


def test_a_file_of_git_that_somebody_writes_over_in_place_is_read_again(repo: Path) -> None:
    for name in ("a", "b"):
        sh(repo, "worktree", "add", "-q", f"worktrees/{name}")
    first, second = (str(repo / "worktrees" / name) for name in ("a", "b"))
    expected = git_directory.find_git_directory(second)
    assert git_directory.find_git_directory(first) != expected
    with Path(first, ".git").open("r+") as file:
        file.write(Path(second, ".git").read_text())
    assert git_directory.find_git_directory(first) == expected


def test_a_detached_head_is_a_commit_on_no_branch(repo: Path) -> None:
    sh(repo, "checkout", "-q", "--detach")
    found = git_directory.find_git_directory(str(repo))
    assert found is not None
    assert git_directory.read_branch(found) is None
    assert git_directory.read_ref(str(repo), "HEAD") == sh(repo, "rev-parse", "HEAD")


def test_before_the_first_commit_there_is_no_head(tmp_path: Path) -> None:
    sh(tmp_path, "init", "-q", "-b", "main")
    assert git_directory.read_ref(str(tmp_path), "HEAD") is None
    assert repository.read_head(str(tmp_path)) is None


@pytest.mark.parametrize("name", ["refs/heads/main^", "main", "refs/tags/v1", "refs/heads/../x"])
def test_names_that_need_git_are_left_to_git(repo: Path, name: str) -> None:
    assert isinstance(git_directory.read_ref(str(repo), name), git_directory.Unknown)


def test_a_ref_that_points_elsewhere_is_left_to_git(repo: Path) -> None:
    sh(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert isinstance(git_directory.read_ref(str(repo), "refs/heads/alias"), git_directory.Unknown)
    assert repository.resolve_commit(str(repo), "refs/heads/alias") == sh(repo, "rev-parse", "main")


def test_other_kinds_of_storage_are_left_to_git(repo: Path) -> None:
    (repo / ".git" / "reftable").mkdir()
    assert isinstance(git_directory.read_ref(str(repo), "HEAD"), git_directory.Unknown)


def test_what_is_no_top_of_a_worktree_is_nothing(repo: Path, tmp_path: Path) -> None:
    assert git_directory.find_git_directory(str(tmp_path)) is None
    (tmp_path / ".git").write_text("something else\n")
    assert git_directory.find_git_directory(str(tmp_path)) is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert git_directory.find_git_directory(str(tmp_path)) is None
    assert isinstance(git_directory.read_ref(str(tmp_path), "HEAD"), git_directory.Unknown)
    assert git_directory.list_linked_worktrees(str(tmp_path)) == []


def test_a_bare_repository_has_no_checkout_of_its_own(repo: Path, tmp_path: Path) -> None:
    sh(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    first = worktrees.list_worktrees(str(tmp_path / "bare.git"))[0]
    assert first.branch is None


def test_the_tree_of_a_new_commit_is_read_from_its_file_and_of_a_packed_one_is_not(
    repo: Path,
) -> None:
    commit, told = sh(repo, "rev-parse", "HEAD"), sh(repo, "rev-parse", "HEAD^{tree}")
    assert git_directory.read_loose_tree(str(repo), commit) == told
    assert git_directory.read_loose_tree(str(repo), told) is None
    assert git_directory.read_loose_tree(str(repo / "nowhere"), commit) is None
    sh(repo, "gc", "-q")
    assert git_directory.read_loose_tree(str(repo), commit) is None


def test_the_message_of_a_new_commit_is_read_and_of_any_other_left_to_git(repo: Path) -> None:
    sh(repo, "commit", "-q", "--allow-empty", "-m", "ünï\n\nbody\n\nPorch-Effect: x")
    commit = sh(repo, "rev-parse", "HEAD")
    told = git_directory.read_loose_message(str(repo), commit)
    assert told is not None
    assert told.strip() == sh(repo, "log", "-1", "--format=%B")
    assert git_directory.read_loose_message(str(repo), sh(repo, "rev-parse", "HEAD^{tree}")) is None
    sh(repo, "-c", "i18n.commitEncoding=latin1", "commit", "-q", "--allow-empty", "-m", "ascii ä")
    assert git_directory.read_loose_message(str(repo), sh(repo, "rev-parse", "HEAD")) is None
    sh(repo, "commit", "-q", "--allow-empty", "-m", "long" * 20_000)
    assert git_directory.read_loose_message(str(repo), sh(repo, "rev-parse", "HEAD")) is None
    sh(repo, "gc", "-q")
    assert git_directory.read_loose_message(str(repo), commit) is None


def test_near_ancestors_are_found_among_new_commits_and_nowhere_else(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = [sh(repo, "rev-parse", "HEAD")]
    for number in range(3):
        sh(repo, "commit", "-q", "--allow-empty", "-m", str(number))
        commits.append(sh(repo, "rev-parse", "HEAD"))
    sh(repo, "checkout", "-q", "-b", "side", commits[1])
    sh(repo, "commit", "-q", "--allow-empty", "-m", "side")
    side = sh(repo, "rev-parse", "HEAD")
    sh(repo, "merge", "-q", "--no-ff", "-m", "both", "main")
    both, place = sh(repo, "rev-parse", "HEAD"), str(repo)
    assert git_directory.read_loose_parents(place, both) == (side, commits[3])
    assert git_directory.read_loose_parents(place, commits[0]) == ()
    assert git_directory.has_near_ancestor(place, both, commits[0])
    assert git_directory.has_near_ancestor(place, both, side)
    assert not git_directory.has_near_ancestor(place, commits[0], both)
    assert not git_directory.has_near_ancestor(place, side, commits[2])
    assert not git_directory.has_near_ancestor(place, "main", commits[0])
    assert merge.has_ancestor(place, both, commits[0])
    assert not merge.has_ancestor(place, side, commits[3])
    assert not merge.has_ancestor(place, commits[0], both)
    sh(repo, "gc", "-q")
    assert git_directory.read_loose_parents(place, both) is None
    assert git_directory.has_near_ancestor(place, both, commits[0]), "it was read before"
    monkeypatch.setattr(git_directory, "_parents", {})
    assert not git_directory.has_near_ancestor(place, both, commits[0])
    assert merge.has_ancestor(place, both, commits[0])


def test_a_whole_hash_is_a_commit_only_if_one_is_there(repo: Path) -> None:
    head, place = sh(repo, "rev-parse", "HEAD"), str(repo)
    assert repository.resolve_commit(place, head) == head
    assert repository.resolve_commit(place, "0" * 40) is None
    assert repository.resolve_commit(place, sh(repo, "rev-parse", "HEAD^{tree}")) is None
    assert repository.resolve_branch_or_commit(place, "main") == head
    assert repository.resolve_branch_or_commit(place, head) == head
    with pytest.raises(OutsideError):
        repository.resolve_branch_or_commit(place, "nobody")


def test_refs_of_porch_are_listed_loose_and_packed_and_those_of_others_left_to_git(
    repo: Path,
) -> None:
    for name in ("a/one", "a/b/two", "ab/three"):
        sh(repo, "update-ref", f"refs/porch/entry/{name}", "HEAD")
    wanted = ["refs/porch/entry/a/b/two", "refs/porch/entry/a/one"]
    assert git_directory.list_own_refs(str(repo), "refs/porch/entry/a/") == wanted
    sh(repo, "pack-refs", "--all")
    sh(repo, "update-ref", "refs/porch/entry/a/four", "HEAD")
    told = git_directory.list_own_refs(str(repo), "refs/porch/entry/a/")
    assert told == sh(repo, "for-each-ref", "--format=%(refname)", "refs/porch/entry/a/").split()
    assert git_directory.list_own_refs(str(repo), "refs/porch/entry/none/") == []
    other = git_directory.list_own_refs(str(repo), "refs/heads/")
    assert isinstance(other, git_directory.Unknown)
    refs.remove_refs(str(repo), "refs/porch/entry/a/")
    refs.remove_refs(str(repo), "refs/porch/entry/a/")
    assert sh(repo, "for-each-ref", "--format=%(refname)", "refs/porch") == (
        "refs/porch/entry/ab/three"
    )


def test_a_branch_is_free_only_where_files_say_so_for_certain(repo: Path, tmp_path: Path) -> None:
    place = str(repo)
    for name in ("loose", "above/below", "packed", "packed-above/below"):
        assert git_directory.is_free_branch(place, name)
    sh(repo, "branch", "packed")
    sh(repo, "branch", "packed-above/below")
    sh(repo, "pack-refs", "--all")
    sh(repo, "branch", "loose")
    sh(repo, "branch", "above/below")
    for name in ("loose", "above", "above/below", "packed", "packed-above", "ü", "a..b"):
        assert not git_directory.is_free_branch(place, name)
    sh(repo, "branch", "-D", "above/below")
    assert git_directory.is_free_branch(place, "above"), "an empty directory is no branch"
    assert not git_directory.is_free_branch(str(tmp_path), "free"), "no top of a worktree"
    (repo / ".git/reftable").mkdir()
    assert not git_directory.is_free_branch(place, "free")
