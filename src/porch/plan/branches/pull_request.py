"""One open pull request for a branch, however often it is asked for."""

from msgspec import Struct

from porch.errors import FailedError, UsageError
from porch.git import worktrees
from porch.plan.branches import github
from porch.plan.branches.checkout import BranchCheckout, current_checkout, make_readable
from porch.store.where import ProjectPaths
from porch.text.references import defuse_references


class PullRequest(Struct, frozen=True, kw_only=True):
    """A branch that somebody is asked to pull."""

    success: bool = True
    pr_url: str
    base_branch: str
    head_branch: str
    remote: str
    created: bool
    note: str


def create_pr(where: ProjectPaths, title: str, body: str, *, draft: bool = False) -> PullRequest:
    """Push the branch we stand on, and ask for it to be pulled into the base branch."""
    here = current_checkout(where)
    _refuse_bad_request(here, title)
    remote = github.find_remote(here.toplevel, here.branch)
    # Asked first: a gh that is not there or not logged in is heard of before anything is pushed.
    known = github.find_open_pull_request(here.toplevel, here.branch)
    github.push_branch(here.toplevel, remote, here.branch)
    url = known or _create_pull_request(here, title, body, draft)
    return make_readable(
        PullRequest(
            pr_url=url,
            base_branch=here.base.branch,
            head_branch=here.branch,
            remote=remote,
            created=known is None,
            note=_describe_request(here, known),
        )
    )


def _create_pull_request(here: BranchCheckout, title: str, body: str, draft: bool) -> str:
    base = here.base.branch
    return github.create_pull_request(
        here.toplevel, base, here.branch, title.strip(), body=defuse_references(body), draft=draft
    )


def _refuse_bad_request(here: BranchCheckout, title: str) -> None:
    if not title.strip():
        raise UsageError("a pull request needs a title", fix="give --title TEXT")
    if here.branch == here.base.branch:
        raise FailedError(
            f"'{here.branch}' is the base branch itself; a pull request needs another branch",
            fix="switch to the branch with the work: git switch NAME",
            code="on-base-branch",
        )


def _describe_request(here: BranchCheckout, known: str | None) -> str:
    left = len(worktrees.list_changed_paths(here.toplevel))
    notes = (
        here.base.note,
        "it was already open; its title and text were not changed" if known else "",
        f"{left} uncommitted files are not part of it" if left else "",
    )
    return "; ".join(note for note in notes if note)
