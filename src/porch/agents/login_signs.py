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
    """Where one command line keeps its login: its home by variable or default, and files there.

    An account in its files may be logged out; a provider of one's own needs no login.
    """

    variables: tuple[str, ...]
    home_variable: str
    home: str
    files: tuple[str, ...]
    has_account: Callable[[str], bool] = lambda _: False
    has_provider: Callable[[str], bool] = lambda _: False

    def find_home(self, environ: Environ) -> str:
        return environ.get(self.home_variable) or os.path.join(environ.get("HOME", ""), self.home)


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
        # A gateway of one's own, at another address, may need no login.
        (
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            *("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"),
        ),
        "CLAUDE_CONFIG_DIR",
        ".claude",
        (".credentials.json",),
        _has_claude_account,
    ),
    "codex": LoginPlaces(
        ("CODEX_API_KEY",),
        "CODEX_HOME",
        ".codex",
        ("auth.json",),
        has_provider=_has_codex_provider,
    ),
    "gemini": LoginPlaces(
        ("GEMINI_API_KEY", "GOOGLE_*"),
        "GEMINI_CLI_HOME",
        ".gemini",
        ("oauth_creds.json",),
    ),
}


def find_login_signs(kind: str, environ: Environ, more: Iterable[str] = ()) -> list[str] | None:
    """Signs of a login in words; an empty list where there is none, None for agents without one."""
    places = PLACES.get(kind)
    if places is None:
        return None
    return [*find_sure_signs(kind, environ, more), *_iterate_file_signs(places, environ)]


def find_sure_signs(kind: str, environ: Environ, more: Iterable[str] = ()) -> list[str]:
    """Those after which the command line itself need not be asked; `more` are variables, too."""
    places = PLACES[kind]
    globs = (*places.variables, *more)
    names = [n for n in environ if environ[n] and any(fnmatchcase(n, glob) for glob in globs)]
    home = places.find_home(environ)
    provider = [f"a provider is set in {home}"] if places.has_provider(home) else []
    return [*(f"{name} is set" for name in names), *provider]


def _iterate_file_signs(places: LoginPlaces, environ: Environ) -> Iterator[str]:
    home = places.find_home(environ)
    for file in places.files:
        if os.path.exists(os.path.join(home, file)):
            yield f"{os.path.join(home, file)} is there"
    if places.has_account(home):
        yield f"an account is named in the files of {home}"
