"""Repositories that know nothing of the machine they are on."""

import subprocess
from pathlib import Path

import pytest


def sh(directory: Path, *words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"
        '[protocol "file"]\n\tallow = always\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def empty(tmp_path: Path, git_home: Path) -> Path:
    place = tmp_path / "repo"
    sh(tmp_path, "init", "-q", str(place))
    return place


@pytest.fixture
def repo(empty: Path) -> Path:
    (empty / "a.txt").write_text("one\n")
    (empty / ".gitignore").write_text("*.log\n")
    sh(empty, "add", "-A")
    sh(empty, "commit", "-qm", "first")
    return empty
