"""Commands that kill themselves at a crash point."""

import os
import subprocess
import sys
from collections.abc import Sequence


def unmeasured() -> dict[str, str]:
    """The environment without coverage: a process that is killed, or may write no more, would
    leave half a measurement behind, and pays for it with a slow start."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def kill_at(
    point: str, command: Sequence[str], timeout_s: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run a command that kills itself at the crash point `name`, or `name:N` for its N-th hit."""
    return subprocess.run(  # noqa: S603 - the command is the test's own
        list(command),
        env={**unmeasured(), "PORCH_CRASH_AT": point},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )


def kill_python_at(point: str, script: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return kill_at(point, [sys.executable, "-c", script, *arguments])
