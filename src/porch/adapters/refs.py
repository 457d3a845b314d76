"""Small moves of refs and files that the tree of instances needs."""

from collections.abc import Sequence

from porch.adapters.git_command import ask


def set_ref(repo: str, ref: str, commit: str) -> None:
    ask(repo, "update-ref", ref, commit)


def overlay(worktree: str, commit: str, files: Sequence[str]) -> None:
    """Have these files of a commit in a scratch worktree, whatever else lies there."""
    ask(worktree, "checkout", "-q", commit, "--", *(f":(top,literal){name}" for name in files))


def read_file(repo: str, commit: str, path: str) -> str:
    """The text of a file as it is in a commit."""
    return ask(repo, "cat-file", "blob", f"{commit}:{path}")


def merge_base(repo: str, one: str, other: str) -> str:
    return ask(repo, "merge-base", one, other).strip()


def forget(repo: str, prefix: str) -> None:
    """Delete all refs under a prefix; what they named stays reachable from elsewhere."""
    names = ask(repo, "for-each-ref", "--format=%(refname)", prefix).split()
    ask(repo, "update-ref", "--stdin", stdin="".join(f"delete {name}\n" for name in names))
