"""Pushing a branch and asking for it to be pulled: git and `gh`, never through a shell.

Both speak to the network, may ask for a password and may hang; so nobody is asked, and time ends.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping

from msgspec import Struct

from porch.errors import FailedError, OutsideError
from porch.git.command import git_environment, try_git

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


def find_remote(toplevel: str, branch: str) -> str:
    """The remote that a branch follows, else origin."""
    known = try_git(toplevel, "remote").stdout.split("\n")
    follows = try_git(toplevel, "config", "--get", f"branch.{branch}.remote").stdout.strip()
    found = next((name for name in (follows, "origin") if name and name in known), None)
    if found is None:
        raise FailedError(
            f"there is no remote to push '{branch}' to",
            fix="add one: git remote add origin URL",
            code="no-remote",
        )
    return found


def push_branch(toplevel: str, remote: str, branch: str) -> None:
    """Under its own name: the branch that it follows may well be the base."""
    words = ("push", "--porcelain", remote, f"refs/heads/{branch}:refs/heads/{branch}")
    try:
        done = try_git(toplevel, *words, env=_network_environment(), timeout_s=network_timeout_s())
    except OutsideError as error:
        raise _push_failed(remote, branch, error.findings[0].message) from error
    if done.returncode:
        raise _push_failed(remote, branch, f"{done.stderr}\n{done.stdout}")


def find_open_pull_request(toplevel: str, branch: str) -> str | None:
    """Where the open pull request of a branch is; None if there is none, or gh cannot tell."""
    words = ("pr", "view", branch, "--json", "url,state,headRefName")
    done = _call_gh(toplevel, words)
    try:
        told = json.loads(done.out) if done.code == 0 else {}
    except ValueError:
        return None
    # A branch whose name is a number would be taken for that of a pull request.
    is_ours = isinstance(told, dict) and told.get("headRefName", branch) == branch
    return told.get("url") or None if is_ours and told.get("state") == "OPEN" else None


def create_pull_request(
    toplevel: str, base: str, head: str, title: str, body: str, draft: bool
) -> str:
    """Where the new pull request is, or the one that somebody else made meanwhile."""
    options = ("--base", base, "--head", head, "--title", title, "--body-file", "-")
    done = _call_gh(toplevel, ("pr", "create", *options, *(("--draft",) if draft else ())), body)
    urls = [line for line in done.out.splitlines() if line.startswith(("https://", "http://"))]
    if done.code == 0 and urls:
        return urls[-1].strip()
    url = find_open_pull_request(toplevel, head)
    if url is None:
        raise OutsideError(
            f"gh did not make a pull request for '{head}'\n{_last_lines(done.err or done.out)}",
            fix="fix what gh reports and try again; the branch is already pushed",
            code="pr-create-failed",
        )
    return url


def _network_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _REACHING if name in os.environ}


def _push_failed(remote: str, branch: str, words: str) -> OutsideError:
    return OutsideError(
        f"'{branch}' could not be pushed to {remote}\n{_last_lines(words)}",
        fix="fix what git reports and try again; no pull request was made",
        code="push-failed",
    )


def _last_lines(words: str) -> str:
    lines = [line for line in words.strip().splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[-8:])


def _call_gh(toplevel: str, words: tuple[str, ...], stdin: str = "") -> GhResult:
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
            f"gh is not logged in\n{_last_lines(done.err)}",
            fix="run `gh auth login`, or set GH_TOKEN",
            code="gh-not-authenticated",
        )
    return done


def _run_process(argv: tuple[str, ...], cwd: str, stdin: str) -> GhResult:
    quiet = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
    # In a session of its own it has no terminal to ask at, and can be ended with all it started.
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=git_environment({**_network_environment(), **quiet}),
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
