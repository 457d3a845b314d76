"""The repository: there is one, it has a commit, git knows a name, no worktree is only a memory."""

import os
from collections.abc import Iterator

from porch.errors import OutsideError
from porch.git import repository, worktrees
from porch.git.command import run_git
from porch.git.index_lock import is_lock_of_dead_porch
from porch.git.moved_worktrees import find_moved_worktrees
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.run_names import quote_word
from porch.store.where import ProjectPaths

PRUNE = "git worktree prune"
REPAIR = "git worktree repair"
DEAD_LOCK = "remove the lock of a porch that was killed"


def examine_repository(where: ProjectPaths) -> Iterator[DoctorLine]:
    """In the order in which one would mend it: each line needs those before it."""
    if not where.common_dir:
        what = f"{where.root} is not in a git repository"
        yield DoctorLine("missing", what, "run `git init`", stops=True)
        return
    if where.workspace == where.common_dir:
        fix = "run `git worktree add ../work`, and work there"
        yield DoctorLine("missing", f"{where.root} is a bare repository", fix, stops=True)
        return
    moved = find_moved_worktrees(where.common_dir, where.top)
    if moved:
        fix = f"run `{REPAIR} {' '.join(map(quote_word, moved))}`"
        what = f"the project was moved, and git does not find these worktrees: {', '.join(moved)}"
        yield DoctorLine("warning", what, fix, repair=REPAIR)
    try:
        # Git itself may refuse what its files show, as with the repository of another user.
        run_git(where.base, "rev-parse", "--git-dir")
        yield from _examine_history(where)
        yield from _examine_lock(where)
        # Git prunes all at once, also what can be repaired.
        yield from () if moved else _examine_worktrees(where)
    except OutsideError as error:
        finding = error.findings[0]
        yield DoctorLine(
            "missing", finding.message, finding.fix or "look at it with git", stops=True
        )


def _examine_history(where: ProjectPaths) -> Iterator[DoctorLine]:
    if repository.read_head(where.base) is None:
        fix = "run `git commit --allow-empty -m 'First commit'`"
        yield DoctorLine("missing", "the repository has no commit yet", fix, stops=True)
    else:
        yield DoctorLine("ok", f"git repository {where.root}")
    if repository.read_commit_identity(where.base):
        fix = "run `git config user.name 'Your name' && git config user.email you@example.org`"
        what = "git knows no name for your commits; porch would commit as porch"
        yield DoctorLine("warning", what, fix)


def _examine_lock(where: ProjectPaths) -> Iterator[DoctorLine]:
    index = repository.find_git_path(where.base, "index")
    if is_lock_of_dead_porch(index):
        what = f"{index}.lock was left by a porch that was killed; git commits nothing here"
        fix = "run `codev doctor --fix`, or the command again that was killed"
        yield DoctorLine("warning", what, fix, repair=DEAD_LOCK)


def _examine_worktrees(where: ProjectPaths) -> Iterator[DoctorLine]:
    known = worktrees.list_worktrees(where.root)[1:]
    gone = [each.path for each in known if not os.path.isdir(each.path)]
    if gone:
        what = f"git knows of worktrees whose directories are gone: {', '.join(gone)}"
        yield DoctorLine("warning", what, f"run `{PRUNE}`", repair=PRUNE)
