"""Real worktrees: what is measured is what lies there, whatever the repository says about it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.git import measured_tree, repository, tree_changes
from tests.git_calls import GIT
from tests.repositories import sh

TRAILER = "Porch-Effect: run-1/specify#1/git/commit/1"

pytestmark = pytest.mark.usefixtures("git_home")


def test_tree_of_a_clean_checkout_is_the_committed_one(repo: Path) -> None:
    assert measured_tree.measure_tree(str(repo)) == sh(repo, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "dir/deep.txt", "späce ü.txt"])
def test_tree_moves_with_tracked_and_untracked_content_and_back(repo: Path, name: str) -> None:
    before, path = measured_tree.measure_tree(str(repo)), repo / name
    old = path.read_bytes() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed")
    assert measured_tree.measure_tree(str(repo)) != before
    path.write_bytes(old) if old is not None else path.unlink()
    assert measured_tree.measure_tree(str(repo)) == before


def test_t4_a_file_that_git_cannot_take_is_told_by_its_name(repo: Path) -> None:
    """It is the business of whoever left it there; git itself is well."""
    (repo / ".GIT").mkdir()
    (repo / ".GIT" / "config").write_text("mine\n")
    with pytest.raises(
        OutsideError, match=r"git cannot take \.GIT/config in .*: invalid"
    ) as caught:
        measured_tree.measure_tree(str(repo))
    assert caught.value.findings[0].code == "untaken-file"


@pytest.mark.parametrize("exclude", [(), ("own",)])
def test_tree_sees_a_change_of_the_same_size_in_the_same_instant(
    repo: Path, exclude: tuple[str, ...]
) -> None:
    """Git compares sizes and seconds, and knows by the age of the index where that is no proof."""
    begun = 0
    while begun != int(time.time()):
        begun = int(time.time())
        (repo / "a.txt").write_text("one")
        sh(repo, "add", "a.txt")
        (repo / "a.txt").write_text("two")
    time.sleep(1.01)
    assert measured_tree.measure_tree(str(repo), exclude) != sh(repo, "write-tree")


@pytest.mark.parametrize(
    "pattern, is_plain", [("own/*/st*s", True), ("own", True), ("own/1/statu?", False)]
)
def test_git_is_not_asked_about_tracked_files_that_are_left_out(
    repo: Path, pattern: str, is_plain: bool
) -> None:
    """But about every other that it ignores, and wherever a pattern could mean more."""
    (repo / "own" / "1" / "st.s").mkdir(parents=True)
    for name in ("own/1/status", "x.log"):
        (repo / name).write_text("one")
        sh(repo, "add", "-f", name)
    before = measured_tree.measure_tree(str(repo), (pattern,))
    sh(repo, "commit", "-qm", "more")
    with GIT.heard() as commands:
        assert measured_tree.measure_tree(str(repo), (pattern,)) == before
    assert ("ls-files" in commands) is not is_plain
    (repo / "x.log").write_text("two")
    changed = measured_tree.measure_tree(str(repo), (pattern,))
    assert changed != before
    # Of a pattern with signs git leaves out the names that fit, and nothing that lies below.
    (repo / "own" / "1" / "st.s" / "y.log").write_text("one")
    sh(repo, "add", "-f", "own/1/st.s/y.log")
    is_below = measured_tree.measure_tree(str(repo), (pattern,)) != changed
    assert is_below is (pattern != "own")


def test_tree_moves_when_a_file_goes(repo: Path) -> None:
    before = measured_tree.measure_tree(str(repo))
    (repo / "a.txt").unlink()
    assert measured_tree.measure_tree(str(repo)) != before


def test_tree_does_not_see_ignored_files_or_what_is_staged(repo: Path) -> None:
    (repo / "b.txt").write_text("b")
    before = measured_tree.measure_tree(str(repo))
    (repo / "x.log").write_text("noise")
    sh(repo, "add", "b.txt")
    assert measured_tree.measure_tree(str(repo)) == before


@pytest.mark.parametrize("pattern", ["own", "own/*/status.yaml", "own/1/status.yaml"])
def test_tree_leaves_out_what_porch_writes_itself(repo: Path, pattern: str) -> None:
    status = repo / "own" / "1" / "status.yaml"
    status.parent.mkdir(parents=True)
    before = measured_tree.measure_tree(str(repo), [pattern])
    for text in ("first", "second"):
        status.write_text(text)
        assert measured_tree.measure_tree(str(repo), [pattern]) == before
        sh(repo, "add", "-A")
        sh(repo, "commit", "-qm", text)
        assert measured_tree.measure_tree(str(repo), [pattern]) == before
    assert measured_tree.measure_tree(str(repo)) != before


@pytest.mark.parametrize("rule", ["codev/", "codev", ".porch", "codev/*"])
def test_tree_is_measured_where_git_ignores_what_is_left_out(repo: Path, rule: str) -> None:
    (repo / ".gitignore").write_text(f"{rule}\n")
    own = ("codev/projects/*/status*.yaml*", "codev/.porch")
    (repo / "codev/.porch").mkdir(parents=True)
    before = measured_tree.measure_tree(str(repo), own)
    (repo / "codev/.porch/journal").write_text("of porch")
    assert measured_tree.measure_tree(str(repo), own) == before
    (repo / "new.txt").write_text("new")
    assert measured_tree.measure_tree(str(repo), own) != before


def test_tree_touches_neither_the_index_nor_the_objects(repo: Path) -> None:
    (repo / "new.txt").write_text("n" * 100)
    (repo / "a.txt").write_text("two\n")

    def inside() -> dict[str, bytes]:
        files = (path for path in (repo / ".git").rglob("*") if path.is_file())
        own = str(repo / ".git" / "porch")
        return {str(p): p.read_bytes() for p in files if not str(p).startswith(own)}

    before = inside()
    head = sh(repo, "rev-parse", "HEAD")
    now = measured_tree.measure_tree(str(repo))
    assert tree_changes.count_net_lines(str(repo), head, now) == (2, 1)
    assert inside() == before


def test_tree_works_before_the_first_commit(empty: Path) -> None:
    nothing = measured_tree.measure_tree(str(empty), ["status.yaml"])
    (empty / "a").write_text("a")
    assert measured_tree.measure_tree(str(empty), ["status.yaml"]) != nothing


def test_tree_is_the_whole_one_from_a_subdirectory_or_a_linked_worktree(
    repo: Path, tmp_path: Path
) -> None:
    sh(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    assert measured_tree.measure_tree(str(tmp_path / "linked")) == measured_tree.measure_tree(
        str(repo)
    )
    (repo / "sub").mkdir()
    assert measured_tree.measure_tree(str(repo / "sub")) == measured_tree.measure_tree(str(repo))


@pytest.mark.parametrize("is_full", [True, False])
def test_v3_a_repository_inside_that_is_no_submodule_is_refused(repo: Path, is_full: bool) -> None:
    """Its files would be hidden: of a repository inside git keeps at most the commit."""
    sh(repo, "init", "-q", "inner")
    (repo / "inner" / "file").write_text("x")
    if is_full:
        sh(repo / "inner", "add", "-A")
        sh(repo / "inner", "commit", "-qm", "inner")
    with pytest.raises(OutsideError, match=r"inner in .* is a git repository of its own"):
        measured_tree.measure_tree(str(repo))
    (repo / ".gitignore").write_text("/inner/\n")
    measured_tree.measure_tree(str(repo))


def test_a_worktree_inside_a_checkout_is_not_part_of_it(repo: Path) -> None:
    before = measured_tree.measure_tree(str(repo))
    sh(repo, "worktree", "add", "-q", "-b", "side", "side")
    assert measured_tree.measure_tree(str(repo)) == before


def test_tree_moves_with_the_commit_and_the_files_of_a_submodule(
    repo: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    sh(tmp_path, "init", "-q", "other")
    sh(other, "commit", "-q", "--allow-empty", "-m", "x")
    sh(repo, "submodule", "add", "-q", str(other), "mod")
    sh(repo, "commit", "-qm", "mod")
    first = measured_tree.measure_tree(str(repo))
    sh(repo / "mod", "commit", "-q", "--allow-empty", "-m", "y")
    second = measured_tree.measure_tree(str(repo))
    (repo / "mod" / "file").write_text("1")
    third = measured_tree.measure_tree(str(repo))
    (repo / "mod" / "file").write_text("2")
    assert len({first, second, third, measured_tree.measure_tree(str(repo))}) == 4
    (repo / "mod" / "file").unlink()
    assert measured_tree.measure_tree(str(repo)) == second


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_v15_nobody_waits_for_a_pipe_in_the_place_of_a_file_that_git_reads(
    repo: Path, name: str
) -> None:
    measured_tree.measure_tree(str(repo))
    (repo / name).unlink(missing_ok=True)
    os.mkfifo(repo / name)
    with pytest.raises(OutsideError, match="is a named pipe"):
        measured_tree.measure_tree(str(repo))


@pytest.fixture
def module(repo: Path, tmp_path: Path) -> Path:
    """A submodule with a file."""
    other = tmp_path / "other"
    sh(tmp_path, "init", "-q", "other")
    (other / "file").write_text("1")
    sh(other, "add", "-A")
    sh(other, "commit", "-qm", "x")
    sh(repo, "submodule", "add", "-q", str(other), "mod")
    sh(repo, "commit", "-qm", "mod")
    return repo / "mod"


def test_v3_files_in_a_submodule_that_was_never_fetched_are_seen(
    module: Path, repo: Path, tmp_path: Path
) -> None:
    clone, room = tmp_path / "clone", str(tmp_path / "room")
    sh(tmp_path, "clone", "-q", str(repo), str(clone))
    first = measured_tree.measure_tree(str(clone), room=room)
    (clone / "mod" / "new.py").write_text("1")
    second = measured_tree.measure_tree(str(clone), room=room)
    (clone / "mod" / "new.py").write_text("2")
    assert len({first, second, measured_tree.measure_tree(str(clone), room=room)}) == 3
    (clone / "mod" / "new.py").unlink()
    assert measured_tree.measure_tree(str(clone), room=room) == first


def test_v3_a_submodule_that_loses_its_repository_is_read_file_by_file(
    module: Path, repo: Path
) -> None:
    seen = {measured_tree.measure_tree(str(repo))}
    (module / ".git").unlink()
    seen.add(measured_tree.measure_tree(str(repo)))
    (module / "file").write_text("2")
    seen.add(measured_tree.measure_tree(str(repo)))
    assert len(seen) == 3
    sh(module, "init", "-q", "deep")
    with pytest.raises(OutsideError, match=r"deep in .*mod is a git repository of its own"):
        measured_tree.measure_tree(str(repo))


def test_v3_an_exclude_that_is_added_in_a_submodule_hides_nothing(
    module: Path, repo: Path, tmp_path: Path
) -> None:
    room = str(tmp_path / "room")
    first = measured_tree.measure_tree(str(repo), room=room)
    (repo / ".git" / "modules" / "mod" / "info" / "exclude").write_text("new.py\n")
    (module / "new.py").write_text("1")
    assert measured_tree.measure_tree(str(repo), room=room) != first


def test_tree_survives_a_conflict_in_the_index(repo: Path) -> None:
    sh(repo, "checkout", "-qb", "side")
    (repo / "a.txt").write_text("side\n")
    sh(repo, "commit", "-qam", "side")
    sh(repo, "checkout", "-q", "main")
    (repo / "a.txt").write_text("main\n")
    sh(repo, "commit", "-qam", "main")
    subprocess.run(["git", "merge", "-q", "side"], cwd=repo, check=False, capture_output=True)
    assert sh(repo, "ls-files", "-u")
    measured_tree.measure_tree(str(repo))
    with pytest.raises(OutsideError, match="merge is in progress"):
        repository.commit_paths(str(repo), ["a.txt"], "no", TRAILER)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_tree_that_cannot_be_read_is_no_tree(repo: Path) -> None:
    (repo / "secret").write_text("x")
    (repo / "secret").chmod(0)
    with pytest.raises(OutsideError, match="Permission denied"):
        measured_tree.measure_tree(str(repo))


def test_numstat_counts_untracked_files_and_lines_called_binary(repo: Path) -> None:
    base = repository.read_head(str(repo))
    assert base is not None
    (repo / ".gitattributes").write_text("*.py binary\n")
    (repo / "new.py").write_text("x\n" * 40)
    (repo / "a.txt").unlink()
    sh(repo, "add", "new.py")
    (repo / "raw").write_bytes(b"\0\n@@ -1,9 +1,9 @@\n")
    assert count_lines(repo, base) == (43, 1)
    assert count_lines(repo, base, "new.py", "raw") == (1, 1)


def count_lines(repo: Path, base: str, *exclude: str) -> tuple[int, int]:
    now = measured_tree.measure_tree(str(repo), exclude)
    return tree_changes.count_net_lines(str(repo), base, now, exclude)


def test_what_differs_between_two_trees_is_asked_once_and_of_a_branch_each_time(
    repo: Path,
) -> None:
    old = measured_tree.measure_tree(str(repo))
    (repo / "new.txt").write_text("one")
    new, place = measured_tree.measure_tree(str(repo)), str(repo)
    with GIT.heard() as commands:
        assert tree_changes.list_changed_paths(place, new, new) == []
        assert tree_changes.count_changed_lines(place, old, old) == []
        for _ in range(3):
            [found] = tree_changes.list_changed_paths(place, old, new)
            assert found.path == "new.txt"
            assert tree_changes.list_changed_paths(place, old, new, ("*.txt",)) == []
            assert tree_changes.count_net_lines(place, old, new) == (1, 0)
    assert commands == ["diff"] * 2, "which files differ is read, not asked"
    branch = repo / ".git" / "porch" / "tree.git" / "refs" / "heads" / "none"
    branch.parent.mkdir()
    for tree, count in ((old, 1), (new, 0)):
        branch.write_text(f"{_commit(repo, tree)}\n")
        assert len(tree_changes.list_changed_paths(place, "HEAD", new)) == count


def _commit(repo: Path, tree: str) -> str:
    return sh(repo, "--git-dir=.git/porch/tree.git", "commit-tree", tree, "-m", "x")


def test_the_base_of_a_run_is_kept_without_a_process_and_git_knows_it(repo: Path) -> None:
    first = measured_tree.measure_tree(str(repo))
    (repo / "new.txt").write_text("one")
    second = measured_tree.measure_tree(str(repo))
    own = "--git-dir=.git/porch/tree.git"
    for tree in (first, second):
        with GIT.heard() as commands:
            tree_changes.keep_tree(str(repo), "base/0001-x", tree)
        assert commands == []
        assert sh(repo, own, "rev-parse", "refs/porch/base/0001-x") == tree
    with GIT.heard() as commands:
        tree_changes.keep_tree(str(repo), "base/ü", second)
    assert commands == ["update-ref"], "what is not plain is left to git"
    assert sh(repo, own, "rev-parse", "refs/porch/base/ü") == second


def test_what_was_measured_in_a_worktree_is_forgotten_and_that_in_another_is_not(
    repo: Path, tmp_path: Path
) -> None:
    room, other = tmp_path / "room", tmp_path / "other"
    sh(repo, "worktree", "add", "-q", "--detach", str(other))
    measured_tree.measure_tree(str(repo), room=str(room))
    before = {each.name for each in room.iterdir()}
    tree = measured_tree.measure_tree(str(other), room=str(room))
    assert {each.name for each in room.iterdir()} > before
    measured_tree.forget_measurements(str(other), str(room))
    assert {each.name for each in room.iterdir()} == before
    assert measured_tree.measure_tree(str(other), room=str(room)) == tree


def test_a_measurement_that_another_one_holds_up_says_which_and_what_to_do(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8: `porch check` waited for ever, without a word."""
    measured_tree.measure_tree(str(repo))
    (use,) = repo.glob(".git/porch/**/*.index.use")
    monkeypatch.setattr(measured_tree, "TIMEOUT_S", 0.1)
    hold = (
        f"import fcntl, os; file = open({str(use)!r}, 'w'); fcntl.flock(file, 2); "
        "file.write(f'{os.getpid()}\\n'); file.flush(); os.kill(os.getpid(), 19); input()"
    )
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE) as other:
        try:
            os.waitid(os.P_PID, other.pid, os.WSTOPPED | os.WNOWAIT)
            with pytest.raises(OutsideError, match=rf"process {other.pid} .* suspended") as refused:
                measured_tree.measure_tree(str(repo))
            assert f"kill -CONT {other.pid}" in refused.value.findings[0].fix
            other.send_signal(signal.SIGCONT)
            with pytest.raises(OutsideError, match="is measuring the same files"):
                measured_tree.measure_tree(str(repo))
        finally:
            other.kill()
    assert measured_tree.measure_tree(str(repo))
