"""Waiting until a driver has left: first it gives its run back, then it says its last words."""

import os
import time

_LOOK_S = 0.05


def wait_until_gone(pid: int, seconds: float) -> bool:
    """Whether the process has ended by then."""
    end = time.monotonic() + seconds
    while pid and _is_there(pid):
        if time.monotonic() >= end:
            return False
        time.sleep(_LOOK_S)
    return True


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
