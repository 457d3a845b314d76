"""Where a person's own settings lie: a place that never depends on the current directory.

What lies in a project was written by others. It must not count as a person's own, also where no
home is set, as in jobs that the system starts.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def find_config_home(environ: Mapping[str, str]) -> str:
    """The directory in which programs keep a person's settings."""
    named = environ.get("XDG_CONFIG_HOME", "")
    # The rules of these directories say that a relative one counts as none.
    return named if os.path.isabs(named) else os.path.join(_find_home(environ), ".config")


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
