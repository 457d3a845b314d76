"""Which branches will conflict, told before anybody merges."""

from pathlib import Path

from porch.fleet.finish.forecast import ConflictPair, forecast_conflicts, order_merges
from tests.repositories import make_repository, sh

FILES = {"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}


def branch(repo: Path, name: str, **texts: str) -> None:
    sh(repo, "switch", "-qc", name, "main")
    for file, text in texts.items():
        (repo / f"{file}.txt").write_text(text)
    sh(repo, "add", "-A")
    sh(repo, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", name)
    sh(repo, "switch", "-q", "main")


def test_pairs_that_conflict_are_named_with_their_files_and_the_best_order(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "r", FILES)
    branch(repo, "one", a="1\n", b="1\n")
    branch(repo, "two", a="2\n")
    branch(repo, "three", b="3\n")
    branch(repo, "free", c="4\n")
    told = forecast_conflicts(str(repo), ["one", "two", "three", "free"], "main")
    assert {(p.one, p.other): p.files for p in told.pairs} == {
        ("one", "two"): ("a.txt",),
        ("one", "three"): ("b.txt",),
    }
    assert told.order == ("free", "three", "two", "one"), "only the last of them conflicts"
    assert [pair.other for pair in told.of_branch("one")] == ["two", "three"]


def test_a_branch_that_conflicts_with_the_target_waits(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "r", FILES)
    branch(repo, "behind", a="1\n")
    branch(repo, "fits", b="1\n")
    (repo / "a.txt").write_text("moved\n")
    sh(repo, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qam", "moved")
    told = forecast_conflicts(str(repo), ["behind", "fits"], "main")
    assert told.pairs == (ConflictPair("behind", "main", ("a.txt",)),)
    assert told.order == ("fits", "behind")


def test_a_file_against_a_directory_of_the_same_name_is_a_conflict(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "r", FILES)
    branch(repo, "file", new="1\n")
    sh(repo, "switch", "-qc", "directory", "main")
    (repo / "new.txt").mkdir()
    (repo / "new.txt" / "x").write_text("1\n")
    sh(repo, "add", "-A")
    sh(repo, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "d")
    assert forecast_conflicts(str(repo), ["file", "directory"], "main").pairs


def test_the_order_is_the_same_whatever_order_is_given() -> None:
    pairs = [ConflictPair("a", "b", ("x",)), ConflictPair("b", "c", ("x",))]
    assert order_merges("abc", pairs, "main") == order_merges("cba", pairs, "main")
    assert order_merges("abc", pairs, "main") == ("a", "c", "b")
