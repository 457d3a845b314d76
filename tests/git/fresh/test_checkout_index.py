"""A worktree that git has just made: its first measurement reads few files, and misses nothing."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.git import measured_tree, worktrees
from porch.git.command import run_git
from porch.git.fresh import checkout_index
from tests.git_calls import GIT
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")

Change = Callable[[Path], object]
FILES = {
    "src/a.py": "one\n",
    "src/b.py": "two\n",
    "run.sh": "echo\n",
    "odd\r": "x\n",
    **{f"twin/{n}/x": f"{n}\n" for n in range(10, 50)},
}


@pytest.fixture
def project(repo: Path) -> Path:
    for name, text in FILES.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    (repo / "link").symlink_to("run.sh")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "more")
    return repo


def make_fresh(repo: Path) -> Path:
    """As a run's worktree is made: nobody has been in it."""
    place = repo / "worktrees" / "fresh"
    assert worktrees.ensure_worktree(str(repo), str(place), "fresh", "HEAD")
    checkout_index.remember_checkout(str(place))
    return place


def measure_fresh(place: Path, room: str = "first") -> tuple[str, list[str]]:
    """The tree, and the commands of git that it took; each room begins anew."""
    with GIT.heard() as commands:
        tree = measured_tree.measure_tree(str(place), room=str(place.parent / room))
    return tree, commands


def measure_anew(place: Path) -> str:
    """By reading every file."""
    tree, commands = measure_fresh(place, f"room-{time.monotonic_ns()}")
    assert "read-tree" in commands
    return tree


def write_in_place(path: Path, text: str) -> None:
    """The same file as before, by number, and the same size, with the times it had."""
    before = path.stat()
    with path.open("r+") as file:
        file.write(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_whole(path: Path, text: str) -> None:
    before, beside = path.stat(), path.with_name("beside")
    beside.write_text(text)
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    beside.replace(path)


def swap_directory(place: Path) -> None:
    """Another directory with files of the same names, which were there long before."""
    (place / "src").rename(place / "old")
    (place.parent.parent / "src").rename(place / "src")
    write_in_place(place / "src/a.py", "1ne\n")


def exchange_directories(place: Path) -> None:
    """The files themselves are not touched, and were written in the same instant as the others."""
    for n in range(10, 50, 2):
        for old, new in ((n, 1), (n + 1, n), (1, n + 1)):
            (place / f"twin/{old}").rename(place / f"twin/{new}")


def put_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x\n")


def put_link(path: Path, to: str) -> None:
    path.unlink()
    path.symlink_to(to)


CHANGES: dict[str, Change] = {
    "same size, times set back": lambda p: write_in_place(p / "src/a.py", "1ne\n"),
    "another file in its place": lambda p: replace_whole(p / "src/a.py", "1ne\n"),
    "deleted": lambda p: (p / "src/b.py").unlink(),
    "executable": lambda p: (p / "run.sh").chmod(0o755),
    "a link instead": lambda p: put_link(p / "src/a.py", "b.py"),
    "another link": lambda p: put_link(p / "link", "odd\r"),
    "a directory instead": lambda p: put_directory(p / "run.sh"),
    "other files under the same names": swap_directory,
    "directories in each other's place": exchange_directories,
    "a new file": lambda p: (p / "new.py").write_text("new\n"),
    "new names that differ in a line end": lambda p: [
        (p / name).write_text(name) for name in ("x\r", "x\n", "x\r\n")
    ],
    "a new rule": lambda p: (p / ".gitignore").write_text("*.log\nnew.py\n"),
    "a name with a sign of git's": lambda p: (p / ":(top)*").write_text("x\n"),
    "many new files": lambda p: [(p / f"{n}.py").write_text("x") for n in range(2100)],
}

# Within one second.
UNSEEN_BY_GIT = ("same size, times set back", "directories in each other's place")


@pytest.mark.parametrize("way", CHANGES)
def test_v3_whatever_happens_to_a_fresh_worktree_is_measured(project: Path, way: str) -> None:
    place = make_fresh(project)
    CHANGES[way](place)
    tree, commands = measure_fresh(place)
    assert "read-tree" not in commands
    assert tree == measure_anew(place) != sh(project, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("way", CHANGES)
def test_v3_what_happens_right_after_the_first_measurement_is_seen_by_the_next(
    project: Path, way: str
) -> None:
    place = make_fresh(project)
    first, _ = measure_fresh(place)
    CHANGES[way](place)
    second, commands = measure_fresh(place)
    assert "read-tree" not in commands
    assert first == sh(project, "rev-parse", "HEAD^{tree}") != second == measure_anew(place)


@pytest.mark.parametrize("way", UNSEEN_BY_GIT)
def test_v3_what_happens_right_after_a_later_measurement_is_seen_by_the_next(
    project: Path, way: str
) -> None:
    """All within a second, in which only exact times tell; the last one is as sure as the first."""
    time.sleep(1 - time.time() % 1)
    place = make_fresh(project)
    for name in ("1.txt", "2.txt"):
        (place / name).write_text(name)
        before, _ = measure_fresh(place)
    CHANGES[way](place)
    after, commands = measure_fresh(place)
    assert "read-tree" not in commands
    assert before != after == measure_anew(place)
    assert measure_fresh(place)[0] == after


def test_v3_a_change_in_the_second_in_which_the_worktree_was_made_is_seen(project: Path) -> None:
    """Git compares whole seconds; the test is repeated until all of it falls into one."""
    for _ in range(40):
        time.sleep(1 - time.time() % 1)
        place = make_fresh(project)
        path, first = place / "src/a.py", measure_fresh(place)[0]
        made = int(path.stat().st_ctime)
        write_in_place(path, "1ne\n")
        changed = int(path.stat().st_ctime)
        assert measure_fresh(place)[0] != first
        if changed == made:
            break
        worktrees.remove_worktree(str(project), str(place), "fresh")


def test_a_fresh_worktree_is_measured_without_reading_its_files(project: Path) -> None:
    place = make_fresh(project)
    (place / "x.log").write_text("ignored\n")
    tree, commands = measure_fresh(place)
    assert tree == sh(project, "rev-parse", "HEAD^{tree}")
    assert "add" not in commands
    assert "read-tree" not in commands
    # What was kept is used once: afterwards nobody knows what happened in between.
    assert measure_anew(place) == tree


@pytest.mark.parametrize("exclude", [(), ("src/*.py",)], ids=["all files", "some left out"])
def test_git_reads_no_file_of_a_fresh_worktree_again_because_its_index_is_as_young(
    project: Path, monkeypatch: pytest.MonkeyPatch, exclude: tuple[str, ...]
) -> None:
    """Git compares whole seconds: of an index that is no older than a file it trusts no word."""
    place, asked = make_fresh(project), []
    (place / "new.py").write_text("new\n")

    def look(toplevel: str, *words: str, env: dict[str, str], stdin: str = "") -> str:
        index = Path(env["GIT_INDEX_FILE"]).stat().st_mtime
        asked.append((words[2], int(index) > int((place / "run.sh").stat().st_mtime)))
        return run_git(toplevel, *words, env=env, stdin=stdin)

    monkeypatch.setattr(measured_tree, "run_git", look)
    measured_tree.measure_tree(str(place), exclude, str(project.parent / "room"))
    words = [*(["rm"] if exclude else []), "update-index", "write-tree"]
    assert asked == [(word, True) for word in words]


def test_files_that_porch_writes_itself_are_left_out_of_a_fresh_worktree(project: Path) -> None:
    place, room = make_fresh(project), str(project.parent / "room")
    first = measured_tree.measure_tree(str(place), ("src/*.py",), room)
    (place / "src/a.py").write_text("other\n")
    assert measured_tree.measure_tree(str(place), ("src/*.py",), room) == first
    (place / "run.sh").write_text("other\n")
    assert measured_tree.measure_tree(str(place), ("src/*.py",), room) != first


def say(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def name_attributes(repo: Path, file: Path) -> None:
    say(file, "*.py text eol=crlf\n")
    sh(repo, "config", "core.attributesFile", str(file))


ODD: dict[str, Change] = {
    "every file is to be overlooked": lambda p: sh(p, "config", "core.ignoreStat", "true"),
    "an index in two parts": lambda p: sh(p, "config", "core.splitIndex", "true"),
    "known new files": lambda p: sh(p, "config", "core.untrackedCache", "true"),
    "a later form": lambda p: sh(p, "config", "index.version", "4"),
    "line ends": lambda p: sh(p, "config", "core.autocrlf", "true"),
    "line ends, without a value": lambda p: say(
        p / ".git/config", (p / ".git/config").read_text() + "[core]\n\tautocrlf\n"
    ),
    "attributes": lambda p: say(p / ".git/info/attributes", "*.py text eol=crlf\n"),
    "attributes of the person": lambda p: say(
        p.parent / "home/.config/git/attributes", "*.py text eol=crlf\n"
    ),
    "attributes elsewhere": lambda p: name_attributes(p, p.parent / "mine"),
}


@pytest.mark.parametrize("way", ODD)
def test_v3_no_setting_makes_git_note_what_is_not_true_of_the_files(
    project: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.parent / "home/.config"))
    ODD[way](project)
    place = make_fresh(project)
    write_in_place(place / "src/b.py", "2wo\n")
    tree, commands = measure_fresh(place)
    assert tree == measure_anew(place)
    assert "read-tree" in commands, "everything is read"


def test_a_filter_that_is_committed_makes_everything_be_read(project: Path) -> None:
    say(project / "src/.gitattributes", "*.py text eol=crlf\n")
    sh(project, "add", "-A")
    sh(project, "commit", "-qm", "attributes")
    place = make_fresh(project)
    assert (place / "src/a.py").read_bytes() == b"one\r\n"
    tree, commands = measure_fresh(place)
    assert "read-tree" in commands
    assert tree == measure_anew(place) != sh(project, "rev-parse", "HEAD^{tree}")


def test_a_submodule_makes_everything_be_read(project: Path, tmp_path: Path) -> None:
    sh(tmp_path, "clone", "-q", str(project), "other")
    sh(project, "submodule", "add", "-q", str(tmp_path / "other"), "inner")
    sh(project, "commit", "-qm", "inner")
    place = make_fresh(project)
    tree, commands = measure_fresh(place)
    assert "read-tree" in commands
    assert tree == sh(project, "rev-parse", "HEAD^{tree}")


def test_v3_a_repository_inside_a_fresh_worktree_is_refused(project: Path) -> None:
    place = make_fresh(project)
    sh(place, "init", "-q", "inner")
    (place / "inner/file").write_text("x")
    with pytest.raises(Exception, match=r"inner in .* is a git repository of its own"):
        measure_fresh(place)


@pytest.mark.parametrize("left", ["no note", "another index"])
def test_a_measurement_that_was_cut_short_is_begun_anew(project: Path, left: str) -> None:
    """Killed before it could say which files changed in its own second."""
    place = make_fresh(project)
    first, _ = measure_fresh(place)
    room = place.parent / "first"
    if left == "no note":
        next(room.glob("*.note")).unlink()
    else:
        os.utime(next(room.glob("*.index")))
    write_in_place(place / "src/a.py", "1ne\n")
    tree, commands = measure_fresh(place)
    assert "read-tree" in commands
    assert tree == measure_anew(place) != first


def test_a_worktree_that_was_there_already_is_not_taken_for_a_fresh_one(project: Path) -> None:
    place = make_fresh(project)
    assert not worktrees.ensure_worktree(str(project), str(place), "fresh", "HEAD")


def test_nothing_is_kept_of_what_is_no_worktree(tmp_path: Path) -> None:
    checkout_index.remember_checkout(str(tmp_path))
    assert checkout_index.take_fresh_index(str(tmp_path)) is None
