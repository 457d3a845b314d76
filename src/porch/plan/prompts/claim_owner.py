"""Who works on something for longer than one command: an agent's session, or a process that stays.

An agent that names its session to the commands it runs is known by that, also after it was stopped
and continued. Everybody else is known by the nearest process above the command that lives on, which
programs that only start another one do not: they are gone right after it.
"""

import os
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from porch.store.lock import host_name, read_boot_id
from porch.system import processes
from porch.text.late_pattern import late_pattern

_SHELLS = "sh bash dash ash zsh ksh mksh fish csh tcsh nu xonsh pwsh busybox"
_WRAPPERS = (
    "env timeout gtimeout time nohup sudo doas su runuser setpriv chroot nice ionice chrt taskset "
    "stdbuf setsid script unbuffer strace flock xargs parallel unshare nsenter bwrap firejail "
    "codex-linux-san direnv dotenv xvfb-run faketime tini dumb-init"
)
_RUNNERS = (
    "uv uvx pipx poetry pdm hatch rye pixi conda mamba micromamba tox nox npx npm pnpm pnpx yarn "
    "bunx cross-env mise asdf nix nix-shell make gmake ninja just task rake envoy porch"
)
LAUNCHERS = frozenset(f"{_SHELLS} {_WRAPPERS} {_RUNNERS}".split())
_INTERPRETER = late_pattern(r"(?:python|pypy|node|nodejs|ruby|perl)[0-9.]*$")
_ENDING = late_pattern(r"(?:-cli)?\.(?:c?js|mjs|py|pyz|rb|sh)$")

# Without a process to look at, a claim lasts so long from its last sign of life.
LEASE = timedelta(hours=12)
# Seen in the commands of claude 2.1.197 and codex 0.166.0: the same for helpers of a session, and
# still the same when the session is continued by another process.
_SESSION_VARIABLES = {
    "claude": ("CLAUDE_CODE_SESSION_ID",),
    "codex": ("CODEX_SESSION_ID", "CODEX_THREAD_ID"),
}
# Gemini 0.61.0 names no session, and hands on those of whoever started it.
_NAMELESS = "GEMINI_CLI"
_LONGEST_NAME = 200


def is_launcher(pid: int) -> bool:
    """By its name, or, where an interpreter runs it, by that of its script."""
    name = processes.read_name(pid)
    if not name:
        return True
    # Some call themselves after all of their words.
    if name.split()[0].lstrip("-") in LAUNCHERS:
        return True
    words = processes.read_words(pid)
    return bool(words) and _script_name(words) in LAUNCHERS


def _script_name(words: list[str]) -> str:
    """What an interpreter was started with; of any other program, its own name."""
    if not _INTERPRETER.match(os.path.basename(words[0])):
        return os.path.basename(words[0])
    rest = words[1:]
    if "-m" in rest[:3]:
        return rest[rest.index("-m") + 1] if rest[-1] != "-m" else ""
    script = next((word for word in rest if not word.startswith("-")), "")
    # What was given with -c is nobody's name.
    return "" if "-c" in rest[:3] else _ENDING.sub("", os.path.basename(script))


def describe_caller(pid: int | None = None) -> dict[str, Any]:
    """The caller of this command; of another process only what can be seen from outside."""
    found = _find_lasting_process(pid or os.getppid())
    until = datetime.fromtimestamp(time.time(), UTC) + LEASE
    owner = {
        "host": host_name(),
        "boot": read_boot_id(),
        "pid": found,
        "born": _read_start_time(found),
        "until": until.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    session = "" if pid else find_session(os.environ)
    return {**owner, "session": session} if session else owner


def find_session(environ: Mapping[str, str]) -> str:
    """The session of the agent that calls; all of them where one agent was started by another."""
    if _NAMELESS in environ:
        return ""
    known = (
        (agent, next((environ[name] for name in names if environ.get(name)), ""))
        for agent, names in _SESSION_VARIABLES.items()
    )
    return " ".join(f"{agent}:{name[:_LONGEST_NAME]}" for agent, name in known if name)


def is_owner_present(owner: Mapping[str, Any] | None) -> bool:
    """Whether whoever claimed something may still be at it; in doubt, until the claim ends."""
    if not owner:
        return False
    if owner.get("host") == host_name() and owner.get("boot") != read_boot_id():
        return False
    if owner.get("host") == host_name() and owner.get("pid"):
        return _read_start_time(int(owner["pid"])) == owner.get("born")
    return str(owner.get("until", "")) > datetime.now(UTC).isoformat(timespec="seconds")


def is_same_owner(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    """Whether two claims are of one session, or below one process; else nobody can tell."""
    if not one:
        return False
    if have_sessions(one, other):
        return bool(one["session"] == other["session"])
    if not one.get("pid"):
        return False
    return all(one.get(name) == other.get(name) for name in ("host", "boot", "pid", "born"))


def have_sessions(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    return bool(one and one.get("session") and other.get("session"))


def _find_lasting_process(pid: int) -> int:
    """The nearest that is no launcher; where there is none, the shell of a terminal."""
    staying = (each for each in _list_ancestors(pid) if not is_launcher(each))
    return next(staying, 0) or next(filter(_has_terminal, _list_ancestors(pid)), 0)


def _list_ancestors(pid: int) -> Iterator[int]:
    """The first of all processes adopts orphans and is nobody's agent."""
    while pid > 1:
        yield pid
        stat = processes.read_stat(pid)
        pid = stat.parent if stat else 0


def _has_terminal(pid: int) -> bool:
    """Whether somebody types into it: it leads a session that has a terminal."""
    stat = processes.read_stat(pid)
    return stat is not None and stat.has_terminal and processes.find_session(pid) == pid


def _read_start_time(pid: int) -> str:
    """When a process began; a pid alone is given again."""
    stat = processes.read_stat(pid)
    return stat.began if stat and not stat.is_dead else ""
