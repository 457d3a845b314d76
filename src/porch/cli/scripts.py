"""What the installed scripts call: a command, and then out without taking everything apart first.

At the end Python frees every class and module one by one, which costs two thirds of a bare Python
where a command decides something. What was to be done at the end is done all the same.
"""

from __future__ import annotations

import atexit
import os
import sys

# As a shell tells it of a command that was ended by Ctrl-C.
_INTERRUPTED = 130


def porch() -> int:
    """The command `porch`."""
    return _call_program("porch")


def af() -> int:
    """The command `af`."""
    return _call_program("af")


def codev() -> int:
    """The command `codev`."""
    return _call_program("codev")


def envoy() -> int:
    """The command `envoy`."""
    return _call_program("envoy")


def _call_program(name: str) -> int:
    try:
        # Here, because Ctrl-C may come while they are loaded.
        from porch.cli import quick_import

        quick_import.find_own_modules_quickly()
        from porch.cli import dispatch

        return _leave(dispatch.start_program(name))
    except KeyboardInterrupt:
        return _leave(_INTERRUPTED)


def _leave(code: int) -> int:
    """Returns only where Python has something to wait for or to complain about."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return code  # somebody may still look for processes that were left behind
    atexit._run_exitfuncs()  # noqa: SLF001 - nothing public does what Python does at its end
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return code
    os._exit(code)
