"""The first record of a run, and everything that must be there before it.

Files that nobody has committed are in the tree that it begins with, too. The work goes back to the
branch on which it begins, unless somebody says otherwise.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from msgspec.structs import replace

from porch.git import measured_tree, repository, tree_changes, worktrees
from porch.git.tree_room import pin_tree_room
from porch.machine import facts as f
from porch.machine.state import RunState
from porch.model.definition import serialize_definition
from porch.model.protocol import TRACK, Protocol
from porch.run import pinned_settings
from porch.run.agents.default_panel import settle_panel
from porch.run.agents.roster import Roster
from porch.run.definitions import library, track_plans
from porch.run.definitions.subject_names import RunSubject
from porch.run.drive import script_answers
from porch.run.drive.start_requirements import no_spec_error, require_script
from porch.run.engine import run_places
from porch.run.engine.caller import find_user_name
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.engine.fact_redaction import redact_text
from porch.run.engine.run_places import payload_directory
from porch.run.engine.session import HeldRun, assemble_held_run, lock_run
from porch.run.settings import load_settings
from porch.run.verbs import adopt
from porch.run.verbs.lease import lease_of_run
from porch.store import compiled_protocols, known_runs, lock, payloads
from porch.store.journal import Journal
from porch.store.where import ProjectPaths
from porch.store.worktree_records import WorktreeRecord, find_record_of
from porch.system import atomic
from porch.system.clock import Clock
from porch.system.regular_file import require_directory_inside
from porch.text.late_pattern import late_pattern
from porch.text.sha256 import sha256

_PLAIN = late_pattern(r"[A-Za-z0-9_-]+")
NAMED = 5

OWN_FILES = ("/codev/projects/*/status*.yaml*", "/codev/executions/*/status*.yaml*", "/worktrees/")


_NO_GIT = "not a git repository: porch cannot tell whether files changed after a check"


@contextmanager
def begin_run(
    where: ProjectPaths,
    about: RunSubject,
    loaded: library.LoadedDefinition,
    wanted: RunRequest,
    *,
    watch: DriveWatch,
    spec: Mapping[str, Any] | None = None,
    commit: str = "",
) -> Iterator[HeldRun]:
    """The first record of a run, written under its lock before anything else happens.

    `spec` says what the root of a tree is about, `commit` whose settings of the project count;
    without one they are those of the checkout.
    """
    known = load_settings(where.root, trust=wanted.trust, commit=commit)
    definition = settle_panel(loaded, Roster(known, wanted.agent)).demand()
    if definition.protocol.spec and spec is None:
        raise no_spec_error(definition.protocol, "no spec was given")
    adopt.refuse_lost_run(where, about.run, wanted.adopt)
    foreign = adopt.read_foreign_status(where, about, definition.protocol, wanted.adopt)
    is_scripted = wanted.agent == "scripted"
    script = ""
    if is_scripted:
        own = script_answers.read_protocol_script(loaded.files[0])
        script = script_answers.read_chosen_script(wanted.script, own, definition.protocol)
        require_script(definition.protocol, script)
    directory = where.run_dir(about.run)
    atomic.ensure_directory(directory)
    made = find_own_worktree(where, about)
    with lock_run(directory, about.run, "porch run", 1.0):
        journal, scan = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if scan.records:
                raise lock.run_busy_error(about.run, None)
            store = payload_directory(where, about.run)
            digest = payloads.write_payload(store, serialize_definition(definition))
            started = assemble_held_run(
                where,
                about.run,
                journal=journal,
                state=RunState(),
                definition=definition,
                clock=Clock(),
            )
            _make_room(where, about)
            compiled_protocols.write_file_stamps(directory, digest, loaded.files)
            pinned = pinned_settings.pin_settings(where, about.run, known, commit)
            first = _first_fact(where, about, digest, wanted, store, script)
            first = replace(first, settings=pinned)
            if made is not None:
                first = replace(first, own_worktree=True, branch=made.branch)
            if spec is not None:
                first = _with_tree(where, about, wanted, spec, first)
                pin_ignored_files(where, about.run)
            else:
                # Until somebody resumes a paused run, others may change the checkout.
                is_later = wanted.paused and made is None
                tree = "" if is_later else record_base_tree(where, about.run, about.project_dir)
                into = find_start_branch(where, made)
                first = replace(first, base_tree=tree, into=into, commits_nothing=made is None)
            first, told = _with_settled(where, about, definition.protocol, first)
            adopted = None
            if foreign:
                adopted = adopt.adoption_fact(
                    definition.protocol, foreign, first, is_paused=wanted.paused
                )
            dirty = describe_dirty_start(where) if made is None and not wanted.paused else ""
            # A paused run leases its checkout when somebody resumes it.
            lease = lease_of_run(where, about.run, definition.protocol)
            with nullcontext() if wanted.paused else lease:
                started.book.record(adopted or first)
            known_runs.note_run(where.state_dir, about.run)
            if foreign and adopted:
                passed = adopt.list_passed_gates(definition.protocol, foreign)
                watch.notice(adopt.describe_adoption(foreign, adopted, passed))
            identity = "" if first.commits_nothing else describe_identity(where)
            place = describe_place(where, first, made)
            notes = (*map(str, loaded.findings), place, dirty, identity)
            for note in filter(None, (*notes, *told)):
                watch.notice(note)
            try:
                yield started
            finally:
                started.draw_late()


def _with_tree(
    where: ProjectPaths,
    about: RunSubject,
    wanted: RunRequest,
    spec: Mapping[str, Any],
    first: f.RunStarted,
) -> f.RunStarted:
    """The first fact of a run over a tree: its spec, its own branch, and where that goes."""
    return replace(
        first,
        spec=spec,
        branch=f"porch/{about.run}",
        into=wanted.into,
        base_commit=repository.resolve_commit(where.root, wanted.into or "HEAD") or "",
    )


def _with_settled(
    where: ProjectPaths, about: RunSubject, protocol: Protocol, first: f.RunStarted
) -> tuple[f.RunStarted, list[str]]:
    """What the plan of a track says is done, and what a person should know about that."""
    if protocol.subject != TRACK:
        return first, []
    settled, notes = track_plans.read_settled(where, about.project_dir)
    return replace(first, settled=settled), notes


def find_own_worktree(where: ProjectPaths, about: RunSubject) -> WorktreeRecord | None:
    """The worktree that porch made for this run, if that is where we stand."""
    made = find_record_of(where, where.workspace)
    is_mine = made is not None and made.run == about.run and made.is_ready
    # Of a bare repository there is no main checkout: seen from a worktree, that is the root itself.
    is_apart = where.is_bare or where.workspace != where.root
    return made if is_mine and is_apart else None


def describe_identity(where: ProjectPaths) -> str:
    """Said before porch commits in its own name, because git knows none of the person."""
    known = repository.read_commit_identity(where.workspace) if where.common_dir else None
    if not known:
        return ""
    who = f"{known['GIT_AUTHOR_NAME']} <{known['GIT_AUTHOR_EMAIL']}>"
    return (
        f"git does not know your name here, so porch commits as {who}; "
        'to change that: git config user.name "NAME" && git config user.email MAIL'
    )


def describe_place(where: ProjectPaths, first: f.RunStarted, made: WorktreeRecord | None) -> str:
    """Where a new run works and what it starts from; nobody should learn that afterwards."""
    if not where.common_dir:
        return f"working in {where.workspace}\n{_NO_GIT}"
    commit = first.base_commit[:12] or "no commit yet"
    if first.spec:
        branch = first.into or repository.read_checkout_branch(where.workspace)
        return f"starting from {branch or 'no branch'} ({commit}), on branch {first.branch}"
    if made is None:
        at = f"on {f'branch {first.into}' if first.into else 'no branch'} ({commit})"
        return f"working in your checkout {where.workspace} {at}; you commit the changes"
    start = "" if made.was_there else f", starting from {first.into or 'no branch'} ({commit})"
    return f"working in the worktree {where.workspace} on branch {made.branch}{start}"


def _make_room(where: ProjectPaths, about: RunSubject) -> None:
    for top in {where.root, where.workspace}:
        require_directory_inside(top, os.path.join(top, about.project_dir))
    for top in dict.fromkeys((where.root, where.workspace)):
        place = os.path.join(top, about.project_dir)
        try:
            os.makedirs(place, exist_ok=True)
        except OSError as error:
            raise atomic.disk_error(place, "create the directory", error) from error
    if where.common_dir:
        repository.add_local_excludes(where.common_dir, OWN_FILES)


def _first_fact(
    where: ProjectPaths, about: RunSubject, digest: str, wanted: RunRequest, store: str, script: str
) -> f.RunStarted:
    return f.RunStarted(
        run=about.run,
        id=about.id,
        title=about.title,
        heading=about.heading if about.heading != about.title else "",
        protocol=wanted.protocol,
        digest=digest,
        subject=payloads.write_payload(store, redact_text(about.text).encode())
        if about.text
        else "",
        request_from=wanted.request_from,
        inputs=dict(wanted.inputs or {}),
        project_dir=about.project_dir,
        # Without a main checkout there is no one place for it but the run's own directory.
        status_file="" if where.is_bare else about.status_file,
        worktree=os.path.relpath(where.workspace, where.base),
        base_commit=(repository.read_head(where.workspace) or "") if where.common_dir else "",
        by=find_user_name(),
        agent=wanted.agent,
        script=payloads.write_payload(store, script.encode()) if script else "",
        trust=wanted.trust,
    )


def record_base_tree(where: ProjectPaths, run: str, project_dir: str) -> str:
    """Measure all files as they are now and keep them; empty outside a repository."""
    if not where.common_dir:
        return ""
    room = run_places.tree_room(where.run_dir(run))
    own = run_places.list_own_paths(project_dir)
    tree = measured_tree.measure_tree(where.workspace, own, room)
    tree_changes.keep_tree(where.workspace, f"base/{_ref_name(run)}", tree)
    return tree


def measure_base(where: ProjectPaths, state: RunState) -> f.BaseMeasured:
    """The checkout as it is where a run that was adopted paused goes on for the first time."""
    return f.BaseMeasured(
        base_tree=record_base_tree(where, state.run.name, state.run.project_dir),
        base_commit=repository.read_head(where.workspace) or "",
        into=find_start_branch(where, None),
    )


def pin_ignored_files(where: ProjectPaths, run: str) -> None:
    """What is ignored in the worktrees of a run stays what it is now."""
    if where.common_dir:
        pin_tree_room(where.workspace, run_places.tree_room(where.run_dir(run)))


def describe_dirty_start(where: ProjectPaths) -> str:
    """What a person has not committed: one line, or nothing."""
    changed = worktrees.list_changed_paths(where.workspace) if where.common_dir else []
    if not changed:
        return ""
    names = ", ".join(changed[:NAMED]) + (", ..." if len(changed) > NAMED else "")
    what = "1 file is" if len(changed) == 1 else f"{len(changed)} files are"
    return f"{what} not committed ({names}); the run counts only what changes from now on"


def _ref_name(run: str) -> str:
    return run if _PLAIN.fullmatch(run) else sha256(run.encode()).hexdigest()[:20]


def find_start_branch(where: ProjectPaths, made: WorktreeRecord | None) -> str:
    """The branch of the checkout that a run works in, or that its worktree was made from.

    Empty if that was on no branch: then nobody guesses, and whoever finishes the run is asked. A
    worktree that was there before porch had it was made from the main checkout, as far as we know.
    """
    if not where.common_dir:
        return ""
    if made is None:
        return repository.read_checkout_branch(where.workspace)
    return repository.read_checkout_branch(where.base) if made.was_there else made.into
