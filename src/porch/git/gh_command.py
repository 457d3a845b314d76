"""Calling `gh`, the command line of GitHub: never through a shell, and never without an end.

It speaks to the network, may ask for a password and may hang; so nobody is asked, and time ends.
"""

import os
from collections.abc import Mapping

from msgspec import Struct

from porch.errors import OutsideError
from porch.git.command import TRANSPORTS, careful_environment

VARIABLE = "ENVOY_TIMEOUT_MS"
TIMEOUT_S = 120.0
NEEDS_LOGIN = 4
# How a person reaches the remote; the other GIT_ variables would turn us to another repository.
_REACHING = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_PROXY_COMMAND")
_LOGIN_WORDS = ("gh auth login", "HTTP 401")


class GhResult(Struct, frozen=True):
    """How `gh` ended, and what it said."""

    code: int
    out: str
    err: str


def network_timeout_s(environ: Mapping[str, str] = os.environ) -> float:
    try:
        given = int(environ.get(VARIABLE, ""))
    except ValueError:
        return TIMEOUT_S
    return given / 1000 if given > 0 else TIMEOUT_S


def network_environment() -> dict[str, str]:
    return {**TRANSPORTS, **{name: os.environ[name] for name in _REACHING if name in os.environ}}


def last_lines(words: str) -> str:
    lines = [line for line in words.strip().splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[-8:])


def call_gh(toplevel: str, words: tuple[str, ...], stdin: str = "") -> GhResult:
    import shutil  # only few commands ask GitHub

    place = shutil.which("gh")
    if place is None:
        raise OutsideError(
            "gh, the command line of GitHub, is not on PATH",
            fix="install it (https://cli.github.com) and run `gh auth login`",
            code="gh-not-found",
        )
    done = _run_process((place, *words), toplevel, stdin)
    if done.code == NEEDS_LOGIN or (done.code and any(w in done.err for w in _LOGIN_WORDS)):
        raise OutsideError(
            f"gh is not logged in\n{last_lines(done.err)}",
            fix="run `gh auth login`, or set GH_TOKEN",
            code="gh-not-authenticated",
        )
    return done


def _run_process(argv: tuple[str, ...], cwd: str, stdin: str) -> GhResult:
    import signal
    import subprocess

    quiet = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
    # In a session of its own it has no terminal to ask at, and can be ended with all it started.
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env={**careful_environment(cwd), **network_environment(), **quiet},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            out, err = process.communicate(stdin, network_timeout_s())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return GhResult(
                -signal.SIGKILL, out, f"{err}\nit did not end within {network_timeout_s():g} s"
            )
    return GhResult(process.returncode, out, err)
