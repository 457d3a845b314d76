"""Worktrees of porch: found again after a crash, moved whole, never removed with work inside."""

import contextlib
import os
import time
from collections.abc import Callable

from msgspec import Struct

from porch.errors import OutsideError
from porch.git import git_directory, repository
from porch.git.command import run_git, try_git
from porch.git.worktree_lock import lock_worktrees
from porch.system import crash_points
from porch.system.scratch import copy_with_times, scratch_directory

ARCHIVE = "refs/porch/archive/"
SALVAGE = "refs/porch/salvage/"
# Says where a branch stood while it and its files are being moved; see `settle`.
MOVING = "refs/porch/moving/"
# Git locks a worktree with this word while it makes it.
HALF_MADE = "initializing"
ASIDE = ".removing"


class RegisteredWorktree(Struct, frozen=True):
    """A worktree that the repository knows of, whether or not its directory is still there."""

    path: str
    branch: str | None
    half_made: bool


class Checkout(Struct, frozen=True):
    """Where a branch is checked out; `own` if porch made it and nobody else works there now."""

    path: str
    own: bool


def list_worktrees(common_repo: str) -> list[RegisteredWorktree]:
    """All worktrees that the repository knows of; its own checkout comes first."""
    common = require_common_dir(common_repo)
    linked = git_directory.list_linked_worktrees(common)
    return [
        _read_main_checkout(common_repo, common),
        *(RegisteredWorktree(w.path, w.branch, w.locked == HALF_MADE) for w in linked),
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


def ensure_worktree(common_repo: str, path: str, branch: str, base: str) -> None:
    """Have a worktree at path on branch; a branch that is missing begins at base."""
    if _is_ready(common_repo, path, branch):
        finish_interrupted_move(Checkout(path, own=True), branch)
        return
    repository.add_local_excludes(require_common_dir(common_repo), ("/worktrees/",))
    known = list_worktrees(common_repo)
    _require_branch_free(known, path, branch)
    here = find_worktree(known, path)
    if here is None or here.half_made or not os.path.isdir(path):
        _clear_unfinished_worktree(common_repo, path, here)
        _add_worktree(common_repo, path, branch, base)
    require_worktree_branch(path, branch)
    if require_common_dir(path) != require_common_dir(common_repo):
        raise worktree_moved_error(path, branch, "belongs to another repository")
    finish_interrupted_move(Checkout(path, own=True), branch)


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
    name = branch or os.path.basename(path)
    here = find_worktree(list_worktrees(common_repo), path)
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
    if branch:
        _delete_branch(common_repo, path, branch)


def list_changed_paths(path: str) -> list[str]:
    """Paths that differ from HEAD, untracked ones too; one that ends in / is a repository."""
    return sorted({name for _, name in read_status(path)})


def list_changed_tracked_paths(path: str) -> list[str]:
    """Tracked paths that differ from HEAD."""
    return sorted({name for state, name in read_status(path) if state != "??"})


def salvage_uncommitted(path: str, ref: str, message: str) -> str | None:
    """Keep everything uncommitted as a commit under a ref, without touching the worktree.

    What an earlier salvage kept under the same ref stays reachable as a parent.
    """
    head, earlier = repository.read_head(path), repository.resolve_commit(path, ref)
    tree = _write_tree_of_all(path)
    if tree == repository.read_commit_tree(path, head):
        return None
    if (
        earlier
        and tree == repository.read_commit_tree(path, earlier)
        and repository.resolve_commit(path, f"{ref}^1") == head
    ):
        return earlier
    parents = [word for parent in (head, earlier) if parent for word in ("-p", parent)]
    words = ("commit-tree", tree, *parents, "-F", "-")
    commit = run_git(
        path, *words, env=repository.read_commit_identity(path), stdin=f"{message.rstrip()}\n"
    ).strip()
    run_git(path, "update-ref", "-m", "salvage (porch)", ref, commit)
    return commit


def commit_allowed_changes(
    path: str, allowed: Callable[[str], bool], message: str, trailer: str
) -> str | None:
    """Commit what is uncommitted and allowed; after a crash there is nothing left to commit.

    A repository inside the worktree is left alone: as a link in our commit its files would be lost.
    """
    taken = [name for name in list_changed_paths(path) if not name.endswith("/") and allowed(name)]
    if not taken:
        return None
    named, env = ("--pathspec-from-file=-", "--pathspec-file-nul"), {"GIT_LITERAL_PATHSPECS": "1"}
    run_git(path, "add", "-A", *named, env=env, stdin="\0".join(taken))
    crash_points.reach_point("git.before-update-ref")
    text = f"{message.rstrip()}\n\n{trailer}\n"
    # Only what is named: something that is staged may be somebody else's.
    words = ("-c", "commit.gpgSign=false", "commit", "-q", "--no-verify", "-m", text, *named)
    run_git(
        path, *words, env={**env, **repository.read_commit_identity(path)}, stdin="\0".join(taken)
    )
    crash_points.reach_point("git.after-update-ref")
    return repository.read_head(path)


def require_worktree_branch(path: str, branch: str) -> None:
    """Refuse a directory that is not the top of a worktree on this branch."""
    found = git_directory.find_git_directory(path)
    if found is None:
        raise worktree_moved_error(path, branch, "is not the top directory of a worktree")
    if (stands := git_directory.read_branch(found)) != branch:
        raise worktree_moved_error(path, branch, f"is on {stands or 'no branch'}")


def worktree_moved_error(path: str, branch: str, how: str) -> OutsideError:
    return OutsideError(
        f"{path} {how}; porch expects branch '{branch}' there",
        fix=f"run `git switch {branch}` there, or move the directory away",
        code="worktree-moved",
    )


def finish_interrupted_move(checkout: Checkout, branch: str) -> None:
    """Finish the move that a crash cut short in this checkout, if there was one.

    A branch moves first and its files follow, so without the ref that says where it stood nobody
    could tell a checkout that lags behind from one in which somebody worked.
    """
    path = checkout.path
    if checkout.own:
        remove_stale_index_lock(path)
    old, new = repository.resolve_commit(path, MOVING + branch), repository.read_head(path)
    if old is None or new is None:
        return
    # The index is written last, so one that is not old any more means that the files are moved.
    if new != old and _index_matches(path, old):
        _update_files(checkout, branch, old, new)
    run_git(path, "update-ref", "-d", MOVING + branch)


def remove_stale_index_lock(path: str) -> None:
    """Remove the lock of a git that was killed; give one that lives its time first."""
    lock = repository.find_git_path(path, "index.lock")
    deadline = time.monotonic() + repository.INDEX_LOCK_S
    while os.path.exists(lock) and time.monotonic() < deadline:
        time.sleep(0.05)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(lock)


def read_status(path: str, *more: str, updates_index: bool = False) -> list[tuple[str, str]]:
    """Each path that differs from HEAD, with git's two letters for how.

    With `updates_index` git keeps what it learnt of the files, unless somebody holds the index.
    """
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", *more)
    env = {"GIT_OPTIONAL_LOCKS": "1"} if updates_index else None
    rows = run_git(path, *words, "--ignore-submodules=none", env=env).split("\0")
    return [(row[:2], row[3:]) for row in rows if row]


def _write_tree_of_all(path: str) -> str:
    with scratch_directory("porch-salvage-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        with contextlib.suppress(FileNotFoundError):
            copy_with_times(repository.find_git_path(path, "index"), env["GIT_INDEX_FILE"])
        repository.stage_all_files(path, (), env)
        return run_git(path, "write-tree", env=env).strip()


def _index_matches(path: str, commit: str) -> bool:
    return try_git(path, "diff-index", "--cached", "--quiet", commit, "--").returncode == 0


def _update_files(checkout: Checkout, branch: str, old: str, new: str) -> None:
    path = checkout.path
    if not checkout.own:
        run_git(path, "read-tree", "-m", "-u", old, new)
        return
    with repository.snapshot_index(path, ()) as env:
        names = [set(list_differing_paths(path, commit, env)) for commit in (old, new)]
    # Neither old nor new: a file that git had half written, or somebody's work.
    if names[0] & names[1]:
        salvage_uncommitted(
            path, SALVAGE + branch, f"Left in the checkout of {branch} when its move was cut"
        )
    run_git(path, "read-tree", "--reset", "-u", new)


def list_differing_paths(path: str, commit: str, env: dict[str, str]) -> list[str]:
    """Paths in which the index of this environment is not the commit; see `git.snapshot`."""
    words = ("diff", "--cached", "--no-renames", "--no-ext-diff", "--name-only", "-z", commit)
    return run_git(path, *words, env=env).split("\0")[:-1]


def find_worktree(known: list[RegisteredWorktree], path: str) -> RegisteredWorktree | None:
    real = os.path.realpath(path)
    return next((each for each in known if os.path.realpath(each.path) == real), None)


def require_common_dir(directory: str) -> str:
    known = git_directory.find_git_directory(directory)
    if known is not None:
        return os.path.realpath(known.common)
    found = repository.find_repository(directory)
    if found is None:
        raise OutsideError(f"{directory} is not in a git repository", fix="run `git init` first")
    return os.path.realpath(found.common_dir)


def _require_branch_free(known: list[RegisteredWorktree], path: str, branch: str) -> None:
    here = find_worktree(known, path)
    for each in known:
        if each.branch == branch and each is not here:
            raise OutsideError(
                f"branch '{branch}' is checked out in {each.path}; porch needs it for {path}",
                fix=f"switch {each.path} to another branch, or `git worktree remove` it",
            )


def _add_worktree(common_repo: str, path: str, branch: str, base: str) -> None:
    with lock_worktrees(require_common_dir(common_repo)):
        _add_worktree_locked(common_repo, path, branch, base)


def _add_worktree_locked(common_repo: str, path: str, branch: str, base: str) -> None:
    made = repository.resolve_commit(common_repo, f"refs/heads/{branch}") is None
    if made:
        run_git(common_repo, "branch", "--no-track", "--", branch, base)
    crash_points.reach_point("worktree.after-branch")
    try:
        run_git(common_repo, "worktree", "add", "-q", path, branch)
    except OutsideError:
        _clear_unfinished_worktree(
            common_repo, path, find_worktree(list_worktrees(common_repo), path)
        )
        if made:
            run_git(common_repo, "update-ref", "-d", f"refs/heads/{branch}")
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
    if earlier and run_git(common_repo, "rev-list", "--count", f"{head}..{earlier}").strip() != "0":
        run_git(common_repo, "update-ref", f"{ref}--{earlier[:12]}", earlier)
    run_git(common_repo, "update-ref", ref, head)


def _delete_branch(common_repo: str, path: str, branch: str) -> None:
    _require_branch_free(list_worktrees(common_repo), path, branch)
    head = repository.resolve_commit(common_repo, ARCHIVE + branch)
    if head and repository.resolve_commit(common_repo, f"refs/heads/{branch}"):
        # The archived head is the fence: a branch that has moved since is not deleted.
        run_git(common_repo, "update-ref", "-d", f"refs/heads/{branch}", head)


def deregister_worktree(common_repo: str, here: RegisteredWorktree | None) -> None:
    if here is not None:
        with lock_worktrees(require_common_dir(common_repo)):
            run_git(common_repo, "worktree", "remove", "--force", "--force", here.path)


def delete_directory(path: str) -> None:
    try:
        if os.path.lexists(path):
            import shutil

            shutil.rmtree(path)
    except OSError as error:
        raise OutsideError(f"{path} cannot be removed: {error}", fix="remove it by hand") from error
