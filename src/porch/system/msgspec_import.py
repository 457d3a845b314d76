"""Loading msgspec without typing_extensions, which would cost a command half as much again.

msgspec takes that library where it is installed, as it is with the dashboard. All that it wants of
it has been in Python since 3.11.
"""

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of it first
import sys

_UNWANTED = "typing_extensions"
_INTERRUPT = {_signal.SIGINT}


def load_msgspec() -> None:
    """For whoever is about to import what needs it; who has either of them has them already."""
    if "msgspec" in sys.modules or _UNWANTED in sys.modules:
        return
    # Ctrl-C while it begins would leave it half made, and the first call of it would be a crash.
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, _INTERRUPT)
    sys.modules[_UNWANTED] = None  # type: ignore[assignment]  # Python then calls it not installed
    try:
        import msgspec  # noqa: F401 - for all who import it later
    finally:
        del sys.modules[_UNWANTED]
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
