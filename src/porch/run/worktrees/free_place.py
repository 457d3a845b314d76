"""Whether a worktree can be made: a commit to begin at, a directory and a branch that are free.

A branch that exists may hold a person's commits, so it is refused even where it looks unused.
"""

import os

from porch.errors import UsageError
from porch.git import git_directory, repository, worktrees
from porch.git.command import run_git
from porch.git.moves.checkout_move import is_empty_directory
from porch.store.where import ProjectPaths

_HERE = "or add --here to go without a worktree"


def require_base(where: ProjectPaths, base: str) -> str:
    """The commit at which the worktree begins."""
    if not where.common_dir:
        raise UsageError(
            "a worktree needs a git repository, and this is not one",
            fix=f"run `codev init --yes`, which makes one with a first commit; {_HERE}",
            code="no-repository",
        )
    _require_plain_repository(where)
    commit = repository.resolve_commit(where.workspace, base)
    if commit is None and base == "HEAD":
        raise UsageError(
            "a worktree needs a commit to begin at, and this repository has none",
            fix=f"run `codev init --yes`, which makes the first commit; {_HERE}",
            code="no-commit",
        )
    if commit is None:
        raise UsageError(
            f"there is no commit '{base}'", fix="name a branch or a commit that exists"
        )
    return commit


def _require_plain_repository(where: ProjectPaths) -> None:
    """From a worktree of such a repository nobody would find the way to its main checkout."""
    if "\n" in where.common_dir:
        raise UsageError(
            "the path of this repository contains a line break, and git lists worktrees by line",
            fix=f"rename the directory whose name contains it; {_HERE}",
            code="line-break-in-path",
        )
    is_plain = os.path.basename(where.common_dir) == ".git"
    if not is_plain and where.is_bare:
        found = repository.find_repository(where.common_dir)
        is_plain = found is not None and found.bare
    if not is_plain:
        raise UsageError(
            f"the git directory of this repository is elsewhere ({where.common_dir}): "
            "a submodule, or made with --separate-git-dir",
            fix=f"work in a clone of the repository; {_HERE}",
            code="git-directory-elsewhere",
        )


def require_free_place(where: ProjectPaths, path: str, branch: str) -> None:
    _require_free_branch(where.base, branch)
    require_free_directory(where, path)


def require_free_directory(where: ProjectPaths, path: str) -> None:
    here = worktrees.find_worktree(worktrees.list_worktrees(where.base), path)
    if (
        here is not None
        and not here.half_made
        and (os.path.lexists(path) or _is_locked(where, path))
    ):
        raise _taken_error(path, "is a worktree already", f"git worktree remove {path}")
    is_half_made = here is not None and here.half_made
    if os.path.lexists(path) and not is_half_made and not is_empty_directory(path):
        raise _taken_error(path, "is there already", f"mv {path} {path}.old")


def _taken_error(path: str, what: str, way: str) -> UsageError:
    return UsageError(
        f"{path} {what}, and porch did not make it for this run",
        fix=f"look what is in it, then move it away: {way}",
        code="worktree-taken",
    )


def _is_locked(where: ProjectPaths, path: str) -> bool:
    known = git_directory.list_linked_worktrees(worktrees.require_common_dir(where.base))
    real = os.path.realpath(path)
    return any(each.locked for each in known if os.path.realpath(each.path) == real)


def _require_free_branch(repo: str, branch: str) -> None:
    """Also below it: git cannot have `a` and `a/b` at the same time."""
    if git_directory.is_free_branch(repo, branch):
        return
    prefix = f"refs/heads/{branch}"
    taken = run_git(repo, "for-each-ref", "--format=%(refname:short)", prefix, f"{prefix}/")
    for name in taken.splitlines():
        raise make_branch_error(repo, name)


def make_branch_error(repo: str, branch: str) -> UsageError:
    """Whose branch it is porch cannot know; a person can."""
    stands = next((w.path for w in worktrees.list_worktrees(repo) if w.branch == branch), "")
    at = f" (checked out in {stands})" if stands else ""
    return UsageError(
        f"the branch '{branch}' exists already{at}, and porch did not make it for this run",
        fix=f"rename it: git branch -m {branch} {branch}-old; or, if it is merged, delete it: "
        f"git branch -d {branch}",
        code="branch-exists",
    )


def require_free_tree(where: ProjectPaths, branch: str) -> None:
    """The branches of a tree: the one of its root, those below it, and those of its tests.

    An instance whose name holds a slash lies below; a branch above would be in the way.
    """
    parts = branch.split("/")
    above = [f"refs/heads/{'/'.join(parts[:n])}" for n in range(1, len(parts))]
    patterns = (f"refs/heads/{branch}{end}" for end in ("", "/", ".*", "--*"))
    words = ("for-each-ref", "--format=%(refname)", *patterns)
    taken = run_git(where.root, *words).splitlines()
    taken += [ref for ref in above if repository.resolve_commit(where.root, ref)]
    for ref in taken:
        raise make_branch_error(where.root, ref.removeprefix("refs/heads/"))
