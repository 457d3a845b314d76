"""Putting a checkout right in which a move was cut short: its index and files follow its branch.

Where the branch was swapped already, what is missing is brought; otherwise what came is taken back.
Of a person's own checkout only what the move was about is touched, and no file in which they wrote.
"""

import contextlib
import os

from porch.git import repository
from porch.git.command import read_git_bytes, run_git, try_git
from porch.git.moves.salvage import SALVAGE, salvage_uncommitted
from porch.system.scratch import scratch_directory


def put_checkout_right(path: str, own: bool, branch: str, old: str, new: str) -> None:
    """Have index and files at HEAD again, as far as a move from old to new has touched them."""
    head = repository.read_head(path)
    if head is None or (head == new != old and not _is_index_behind(path, old, new)):
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
    _restore_paths(path, head, sorted(names), foreign)


def _is_index_behind(path: str, old: str, new: str) -> bool:
    """Whether the index still is that of before, in anything that the move was about."""
    words = ("diff-index", "--cached", "--quiet")
    is_new = try_git(path, *words, new, "--").returncode == 0
    return not is_new and try_git(path, *words, old, "--").returncode == 0


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


def _restore_paths(path: str, head: str, names: list[str], foreign: set[str]) -> None:
    """Index and files of these names as HEAD has them; files of somebody else stay as they are."""
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    listed = run_git(path, "ls-tree", "-r", "-z", "--name-only", head).split("\0")
    known = set(names).intersection(listed)
    gone = [name for name in names if name not in known]
    if gone:
        words = ("update-index", "-z", "--force-remove", "--stdin")
        run_git(path, *words, stdin="".join(f"{name}\0" for name in gone))
    for name in gone:
        if name not in foreign:
            _remove_file(path, name)
    # The index of all of them first: from it people commit.
    pathspec = ("--pathspec-from-file=-", "--pathspec-file-nul")
    if known:
        stdin = "\0".join(sorted(known))
        run_git(path, "reset", "-q", head, *pathspec, env=literal, stdin=stdin)
    ours = sorted(known - foreign)
    if ours:
        run_git(path, "checkout", "-q", *pathspec, env=literal, stdin="\0".join(ours))


def _remove_file(path: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
        os.unlink(os.path.join(path, name))
    with contextlib.suppress(OSError):
        os.removedirs(os.path.dirname(os.path.join(path, name)))
