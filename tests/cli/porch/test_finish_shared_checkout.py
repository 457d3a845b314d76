"""Several runs in one checkout, one after the other: each is committed with what it changed."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

BOTH = "".join(f"{number}\n" for number in range(20))


@pytest.fixture
def shared(desk: "Desk") -> "Desk":
    desk.protocol("p", {"id": "work"}, {"id": "ask", "gate": {"name": "go"}}, {"id": "last"})
    desk.protocol("q", {"id": "work"})
    desk.write("both.txt", BOTH)
    desk.write(".gitignore", "script*.yaml\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "protocols")
    return desk


def work(desk: "Desk", id_: str, files: dict[str, str], protocol: str = "q", code: int = 0) -> None:
    script = desk.script(agents={"work": [{"write": files, "say": "done"}]})
    title = ("--title", f"t{id_}")
    desk.porch("run", protocol, id_, *title, "--script", script, "--here", code=code)


def committed(desk: "Desk") -> list[str]:
    return desk.git("show", "--format=", "--name-only", "HEAD").splitlines()


def work_twice(desk: "Desk", first: dict[str, str], second: dict[str, str]) -> None:
    """Two runs whose work is kept, uncommitted."""
    for id_, files in (("0001", first), ("0002", second)):
        work(desk, id_, files)
        desk.porch("finish", id_, "--keep")


@pytest.mark.parametrize("order", [("0001", "0002"), ("0002", "0001")])
def test_of_two_kept_runs_each_is_committed_with_its_own_files(
    shared: "Desk", order: tuple[str, str]
) -> None:
    work_twice(shared, {"one.py": "1\n"}, {"two.py": "2\n", "dir/more.py": "2\n"})
    files = {"0001": ["one.py"], "0002": ["dir/more.py", "two.py"]}
    assert "1 file, 1 line added" in shared.porch("finish", "0001").out
    for id_ in order:
        shared.porch("finish", id_, "--merge")
        assert committed(shared) == files[id_]
    assert shared.git("status", "--porcelain") == ""


def test_of_three_kept_runs_the_one_in_the_middle_is_committed_alone(shared: "Desk") -> None:
    work_twice(shared, {"one.py": "1\n"}, {"two.py": "2\n"})
    work(shared, "0003", {"three.py": "3\n"})
    shared.porch("finish", "0003", "--keep")
    shared.porch("finish", "0002", "--merge")
    assert committed(shared) == ["two.py"]


def test_a_file_that_two_runs_changed_is_refused_with_both_ways_out(shared: "Desk") -> None:
    first = BOTH.replace("0\n", "first\n", 1)
    second = first.replace("19\n", "second\n", 1)
    work_twice(shared, {"both.txt": first, "one.py": "1\n"}, {"both.txt": second})
    head = shared.git("rev-parse", "HEAD")
    said = shared.porch("finish", "0001", "--merge", code=1).err
    assert "finish-mixed-runs" in said
    assert "both.txt" in said
    assert shared.git("rev-parse", "HEAD") == head
    assert "porch finish 0002 --merge" in said
    shared.porch("finish", "0002", "--merge")
    assert committed(shared) == ["both.txt"]
    assert "first" not in shared.git("show", "HEAD:both.txt")
    shared.porch("finish", "0001", "--merge")
    assert committed(shared) == ["both.txt", "one.py"]
    assert shared.git("show", "HEAD:both.txt") == second.strip()
    assert shared.git("status", "--porcelain") == ""


def test_what_a_person_commits_by_hand_no_longer_stands_in_the_way(shared: "Desk") -> None:
    work_twice(shared, {"both.txt": "first\n", "one.py": "1\n"}, {"both.txt": "second\n"})
    assert "git add -- both.txt" in shared.porch("finish", "0001", "--merge", code=1).err
    shared.git("add", "--", "both.txt")
    shared.git("commit", "-qm", "by hand")
    shared.porch("finish", "0001", "--merge")
    assert committed(shared) == ["one.py"]


def test_a_run_that_began_while_the_other_was_stopped_is_not_told_apart_by_guessing(
    shared: "Desk",
) -> None:
    work(shared, "0001", {"one.py": "1\n"}, "p", code=3)
    shared.porch("stop", "1")
    work(shared, "0002", {"two.py": "2\n"})
    shared.porch("finish", "0002", "--keep")
    shared.porch("approve", "1", "go")
    shared.porch("resume", "1")
    shared.porch("finish", "0001", "--keep")
    for id_, other in (("0001", "0002-t0002"), ("0002", "0001-t0001")):
        said = shared.porch("finish", id_, "--merge", code=1).err
        assert f"the run {other} worked here by turns with" in said
    shared.git("add", "--", "one.py", "two.py")
    shared.git("commit", "-qm", "by hand")
    for id_ in ("0001", "0002"):
        shared.porch("finish", id_, "--merge")
    assert shared.git("status", "--porcelain") == ""


def test_a_run_that_was_only_stopped_before_another_began_is_not_in_its_way(
    shared: "Desk",
) -> None:
    work(shared, "0001", {"one.py": "1\n"}, "p", code=3)
    shared.porch("stop", "1")
    work(shared, "0002", {"two.py": "2\n"})
    shared.porch("approve", "1", "go")
    shared.porch("finish", "0002", "--merge")
    assert committed(shared) == ["two.py"]
