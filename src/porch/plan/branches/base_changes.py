"""What agents ask of git: the base branch and all that differs from it, and the way back to it."""

from collections.abc import Sequence

from msgspec import Struct

from porch.errors import FailedError, UsageError
from porch.git import worktrees
from porch.git.command import try_git
from porch.plan.branches import base_branch, branch_diff
from porch.plan.branches.branch_diff import ChangedFile
from porch.plan.branches.checkout import BranchCheckout, current_checkout, make_readable
from porch.store.where import ProjectPaths


class BaseBranch(Struct, frozen=True, kw_only=True):
    """The branch that work goes back to, and how it is known."""

    branch: str
    source: str
    exists: bool
    note: str


class BaseComparison(Struct, frozen=True, kw_only=True):
    """Whether we stand on the base branch."""

    is_base: bool
    current_branch: str
    base_branch: str
    is_direct: bool
    note: str


class BaseDiff(Struct, frozen=True, kw_only=True):
    """All that differs from the base branch."""

    base_branch: str
    merge_base: str
    changed_files: Sequence[ChangedFile]
    added: int
    deleted: int
    diff: str
    truncated: bool
    bytes_total: int | None
    bytes_shown: int
    truncated_files: Sequence[str]
    current_branch: str
    path: str
    note: str


class BaseCheckedOut(Struct, frozen=True, kw_only=True):
    """The checkout is on its base branch."""

    success: bool = True
    branch: str
    previous_branch: str


def get_base_branch(where: ProjectPaths) -> BaseBranch:
    here = current_checkout(where)
    exists = base_branch.branch_commit(here.toplevel, here.base.branch) is not None
    base = here.base
    return make_readable(
        BaseBranch(branch=base.branch, source=base.source, exists=exists, note=base.note)
    )


def is_base_branch(where: ProjectPaths) -> BaseComparison:
    here = current_checkout(where)
    return make_readable(
        BaseComparison(
            is_base=here.branch == here.base.branch,
            current_branch=here.branch,
            base_branch=here.base.branch,
            is_direct=base_branch.is_protected_branch(here.branch),
            note=here.base.note,
        )
    )


def diff_base(
    where: ProjectPaths,
    directory: str,
    *,
    path: str = "",
    summary: bool = False,
    cap: int = branch_diff.CAP,
) -> BaseDiff:
    """All that this checkout adds to the base; a relative path is one of the directory."""
    if cap < 0:
        raise UsageError("--max-bytes cannot be negative", fix="give --max-bytes 0 or more")
    here = current_checkout(where)
    only = branch_diff.path_from_top(here.toplevel, directory, path)
    found = branch_diff.read_branch_diff(
        here.toplevel, here.base.branch, path=only, summary=summary, cap=cap
    )
    return make_readable(
        BaseDiff(
            base_branch=found.base,
            merge_base=found.merge_base,
            changed_files=[each.row() for each in found.files],
            added=sum(each.added or 0 for each in found.files),
            deleted=sum(each.deleted or 0 for each in found.files),
            diff=found.text,
            truncated=found.truncated,
            bytes_total=found.bytes_total,
            bytes_shown=found.bytes_shown,
            truncated_files=list(found.cut_files),
            current_branch=here.branch,
            path=only,
            note=here.base.note,
        )
    )


def checkout_base(where: ProjectPaths) -> BaseCheckedOut:
    """Switch this checkout to the base; git carries along what is uncommitted, or refuses."""
    here = current_checkout(where)
    base = here.base.branch
    if base != here.branch:
        _refuse_elsewhere(here)
        done = try_git(here.toplevel, "switch", "-q", "--", base)
        if done.returncode:
            raise _checkout_error(base, done.stderr.strip(), "commit or stash your changes")
    return make_readable(BaseCheckedOut(branch=base, previous_branch=here.branch))


def _refuse_elsewhere(here: BranchCheckout) -> None:
    known = worktrees.list_worktrees(here.toplevel)
    for each in known:
        if each.branch == here.base.branch and each is not worktrees.find_worktree(
            known, here.toplevel
        ):
            why = f"it is checked out in {each.path}, and git allows only one checkout"
            raise _checkout_error(here.base.branch, why, f"go there: cd {each.path}")


def _checkout_error(base: str, why: str, fix: str) -> FailedError:
    words = make_readable(f"'{base}' could not be checked out: {why}")
    return FailedError(words, fix=make_readable(fix), code="checkout-failed")
