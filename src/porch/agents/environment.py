"""Of the caller's environment an agent gets what it needs to be itself, and nothing else.

Besides the variables that every program needs, an agent gets those that lead to the network: behind
a proxy with a company's certificate, none of the command lines connects without them. It gets the
variables of its own vendor, and those of a cloud only where a switch of the vendor asks for it.
Variables that change how programs run (NODE_OPTIONS, LD_PRELOAD, GIT_DIR) are never passed on.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

ALLOWED_VARIABLES = ("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL")
_NETWORK = (
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "XDG_*_HOME"),
)
# A switch of a vendor, and what the agent needs if it is on.
_CLOUDS = {"CLAUDE_CODE_USE_BEDROCK": ("AWS_*",), "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_*",)}
_OFF = ("", "0", "false")
# What people expect to reach an agent: logins, clouds, tracing, and what changes programs.
_EXPECTED = (
    *("ANTHROPIC_*", "CLAUDE_CODE_*", "OPENAI_*", "CODEX_*", "GEMINI_*", "GOOGLE_*", "AWS_*"),
    *("AZURE_*", "CLOUD_ML_REGION", "OTEL_*", "TRACEPARENT", "NODE_OPTIONS", "SSH_AUTH_SOCK"),
    *("GH_TOKEN", "GITHUB_TOKEN", "ALL_PROXY", "all_proxy", "NODE_TLS_REJECT_UNAUTHORIZED"),
)
_GLOB = frozenset("*?[")


def make_agent_environment(
    environ: Mapping[str, str], credentials: Iterable[str], extra: Iterable[str] = ()
) -> dict[str, str]:
    """What an agent gets whose vendor has these variables; `extra` is what the settings add."""
    vendor = tuple(credentials)
    clouds = [
        pattern
        for switch, patterns in _CLOUDS.items()
        if environ.get(switch, "") not in _OFF and _matches(switch, vendor)
        for pattern in patterns
    ]
    return scrub_environment(environ, (*_NETWORK, *vendor, *clouds, *extra))


def list_passed_variables(environ: Mapping[str, str], passed: Iterable[str]) -> list[str]:
    """Of what an agent gets, the names that not every program gets."""
    return sorted(set(passed) - scrub_environment(environ).keys())


def list_dropped_variables(environ: Mapping[str, str], passed: Iterable[str]) -> list[str]:
    """The names that are set, that people may expect to reach an agent, and that it doesn't get."""
    return sorted(name for name in environ.keys() - set(passed) if _matches(name, _EXPECTED))


def scrub_environment(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """Only the allowed variables, and those that match `extra` (names or globs)."""
    patterns = {*ALLOWED_VARIABLES, *extra}
    globs = [pattern for pattern in patterns if not _GLOB.isdisjoint(pattern)]
    return {
        name: value
        for name, value in environ.items()
        # Most patterns are names, and every turn and every check comes here.
        if name in patterns or _matches(name, globs)
    }


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
