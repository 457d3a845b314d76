"""In a worktree of its own a run commits its work: after each accepted exit, and at its end.

The commit is made before the exit is recorded. A crash between the two leaves nothing to commit for
whoever takes over, who reads the exit from the transcript and finds the commit by its trailer. What
cannot be committed is no reason to lose a turn: it is said, also in the status, and the next commit
takes it along. Nothing is merged before one has.
"""

import contextlib
import os

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import OutsideError, PorchError
from porch.git import git_directory, repository, work_commits
from porch.git.repository import TRAILER, quote_glob
from porch.machine.state import RunState
from porch.run.engine.run_places import list_own_paths, own_branch, workspace_of
from porch.store.uncommitted_work import note_uncommitted_work
from porch.store.where import ProjectPaths
from porch.store.worktree_records import WorktreeRecord, find_record_of, list_placed
from porch.system import atomic
from porch.system.regular_file import open_regular

END_FILE = "end-commit"
_LONGEST = 128
_OPEN = "open"
_UNKNOWN = "-"


class KeptWork(Struct, frozen=True):
    """The commit that holds the work, if there was any, and what could not be committed.

    `fix` is what a person can do about the failure, where that is known.
    """

    commit: str = ""
    notes: tuple[str, ...] = ()
    failure: str = ""
    fix: str = ""


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


class RunEnd(Struct, frozen=True):
    """The commit with which a run ended; while it is open, the last work is not committed yet.

    Earlier releases noted no commit where the agents had committed everything themselves.
    """

    commit: str
    is_open: bool = False


def read_run_end(directory: str) -> RunEnd | None:
    """What was noted at the end of a run; None while it goes on, and of runs without a branch."""
    try:
        with open(os.path.join(directory, END_FILE), encoding="ascii", opener=open_regular) as file:
            commit, _, more = file.read(_LONGEST).strip().partition(" ")
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return RunEnd("")
    return RunEnd(commit if git_directory.is_whole_hash(commit) else "", more == _OPEN)


def note_head(where: ProjectPaths, state: RunState) -> None:
    """Just before a run ends: should nobody live to commit its last work, later commits are known.

    Its end is open until then.
    """
    branch = own_branch(state)
    if branch:
        commit = _read_branch(where, branch)
        workspace = workspace_of(where, state)
        if not commit and os.path.isdir(workspace):
            # Somebody renamed the branch: the worktree still stands on the last commit of the run.
            commit = repository.read_head(workspace) or ""
        _write_end(where.run_dir(state.run.name), RunEnd(commit, True))


def _write_end(directory: str, end: RunEnd) -> None:
    text = f"{end.commit or _UNKNOWN}{f' {_OPEN}' if end.is_open else ''}\n"
    atomic.replace_file(os.path.join(directory, END_FILE), text.encode(), sync=False)


def commit_last_work(where: ProjectPaths, state: RunState) -> KeptWork:
    """At the end of a run, once: what no exit has kept, such as the answers of reviewers.

    The head of its branch is noted then: what is committed there later is not work of the run.
    """
    branch = own_branch(state)
    directory, workspace = where.run_dir(state.run.name), workspace_of(where, state)
    end = read_run_end(directory)
    if not (state.outcome and branch) or (end and not end.is_open):
        return KeptWork()
    kept, before = KeptWork(), _read_branch(where, branch)
    if state.run.own_worktree and os.path.isdir(workspace):
        places = WorkPlaces(workspace, directory, find_record_of(where, workspace))
        kept = _commit_work(places, state, state.outcome, "end")
    # What somebody committed between two tries stays behind the end.
    is_moved = end is not None and end.commit != before
    commit = end.commit if end and is_moved else _read_branch(where, branch)
    try:
        _write_end(directory, RunEnd(commit, bool(kept.failure)))
    except PorchError as error:
        return replace(kept, notes=(*kept.notes, str(error)))
    return kept


def _read_branch(where: ProjectPaths, branch: str) -> str:
    return repository.resolve_commit(where.base, f"refs/heads/{branch}") or ""


def commit_later_work(where: ProjectPaths, state: RunState) -> KeptWork:
    """What lies in the worktree of a run that is over, where a person wants that, too."""
    workspace = workspace_of(where, state)
    directory = where.run_dir(state.run.name)
    places = WorkPlaces(workspace, directory, find_record_of(where, workspace))
    return _commit_work(places, state, "changed after the end", "later")


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
        fix = error.findings[0].fix if isinstance(error, OutsideError) else ""
        return KeptWork("", (f"not committed: {why}",), why, fix)
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
