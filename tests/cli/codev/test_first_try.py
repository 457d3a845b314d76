"""`codev init` runs the tests once where a run would run them, and says what came of it."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from porch.cli.codev import setup
from porch.cli.dispatch import run_words
from porch.run.settings import load_settings
from tests.cli.conftest import Terminal
from tests.repositories import make_repository, sh

VENV = {
    ".venv/bin/python": "#!/bin/sh\necho in $0\ntest -e tests/test_a.py\n",
    ".venv/pyvenv.cfg": "",
}
PYTHON = {"pyproject.toml": "[tool.pytest]\n", "tests/test_a.py": "", ".gitignore": ".venv/\n"}
Codev = Callable[..., str]
CODEV = (sys.executable, "-c", "from porch.cli.dispatch import codev; exit(codev())")


@pytest.fixture
def root(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with one commit and uncommitted files; nothing may be left in it."""
    place = make_repository(tmp_path / "place", {"a.txt": "one\n"})
    monkeypatch.chdir(place)
    yield place
    assert sh(place, "worktree", "list").count("\n") == 0
    assert not (place / "worktrees").exists()


@pytest.fixture
def codev(capsys: pytest.CaptureFixture[str]) -> Codev:
    def call(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        left = run_words("codev", list(words))
        out, err = capsys.readouterr()
        assert left == code, out + err
        return out + err

    return call


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        (root / name).chmod(0o755)


def test_tests_in_an_environment_that_git_does_not_have_pass_at_once(
    root: Path, codev: Codev
) -> None:
    write(root, {**PYTHON, **VENV})
    said = codev("init", "--yes")
    assert 'worktree    link = [".venv"]   (a new worktree has no packages)' in said
    assert "tried       test passes in a new worktree, in " in said
    known = load_settings(str(root))
    assert (known.link, known.untrusted) == ((".venv",), ())


def test_the_files_of_the_checkout_count_not_those_of_the_last_commit(
    root: Path, codev: Codev
) -> None:
    (root / "a.txt").unlink()
    write(root, {"new.txt": "", "link/x": ""})
    (root / "link/y").symlink_to("x")
    command = "test ! -e a.txt && test -L link/y && test -e new.txt"
    assert "tried       test passes" in codev("init", "--yes", "--test", command)


def test_what_does_not_pass_is_shown_with_its_last_lines(root: Path, codev: Codev) -> None:
    command = "seq 1 20; echo No module named pytest; exit 3"
    said = codev("init", "--yes", "--test", command)
    assert "tried       test does not pass in a new worktree: exit code 3\n" in said
    assert "  | 17\n  | 18\n  | 19\n  | 20\n  | No module named pytest\n" in said
    assert "  | 16\n" not in said
    assert "codev doctor" in said


def test_tests_that_take_too_long_are_stopped(
    root: Path, codev: Codev, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "_LONGEST_TRIAL_S", 0.2)
    said = codev("init", "--yes", "--test", "sleep 600")
    assert "test could not be measured in a new worktree: did not finish within 0.2 s" in said


def test_a_set_up_that_fails_is_said_and_the_settings_stay(root: Path, codev: Codev) -> None:
    write(root, {"poetry.lock": "", "pytest.ini": ""})
    said = codev("init", "--yes")
    assert "tests could not be tried: the set-up command `poetry install --quiet` failed" in said
    assert (root / "codev/config.toml").exists()


def test_without_a_person_nothing_that_needs_trust_is_trusted_or_run(
    root: Path, codev: Codev
) -> None:
    write(root, {**PYTHON, **VENV})
    said = codev("init")
    assert "it counts once you trust it: porch trust" in said
    assert "tests were not tried: see `porch trust`" in said
    (request,) = load_settings(str(root)).untrusted
    assert [each.key for each in request.settings] == ["worktree.link"]


@pytest.mark.parametrize("answer", ["y\r", "\r"])
def test_on_a_terminal_a_link_is_asked_about_in_one_sentence_below_the_files(
    root: Path, answer: str
) -> None:
    write(root, {**PYTHON, **VENV})
    terminal = Terminal((*CODEV, "init", "--with", "agents-md"), root, columns=200)
    try:
        terminal.until("The command that runs all tests")
        terminal.type("\r")
        question = "May runs use your .venv by a link? [y/N]"
        terminal.until(question)
        seen = terminal.text
        assert "Trust" not in seen
        assert seen.index("new         codev/config.toml") < seen.index(question)
        terminal.type(answer)
        terminal.until("tried       test passes" if "y" in answer else "tests were not tried")
        assert terminal.leave() == 0
        assert terminal.text.count("new         codev/config.toml") == 1
    finally:
        terminal.close()
    assert bool(load_settings(str(root)).untrusted) is ("y" not in answer)


def test_settings_that_were_there_are_neither_trusted_nor_tried(root: Path, codev: Codev) -> None:
    write(root, {"codev/config.toml": '[commands]\ntest = "true"\n[worktree]\nsetup = ["false"]\n'})
    assert "tried" not in codev("init", "--yes")
    assert load_settings(str(root)).untrusted


def test_the_next_run_from_these_files_need_not_try_them_again(root: Path, codev: Codev) -> None:
    codev("init", "--yes", "--test", "echo x >> ../../../count")
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "start")
    told = json.loads(codev("doctor", "--json"))
    (line,) = [each for each in told["lines"] if "test passes" in each["what"]]
    assert "on the same files" in line["more"][0]
    assert (root.parent / "count").read_text() == "x\n"


def test_very_much_that_is_not_committed_is_not_copied(
    root: Path, codev: Codev, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "data").write_bytes(b"x")
    with (root / "data").open("r+b") as file:
        file.truncate(setup._MOST_BYTES)
    said = codev("init", "--yes", "--test", "true")
    assert "tests were not tried: " in said
    assert "commit what belongs to the project, then: codev doctor" in said
    (root / "data").unlink()
    (root / "codev/config.toml").unlink()
    monkeypatch.setattr(setup, "_MOST_FILES", 1)
    assert "tests were not tried: " in codev("init", "--yes", "--test", "true")


def test_ctrl_c_leaves_only_the_try_out(
    root: Path, codev: Codev, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("porch.fleet.health.command_health.try_commands", interrupt)
    assert "since you stopped them" in codev("init", "--yes", "--test", "true")
