"""In a worktree of its own a run commits its work: after each accepted exit, and at its end.

The commit is made before the exit is recorded. A crash between the two leaves nothing to commit for
whoever takes over, who reads the exit from the transcript and finds the commit by its trailer. What
cannot be committed is no reason to lose a turn: it is said, also in the status, and the next commit
takes it along. Nothing is merged before one has.
"""

import contextlib
import os

from msgspec import Struct

from porch.errors import OutsideError, PorchError
from porch.git import work_commits
from porch.git.repository import TRAILER, quote_glob
from porch.machine.state import RunState
from porch.run.engine.run_places import list_own_paths, workspace_of
from porch.store.uncommitted_work import note_uncommitted_work
from porch.store.where import ProjectPaths
from porch.store.worktree_records import WorktreeRecord, find_record_of, list_placed
from porch.system import atomic

END_FILE = "end-commit"


class KeptWork(Struct, frozen=True):
    """The commit that holds the work, if there was any, and what could not be committed."""

    commit: str = ""
    notes: tuple[str, ...] = ()
    failure: str = ""


class WorkPlaces(Struct, frozen=True):
    """Where a run works, where its journal lies, and what porch put into its worktree."""

    workspace: str
    directory: str
    made: WorktreeRecord | None


def commit_exit_work(places: WorkPlaces, state: RunState, position: str, effect: str) -> KeptWork:
    """Keep what lies uncommitted when the exit of an agent is accepted."""
    if not state.run.own_worktree:
        return KeptWork()
    standing = state.positions.get(position)
    label = f"{standing.state} {standing.item}".rstrip() if standing else position
    return _commit_work(places, state, label, effect)


def commit_last_work(where: ProjectPaths, state: RunState) -> KeptWork:
    """At the end of a run, once: what no exit has kept, such as the answers of reviewers."""
    directory, workspace = where.run_dir(state.run.name), workspace_of(where, state)
    marker = os.path.join(directory, END_FILE)
    is_due = state.run.own_worktree and state.outcome and os.path.isdir(workspace)
    if not is_due or os.path.lexists(marker):
        return KeptWork()
    places = WorkPlaces(workspace, directory, find_record_of(where, workspace))
    kept = _commit_work(places, state, state.outcome, "end")
    if not kept.notes:
        try:
            # What somebody changes there from now on is theirs.
            atomic.replace_file(marker, f"{kept.commit}\n".encode(), sync=False)
        except PorchError as error:
            return KeptWork(kept.commit, (str(error),))
    return kept


def _commit_work(places: WorkPlaces, state: RunState, label: str, effect: str) -> KeptWork:
    run = state.run
    trailer = f"{TRAILER}: {run.name} {effect}"
    try:
        done = work_commits.commit_all_work(
            places.workspace,
            run.branch,
            _list_excluded(places),
            message=f"{run.name}: {label}",
            trailer=trailer,
        )
    except (OutsideError, OSError) as error:
        why = _shorten_reason(error)
        with contextlib.suppress(PorchError):
            note_uncommitted_work(places.directory, why)
        return KeptWork("", (f"not committed: {why}",), why)
    note_uncommitted_work(places.directory, "")
    inner = ", ".join(done.left_out)
    return KeptWork(done.commit, (f"not committed: {inner} is a git repository",) if inner else ())


def _shorten_reason(error: OutsideError | OSError) -> str:
    """What git said, without the long command that it said it to."""
    if isinstance(error, OSError):
        return str(error)
    first, *said = error.findings[0].message.splitlines()
    return " ".join(line.strip() for line in said) or first


def _list_excluded(places: WorkPlaces) -> tuple[str, ...]:
    """What porch draws for readers, and what the set-up put there; documents are work."""
    # As git writes them: a pattern with `./` in front of it fits nothing.
    placed = map(os.path.normpath, list_placed(places.made, places.workspace))
    return (*list_own_paths(""), *map(quote_glob, placed))
