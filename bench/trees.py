"""Measuring a worktree that has not changed: ours, beside the way that trusts the repository."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from bench.measure import Result, ratio
from porch.git import measured_tree
from porch.git.command import run_git

LIMIT = 1.1
SIZES = {100: 41, 10_000: 21, 40_000: 9}
OWN = ("codev/projects/*/status*.yaml*", "codev/executions/*/status*.yaml*", "codev/.porch")


def results(place: Path) -> list[Result]:
    return [_size(place / str(size), size, rounds) for size, rounds in SIZES.items()]


def _size(repo: Path, size: int, rounds: int) -> Result:
    _repository(repo, size)
    room = str(repo.parent / f"room-{size}")

    def ours() -> str:
        return measured_tree.measure_tree(str(repo), OWN, room)

    def before() -> str:
        return _bendable_tree(str(repo))

    # Nothing that was just written: warm means that both know their files.
    time.sleep(1.5)
    if ours() != before():
        raise RuntimeError("the two ways disagree on a plain repository")
    time.sleep(1.5)
    ours()
    return ratio(f"measuring {size} files / the way that can be bent", LIMIT, ours, before, rounds)


def _repository(repo: Path, size: int) -> None:
    for number in range(size):
        path = repo / f"d{number % 97}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * 20)
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "start")):
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        subprocess.run(["git", "-C", str(repo), *identity, *words], check=True)


def _bendable_tree(toplevel: str) -> str:
    """A copy of the person's index, with their configuration, flags and attributes."""
    with tempfile.TemporaryDirectory(prefix="bench-tree-") as scratch:
        env = {
            "GIT_INDEX_FILE": os.path.join(scratch, "index"),
            "GIT_OBJECT_DIRECTORY": os.path.join(scratch, "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(toplevel, ".git", "objects"),
        }
        os.mkdir(env["GIT_OBJECT_DIRECTORY"])
        shutil.copy2(os.path.join(toplevel, ".git", "index"), env["GIT_INDEX_FILE"])
        gone = [f":(top,glob){pattern}" for pattern in OWN]
        words = ("rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch")
        run_git(toplevel, *words, "--", *gone, env=env)
        without = [f":(top,exclude,glob){pattern}" for pattern in OWN]
        run_git(toplevel, "add", "-A", "--ignore-errors", "--", ":/", *without, env=env)
        return run_git(toplevel, "write-tree", "--missing-ok", env=env).strip()
