"""The inbox of the terminal, and the demo: how long it takes until there is something to see.

Both are started on a terminal of their own, as a person does, and stopped once their text is there.
They are told against the bare interpreter, started in the same way, and have no bound.
"""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

from bench.cold import _environment
from bench.measure import Result, ratio
from bench.scenes import Scenes

ROUNDS = 9
PATIENCE_S = 120.0
_SCRIPT = "from porch.cli.scripts import porch; raise SystemExit(porch())"


def results(place: Path) -> list[Result]:
    """With the packages of this environment: the inbox needs one that the wheel does not bring."""
    porch = [sys.executable, "-P", "-c", _SCRIPT]
    waiting = Scenes(place / "scenes", Path(sys.executable).parent).at("waiting")
    bare = [sys.executable, "-I", "-c", "print('ready')"]
    rows = (
        ("porch, the inbox shows what waits", porch, waiting, "Waiting for you"),
        ("porch demo, to its first gate", [*porch, "demo"], place, "GATE"),
    )
    return [
        ratio(
            f"{name} / python -I -c print",
            None,
            lambda command=command, root=root, text=text: _show(command, root, text),  # type: ignore[misc]
            lambda: _show(bare, place, "ready"),
            ROUNDS,
        )
        for name, command, root, text in rows
    ]


def _show(command: list[str], directory: Path, text: str) -> None:
    """Until this text is on the terminal."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={**_environment(), "TERM": "xterm-256color", "TMPDIR": str(directory)},
        stdin=writer,
        stdout=writer,
        stderr=writer,
        start_new_session=True,
    )
    os.close(writer)
    try:
        _wait_for(reader, text.encode())
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def _wait_for(reader: int, text: bytes) -> None:
    seen, end = b"", time.monotonic() + PATIENCE_S
    while text not in seen:
        if time.monotonic() > end or not select.select([reader], [], [], 1.0)[0]:
            if time.monotonic() > end:
                raise RuntimeError(f"never saw {text!r} in {seen[-500:]!r}")
            continue
        seen += os.read(reader, 65536)
