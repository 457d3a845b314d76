"""`make bench`: every bound in one run, as ratios, so that the machine's mood cancels out.

python bench/run.py [NAME ...]      all parts by default; PARTS names them
"""

import importlib
import json
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.measure import Result

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "bench.json"
PARTS = (
    "cold",
    "commands",
    "lists",
    "kickoff",
    "durable",
    "resuming",
    "crowd",
    "memory",
    "tree",
    "grown",
    "trees",
    "agents",
    "streams",
    "knowledge",
    "cleanup",
    "dashboard",
    "inbox",
)


def main(names: list[str]) -> int:
    # The script's own directory comes first on the path; our modules are named from the root.
    sys.path.insert(0, str(ROOT))
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"no part is called {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
        return 2
    found = [result for name in names or PARTS for result in _part(name)]
    _write(found)
    broken = [result.name for result in found if not result.holds]
    print(f"\n{len(found) - len(broken)} of {len(found)} bounds hold; {OUT.relative_to(ROOT)}")
    return 1 if broken else 0


def _part(name: str) -> "list[Result]":
    """Beside our own files, since a temporary directory may lie in memory and sync for nothing."""
    (ROOT / "build").mkdir(exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f"bench-{name}-", dir=ROOT / "build"))
    # Snapshots are marked with a key that is made for this.
    os.environ["XDG_STATE_HOME"] = str(place / "state")
    try:
        found: list[Result] = importlib.import_module(f"bench.{name}").results(place)
    finally:
        shutil.rmtree(place)
    for result in found:
        print(_line(result), flush=True)
    return found


def _line(result: "Result") -> str:
    word = "ok  " if result.holds else "OVER"
    against = f" / {result.reference}" if result.reference else ""
    most = "told only" if result.limit is None else f"at most {result.limit:g}"
    value = f"{result.value:7.2f} {result.unit:5} ({most})"
    return f"{word} {result.name:52} {value}  {result.measured}{against}"


def _write(found: "list[Result]") -> None:
    told = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "results": [result.as_json() for result in found],
    }
    OUT.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
