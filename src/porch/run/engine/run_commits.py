"""In a worktree of its own a run commits its work: after each accepted exit, and at its end.

The commit is made before the exit is recorded. A crash between the two leaves nothing to commit for
whoever takes over, who reads the exit from the transcript and finds the commit by its trailer. What
cannot be committed is no reason to lose a turn: it is said, and the next commit takes it along.
"""

import os
import re

from msgspec import Struct

from porch.errors import OutsideError, PorchError
from porch.git import work_commits
from porch.git.repository import TRAILER
from porch.machine.state import RunState
from porch.run.engine.run_places import list_own_paths, workspace_of
from porch.store.where import ProjectPaths
from porch.store.worktree_records import WorktreeRecord, find_record_of
from porch.system import atomic

END_FILE = "end-commit"


class KeptWork(Struct, frozen=True):
    """The commit that holds the work, if there was any, and what could not be committed."""

    commit: str = ""
    notes: tuple[str, ...] = ()


def commit_exit_work(
    workspace: str, state: RunState, made: WorktreeRecord | None, position: str, effect: str
) -> KeptWork:
    """Keep what lies uncommitted when the exit of an agent is accepted."""
    if not state.run.own_worktree:
        return KeptWork()
    standing = state.positions.get(position)
    label = f"{standing.state} {standing.item}".rstrip() if standing else position
    return _commit_work(workspace, state, made, label, effect)


def commit_last_work(where: ProjectPaths, state: RunState) -> KeptWork:
    """At the end of a run, once: what no exit has kept, such as the answers of reviewers."""
    directory, workspace = where.run_dir(state.run.name), workspace_of(where, state)
    marker = os.path.join(directory, END_FILE)
    is_due = state.run.own_worktree and state.outcome and os.path.isdir(workspace)
    if not is_due or os.path.lexists(marker):
        return KeptWork()
    made = find_record_of(where, workspace)
    kept = _commit_work(workspace, state, made, state.outcome, "end")
    if not kept.notes:
        try:
            # What somebody changes there from now on is theirs.
            atomic.replace_file(marker, f"{kept.commit}\n".encode(), sync=False)
        except PorchError as error:
            return KeptWork(kept.commit, (str(error),))
    return kept


def _commit_work(
    workspace: str, state: RunState, made: WorktreeRecord | None, label: str, effect: str
) -> KeptWork:
    run = state.run
    trailer = f"{TRAILER}: {run.name} {effect}"
    try:
        done = work_commits.commit_all_work(
            workspace, run.branch, _list_excluded(made), f"{run.name}: {label}", trailer
        )
    except (OutsideError, OSError) as error:
        why = error.findings[0].message if isinstance(error, OutsideError) else str(error)
        return KeptWork("", (f"not committed: {why}",))
    inner = ", ".join(done.left_out)
    return KeptWork(done.commit, (f"not committed: {inner} is a git repository",) if inner else ())


def _list_excluded(made: WorktreeRecord | None) -> tuple[str, ...]:
    """What porch draws for readers, and what the set-up put there; documents are work."""
    placed = made.placed if made else ()
    return (*list_own_paths(""), *(re.sub(r"([*?\[\\])", r"\\\1", name) for name in placed))
