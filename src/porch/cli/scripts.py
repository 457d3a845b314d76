"""What the installed scripts call: a command, and then out without taking everything apart first.

At the end Python frees every class and module one by one, which costs two thirds of a bare Python
where a command decides something. What was to be done at the end is done all the same.
"""

from __future__ import annotations

import atexit
import os
import sys

from porch.cli import dispatch


def porch() -> int:
    """The command `porch`."""
    return _leave(dispatch.porch())


def af() -> int:
    """The command `af`."""
    return _leave(dispatch.af())


def codev() -> int:
    """The command `codev`."""
    return _leave(dispatch.codev())


def envoy() -> int:
    """The command `envoy`."""
    return _leave(dispatch.envoy())


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
