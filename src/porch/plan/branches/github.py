"""Pushing a branch and asking for it to be pulled: git and `gh`, never through a shell.

Both speak to the network, may ask for a password and may hang; so nobody is asked, and time ends.
"""

import json

from porch.errors import FailedError, OutsideError
from porch.git.command import try_git
from porch.git.gh_command import call_gh, last_lines, network_environment, network_timeout_s


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
    # On this machine it is a program that is started, and a repository may name another one.
    options = ("--porcelain", "--receive-pack=git-receive-pack")
    words = ("push", *options, remote, f"refs/heads/{branch}:refs/heads/{branch}")
    try:
        done = try_git(toplevel, *words, env=network_environment(), timeout_s=network_timeout_s())
    except OutsideError as error:
        raise _push_failed(remote, branch, error.findings[0].message) from error
    if done.returncode:
        raise _push_failed(remote, branch, f"{done.stderr}\n{done.stdout}")


def find_open_pull_request(toplevel: str, branch: str) -> str | None:
    """Where the open pull request of a branch is; None if there is none, or gh cannot tell."""
    words = ("pr", "view", branch, "--json", "url,state,headRefName")
    done = call_gh(toplevel, words)
    try:
        told = json.loads(done.out) if done.code == 0 else {}
    except ValueError:
        return None
    # A branch whose name is a number would be taken for that of a pull request.
    is_ours = isinstance(told, dict) and told.get("headRefName", branch) == branch
    return told.get("url") or None if is_ours and told.get("state") == "OPEN" else None


def create_pull_request(
    toplevel: str, base: str, head: str, title: str, *, body: str, draft: bool
) -> str:
    """Where the new pull request is, or the one that somebody else made meanwhile."""
    options = ("--base", base, "--head", head, "--title", title, "--body-file", "-")
    done = call_gh(toplevel, ("pr", "create", *options, *(("--draft",) if draft else ())), body)
    urls = [line for line in done.out.splitlines() if line.startswith(("https://", "http://"))]
    if done.code == 0 and urls:
        return urls[-1].strip()
    url = find_open_pull_request(toplevel, head)
    if url is None:
        raise OutsideError(
            f"gh did not make a pull request for '{head}'\n{last_lines(done.err or done.out)}",
            fix="fix what gh reports and try again; the branch is already pushed",
            code="pr-create-failed",
        )
    return url


def comment_on_pull_request(toplevel: str, url: str, *, body: str) -> None:
    done = call_gh(toplevel, ("pr", "comment", url, "--body-file", "-"), body)
    if done.code:
        raise OutsideError(
            f"gh did not write a comment to {url}\n{last_lines(done.err or done.out)}",
            fix="fix what gh reports and try again; the branch is already pushed",
            code="pr-comment-failed",
        )


def _push_failed(remote: str, branch: str, words: str) -> OutsideError:
    return OutsideError(
        f"'{branch}' could not be pushed to {remote}\n{last_lines(words)}",
        fix="fix what git reports and try again; no pull request was made",
        code="push-failed",
    )
