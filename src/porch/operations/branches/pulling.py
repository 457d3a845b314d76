"""One open pull request for a branch, however often it is asked for."""

from typing import Any

from porch.adapters import pull_requests, worktrees
from porch.adapters.where import Where
from porch.errors import FailedError, UsageError
from porch.operations.branches.standing import Standing, readable, stand


def create_pr(where: Where, title: str, body: str, *, draft: bool = False) -> dict[str, Any]:
    """Push the branch we stand on, and ask for it to be pulled into the base branch."""
    here = stand(where)
    _refuse(here, title)
    remote = pull_requests.remote_of(here.toplevel, here.branch)
    # Asked first: a gh that is not there or not logged in is heard of before anything is pushed.
    known = pull_requests.find_open(here.toplevel, here.branch)
    pull_requests.push(here.toplevel, remote, here.branch)
    url = known or _created(here, title, body, draft)
    return readable(
        {
            "success": True,
            "pr_url": url,
            "base_branch": here.base.branch,
            "head_branch": here.branch,
            "remote": remote,
            "created": known is None,
            "note": _note(here, known),
        }
    )


def _created(here: Standing, title: str, body: str, draft: bool) -> str:
    base = here.base.branch
    return pull_requests.create(here.toplevel, base, here.branch, title.strip(), body, draft)


def _refuse(here: Standing, title: str) -> None:
    if not title.strip():
        raise UsageError("a pull request needs a title", fix="give --title TEXT")
    if here.branch == here.base.branch:
        raise FailedError(
            f"'{here.branch}' is the base branch itself; there is nothing to pull it into",
            fix="switch to the branch with the work: git switch NAME",
            code="on-base-branch",
        )


def _note(here: Standing, known: str | None) -> str:
    left = len(worktrees.dirty(here.toplevel))
    notes = (
        here.base.note,
        "it was open already; its title and text are as they were" if known else "",
        f"{left} uncommitted files are not part of it" if left else "",
    )
    return "; ".join(note for note in notes if note)
