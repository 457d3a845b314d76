"""Calling git so that neither the caller's environment nor the repository's hooks bend the answer.

Hooks are off in all our own calls. Plumbing runs no commit hooks anyway; the rest (on index and
ref changes) would see half a commit and, since agents can write to `.git/hooks`, would let an agent
run code outside its sandbox. What a commit must satisfy is the business of a protocol's checks.

Nor is any program run that only the repository configures, as a filter, as a driver of merges, or
to reach a remote: whoever can write into `.git` could name any program there. What a person
configured for all their repositories still counts, such as `git lfs install`. So a file with a
filter that only the repository configures is committed as it lies there.

Only what pushes speaks to a remote, and only by the transports that are listed here: `ext::` is a
program, too. All other calls speak to nobody, so that an object that is missing in a partial clone
is not fetched on the way, which would run whatever its remote names.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from porch.errors import OutsideError
from porch.git import git_directory
from porch.system.short_process import ProcessEnd, SlowProcessError, run_program
from porch.system.variables import read_environment
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    class _SaidText(Protocol):
        stdout: str

    AskGit = Callable[[str, Sequence[str], Mapping[str, str]], _SaidText]
    # What is done while a git works, by whoever would only wait for it.
    Meanwhile = Callable[[], object]

# A merge of texts, as git does it where no driver is named.
_PLAIN_MERGE = "git merge-file --marker-size=%L %A %O %B"
_NEUTRAL = {
    late_pattern(r"filter\..*\.(?:clean|smudge|process)", re.DOTALL): "",
    late_pattern(r"filter\..*\.required", re.DOTALL): "false",
    late_pattern(r"merge\..*\.driver", re.DOTALL): _PLAIN_MERGE,
    late_pattern(r"core\.sshcommand"): "ssh",
    late_pattern(r"core\.askpass"): "",
}
_LOCK = late_pattern(
    r"Unable to create '([^\n]+)\.lock'|could not lock config file ([^\n]+): File exists"
)
_ASKED = (
    r"^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver"
    r"|core\.(sshcommand|askpass|gitproxy)|credential\.(.*\.)?helper)$"
)
# Without one of these words no file can name such a program.
_WORDS = (
    *(b"filter", b"driver", b"include"),
    *(b"sshcommand", b"askpass", b"gitproxy", b"helper"),
)
_OWN = ("local", "worktree")
_HELPER, _PROXY = ".helper", "core.gitproxy"
_known: dict[tuple[str, bytes], dict[str, str]] = {}

TIMEOUT_S = 120.0
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "advice.addEmbeddedRepo=false",
    # With it a search mixes in other repositories, and a move of files stops half way.
    "submodule.recurse=false",
    # Signatures are made and checked by programs that a repository may name.
    "commit.gpgSign=false",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    "push.gpgSign=false",
    # Not in the middle of a run; the person's own git sees to it.
    "maintenance.auto=false",
    "gc.auto=0",
)
_FLAGS = tuple(word for setting in _SETTINGS for word in ("-c", setting))


class GitEnd:
    """How a git ended, and what it said as text."""

    __slots__ = ("returncode", "stderr", "stdout")

    def __init__(self, returncode: int, stdout: str, stderr: str) -> None:
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    # Optional locks are for showing things quickly; they would get in the way of the user's git.
    "GIT_OPTIONAL_LOCKS": "0",
    # An object is what its name says, whatever a ref of the repository puts in its place.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_EDITOR": ":",
    "GIT_ALLOW_PROTOCOL": "none",
    # Not every git knows it; where no protocol is allowed, the same follows.
    "GIT_NO_LAZY_FETCH": "1",
}
# For what pushes.
TRANSPORTS = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
_NOT_FETCHED = late_pattern(r"lazy fetching disabled|promisor|transport '.*' not allowed")


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Hooks export GIT_DIR and its kin, which would turn every call to another repository."""
    kept = {n: value for n, value in read_environment().items() if not n.startswith("GIT_")}
    return kept | _FIXED | dict(extra or {})


def try_git(
    directory: str,
    *words: str,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout_s: float = TIMEOUT_S,
    meanwhile: Meanwhile | None = None,
) -> GitEnd:
    """Run git there and answer however it ended; only a git that cannot run at all raises."""

    is_own = bool(env) and "GIT_DIR" in (env or {})
    extra = {**({} if is_own else disarm_environment(directory, call_git)), **(env or {})}
    return call_git(directory, words, extra, stdin=stdin, timeout_s=timeout_s, meanwhile=meanwhile)


def call_git(
    directory: str,
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: str = "",
    timeout_s: float = TIMEOUT_S,
    is_exact: bool = False,
    meanwhile: Meanwhile | None = None,
) -> GitEnd:
    """Run git with exactly these variables of git's own; every end of a line is one newline.

    With `is_exact` they stay as they are: otherwise a file could have lines that look like git's.
    """
    data = stdin.encode("utf-8", "surrogateescape")
    done = _start_git(directory, words, env, stdin=data, timeout_s=timeout_s, meanwhile=meanwhile)
    out = _decode_output(done.out) if is_exact else _join_line_ends(_decode_output(done.out))
    return GitEnd(done.returncode, out, _join_line_ends(_decode_output(done.err)))


def _start_git(
    directory: str,
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: bytes = b"",
    timeout_s: float | None = None,
    meanwhile: Meanwhile | None = None,
) -> ProcessEnd:
    """The one place where git is started."""
    command = ("git", *_FLAGS, "-C", directory, *words)
    try:
        return run_program(command, git_environment(env), stdin, timeout_s, meanwhile)
    except FileNotFoundError as error:
        raise OutsideError(
            "git was not found on PATH", fix="install git, or add it to PATH"
        ) from error
    except SlowProcessError as error:
        raise OutsideError(
            f"`git {' '.join(words)}` in {directory} did not finish within {timeout_s:g} s",
            fix="check for a git process that hangs or a slow disk, then try again",
        ) from error


def _decode_output(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _join_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def run_git(
    directory: str,
    *words: str,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    meanwhile: Meanwhile | None = None,
) -> str:
    """The output of a git that must succeed; `meanwhile` is called while it works."""
    done = try_git(directory, *words, env=env, stdin=stdin, meanwhile=meanwhile)
    if done.returncode:
        raise git_error(directory, words, done)
    return done.stdout


def run_exact_git(
    directory: str,
    *words: str,
    env: Mapping[str, str],
    stdin: str = "",
    meanwhile: Meanwhile | None = None,
) -> str:
    """The same in a git directory that `env` names; every character is one of the output."""
    done = call_git(directory, words, env, stdin=stdin, is_exact=True, meanwhile=meanwhile)
    if done.returncode:
        raise git_error(directory, words, done)
    return done.stdout


def read_git_bytes(directory: str, *words: str, env: Mapping[str, str] | None = None) -> bytes:
    """The same, byte for byte: as text, line ends and other encodings would not survive."""
    done = _start_git(directory, words, env or {})
    if done.returncode:
        said = done.err.decode("utf-8", "replace")
        raise git_error(directory, words, GitEnd(done.returncode, "", said))
    return done.out


def git_error(directory: str, words: Sequence[str], done: GitEnd) -> OutsideError:
    if lock := _LOCK.search(done.stderr):
        return lock_error(f"{lock[1] or lock[2]}.lock", words[0])
    last = "\n".join(f"  {line}" for line in done.stderr.strip().splitlines()[-8:])
    message = (
        f"`git {' '.join(words)}` in {directory} failed with exit code {done.returncode}\n{last}"
    )
    if words[0] != "push" and _NOT_FETCHED.search(done.stderr):
        fix = "porch fetches nothing: get the missing files, for example by `git fetch --refetch "
        fix += "--no-filter`, then try again"
        return OutsideError(message.rstrip(), fix=fix)
    return OutsideError(message.rstrip(), fix="fix what git reports, then try again")


def lock_error(lock: str, command: str) -> OutsideError:
    """Another git command works, or died; the lock comes first, because logs cut long lines."""
    name = lock[lock.rfind("/.git/") + 1 :]
    return OutsideError(
        f"{name} exists, so `git {command}` could not write{_describe_age(lock)}",
        fix=f"wait until no other git command runs here, remove {name} if it is still there, "
        "then try again",
        code="git-locked",
    )


def _describe_age(lock: str) -> str:
    import time

    try:
        seconds = max(0, int(time.time() - os.stat(lock).st_mtime))
    except OSError:
        return ""
    minutes = seconds // 60
    return f" (the file is {f'{minutes} min' if minutes else f'{seconds} s'} old)"


def disarm_environment(directory: str, ask_git: AskGit) -> dict[str, str]:
    """Variables by which git runs no program that only this repository configures."""
    found = _find_git_directory(directory)
    if found is None:
        return {}
    files = {os.path.join(found.common, "config"), os.path.join(found.own, "config.worktree")}
    text = b"\0".join(_read_bytes(path) for path in sorted(files))
    if not any(word in text.lower() for word in _WORDS):
        return {}
    # A file that is included may change without a change here.
    key = (found.own, text)
    if key not in _known or b"include" in text.lower():
        _known[key] = _make_environment(_list_programs(directory, ask_git))
    return _known[key]


def _make_environment(rows: list[tuple[str, str, str]]) -> dict[str, str]:
    own = {key for scope, key, _ in rows if scope in _OWN}
    general = [(key, value) for scope, key, value in rows if scope not in _OWN]
    helpers = [(key, value) for key, value in general if key.endswith(_HELPER)]
    plain = sorted(key for key in own if not key.endswith(_HELPER) and key != _PROXY)
    values = [(key, dict(general).get(key, _neutral_value(key))) for key in plain]
    if any(key.endswith(_HELPER) for key in own):
        # All of them are asked; an empty one has git forget those before it.
        values += [("credential.helper", ""), *helpers]
    # Of proxies the first counts, and this comes before all of them.
    proxy = {"GIT_PROXY_COMMAND": ""} if _PROXY in own else {}
    return _make_variables(values) | proxy


def _make_variables(values: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Settings for a git and for every git that it starts."""
    pairs = {
        name: text
        for number, (key, value) in enumerate(values)
        for name, text in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", value))
    }
    return {"GIT_CONFIG_COUNT": str(len(values)), **pairs} if values else {}


def careful_environment(directory: str) -> dict[str, str]:
    """Variables by which somebody else's calls of git are as careful as ours."""
    own = disarm_environment(directory, call_git)
    known = int(own.get("GIT_CONFIG_COUNT", "0"))
    values = [(own[f"GIT_CONFIG_KEY_{n}"], own[f"GIT_CONFIG_VALUE_{n}"]) for n in range(known)]
    settings = [(key, value) for key, _, value in (each.partition("=") for each in _SETTINGS)]
    return git_environment({**own, **_make_variables([*settings, *values])})


def _neutral_value(key: str) -> str:
    return next(value for pattern, value in _NEUTRAL.items() if pattern.fullmatch(key))


def _list_programs(directory: str, ask_git: AskGit) -> list[tuple[str, str, str]]:
    """Scope, key and value of everything that could be run."""
    words = ("config", "--show-scope", "-z", "--get-regexp", _ASKED)
    parts = ask_git(directory, words, {}).stdout.split("\0")
    rows = zip(parts[0::2], parts[1::2], strict=False)
    return [(scope, *_split_entry(entry)) for scope, entry in rows]


def _split_entry(entry: str) -> tuple[str, str]:
    key, _, value = entry.partition("\n")
    return key, value


def _find_git_directory(directory: str) -> git_directory.GitDirectory | None:
    here = os.path.abspath(directory)
    while True:
        found = git_directory.find_git_directory(here)
        if found is not None:
            return found
        if os.path.isfile(os.path.join(here, "HEAD")) and os.path.isfile(
            os.path.join(here, "config")
        ):
            return git_directory.GitDirectory(here, here)
        if os.path.dirname(here) == here:
            return None
        here = os.path.dirname(here)


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
