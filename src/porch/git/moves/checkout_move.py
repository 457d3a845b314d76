"""A branch and the files of its checkout move as one: ref, index and files are of one commit.

The files go first, with an index of their own, under git's lock of the old one: while that lies
there, nobody can commit from the old index onto the new branch. Then the branch is swapped, then
the new index takes the place of the old one. A ref says meanwhile from where to where. Who finds it
later, under the lock of all moves, finds a move that nobody will finish; it is put right then.
"""

import contextlib
import os
import shlex
from collections.abc import Sequence

from msgspec import Struct

from porch.errors import OutsideError, PorchError
from porch.git import git_directory, repository
from porch.git.command import git_error, run_git, try_git
from porch.git.fresh.young_checkout import is_young_and_as_committed
from porch.git.index_lock import clear_index_lock, hold_index, remove_dead_lock
from porch.git.moves.own_refs import delete_own_refs, set_own_ref
from porch.git.worktree_lock import lock_moves
from porch.system import crash_points

# Under it stands the branch, then where it goes; the value is where it stood.
MOVING = "refs/porch/moving/"
# Git's letters for a file that nobody has added, and for one that it ignores.
_IGNORED = "!!"
_NOT_TRACKED = ("??", _IGNORED)


class Checkout(Struct, frozen=True):
    """Where a branch is checked out; `own` if porch made it and nobody else works there now."""

    path: str
    own: bool


class UnfinishedMove(Struct, frozen=True):
    """A move that was begun: its ref, the branch, where it stood, where it was to go."""

    ref: str
    branch: str
    old: str
    new: str


def swap_branch_head(
    repo: str, branch: str, *, new: str, old: str, checkout: Checkout | None
) -> bool:
    """Move a branch from old to new, with its files; False if it no longer is at old."""
    if checkout is None:
        return swap_ref(repo, branch, new, old)
    with lock_moves(repository.find_common_directory(repo)):
        _require_clean_checkout(checkout, branch, new, old)
        ref = f"{MOVING}{branch}/{new}"
        try:
            swapped = _move_files_and_branch(repo, checkout.path, branch, ref, new=new, old=old)
        except (PorchError, OSError) as error:
            _take_back(checkout, branch)
            raise _explain_failure(checkout, branch, error) from error
        if not swapped:
            finish_interrupted_move(checkout, branch)
        delete_own_refs(repo, [ref])
        return swapped


def _move_files_and_branch(
    repo: str, path: str, branch: str, ref: str, *, new: str, old: str
) -> bool:
    with hold_index(repository.find_git_path(path, "index")) as held:
        crash_points.reach_point("merge.after-lock")
        set_own_ref(repo, ref, old)
        crash_points.reach_point("merge.after-mark")
        run_git(path, "read-tree", "-m", "-u", old, new, env={"GIT_INDEX_FILE": held.copy})
        crash_points.reach_point("merge.before-swap")
        swapped = swap_ref(repo, branch, new, old)
        crash_points.reach_point("merge.after-swap")
        if swapped:
            held.publish()
    crash_points.reach_point("merge.after-checkout")
    return swapped


def _take_back(checkout: Checkout, branch: str) -> None:
    """What could not be moved stays as it was; where not even that can be had, the next one tries.

    A full disk may refuse to bring the old files back as well.
    """
    with contextlib.suppress(PorchError, OSError):
        finish_interrupted_move(checkout, branch)


def _explain_failure(checkout: Checkout, branch: str, error: Exception) -> PorchError:
    if isinstance(error, PorchError):
        return error
    return OutsideError(
        f"cannot move branch '{branch}' in {checkout.path}: {error}",
        fix="check the disk, then run `porch resume`",
    )


def list_unfinished_moves(repo: str, branch: str = "") -> list[UnfinishedMove]:
    """What was begun and not ended: of one branch, or of all."""
    refs = git_directory.list_own_refs(repo, MOVING + branch)
    if isinstance(refs, git_directory.Unknown):
        place = (MOVING + branch).rstrip("/")
        refs = run_git(repo, "for-each-ref", "--format=%(refname)", place).split()
    if branch and not refs:
        # As an older release kept it: where the branch goes is where it is.
        refs = [MOVING + branch]
    return [move for ref in refs if (move := _read_move(repo, ref)) is not None]


def _read_move(repo: str, ref: str) -> UnfinishedMove | None:
    old = repository.resolve_commit(repo, ref)
    if old is None:
        return None
    name, _, new = ref.removeprefix(MOVING).rpartition("/")
    if git_directory.is_whole_hash(new):
        return UnfinishedMove(ref, name, old, new)
    branch = ref.removeprefix(MOVING)
    head = repository.resolve_commit(repo, f"refs/heads/{branch}")
    return UnfinishedMove(ref, branch, old, head or old)


def finish_interrupted_move(checkout: Checkout, branch: str) -> None:
    """Put a checkout right whose move was cut short, if there was one."""
    path = checkout.path
    index = repository.find_git_path(path, "index")
    if checkout.own:
        clear_index_lock(index, path)
    else:
        remove_dead_lock(index)
    for move in list_unfinished_moves(path, branch):
        from porch.git.moves.checkout_repair import put_checkout_right  # hardly ever needed

        with lock_moves(repository.find_common_directory(path)):
            # Whoever held the lock until now may have been in the middle of it.
            if repository.resolve_commit(path, move.ref) is not None:
                with hold_index(index) as held:
                    put_checkout_right(
                        path, held.copy, checkout.own, branch, old=move.old, new=move.new
                    )
                    held.publish()
                delete_own_refs(path, [move.ref])


def remove_stale_index_lock(path: str) -> None:
    """In a worktree of porch's own: also the lock of an agent's git that was killed."""
    clear_index_lock(repository.find_git_path(path, "index"), path)


def swap_ref(repo: str, branch: str, new: str, old: str) -> bool:
    """Move a branch that is checked out nowhere; False if it no longer is at old."""
    ref = f"refs/heads/{branch}"
    words = ("update-ref", "-m", "move (porch)", ref, new, old)
    done = try_git(repo, *words)
    if done.returncode == 0:
        return True
    if repository.resolve_commit(repo, ref) != old:
        return False
    raise git_error(repo, words, done)


def read_status(
    path: str, *more: str, updates_index: bool = False, is_aside: bool = False
) -> list[tuple[str, str]]:
    """Each path that differs from HEAD, with git's two letters for how.

    With `updates_index` git keeps what it learnt of the files, unless somebody holds the index.
    With `is_aside` it takes one thread and not twenty: the caller waits for another git meanwhile.
    """
    if not updates_index and is_young_and_as_committed(path):
        return []
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", *more)
    words = ("-c", "core.preloadIndex=false", *words) if is_aside else words
    env = {"GIT_OPTIONAL_LOCKS": "1"} if updates_index else None
    rows = run_git(path, *words, "--ignore-submodules=none", env=env).split("\0")
    return [(row[:2], row[3:]) for row in rows if row]


def require_worktree_branch(path: str, branch: str) -> None:
    """Refuse a directory that is not the top of a worktree on this branch."""
    found = git_directory.find_git_directory(path)
    if found is None:
        # There `git switch` would speak of the checkout around it.
        raise OutsideError(
            f"{path} is not the top directory of a worktree; porch expects branch '{branch}' there",
            fix=f"bring its file .git back: `git worktree repair {shlex.quote(path)}` in the main "
            "checkout, or move the directory away",
            code="worktree-moved",
        )
    if (stands := git_directory.read_branch(found)) != branch:
        is_renamed = stands and not repository.resolve_commit(path, f"refs/heads/{branch}")
        words = ("branch", "-m", stands, branch) if is_renamed else ("switch", branch)
        command = shlex.join(("git", "-C", path, *words))
        fix = f"give it its name back: `{command}`" if is_renamed else f"run `{command}`"
        raise worktree_moved_error(path, branch, f"is on {stands or 'no branch'}", fix)


def worktree_moved_error(path: str, branch: str, how: str, fix: str = "") -> OutsideError:
    fix = fix or f"run `git switch {branch}` there"
    return OutsideError(
        f"{path} {how}; porch expects branch '{branch}' there",
        fix=f"{fix}, or move the directory away",
        code="worktree-moved",
    )


def _require_clean_checkout(checkout: Checkout, branch: str, new: str, old: str) -> None:
    require_worktree_branch(checkout.path, branch)
    # What moves files goes by what the index knows of them, so that is brought up to date as well.
    rows = read_status(checkout.path, "--ignored=matching", updates_index=True)
    changed = sorted({name for state, name in rows if state not in _NOT_TRACKED})
    if changed or repository.resolve_commit(checkout.path, "MERGE_HEAD"):
        names = ", ".join(changed[:5]) or "a merge in progress"
        raise OutsideError(
            f"cannot update branch '{branch}': {checkout.path} has uncommitted changes ({names})",
            fix="commit or stash them there, then run `porch resume`",
        )
    if rows:
        # Untracked files in the way must be heard of before the branch moves.
        run_git(checkout.path, "read-tree", "-n", "-m", "-u", old, new)
    ignored = [name.rstrip("/") for state, name in rows if state == _IGNORED]
    if ignored and not checkout.own:
        _refuse_ignored_in_way(checkout.path, branch, ignored, new=new, old=old)


def _refuse_ignored_in_way(
    path: str, branch: str, ignored: Sequence[str], *, new: str, old: str
) -> None:
    """Git overwrites what it ignores without a word, and nobody else has these files."""
    words = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=A", old, new)
    added = run_git(path, *words).split("\0")[:-1]
    names = [name for name in added if _is_in_way(path, name, ignored)]
    if names:
        raise OutsideError(
            f"cannot update branch '{branch}': files that git ignores in {path} would be "
            f"overwritten ({', '.join(names[:5])})",
            fix="move them away there, then run `porch resume`",
        )


def _is_in_way(path: str, name: str, ignored: Sequence[str]) -> bool:
    """Whether something ignored lies at this place, on the way to it, or below it."""
    for each in ignored:
        place = os.path.join(path, each)
        is_below = name.startswith(f"{each}/")
        if is_below and os.path.isdir(place) and not os.path.lexists(os.path.join(path, name)):
            continue
        is_same = name == each and not is_empty_directory(place)
        if is_below or is_same or each.startswith(f"{name}/"):
            return True
    return False


def is_empty_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path) and not os.listdir(path)
