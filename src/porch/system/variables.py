"""Variables of this process: all at once, and where they say that a person's own settings lie.

Read one by one they cost a good part of a git. What lies in a project was written by others. It
must not count as a person's own, also where no home is set, as in jobs that the system starts.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class _KnownVariables:
    """What was read last, and the bytes of which it was made."""

    def __init__(self) -> None:
        self._raw: dict[bytes, bytes] | None = None
        self._read: Mapping[str, str] = {}

    def read(self) -> Mapping[str, str]:
        # As the system has them; to compare these takes a hundredth of what reading them takes.
        raw = getattr(os.environ, "_data", None)
        if raw is None or raw != self._raw:
            self._raw, self._read = (None if raw is None else dict(raw)), dict(os.environ)
        return self._read


_KNOWN = _KnownVariables()


def read_environment() -> Mapping[str, str]:
    """What `os.environ` says now, for whoever asks again and again and changes nothing in it."""
    return _KNOWN.read()


def find_config_home(environ: Mapping[str, str]) -> str:
    """The directory in which programs keep a person's settings."""
    named = environ.get("XDG_CONFIG_HOME", "")
    # The rules of these directories say that a relative one counts as none.
    return named if os.path.isabs(named) else os.path.join(_find_home(environ), ".config")


def find_state_home(environ: Mapping[str, str]) -> str:
    """The directory in which programs note what they do for a person; empty without a home."""
    named, home = environ.get("XDG_STATE_HOME", ""), environ.get("HOME", "")
    if os.path.isabs(named):
        return named
    return os.path.join(home, ".local", "state") if os.path.isabs(home) else ""


def _find_home(environ: Mapping[str, str]) -> str:
    named = environ.get("HOME", "")
    return named if os.path.isabs(named) else _find_home_of_account()


def _find_home_of_account() -> str:
    import pwd

    try:
        found = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        found = ""
    # Nothing can lie in what is no directory.
    return found if os.path.isabs(found) else os.devnull
