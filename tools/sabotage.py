"""Switches off one guard at a time in a copy of the sources; a named test must then go red.

A guard is a piece of text that stands exactly once in one module. If the text is gone, the row
is out of date and that is a failure too: a guard that nobody can switch off proves nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.child_guards import CHILD_GUARDS
from tools.drive_guards import DRIVE_GUARDS
from tools.guards import GUARDS, Guard
from tools.way_guards import WAY_GUARDS
from tools.web_guards import WEB_GUARDS
from tools.worktree_guards import WORKTREE_GUARDS

ROOT = Path(__file__).resolve().parent.parent


def sabotaged(guard: Guard, into: Path) -> str:
    """Copies the sources without the guard; the answer is what went wrong, or nothing."""
    shutil.copytree(ROOT / "src", into / "src", ignore=shutil.ignore_patterns("__pycache__"))
    module = into / "src" / "porch" / guard.module
    text = module.read_text(encoding="utf-8")
    if text.count(guard.text) != 1:
        return f"its text stands {text.count(guard.text)} times in {guard.module}"
    module.write_text(text.replace(guard.text, guard.without), encoding="utf-8")
    return ""


def located(test: str) -> str:
    """The node id of a test by its name; a name that stands nowhere, or twice, is a mistake."""
    found = [
        path.relative_to(ROOT)
        for path in sorted(ROOT.glob("tests/**/test_*.py"))
        if f"def {test}(" in path.read_text(encoding="utf-8")
    ]
    if len(found) != 1:
        raise SystemExit(f"{test} stands in {len(found)} files, so nothing is proved")
    return f"{found[0]}::{test}"


def outcome(tests: Iterable[str], sources: Path) -> tuple[int, str]:
    """Exit status and words of pytest; PYTHONPATH reaches the processes that a test starts."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly"]
    command += [
        "-p",
        "no:cacheprovider",
        "--tb=no",
        "-o",
        f"pythonpath={sources}",
        *map(located, tests),
    ]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def verdict(guard: Guard) -> str:
    """Why this guard is not proved, or nothing. Only 'tests failed' (1) counts as noticing."""
    with tempfile.TemporaryDirectory() as scratch:
        complaint = sabotaged(guard, Path(scratch))
        if complaint:
            return complaint
        status, _ = outcome([guard.test], Path(scratch) / "src")
    return "" if status == 1 else f"{guard.test} did not notice (pytest said {status})"


def chosen(names: Iterable[str]) -> list[Guard]:
    wanted = set(names)
    return [
        guard
        for guard in (
            *GUARDS,
            *DRIVE_GUARDS,
            *WORKTREE_GUARDS,
            *WAY_GUARDS,
            *CHILD_GUARDS,
            *WEB_GUARDS,
        )
        if not wanted or guard.name in wanted
    ]


def main(argv: list[str]) -> int:
    guards = chosen(argv)
    if not guards:
        print("no such guard is listed in tools/guards.py, so nothing is proved")
        return 1
    status, said = outcome(dict.fromkeys(guard.test for guard in guards), ROOT / "src")
    if status:
        print(f"{said}\nthe tests do not pass on the whole sources, so nothing is proved")
        return 1
    failures = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for guard, complaint in zip(guards, pool.map(verdict, guards), strict=True):
            failures += bool(complaint)
            print(f"{guard.name}: {complaint or 'noticed by ' + guard.test}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
