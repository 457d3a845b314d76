"""Bringing a branch up to a parent that has moved, by git alone; an agent is for conflicts only.

An update is computed aside and then published whole, so there is no half rebased worktree, no
editor that waits, and no hook. Replayed commits keep their dates and names: the same update made
again, after a crash, gives the same commits and so the same map from old to new.
"""

import contextlib
import os
import re
from dataclasses import dataclass

from porch.adapters import git, worktrees
from porch.adapters.git_command import ask, attempt, failure
from porch.adapters.merging import (
    Conflict,
    advance,
    branch_of,
    contains,
    head_of,
    picked,
    three_way,
)
from porch.adapters.worktrees import SALVAGE, Checkout, dirty, free_index, settle, unsaved
from porch.errors import OutsideError

# Where a branch stood before an update: old hashes go on to resolve, and can be mapped again.
BEFORE = "refs/porch/before/"
# Where it stood when a merge with conflicts was begun in its worktree.
BEGUN = "refs/porch/begun/"
_MARKER = re.compile(rb"^(?:<{7}|>{7})(?:[ \r\n]|\Z)", re.MULTILINE)
_QUIET = ("-c", "merge.conflictStyle=merge", "-c", "rerere.enabled=false")


@dataclass(frozen=True, slots=True)
class Updated:
    """The new head, and what each rewritten commit is called now."""

    head: str
    mapping: dict[str, str]


def update(worktree: str, new_base: str, rebase: bool) -> Updated | Conflict:
    """Put the branch of this worktree on top of new_base, or merge that in.

    History with merges in it is merged whatever was asked: replaying would lose how their
    conflicts were resolved.
    """
    branch = branch_of(worktree)
    settle(Checkout(worktree, own=True), branch)
    old, base = head_of(worktree, branch), _known(worktree, new_base)
    before = f"{BEFORE}{branch}/{base}"
    if contains(worktree, old, base):
        return Updated(old, _mapped_again(worktree, before, base, old))
    replays = rebase and _is_linear(worktree, base, old)
    made = _replayed(worktree, base, old) if replays else _merged(worktree, base, old)
    if isinstance(made, Updated):
        ask(worktree, "update-ref", before, old)
        advance(worktree, branch, made.head, old)
    return made


def begin_conflicted(worktree: str, new_base: str) -> list[str]:
    """Begin a merge of new_base and leave it, with its markers, for an agent to resolve."""
    branch, base = branch_of(worktree), _known(worktree, new_base)
    if git.resolve(worktree, "MERGE_HEAD") == base:
        return _unmerged(worktree)
    if git.resolve(worktree, BEGUN + branch):
        # Cut while it began: there are files of the merge, but git knows of none.
        abort(worktree)
    _refuse(worktree, unsaved(worktree), "a merge can begin only in a clean worktree")
    ask(worktree, "update-ref", BEGUN + branch, "HEAD")
    words = (*_QUIET, "merge", "--no-commit", "--no-ff", "-q", base)
    done = attempt(worktree, *words, env=git.identity(worktree))
    files = _unmerged(worktree)
    if done.returncode and not files:
        raise failure(worktree, words, done)
    return files


def finish_conflicted(worktree: str, message: str, trailer: str) -> str | list[str]:
    """Commit the merge that was begun; or the files that still hold markers."""
    branch = branch_of(worktree)
    done = git.find_commit(worktree, trailer)
    if done is None:
        left = _with_markers(worktree, _sides(worktree, branch))
        if left:
            return left
        done = _committed(worktree, message, trailer)
    if git.resolve(worktree, "MERGE_HEAD"):
        ask(worktree, "merge", "--quit")
    _forget_begun(worktree, branch)
    return done


def abort(worktree: str) -> None:
    """Leave whatever git has begun here, keeping what was done in it aside; proves it clean."""
    free_index(worktree)
    branch = _branch_or_none(worktree)
    name = branch or os.path.basename(worktree)
    if _is_begun(worktree, name):
        worktrees.salvage(worktree, SALVAGE + name, f"What was done before {name} was put back")
        ask(worktree, *(("reset", "-q", "--hard") if branch else ("rebase", "--abort")))
        ask(worktree, "clean", "-fdq")
    _refuse(worktree, dirty(worktree), "it is not clean")
    _forget_begun(worktree, branch_of(worktree))


def _known(worktree: str, name: str) -> str:
    commit = git.resolve(worktree, name)
    if commit is None:
        raise OutsideError(f"there is no commit {name} in {worktree}", fix="fetch it first")
    return commit


def _is_linear(repo: str, base: str, head: str) -> bool:
    return not ask(repo, "rev-list", "--merges", "-1", f"{base}..{head}")


def _replayed(repo: str, base: str, head: str) -> Updated | Conflict:
    new, mapping = base, dict[str, str]()
    for commit in ask(repo, "rev-list", "--reverse", "--topo-order", f"{base}..{head}").split():
        tree = picked(repo, git.tree_at(repo, new), commit)
        if isinstance(tree, Conflict):
            return tree
        if tree != git.tree_at(repo, new):
            new = _again(repo, commit, tree, new)
        # A commit that adds nothing any more lives on in what it would have stood on.
        mapping[commit] = new
    return Updated(new, mapping)


def _again(repo: str, commit: str, tree: str, parent: str) -> str:
    fields = "%an%x00%ae%x00@%ad%x00%cn%x00%ce%x00@%cd%x00%B"
    said = ask(repo, "log", "-1", "--date=raw", f"--format={fields}", commit)
    *who, message = said.split("\0", 6)
    names = [f"GIT_{role}_{part}" for role in _ROLES for part in ("NAME", "EMAIL", "DATE")]
    env = dict(zip(names, who, strict=True))
    words = ("commit-tree", tree, "-p", parent, "-F", "-")
    return ask(repo, *words, env=env, stdin=f"{message.rstrip()}\n").strip()


_ROLES = ("AUTHOR", "COMMITTER")


def _merged(repo: str, base: str, head: str) -> Updated | Conflict:
    tree = three_way(repo, head, base)
    if isinstance(tree, Conflict):
        return tree
    if contains(repo, base, head):
        return Updated(base, {})
    words = ("commit-tree", tree, "-p", head, "-p", base, "-m", f"Merge the update {base[:12]}")
    return Updated(ask(repo, *words, env=git.identity(repo)).strip(), {})


def _mapped_again(repo: str, before: str, base: str, head: str) -> dict[str, str]:
    old = git.resolve(repo, before)
    if old is None or not _is_linear(repo, base, old):
        return {}
    made = _replayed(repo, base, old)
    if isinstance(made, Conflict) or not contains(repo, head, made.head):
        return {}
    return made.mapping


def _unmerged(worktree: str) -> list[str]:
    return ask(worktree, "diff", "--name-only", "-z", "--diff-filter=U").split("\0")[:-1]


def _sides(worktree: str, branch: str) -> list[str]:
    """The two commits that are merged, whether the merge goes on or an agent has ended it."""
    theirs, begun = git.resolve(worktree, "MERGE_HEAD"), git.resolve(worktree, BEGUN + branch)
    if theirs:
        return ["HEAD", theirs]
    merges = ask(worktree, "rev-list", "--merges", f"{begun}..HEAD").split() if begun else []
    if begun and merges:
        return [begun, f"{merges[-1]}^2"]
    raise OutsideError(
        f"no merge is going on in {worktree}, and none was made since one was begun",
        fix="let porch begin it again",
    )


def _with_markers(worktree: str, sides: list[str]) -> list[str]:
    # What is the same on one side was resolved by taking that side, markers or not.
    with git.snapshot(worktree, ()) as env:
        names = [set(worktrees.differing(worktree, side, env)) for side in sides]
    changed = set.intersection(*names)
    return sorted(name for name in changed if _holds_markers(os.path.join(worktree, name)))


def _holds_markers(path: str) -> bool:
    with contextlib.suppress(FileNotFoundError, IsADirectoryError):
        if not os.path.islink(path):
            with open(path, "rb") as file:
                return _MARKER.search(file.read()) is not None
    return False


def _committed(worktree: str, message: str, trailer: str) -> str:
    if git.resolve(worktree, "MERGE_HEAD"):
        free_index(worktree)
        inner = [name.rstrip("/") for name in dirty(worktree) if name.endswith("/")]
        git.add_all(worktree, inner, {})
        words = ("commit", "-q", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "-F", "-")
        text = f"{message.rstrip()}\n\n{trailer}\n"
        ask(worktree, *words, env=git.identity(worktree), stdin=text)
    _refuse(worktree, unsaved(worktree), "the merge was ended, but not all of it committed")
    return ask(worktree, "rev-parse", "HEAD").strip()


def _branch_or_none(worktree: str) -> str | None:
    found = git.find(worktree)
    return found.branch if found else None


_HEADS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


def _is_begun(worktree: str, branch: str) -> bool:
    if any(git.resolve(worktree, name) for name in (*_HEADS, BEGUN + branch)):
        return True
    kinds = ("rebase-merge", "rebase-apply")
    return any(os.path.isdir(git.git_path(worktree, kind)) for kind in kinds)


def _forget_begun(worktree: str, branch: str) -> None:
    if git.resolve(worktree, BEGUN + branch):
        ask(worktree, "update-ref", "-d", BEGUN + branch)


def _refuse(worktree: str, left: list[str], why: str) -> None:
    if left:
        raise OutsideError(
            f"{worktree} holds changes ({', '.join(left[:5])}), and {why}",
            fix="commit them or take them away, and resume",
        )
