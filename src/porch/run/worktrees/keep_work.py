"""Keeping everything of a worktree that goes: on `archive/<branch>`, where people see it."""

import os

from msgspec import Struct

from porch.errors import OutsideError
from porch.git import repository, worktrees
from porch.git.command import git_error, run_git, try_git
from porch.git.moves.checkout_repair import SALVAGE, salvage_uncommitted

# In this order; a person may have a branch called `archive`, under which git can keep nothing.
ARCHIVE_BRANCHES = ("refs/heads/archive/", worktrees.ARCHIVE)


class KeptBranch(Struct, frozen=True):
    """Where the commits of a branch can be found when it is gone; `salvaged` were uncommitted.

    `commit` is the last of them.
    """

    ref: str = ""
    merged_into: str = ""
    salvaged: tuple[str, ...] = ()
    commit: str = ""

    @property
    def name(self) -> str:
        """What a person calls the branch that has them."""
        return self.ref.removeprefix("refs/heads/") or self.merged_into


def keep_branch(
    repo: str, path: str, branch: str, own: tuple[str, ...], into: str = ""
) -> KeptBranch:
    """Keep what is not kept elsewhere: the uncommitted files, and the commits of the branch.

    `own` are files that porch put there; they are copies. If several branches have the commits,
    `into` is the one that people know.
    """
    head = repository.resolve_commit(repo, f"refs/heads/{branch}")
    left = _list_left(path, own)
    commit = _join_commits(repo, branch, _find_tip(path, branch, own, bool(left)), head)
    if commit is None:
        return KeptBranch()
    kept_by = _find_other_branch(repo, commit, branch, into)
    if kept_by:
        return KeptBranch(merged_into=kept_by, commit=commit)
    ref = _keep_under_ref(repo, branch, commit)
    return KeptBranch(ref=ref, salvaged=tuple(left), commit=commit)


def _list_left(path: str, own: tuple[str, ...]) -> list[str]:
    if not os.path.isdir(path):
        return []
    left = [name for name in worktrees.list_changed_paths(path) if name not in own]
    inner = [name for name in left if name.endswith("/")]
    if inner:
        raise OutsideError(
            f"{path} contains another git repository ({inner[0]}), which porch cannot save",
            fix="move it somewhere else, then try again",
        )
    return left


def refuse_unsaved_submodules(path: str) -> None:
    """The commits of a submodule lie in the worktree's own git directory and would go with it."""
    for name in list_submodules(path):
        inner = os.path.join(path, name)
        unpushed = run_git(inner, "rev-list", "-1", "HEAD", "--branches", "--not", "--remotes")
        if unpushed.strip() or worktrees.list_changed_paths(inner):
            raise OutsideError(
                f"the submodule {inner} has work that is nowhere else",
                fix=f"commit it and push it from {inner}, then try again",
                code="unsaved-submodule",
            )
        refuse_unsaved_submodules(inner)


def list_submodules(path: str) -> list[str]:
    """Those that are checked out; of the others there is nothing to lose."""
    rows = run_git(path, "ls-files", "-s", "-z").split("\0")
    names = [row.partition("\t")[2] for row in rows if row.startswith("160000 ")]
    return [name for name in names if os.path.lexists(os.path.join(path, name, ".git"))]


def _find_tip(path: str, branch: str, own: tuple[str, ...], has_left: bool) -> str | None:
    """What stands in the worktree; uncommitted files become a commit on top of it."""
    if not os.path.isdir(path):
        return None
    said = f"Left uncommitted in {branch}"
    salvaged = salvage_uncommitted(path, SALVAGE + branch, said, own) if has_left else None
    return salvaged or repository.read_head(path)


def _join_commits(repo: str, branch: str, tip: str | None, head: str | None) -> str | None:
    """One commit from which both can be reached: the worktree may not have stood on its branch."""
    if tip is None or head is None or tip == head:
        return tip or head
    words = ("merge-base", "--is-ancestor")
    if try_git(repo, *words, head, tip).returncode == 0:
        return tip
    if try_git(repo, *words, tip, head).returncode == 0:
        return head
    tree = repository.read_commit_tree(repo, tip)
    made = ("commit-tree", tree, "-p", tip, "-p", head, "-m", f"Left in the worktree of {branch}")
    return run_git(repo, *made, env=repository.read_commit_identity(repo)).strip()


def _find_other_branch(repo: str, commit: str, branch: str, into: str) -> str:
    """Another branch, here or at a remote, from which the commit can be reached."""
    words = ("for-each-ref", "--format=%(refname)", "--contains", commit)
    refs = run_git(repo, *words, "refs/heads", "refs/remotes").splitlines()
    others = [ref for ref in refs if ref != f"refs/heads/{branch}"]
    best = min(others, key=lambda ref: ref != f"refs/heads/{into}", default="")
    return best.partition("/")[2].partition("/")[2]


def _keep_under_ref(repo: str, branch: str, commit: str) -> str:
    """One that keeps something else already is not moved: the next gets a number."""
    for front in ARCHIVE_BRANCHES:
        for number in range(1, 1000):
            ref = f"{front}{branch}" + (f"-{number}" if number > 1 else "")
            known = repository.resolve_commit(repo, ref)
            if known in (None, commit):
                words = ("update-ref", ref, commit, known or "0" * len(commit))
                done = try_git(repo, *words)
                if done.returncode == 0:
                    return ref
                error = git_error(repo, words, done)
                if error.findings[0].code == "git-locked":
                    raise error
                break
    raise OutsideError(
        f"the commits of {branch} could not be kept under archive/{branch}",
        fix=f"keep them by hand: git branch NAME {commit}, then try again",
    )
