"""Doing what was decided about an old project; what is done already is not done again.

The decision is on the disk before the first document moves and goes with the last step, so that a
call after a crash finishes it, from wherever that was. Each document moves by one rename, and so it
never lies in two places. Whatever fails in front of the first record of the run is taken back: the
project stays whole in its old place.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec import json

from porch.errors import BusyError, FailedError, PorchError
from porch.fleet.migration import old_worktrees
from porch.fleet.migration.decisions import MigrationPlan, ProjectDecision, decision_path
from porch.fleet.migration.old_tree import read_old_tree
from porch.fleet.setup.additive_files import read_existing
from porch.git import repository, worktrees
from porch.git.repository import TRAILER
from porch.run.definitions.current_definition import load_current_definition
from porch.run.definitions.library import LoadedDefinition
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.engine.run_places import require_known_place
from porch.run.engine.session import hold_run
from porch.run.engine.status_copies import keep_status_copy
from porch.run.verbs.start import begin_run
from porch.store import known_runs
from porch.store import where as places
from porch.store.where import ProjectPaths
from porch.system import atomic, crash_points
from porch.system.regular_file import open_regular


@contextmanager
def hold_migration(where: ProjectPaths) -> Iterator[None]:
    """From the first look to the last move: what another one moves meanwhile is decided on anew."""
    require_known_place(where)
    lock = os.path.join(os.path.dirname(decision_path(where, "")), "lock")
    atomic.ensure_directory(os.path.dirname(lock))
    with open(lock, "a", encoding="ascii", opener=open_regular) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            fix = "wait until it is ready, then run the same command again"
            raise BusyError("another `codev migrate` is at work here", fix=fix) from error
        yield


class Migrator:
    """Carries out the decisions of one plan; each protocol is read once for all of its runs."""

    def __init__(self, where: ProjectPaths):
        self.where = where
        self._protocols: dict[str, LoadedDefinition] = {}

    def carry_out_plan(self, plan: MigrationPlan, *, clean: bool) -> dict[str, str]:
        """One project that cannot be moved keeps no other from it; returns those, with reasons."""
        failed: dict[str, str] = {}
        for decision in plan.decisions:
            if decision.outcome == "left":
                continue
            try:
                self.carry_out(decision)
            except (PorchError, OSError) as error:
                failed[decision.run] = self._describe_failure(decision, error)
        for worktree in plan.worktrees if clean else ():
            if not worktree.is_kept:
                old_worktrees.clean_worktree(self.where.root, worktree)
        _remove_empty(os.path.join(self.where.root, old_worktrees.BUILDERS))
        return failed

    def _describe_failure(self, decision: ProjectDecision, error: PorchError | OSError) -> str:
        why = error.findings[0].message if isinstance(error, PorchError) else str(error)
        is_begun = os.path.lexists(decision_path(self.where, decision.run))
        return f"{why}; the next `codev migrate` goes on with it" if is_begun else why

    def carry_out(self, decision: ProjectDecision) -> None:
        path = decision_path(self.where, decision.run)
        atomic.ensure_directory(os.path.dirname(path))
        atomic.replace_file(path, json.encode(decision), sync=True)
        crash_points.reach_point("migrate.after-decision")
        status = read_existing(self.where.root, f"{decision.directory}/status.yaml")
        try:
            self._move(decision)
        except (PorchError, OSError):
            if not (self.where.has_begun(decision.run) or self._has_moved_worktree(decision)):
                self._take_back(decision, status)
                os.unlink(path)
            raise
        crash_points.reach_point("migrate.before-end")
        os.unlink(path)
        crash_points.reach_point("migrate.after-end")

    def _move(self, decision: ProjectDecision) -> None:
        root, worktree = self.where.root, decision.worktree
        if worktree is not None and not decision.is_cleaned:
            old_worktrees.move_worktree(root, worktree)
            inside = os.path.join(root, worktree.new_path)
            for project in read_old_tree(inside).projects:
                if project.run == decision.run:
                    usual = project.documents
                    _move_documents(
                        inside, {old: decision.places.get(old, usual[old]) for old in usual}
                    )
            if decision.outcome == "paused":
                _take_status_out(root, inside, decision)
        _move_documents(root, decision.documents)
        path = os.path.join(root, decision.directory, "status.yaml")
        if decision.status and not self.where.has_begun(decision.run):
            data, there = decision.status.encode(), read_existing(root, os.path.relpath(path, root))
            if there not in (None, data):
                keep_status_copy(path, there or b"")
            atomic.replace_file(path, data, sync=True)
        crash_points.reach_point("migrate.after-status")
        if decision.outcome == "paused":
            self._begin_paused(decision)
            # From now on porch draws it: tracked, it would be a change of this checkout for ever.
            repository.untrack_file(root, f"{decision.directory}/status.yaml")
        crash_points.reach_point("migrate.after-run")
        if worktree is not None and decision.is_cleaned:
            old_worktrees.clean_worktree(root, worktree)

    def _has_moved_worktree(self, decision: ProjectDecision) -> bool:
        """Then it is not taken back: the next call goes on with this decision."""
        mine = decision.worktree
        if mine is None or decision.is_cleaned:
            return False
        return os.path.lexists(os.path.join(self.where.root, mine.new_path))

    def _begin_paused(self, decision: ProjectDecision) -> None:
        """The status file becomes the first fact of a run that nobody works on before `resume`."""
        where, run = self.where, decision.run
        if where.has_begun(run):
            with hold_run(where, run, "codev migrate") as held:
                held.pictures.late = True  # the crash may have been in front of any of them
            known_runs.note_run(where.state_dir, run)
            return
        if decision.worktree is not None and not decision.is_cleaned:
            where = places.find_project(os.path.join(where.root, decision.worktree.new_path))
        status = f"{decision.directory}/status.yaml"
        about = RunSubject(run, decision.id, decision.title, decision.directory, status)
        wanted = RunRequest(decision.protocol, subject=decision.id, adopt=True, paused=True)
        if decision.protocol not in self._protocols:
            loaded = load_current_definition(self.where, decision.protocol)
            self._protocols[decision.protocol] = loaded
        loaded = self._protocols[decision.protocol]
        with begin_run(where, about, loaded, wanted, watch=DriveWatch()):
            pass

    def _take_back(self, decision: ProjectDecision, status: bytes | None) -> None:
        root = self.where.root
        for old, new in decision.documents.items():
            if not os.path.lexists(os.path.join(root, old)):
                os.makedirs(os.path.join(root, os.path.dirname(old)), exist_ok=True)
                os.rename(os.path.join(root, new), os.path.join(root, old))
        path = os.path.join(root, decision.directory, "status.yaml")
        if status is not None:
            atomic.replace_file(path, status, sync=True)
        elif os.path.exists(path):
            os.unlink(path)
        _remove_empty(os.path.join(root, decision.directory))


def _take_status_out(root: str, inside: str, decision: ProjectDecision) -> None:
    """Of the worktree and its branch, which would bring it to where porch draws the status."""
    path = f"{decision.directory}/status.yaml"
    data = read_existing(inside, path)
    if data is not None:
        os.makedirs(os.path.join(root, decision.directory), exist_ok=True)
        keep_status_copy(os.path.join(root, path), data)
        os.unlink(os.path.join(inside, path))
    message = f"Porch keeps the status of {decision.run}"
    worktrees.commit_named_paths(inside, [path], message, f"{TRAILER}: {decision.run} migrate")


def _move_documents(root: str, documents: Mapping[str, str]) -> None:
    """The specification last: as long as it lies there, there is something to migrate."""
    for old, new in reversed(list(documents.items())):
        if old == new:
            continue
        data, there = read_existing(root, old), read_existing(root, new)
        if data is not None and there not in (None, data):
            raise FailedError(
                f"{new} is there with other content than {old}; nothing of the project was moved",
                fix="compare the two files, keep the right one, then run `codev migrate` again",
                code="not-verified",
            )
        if data is not None:
            os.makedirs(os.path.join(root, os.path.dirname(new)), exist_ok=True)
            os.replace(os.path.join(root, old), os.path.join(root, new))
            crash_points.reach_point("migrate.after-document")
        _remove_empty(os.path.join(root, os.path.dirname(old)))


def _remove_empty(path: str) -> None:
    """Other files of people keep it where it is."""
    if os.path.isdir(path) and not os.listdir(path):
        os.rmdir(path)
