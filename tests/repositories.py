"""People with a name for git, and repositories that are copied instead of made anew each time."""

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

GITCONFIG = "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n"
# By this name porch knows whoever runs the tests, whatever the variables say.
ACCOUNT = pwd.getpwuid(os.getuid()).pw_name
# Whoever starts the tests may be an agent; the person of a test is none.
_STRANGE = ("CLAUDECODE", "GEMINI_CLI", "PORCH_MARK", "XDG_CONFIG_HOME", "BASE_BRANCH")


def sh(directory: Path, *words: str) -> str:
    """What git says in a directory."""
    command = ["git", *words]
    done = subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def at_home(home: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> Path:
    """A person with a name and nothing else; no agent is around."""
    home.mkdir()
    (home / ".gitconfig").write_text(GITCONFIG + more)
    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.setenv(name, str(home) if name == "HOME" else "ann")
    for name in list(os.environ):
        if name in _STRANGE or name.startswith(("CLAUDE_", "CODEX_", "GIT_")):
            monkeypatch.delenv(name)
    return home


def make_repository(
    place: Path, files: Mapping[str, str], branch: str = "main", message: str = "first"
) -> Path:
    """On a branch, from a `main` with one commit of these files; nothing of git's samples."""
    shutil.copytree(_template(tuple(files.items()), branch, message), place, symlinks=True)
    # The copies are other files than those that the index knows.
    sh(place, "update-index", "-q", "--refresh")
    return place


@cache
def _template(files: tuple[tuple[str, str], ...], branch: str, message: str) -> Path:
    place = Path(tempfile.mkdtemp(prefix="porch-template-"))
    atexit.register(_remove, place, os.getpid())
    for name, text in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    sh(place, "init", "-q", "--template=", "-b", "main")
    for name in ("hooks", "info"):
        (place / ".git" / name).mkdir()
    sh(place, "add", "-A")
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    sh(place, *who, "commit", "-qm", message)
    if branch != "main":
        sh(place, "switch", "-qc", branch)
    return place


def _remove(place: Path, owner: int) -> None:
    """A process that a test forked leaves the template to the one that made it."""
    if os.getpid() == owner:
        shutil.rmtree(place, ignore_errors=True)
