"""Of the caller's environment an agent gets what it needs to be itself, and nothing else."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

ALLOWED = ("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL")

# What each agent needs to be itself; nothing else of the caller's environment reaches it.
CREDENTIALS: dict[str, tuple[str, ...]] = {
    "claude": ("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("OPENAI_*", "CODEX_HOME", "CODEX_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_*", "GEMINI_CLI_HOME"),
    # The interpreter must find porch in the same places as the one that runs now.
    "scripted": ("PYTHONPATH",),
}


def scrubbed(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """Only the allowed variables, and those that match `extra` (names or globs)."""
    patterns = (*ALLOWED, *extra)
    return {
        name: value
        for name, value in environ.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
