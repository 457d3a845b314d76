"""Of the caller's environment an agent gets what it needs to be itself, and nothing else."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

ALLOWED_VARIABLES = ("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL")
_GLOB = frozenset("*?[")


def scrub_environment(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """Only the allowed variables, and those that match `extra` (names or globs)."""
    patterns = {*ALLOWED_VARIABLES, *extra}
    globs = [pattern for pattern in patterns if not _GLOB.isdisjoint(pattern)]
    return {
        name: value
        for name, value in environ.items()
        # Most patterns are names, and every turn and every check comes here.
        if name in patterns or any(fnmatchcase(name, glob) for glob in globs)
    }
