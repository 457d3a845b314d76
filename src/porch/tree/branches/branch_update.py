"""Bringing a branch up to a parent that has moved, by git alone; an agent is for conflicts only.

An update is computed aside and then published whole, so there is no half rebased worktree, no
editor that waits, and no hook. Replayed commits keep their dates and names: the same update made
again, after a crash, gives the same commits and so the same map from old to new.
"""

import contextlib
import os
import re

from msgspec import Struct

from porch.errors import OutsideError
from porch.git import repository
from porch.git.command import git_error, run_git, try_git
from porch.git.measured_tree import measure_tree
from porch.git.merge import (
    Conflict,
    advance_branch,
    cherry_pick_tree,
    has_ancestor,
    merge_commits,
    require_branch_head,
    require_current_branch,
)
from porch.git.moves.checkout_move import (
    Checkout,
    finish_interrupted_move,
    remove_stale_index_lock,
)
from porch.git.moves.checkout_repair import SALVAGE, salvage_uncommitted
from porch.git.moves.own_refs import delete_own_refs, set_own_ref
from porch.git.tree_changes import list_changed_paths as list_measured_changes
from porch.git.worktrees import list_changed_paths, list_changed_tracked_paths
from porch.text.late_pattern import late_pattern

# Where a branch stood before an update: old hashes go on to resolve, and can be mapped again.
BEFORE_REFS = "refs/porch/before/"
# Where it stood when a merge with conflicts was begun in its worktree.
BEGUN_REFS = "refs/porch/begun/"
_CONFLICT_MARKER = late_pattern(rb"^(?:<{7}|>{7})(?:[ \r\n]|\Z)", re.MULTILINE)
_MERGE_OPTIONS = ("-c", "merge.conflictStyle=merge", "-c", "rerere.enabled=false")


class UpdatedBranch(Struct, frozen=True):
    """The new head, and what each rewritten commit is called now."""

    head: str
    mapping: dict[str, str]


def update_branch(worktree: str, new_base: str, rebase: bool) -> UpdatedBranch | Conflict:
    """Put the branch of this worktree on top of new_base, or merge that in.

    History with merges in it is merged whatever was asked: replaying would lose how their
    conflicts were resolved.
    """
    branch = require_current_branch(worktree)
    finish_interrupted_move(Checkout(worktree, own=True), branch)
    old, base = require_branch_head(worktree, branch), _require_commit(worktree, new_base)
    before = f"{BEFORE_REFS}{branch}/{base}"
    if has_ancestor(worktree, old, base):
        return UpdatedBranch(old, _rebuild_mapping(worktree, before, base, old))
    replays = rebase and _is_linear(worktree, base, old)
    made = _replay_commits(worktree, base, old) if replays else _merge_new_base(worktree, base, old)
    if isinstance(made, UpdatedBranch):
        set_own_ref(worktree, before, old)
        advance_branch(worktree, branch, made.head, old)
    return made


def take_their_side(worktree: str, new_base: str, message: str, trailer: str) -> str:
    """Merge new_base; where both sides changed the same, theirs stays. Ours is in the history."""
    files = begin_conflicted_merge(worktree, new_base, ("-X", "theirs"))
    rows = run_git(worktree, "ls-files", "-u", "-z").split("\0")[:-1]
    theirs = {row.partition("\t")[2] for row in rows if row.partition("\t")[0].endswith(" 3")}
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    for name in files:
        words = ("checkout", "-q", "--theirs") if name in theirs else ("rm", "-q", "--cached")
        run_git(worktree, *words, "--", name, env=literal)
        if name not in theirs:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(worktree, name))
    done = _commit_merge(worktree, message, trailer)
    _remove_begun_ref(worktree, require_current_branch(worktree))
    return done


def begin_conflicted_merge(
    worktree: str, new_base: str, options: tuple[str, ...] = ()
) -> list[str]:
    """Begin a merge of new_base and leave it, with its markers, for an agent to resolve."""
    branch, base = require_current_branch(worktree), _require_commit(worktree, new_base)
    if repository.resolve_commit(worktree, "MERGE_HEAD") == base:
        return _list_unmerged_files(worktree)
    if repository.resolve_commit(worktree, BEGUN_REFS + branch):
        # Cut while it began: there are files of the merge, but git knows of none.
        abort_unfinished_work(worktree)
    _require_clean(
        worktree, list_changed_tracked_paths(worktree), "a merge can start only in a clean worktree"
    )
    set_own_ref(worktree, BEGUN_REFS + branch, repository.read_head(worktree) or "")
    words = (*_MERGE_OPTIONS, "merge", "--no-commit", "--no-ff", "-q", *options, base)
    done = try_git(worktree, *words, env=repository.read_commit_identity(worktree))
    files = _list_unmerged_files(worktree)
    if done.returncode and not files:
        raise git_error(worktree, words, done)
    return files


def finish_conflicted_merge(worktree: str, message: str, trailer: str) -> str | list[str]:
    """Commit the merge that was begun; or the files that still hold markers."""
    branch = require_current_branch(worktree)
    done = repository.find_commit_by_trailer(worktree, trailer)
    if done is None:
        left = _list_files_with_markers(worktree, _find_merge_sides(worktree, branch))
        if left:
            return left
        done = _commit_merge(worktree, message, trailer)
    if repository.resolve_commit(worktree, "MERGE_HEAD"):
        run_git(worktree, "merge", "--quit")
    _remove_begun_ref(worktree, branch)
    return done


def abort_unfinished_work(worktree: str) -> None:
    """Leave whatever git has begun here, keeping what was done in it aside; proves it clean."""
    remove_stale_index_lock(worktree)
    branch = _find_branch(worktree)
    name = branch or os.path.basename(worktree)
    if _is_begun(worktree, name):
        salvage_uncommitted(worktree, SALVAGE + name, f"What was done before {name} was put back")
        run_git(worktree, *(("reset", "-q", "--hard") if branch else ("rebase", "--abort")))
        run_git(worktree, "clean", "-fdq")
    _require_clean(worktree, list_changed_paths(worktree), "it must be clean")
    _remove_begun_ref(worktree, require_current_branch(worktree))


def _require_commit(worktree: str, name: str) -> str:
    commit = repository.resolve_commit(worktree, name)
    if commit is None:
        raise OutsideError(f"there is no commit {name} in {worktree}", fix="fetch it first")
    return commit


def _is_linear(repo: str, base: str, head: str) -> bool:
    return not run_git(repo, "rev-list", "--merges", "-1", f"{base}..{head}")


def _replay_commits(repo: str, base: str, head: str) -> UpdatedBranch | Conflict:
    new, mapping = base, dict[str, str]()
    for commit in run_git(repo, "rev-list", "--reverse", "--topo-order", f"{base}..{head}").split():
        tree = cherry_pick_tree(repo, repository.read_commit_tree(repo, new), commit)
        if isinstance(tree, Conflict):
            return tree
        if tree != repository.read_commit_tree(repo, new):
            new = _recreate_commit(repo, commit, tree, new)
        # A commit that adds nothing any more lives on in what it would have stood on.
        mapping[commit] = new
    return UpdatedBranch(new, mapping)


def _recreate_commit(repo: str, commit: str, tree: str, parent: str) -> str:
    fields = "%an%x00%ae%x00@%ad%x00%cn%x00%ce%x00@%cd%x00%B"
    said = run_git(repo, "log", "-1", "--date=raw", f"--format={fields}", commit)
    *who, message = said.split("\0", 6)
    names = [f"GIT_{role}_{part}" for role in _COMMIT_ROLES for part in ("NAME", "EMAIL", "DATE")]
    env = dict(zip(names, who, strict=True))
    words = ("commit-tree", tree, "-p", parent, "-F", "-")
    return run_git(repo, *words, env=env, stdin=f"{message.rstrip()}\n").strip()


_COMMIT_ROLES = ("AUTHOR", "COMMITTER")


def _merge_new_base(repo: str, base: str, head: str) -> UpdatedBranch | Conflict:
    tree = merge_commits(repo, head, base)
    if isinstance(tree, Conflict):
        return tree
    if has_ancestor(repo, base, head):
        return UpdatedBranch(base, {})
    words = ("commit-tree", tree, "-p", head, "-p", base, "-m", f"Merge the update {base[:12]}")
    return UpdatedBranch(
        run_git(repo, *words, env=repository.read_commit_identity(repo)).strip(), {}
    )


def _rebuild_mapping(repo: str, before: str, base: str, head: str) -> dict[str, str]:
    old = repository.resolve_commit(repo, before)
    if old is None or not _is_linear(repo, base, old):
        return {}
    made = _replay_commits(repo, base, old)
    if isinstance(made, Conflict) or not has_ancestor(repo, head, made.head):
        return {}
    return made.mapping


def _list_unmerged_files(worktree: str) -> list[str]:
    return run_git(worktree, "diff", "--name-only", "-z", "--diff-filter=U").split("\0")[:-1]


def _find_merge_sides(worktree: str, branch: str) -> list[str]:
    """The two commits that are merged, whether the merge goes on or an agent has ended it."""
    theirs, begun = (
        repository.resolve_commit(worktree, "MERGE_HEAD"),
        repository.resolve_commit(worktree, BEGUN_REFS + branch),
    )
    if theirs:
        return ["HEAD", theirs]
    merges = run_git(worktree, "rev-list", "--merges", f"{begun}..HEAD").split() if begun else []
    if begun and merges:
        return [begun, f"{merges[-1]}^2"]
    raise OutsideError(
        f"no merge is in progress in {worktree}, and none was made since one was started",
        fix="let porch start it again",
    )


def _list_files_with_markers(worktree: str, sides: list[str]) -> list[str]:
    # What is the same on one side was resolved by taking that side, markers or not.
    now = measure_tree(worktree, list_inner_repositories(worktree))
    trees = [repository.read_git_line(worktree, "rev-parse", f"{side}^{{tree}}") for side in sides]
    names = [{c.path for c in list_measured_changes(worktree, side, now)} for side in trees]
    changed = set.intersection(*names)
    return sorted(name for name in changed if _holds_markers(os.path.join(worktree, name)))


def _holds_markers(path: str) -> bool:
    with contextlib.suppress(FileNotFoundError, IsADirectoryError):
        if not os.path.islink(path):
            with open(path, "rb") as file:
                return _CONFLICT_MARKER.search(file.read()) is not None
    return False


def _commit_merge(worktree: str, message: str, trailer: str) -> str:
    if repository.resolve_commit(worktree, "MERGE_HEAD"):
        remove_stale_index_lock(worktree)
        repository.stage_all_files(worktree, list_inner_repositories(worktree), {})
        words = ("commit", "-q", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "-F", "-")
        text = f"{message.rstrip()}\n\n{trailer}\n"
        run_git(worktree, *words, env=repository.read_commit_identity(worktree), stdin=text)
    _require_clean(
        worktree,
        list_changed_tracked_paths(worktree),
        "the merge has ended, but not all of it is committed",
    )
    return run_git(worktree, "rev-parse", "HEAD").strip()


def list_inner_repositories(worktree: str) -> list[str]:
    """Repositories that somebody made inside: none of their files is committed."""
    return [name.rstrip("/") for name in list_changed_paths(worktree) if name.endswith("/")]


def _find_branch(worktree: str) -> str | None:
    found = repository.find_repository(worktree)
    return found.branch if found else None


_OPERATION_HEADS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


def _is_begun(worktree: str, branch: str) -> bool:
    if any(
        repository.resolve_commit(worktree, name)
        for name in (*_OPERATION_HEADS, BEGUN_REFS + branch)
    ):
        return True
    kinds = ("rebase-merge", "rebase-apply")
    return any(os.path.isdir(repository.find_git_path(worktree, kind)) for kind in kinds)


def _remove_begun_ref(worktree: str, branch: str) -> None:
    delete_own_refs(worktree, [BEGUN_REFS + branch])


def _require_clean(worktree: str, left: list[str], why: str) -> None:
    if left:
        raise OutsideError(
            f"{worktree} has changes ({', '.join(left[:5])}), but {why}",
            fix="commit or remove them, then resume",
        )
