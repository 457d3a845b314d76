"""Small moves of refs and files that the tree of instances needs."""

from collections.abc import Sequence
from functools import lru_cache

from porch.git import git_directory, repository
from porch.git.command import run_git
from porch.git.moves.own_refs import delete_own_refs, set_own_ref


def set_ref(repo: str, ref: str, commit: str) -> None:
    """A ref that is made anew where it is missing, so it need not outlive a power cut."""
    set_own_ref(repo, ref, commit, sync=False)


def check_out_files(worktree: str, commit: str, files: Sequence[str]) -> None:
    """Have these files of a commit in a scratch worktree, whatever else lies there."""
    run_git(worktree, "checkout", "-q", commit, "--", *(f":(top,literal){name}" for name in files))


def read_committed_file(repo: str, commit: str, path: str) -> str:
    """The text of a file as it is in a commit."""
    return run_git(repo, "cat-file", "blob", f"{commit}:{path}")


def find_merge_base(repo: str, one: str, other: str) -> str:
    """Of two commits, or of the branches of these names."""
    ends = [repository.resolve_branch_or_commit(repo, name) for name in (one, other)]
    return _find_base_of_commits(repo, *ends)


@lru_cache(maxsize=256)
def _find_base_of_commits(repo: str, one: str, other: str) -> str:
    """On what commits stand never changes."""
    if one == other or git_directory.has_near_ancestor(repo, other, one):
        return one
    return run_git(repo, "merge-base", one, other).strip()


def remove_refs(repo: str, prefix: str) -> None:
    """Delete all refs under a prefix; what they named stays reachable from elsewhere."""
    names = git_directory.list_own_refs(repo, prefix)
    if isinstance(names, git_directory.Unknown):
        names = run_git(repo, "for-each-ref", "--format=%(refname)", prefix).split()
    delete_own_refs(repo, names)
