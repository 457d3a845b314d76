"""What can be seen of an agent's login from outside: names of variables and files, never values.

A key that is set may be wrong, and a login may be kept where nobody can look. So this finds signs,
and only a turn of the agent is a proof: `porch agents test NAME`.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

Environ = Mapping[str, str]


class LoginPlaces(Struct, frozen=True):
    """Where one command line keeps its login: its home by variable or default, and files there."""

    variables: tuple[str, ...]
    home_variable: str
    home: str
    files: tuple[str, ...]
    more: Callable[[str], bool] = lambda _: False


def _has_key(path: str, *keys: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            document = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and any(document.get(key) for key in keys)


def _has_claude_account(home: str) -> bool:
    """On some systems the login is in a keychain, and only the account is in a file."""
    beside = os.path.join(os.path.dirname(home), ".claude.json")
    files = (os.path.join(home, ".claude.json"), beside)
    if any(_has_key(path, "oauthAccount", "primaryApiKey") for path in files):
        return True
    return _has_key(os.path.join(home, "settings.json"), "apiKeyHelper")


def _has_codex_provider(home: str) -> bool:
    try:
        with open(os.path.join(home, "config.toml"), encoding="utf-8", errors="replace") as file:
            return "model_provider" in file.read()
    except OSError:
        return False


PLACES: Mapping[str, LoginPlaces] = {
    "claude": LoginPlaces(
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        "CLAUDE_CONFIG_DIR",
        ".claude",
        (".credentials.json",),
        _has_claude_account,
    ),
    "codex": LoginPlaces(
        ("CODEX_API_KEY",), "CODEX_HOME", ".codex", ("auth.json",), _has_codex_provider
    ),
    "gemini": LoginPlaces(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
        "GEMINI_CLI_HOME",
        ".gemini",
        ("oauth_creds.json",),
    ),
}


def find_login_signs(kind: str, environ: Environ, more: Iterable[str] = ()) -> list[str] | None:
    """Signs of a login in words; an empty list where there is none, None for agents without one."""
    places = PLACES.get(kind)
    return None if places is None else list(_iterate_signs(places, environ, tuple(more)))


def _iterate_signs(places: LoginPlaces, environ: Environ, more: tuple[str, ...]) -> Iterator[str]:
    for name in environ:
        if environ[name] and any(fnmatchcase(name, glob) for glob in (*places.variables, *more)):
            yield f"{name} is set"
    home = environ.get(places.home_variable) or os.path.join(environ.get("HOME", ""), places.home)
    for file in places.files:
        if os.path.exists(os.path.join(home, file)):
            yield f"{os.path.join(home, file)} is there"
    if places.more(home):
        yield f"an account is named in the files of {home}"
