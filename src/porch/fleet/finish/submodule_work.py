"""Commits of submodules that a run made: who merges them without pushing them merges a gap."""

import os
import shlex

from porch.errors import FailedError
from porch.fleet.finish.run_work import RunWork
from porch.git.command import try_git
from porch.run.worktrees.keep_work import list_submodules


def refuse_unpushed_submodules(work: RunWork) -> None:
    """Only the worktree of the run has such a commit, and nobody could check the merge out."""
    if not os.path.exists(os.path.join(work.workspace, ".gitmodules")):
        return
    for name in list_submodules(work.workspace):
        commit = _read_link(work, work.head, name)
        inner = os.path.join(work.workspace, name)
        if commit != _read_link(work, work.into, name) and _is_unpushed(inner, commit):
            raise FailedError(
                f"the submodule {name} is at {commit[:12]}, and only {inner} has that commit",
                fix=f"push it: git -C {shlex.quote(inner)} push origin HEAD:refs/heads/BRANCH; "
                "then finish again; --keep leaves everything as it is",
                code="finish-unpushed-submodule",
            )


def _read_link(work: RunWork, at: str, name: str) -> str:
    return try_git(work.repo, "rev-parse", "-q", "--verify", f"{at}:{name}").stdout.strip()


def _is_unpushed(inner: str, commit: str) -> bool:
    """Of a commit that is not even there, nothing can be said."""
    return bool(try_git(inner, "rev-list", "-1", commit, "--not", "--remotes").stdout.strip())
