"""Loading msgspec without typing_extensions, which would cost a command half as much again.

msgspec takes that library where it is installed, as it is with the dashboard. All that it wants of
it has been in Python since 3.11. It also loads `uuid`, and that loads `platform` for one word.
"""

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of it first
import os
import sys
from types import ModuleType

_UNWANTED = "typing_extensions"
_PLATFORM = "platform"
_INTERRUPT = {_signal.SIGINT}


class _OneWord(ModuleType):
    """Stands for `platform` while `uuid` is loaded, and for all else that is asked of it later."""

    @staticmethod
    def system() -> str:
        return os.uname().sysname

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(_PLATFORM) is self:
            del sys.modules[_PLATFORM]
        import platform

        return getattr(platform, name)


def load_msgspec() -> None:
    """For whoever is about to import what needs it; who has either of them has them already."""
    if "msgspec" in sys.modules or _UNWANTED in sys.modules:
        return
    # Ctrl-C while it begins would leave it half made, and the first call of it would be a crash.
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, _INTERRUPT)
    sys.modules[_UNWANTED] = None  # type: ignore[assignment]  # Python then calls it not installed
    stand_in = sys.modules.setdefault(_PLATFORM, _OneWord(_PLATFORM))
    try:
        import msgspec  # noqa: F401 - for all who import it later
    finally:
        del sys.modules[_UNWANTED]
        if isinstance(stand_in, _OneWord):
            sys.modules.pop(_PLATFORM, None)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
