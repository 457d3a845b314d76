"""Worktrees of porch: found again after a crash, moved whole, never removed with work inside."""

import contextlib
import os
from collections.abc import Callable, Sequence

from msgspec import Struct

from porch.errors import OutsideError
from porch.git import git_directory, repository
from porch.git.command import run_git
from porch.git.moved_worktrees import lost_repository_error
from porch.git.moves.checkout_move import (
    Checkout,
    finish_interrupted_move,
    read_status,
    require_worktree_branch,
    worktree_moved_error,
)
from porch.git.moves.own_refs import set_own_ref
from porch.git.worktree_lock import lock_worktrees
from porch.system import crash_points
from porch.system.delete_tree import delete_tree

ARCHIVE = "refs/porch/archive/"
# Git locks a worktree with this word while it makes it.
HALF_MADE = "initializing"
ASIDE = ".removing"


class RegisteredWorktree(Struct, frozen=True):
    """A worktree that the repository knows of, whether or not its directory is still there."""

    path: str
    branch: str | None
    half_made: bool
    own: str = ""  # where the repository keeps what it knows of a linked one


def list_worktrees(common_repo: str) -> list[RegisteredWorktree]:
    """All worktrees that the repository knows of; its own checkout comes first."""
    common = require_common_dir(common_repo)
    linked = git_directory.list_linked_worktrees(common)
    return [
        _read_main_checkout(common_repo, common),
        *(RegisteredWorktree(w.path, w.branch, w.locked == HALF_MADE, w.own) for w in linked),
    ]


def _read_main_checkout(common_repo: str, common: str) -> RegisteredWorktree:
    """Of a bare repository nobody has one, whatever its HEAD says."""
    home, here = (
        git_directory.GitDirectory(common, common),
        git_directory.find_git_directory(common_repo),
    )
    if here is not None and here.own == here.common:
        return RegisteredWorktree(common_repo, git_directory.read_branch(home), half_made=False)
    if os.path.basename(common) == ".git":
        return RegisteredWorktree(
            os.path.dirname(common), git_directory.read_branch(home), half_made=False
        )
    return RegisteredWorktree(common, None, half_made=False)


def ensure_worktree(
    common_repo: str,
    path: str,
    branch: str,
    base: str,
    *,
    meanwhile: Callable[[], object] | None = None,
) -> bool:
    """Have a worktree at path on branch; a branch that is missing begins at base.

    Whether all its files were written just now. `meanwhile` is called while git writes them.
    """
    if _is_ready(common_repo, path, branch):
        finish_interrupted_move(Checkout(path, own=True), branch)
        return False
    common = require_common_dir(common_repo)
    repository.add_local_excludes(common, ("/worktrees/",))
    known = list_worktrees(common_repo)
    _require_branch_free(known, path, branch)
    found = git_directory.find_git_directory(path)
    if found is not None and os.path.realpath(found.common) != os.path.realpath(common):
        raise worktree_moved_error(path, branch, "belongs to another repository")
    here = find_worktree(known, path)
    is_new = here is None or here.half_made or not os.path.isdir(path)
    if is_new:
        _clear_unfinished_worktree(common_repo, path, here)
        with lock_worktrees(common):
            _add_worktree_locked(common_repo, path, branch, base, meanwhile)
    require_worktree_branch(path, branch)
    finish_interrupted_move(Checkout(path, own=True), branch)
    return is_new


def _is_ready(common_repo: str, path: str, branch: str) -> bool:
    """Whether everything is as it was left; told from files, since it nearly always is."""
    here, home = (
        git_directory.find_git_directory(path),
        git_directory.find_git_directory(common_repo),
    )
    if (
        here is None
        or home is None
        or os.path.realpath(here.common) != os.path.realpath(home.common)
    ):
        return False
    return git_directory.read_branch(here) == branch and git_directory.is_registered(path, here)


def archive_branch(common_repo: str, branch: str, ref: str) -> None:
    """Keep the head of a branch under a ref; a different one kept there before is put beside."""
    head, earlier = (
        repository.resolve_commit(common_repo, f"refs/heads/{branch}"),
        repository.resolve_commit(common_repo, ref),
    )
    if head is not None:
        _keep_head_under_ref(common_repo, head, earlier, ref)


def remove_worktree(common_repo: str, path: str, branch: str | None) -> None:
    """Remove a worktree, and its branch if named; uncommitted work and the head are kept first."""
    remove_worktrees(common_repo, [(path, branch)])


def remove_worktrees(common_repo: str, places: Sequence[tuple[str, str | None]]) -> None:
    """The same for several, each with its branch or none; branches go last, all in one step."""
    known = list_worktrees(common_repo)
    for path, branch in places:
        _remove_directory(common_repo, path, branch, find_worktree(known, path))
    names = {branch: path for path, branch in places if branch}
    if names:
        _delete_branches(common_repo, names, known)


def _remove_directory(
    common_repo: str, path: str, branch: str | None, here: RegisteredWorktree | None
) -> None:
    name = branch or os.path.basename(path)
    delete_directory(path + ASIDE)
    if os.path.lexists(path):
        _require_own_worktree(path, name, here)
        _keep_uncommitted_work(common_repo, path, name)
    if branch:
        archive_branch(common_repo, branch, ARCHIVE + branch)
    crash_points.reach_point("worktree.after-archive")
    if os.path.lexists(path):
        # By a rename, so that a half deleted worktree is never taken for one with deletions in it.
        os.rename(path, path + ASIDE)
    crash_points.reach_point("worktree.after-aside")
    delete_directory(path + ASIDE)
    deregister_worktree(common_repo, here)
    crash_points.reach_point("worktree.after-remove")


def list_changed_paths(path: str, *, is_aside: bool = False) -> list[str]:
    """Paths that differ from HEAD, untracked ones too; one that ends in / is a repository."""
    return sorted({name for _, name in read_status(path, is_aside=is_aside)})


def list_changed_tracked_paths(path: str) -> list[str]:
    """Tracked paths that differ from HEAD."""
    return sorted({name for state, name in read_status(path) if state != "??"})


def commit_allowed_changes(
    path: str, allowed: Callable[[str], bool], message: str, trailer: str
) -> str | None:
    """Commit what is uncommitted and allowed; after a crash there is nothing left to commit.

    A repository inside the worktree is left alone: as a link in our commit its files would be lost.
    """
    taken = [name for name in list_changed_paths(path) if not name.endswith("/") and allowed(name)]
    return commit_named_paths(path, taken, message, trailer) if taken else None


def commit_named_paths(path: str, taken: Sequence[str], message: str, trailer: str) -> str | None:
    """Commit these paths as they are, whatever else is staged or lies there."""
    taken = _stage_named_paths(path, taken)
    if not taken:
        return None
    crash_points.reach_point("git.before-update-ref")
    text = f"{message.rstrip()}\n\n{trailer}\n"
    # Only what is named: something that is staged may be somebody else's.
    words = ("-c", "commit.gpgSign=false", "commit", "-q", "--no-verify", "-m", text, *_NAMED)
    env = {**_LITERAL, **repository.read_commit_identity(path)}
    run_git(path, *words, env=env, stdin="\0".join(taken))
    crash_points.reach_point("git.after-update-ref")
    return repository.read_head(path)


_NAMED = ("--pathspec-from-file=-", "--pathspec-file-nul")
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


def _stage_named_paths(path: str, names: Sequence[str]) -> list[str]:
    """Those of the paths that a commit knows: neither there nor in the last one is no change.

    What `git rm` has removed is not even in the index, and `git add` refuses it.
    """
    there = [name for name in names if os.path.lexists(os.path.join(path, name))]
    if there:
        run_git(path, "add", "-A", *_NAMED, env=_LITERAL, stdin="\0".join(there))
    gone = set(names).difference(there)
    if not gone:
        return there
    words = ("update-index", "-z", "--force-remove", "--stdin")
    run_git(path, *words, stdin="".join(f"{name}\0" for name in sorted(gone)))
    staged = run_git(path, "diff-index", "--cached", "--no-renames", "--name-only", "-z", "HEAD")
    return [*there, *sorted(gone.intersection(staged.split("\0")))]


def find_linked_worktree(common_repo: str, path: str) -> RegisteredWorktree | None:
    """The worktree at a path; its own files tell, where they are whole and of this repository."""
    here = git_directory.find_git_directory(path)
    home = os.path.join(require_common_dir(common_repo), "worktrees")
    if (
        here is not None
        and os.path.realpath(os.path.dirname(here.own)) == home
        and git_directory.is_registered(path, here)
    ):
        branch = git_directory.read_branch(here)
        return RegisteredWorktree(path, branch, half_made=False, own=here.own)
    # The first is the person's own checkout, which may well be detached.
    return find_worktree(list_worktrees(common_repo)[1:], path)


def find_worktree(known: list[RegisteredWorktree], path: str) -> RegisteredWorktree | None:
    real = os.path.realpath(path)
    return next((each for each in known if os.path.realpath(each.path) == real), None)


def require_common_dir(directory: str) -> str:
    known = git_directory.find_git_directory(directory)
    if known is not None:
        return os.path.realpath(known.common)
    found = repository.find_repository(directory)
    if found is None:
        raise lost_repository_error(directory)
    return os.path.realpath(found.common_dir)


def _require_branch_free(known: list[RegisteredWorktree], path: str, branch: str) -> None:
    here = find_worktree(known, path)
    for each in known:
        if each.branch == branch and each is not here:
            raise OutsideError(
                f"branch '{branch}' is checked out in {each.path}; porch needs it for {path}",
                fix=f"switch {each.path} to another branch, or `git worktree remove` it",
            )


def _add_worktree_locked(
    common_repo: str, path: str, branch: str, base: str, meanwhile: Callable[[], object] | None
) -> None:
    ref = f"refs/heads/{branch}"
    is_new = repository.resolve_commit(common_repo, ref) is None
    words = ("--no-track", "-b", branch, path, base) if is_new else (path, branch)
    try:
        run_git(common_repo, "worktree", "add", "-q", *words, meanwhile=meanwhile)
    except OutsideError:
        _clear_unfinished_worktree(
            common_repo, path, find_worktree(list_worktrees(common_repo), path)
        )
        if is_new and repository.resolve_commit(common_repo, ref):
            run_git(common_repo, "update-ref", "-d", ref)
        raise
    crash_points.reach_point("worktree.after-add")


def _clear_unfinished_worktree(
    common_repo: str, path: str, here: RegisteredWorktree | None
) -> None:
    """Make room where a worktree is gone or was never finished; nobody's files are removed."""
    if here is not None and here.half_made:
        delete_directory(path)
    deregister_worktree(common_repo, here)


def _require_own_worktree(path: str, branch: str, here: RegisteredWorktree | None) -> None:
    found = (
        git_directory.find_git_directory(path) if here is not None and os.path.isdir(path) else None
    )
    if found is None or found.own == found.common:
        raise worktree_moved_error(path, branch, "is not a worktree that porch can remove")


def _keep_uncommitted_work(common_repo: str, path: str, name: str) -> None:
    left = list_changed_paths(path)
    inner = [each for each in left if each.endswith("/")]
    if inner:
        raise OutsideError(
            f"{path} contains another git repository ({inner[0]}), which porch cannot save",
            fix="move it somewhere else, then try again",
        )
    if left:
        from porch.git.moves.checkout_repair import SALVAGE, salvage_uncommitted

        salvage_uncommitted(path, SALVAGE + name, f"Left uncommitted in {name}")
    head = repository.read_head(path)
    if head and not _is_head_kept(path, head, name):
        _keep_head_under_ref(
            common_repo, head, repository.resolve_commit(path, ARCHIVE + name), ARCHIVE + name
        )


def _is_head_kept(path: str, head: str, branch: str) -> bool:
    if repository.resolve_commit(path, f"refs/heads/{branch}") == head:
        return True
    words = ("for-each-ref", "--count=1", "--contains", "HEAD", "refs/heads", "refs/porch/archive")
    return bool(run_git(path, *words))


def _keep_head_under_ref(common_repo: str, head: str, earlier: str | None, ref: str) -> None:
    if earlier == head:
        return
    if earlier and run_git(common_repo, "rev-list", "--count", f"{head}..{earlier}").strip() != "0":
        set_own_ref(common_repo, f"{ref}--{earlier[:12]}", earlier)
    set_own_ref(common_repo, ref, head)


def _delete_branches(
    common_repo: str, names: dict[str, str], known: list[RegisteredWorktree]
) -> None:
    lines = []
    for branch, path in names.items():
        _require_branch_free(known, path, branch)
        head = repository.resolve_commit(common_repo, ARCHIVE + branch)
        if head and repository.resolve_commit(common_repo, f"refs/heads/{branch}"):
            # The archived head is the fence: a branch that has moved since is not deleted.
            lines.append(f"delete refs/heads/{branch} {head}\n")
    if lines:
        run_git(common_repo, "update-ref", "--stdin", stdin="".join(lines))


def deregister_worktree(common_repo: str, here: RegisteredWorktree | None) -> None:
    """Have the repository forget a worktree, and git remove its directory if there still is one."""
    if here is None:
        return
    with lock_worktrees(require_common_dir(common_repo)):
        if os.path.lexists(here.path) or not here.own:
            run_git(common_repo, "worktree", "remove", "--force", "--force", here.path)
            return
        # All that git would do: its own files of a worktree that is gone.
        delete_directory(here.own)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(here.own))


def delete_directory(path: str) -> None:
    try:
        if os.path.lexists(path):
            delete_tree(path)
    except OSError as error:
        raise OutsideError(f"{path} cannot be removed: {error}", fix="remove it by hand") from error
