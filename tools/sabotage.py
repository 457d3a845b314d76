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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Guard:
    """What to cut out of which module, and the test (a pytest node id) that must notice."""

    name: str
    module: str
    text: str
    without: str
    test: str


# One row for each: late facts, wish ids, compare-and-swap of the journal, reaping, digest fence.
GUARDS: tuple[Guard, ...] = ()


def sabotaged(guard: Guard, into: Path) -> str:
    """Copies the sources without the guard; the answer is what went wrong, or nothing."""
    shutil.copytree(ROOT / "src", into / "src")
    module = into / "src" / "porch" / guard.module
    text = module.read_text(encoding="utf-8")
    if text.count(guard.text) != 1:
        return f"its text stands {text.count(guard.text)} times in {guard.module}"
    module.write_text(text.replace(guard.text, guard.without), encoding="utf-8")
    return ""


def outcome(guard: Guard, sources: Path) -> int:
    """The exit status of pytest; PYTHONPATH reaches the processes that the test starts."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    command += ["-o", f"pythonpath={sources}", guard.test]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=False
    ).returncode


def verdict(guard: Guard) -> str:
    """Why this guard is not proved, or nothing. Only 'tests failed' (1) counts as noticing."""
    if outcome(guard, ROOT / "src") != 0:
        return f"{guard.test} does not pass on the whole sources"
    with tempfile.TemporaryDirectory() as scratch:
        complaint = sabotaged(guard, Path(scratch))
        if complaint:
            return complaint
        status = outcome(guard, Path(scratch) / "src")
    return "" if status == 1 else f"{guard.test} did not notice (pytest said {status})"


def chosen(names: Iterable[str]) -> list[Guard]:
    wanted = set(names)
    return [guard for guard in GUARDS if not wanted or guard.name in wanted]


def main(argv: list[str]) -> int:
    guards = chosen(argv)
    if not guards:
        print("no such guard is listed in tools/sabotage.py, so nothing is proved")
        return 1
    failures = 0
    for guard in guards:
        complaint = verdict(guard)
        failures += bool(complaint)
        print(f"{guard.name}: {complaint or 'noticed by ' + guard.test}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
