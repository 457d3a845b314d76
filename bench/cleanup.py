"""Debug lines in a repository of 20,000 files, against git's own search for their marker."""

import subprocess
from pathlib import Path

from bench.cold import _call, _environment, _installed, _run
from bench.measure import Result, ratio

FILES = 20_000
ROUNDS = 15
_CODE = "def call_{0}(value):\n    return value + {0}\n\n" * 12


def results(place: Path) -> list[Result]:
    root = _repository(place / "repository")
    _, porch = _installed(place)
    mine = [str(porch.with_name("envoy")), "plan", "cleanup-debug-logs", "--dry-run"]
    _finds(mine, root)
    git = ["git", "grep", "-l", "DEBUG-TEMP"]
    name = "cleanup over 20,000 files / git grep -l DEBUG-TEMP"
    return [ratio(name, 3.0, lambda: _call(mine, root), lambda: _call(git, root), ROUNDS)]


def _repository(root: Path) -> Path:
    for number in range(FILES):
        path = root / f"part{number % 200:03}" / f"module{number:05}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        marked = "# [DEBUG-TEMP]\nprint('here')\n\n" if number % 1000 == 0 else ""
        path.write_text(_CODE.format(number) + marked + "LAST = 1\n")
    _run("git", "init", "--quiet", root)
    _run("git", "-C", root, "add", "--all")
    return root


def _finds(command: list[str], root: Path) -> None:
    """Fast, and complete."""
    told = subprocess.run(
        command, cwd=root, env=_environment(), capture_output=True, text=True, check=True
    )
    if '"markers_removed": 20,' not in told.stdout:
        raise RuntimeError(told.stdout)
