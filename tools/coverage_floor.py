"""Holds the packages that decide everything at full branch coverage, above the common floor."""

import json
import sys
from pathlib import Path
from typing import Any

WHOLE = tuple(f"src/porch/{room}/" for room in ("text", "model", "dialects", "machine", "claims"))


def shortfalls(report: dict[str, Any]) -> list[str]:
    return [
        f"{path}: {_missing(measured)}"
        for path, measured in sorted(report["files"].items())
        if path.startswith(WHOLE) and _missing(measured)
    ]


def absent(report: dict[str, Any]) -> list[str]:
    """A package of which nothing was measured must not pass for covered."""
    return [
        f"{package}: nothing was measured"
        for package in WHOLE
        if not any(path.startswith(package) for path in report["files"])
    ]


def _missing(measured: dict[str, Any]) -> str:
    unseen = set(measured["missing_lines"])
    # A branch out of a line that never ran says nothing new.
    arcs = [
        f"{start}->{'exit' if end < 0 else end}"
        for start, end in measured["missing_branches"]
        if start not in unseen
    ]
    return ", ".join(_ranges(measured["missing_lines"]) + arcs)


def _ranges(lines: list[int]) -> list[str]:
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]


def main(argv: list[str]) -> int:
    report = json.loads(Path(argv[0]).read_text())
    complaints = shortfalls(report) + absent(report)
    if complaints:
        print("text, model, dialects, machine and claims must be covered whole; missing:")
        print("\n".join(f"  {complaint}" for complaint in complaints))
        return 1
    print("text, model, dialects, machine and claims: every line and branch is covered")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
