"""Of the caller's environment an agent gets what it needs to be itself, and nothing else."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

ALLOWED_VARIABLES = ("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL")


def scrub_environment(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """Only the allowed variables, and those that match `extra` (names or globs)."""
    patterns = (*ALLOWED_VARIABLES, *extra)
    return {
        name: value
        for name, value in environ.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
