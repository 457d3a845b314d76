"""What agents ask of git: the base branch and all that differs from it, and the way back to it."""

from typing import Any

from porch.adapters import base_branch, diffs, worktrees
from porch.adapters.git_command import attempt
from porch.adapters.where import Where
from porch.errors import FailedError, UsageError
from porch.operations.branches.leftovers import cleanup_worktrees
from porch.operations.branches.pulling import create_pr
from porch.operations.branches.standing import Standing, readable, stand

__all__ = [
    "checkout_base",
    "cleanup_worktrees",
    "create_pr",
    "diff_base",
    "get_base_branch",
    "is_base_branch",
]


def get_base_branch(where: Where) -> dict[str, Any]:
    here = stand(where)
    exists = base_branch.commit_of(here.toplevel, here.base.branch) is not None
    told = {"branch": here.base.branch, "source": here.base.source}
    return readable({**told, "exists": exists, "note": here.base.note})


def is_base_branch(where: Where) -> dict[str, Any]:
    here = stand(where)
    return readable(
        {
            "is_base": here.branch == here.base.branch,
            "current_branch": here.branch,
            "base_branch": here.base.branch,
            "is_direct": base_branch.is_direct(here.branch),
            "note": here.base.note,
        }
    )


def diff_base(
    where: Where,
    directory: str,
    *,
    path: str = "",
    summary: bool = False,
    cap: int = diffs.CAP,
) -> dict[str, Any]:
    """All that this checkout adds to the base; a relative path is one of the directory."""
    if cap < 0:
        raise UsageError("fewer than no bytes cannot be shown", fix="give --max-bytes 0 or more")
    here = stand(where)
    only = diffs.inside(here.toplevel, directory, path)
    found = diffs.against(here.toplevel, here.base.branch, path=only, summary=summary, cap=cap)
    told = {"current_branch": here.branch, "path": only, "note": here.base.note}
    return readable({**found.as_json(), **told})


def checkout_base(where: Where) -> dict[str, Any]:
    """Switch this checkout to the base; git carries along what is uncommitted, or refuses."""
    here = stand(where)
    base = here.base.branch
    if base != here.branch:
        _refuse_elsewhere(here)
        done = attempt(here.toplevel, "switch", "-q", "--", base)
        if done.returncode:
            raise _failed(base, done.stderr.strip(), "commit or stash what is in the way")
    return readable({"success": True, "branch": base, "previous_branch": here.branch})


def _refuse_elsewhere(here: Standing) -> None:
    known = worktrees.registered(here.toplevel)
    for each in known:
        if each.branch == here.base.branch and each is not worktrees.at(known, here.toplevel):
            why = f"it is checked out in {each.path}, and git allows no second one"
            raise _failed(here.base.branch, why, f"go there: cd {each.path}")


def _failed(base: str, why: str, fix: str) -> FailedError:
    words = readable(f"'{base}' could not be checked out: {why}")
    return FailedError(words, fix=readable(fix), code="checkout-failed")
