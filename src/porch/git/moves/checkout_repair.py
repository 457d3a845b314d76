"""Putting a checkout right in which a move was cut short: its index and files follow its branch.

Where the branch was swapped already, what is missing is brought; otherwise what came is taken back.
Of a person's own checkout only what the move was about is touched, and no file in which they wrote.
What nobody has committed is kept under a ref, before anything is put in its place.
"""

import contextlib
import os
from collections.abc import Sequence

from porch.git import repository
from porch.git.command import read_git_bytes, run_git, try_git
from porch.git.moves.own_refs import set_own_ref
from porch.system.scratch import copy_with_times, scratch_directory

SALVAGE = "refs/porch/salvage/"


def name_salvage_ref(branch: str, position: str) -> str:
    """Beside the ref of the branch itself: git has no ref below another one."""
    place = position.translate({ord(sign): "-" for sign in ":#/"})
    return f"{SALVAGE}{branch}@{place}"


def salvage_uncommitted(path: str, ref: str, message: str, own: Sequence[str] = ()) -> str | None:
    """Keep everything uncommitted as a commit under a ref, without touching the worktree.

    What an earlier salvage kept under the same ref stays reachable as a parent. `own` are files
    that porch put there: nobody's work, and perhaps somebody's secrets.
    """
    head, earlier = repository.read_head(path), repository.resolve_commit(path, ref)
    tree = _write_tree_of_all(path, own)
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
    set_own_ref(path, ref, commit)
    return commit


def _write_tree_of_all(path: str, own: Sequence[str]) -> str:
    with scratch_directory("porch-salvage-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        with contextlib.suppress(FileNotFoundError):
            copy_with_times(repository.find_git_path(path, "index"), env["GIT_INDEX_FILE"])
        repository.stage_all_files(path, [*map(repository.quote_glob, own)], env)
        return run_git(path, "write-tree", env=env).strip()


def put_checkout_right(
    path: str, index: str, own: bool, branch: str, *, old: str, new: str
) -> None:
    """Have index and files at HEAD again, as far as a move from old to new has touched them.

    `index` is a copy that the caller holds, and publishes when this has ended well.
    """
    head = repository.read_head(path)
    if head is None or (head == new != old and not _is_index_behind(path, index, old, new)):
        # The index is written last, so one that is not old any more means that all is moved.
        return
    names = _list_moved_names(path, old, new)
    unlike = {commit: _list_unlike(path, commit, names) for commit in {old, new, head}}
    odd = unlike[old] & unlike[new]
    if own and odd:
        salvage_uncommitted(
            path, SALVAGE + branch, f"Left in the checkout of {branch} when its move was cut"
        )
    foreign = set() if own else {name for name in odd if not _is_half_written(path, name, new)}
    _restore_paths(path, index, head, sorted(names), foreign)


def _is_index_behind(path: str, index: str, old: str, new: str) -> bool:
    """Whether the index still is that of before, in anything that the move was about."""
    words, env = ("diff-index", "--cached", "--quiet"), {"GIT_INDEX_FILE": index}
    is_new = try_git(path, *words, new, "--", env=env).returncode == 0
    return not is_new and try_git(path, *words, old, "--", env=env).returncode == 0


def _list_moved_names(path: str, old: str, new: str) -> set[str]:
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return set(run_git(path, *words).split("\0")[:-1])


def _list_unlike(path: str, commit: str, names: set[str]) -> set[str]:
    """Those of the names whose file is not what it is in the commit."""
    with scratch_directory("porch-repair-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        run_git(path, "read-tree", commit, env=env)
        known = set(run_git(path, "ls-files", "-z", env=env).split("\0")[:-1])
        words = ("diff", "--name-only", "-z", "--no-ext-diff", "--ignore-submodules=all")
        changed = run_git(path, *words, env=env).split("\0")[:-1]
    there = {name for name in names - known if os.path.lexists(os.path.join(path, name))}
    return there | names.intersection(changed)


def _is_half_written(path: str, name: str, commit: str) -> bool:
    """Whether a file is missing or the beginning of what it should become, as git writes it."""
    file = os.path.join(path, name)
    if not os.path.lexists(file):
        return True
    try:
        with open(file, "rb") as opened:
            found = opened.read()
    except OSError:
        return False
    whole = run_git(path, "ls-tree", "--name-only", "-z", commit, "--", f":(top,literal){name}")
    return bool(whole) and read_git_bytes(path, "cat-file", "blob", f"{commit}:{name}").startswith(
        found
    )


def _restore_paths(path: str, index: str, head: str, names: list[str], foreign: set[str]) -> None:
    """Index and files of these names as HEAD has them; files of somebody else stay as they are."""
    env = {"GIT_LITERAL_PATHSPECS": "1", "GIT_INDEX_FILE": index}
    listed = run_git(path, "ls-tree", "-r", "-z", "--name-only", head).split("\0")
    known = set(names).intersection(listed)
    gone = [name for name in names if name not in known]
    if gone:
        words = ("update-index", "-z", "--force-remove", "--stdin")
        run_git(path, *words, env=env, stdin="".join(f"{name}\0" for name in gone))
    for name in gone:
        if name not in foreign:
            _remove_file(path, name)
    pathspec = ("--pathspec-from-file=-", "--pathspec-file-nul")
    if known:
        stdin = "\0".join(sorted(known))
        run_git(path, "reset", "-q", head, *pathspec, env=env, stdin=stdin)
    ours = sorted(known - foreign)
    if ours:
        run_git(path, "checkout", "-q", *pathspec, env=env, stdin="\0".join(ours))


def _remove_file(path: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
        os.unlink(os.path.join(path, name))
    with contextlib.suppress(OSError):
        os.removedirs(os.path.dirname(os.path.join(path, name)))
