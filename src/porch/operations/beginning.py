"""The first record of a run, and everything that must be there before it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from porch.adapters import atomic, compiled, git, library, lock, payloads
from porch.adapters.journal import Journal
from porch.adapters.where import Where
from porch.machine import facts as f
from porch.machine.state import State
from porch.model.definition import canonical
from porch.operations import adopting, scripted, specs
from porch.operations.asking import Wanted, Watch
from porch.operations.names import Subject
from porch.operations.session import Held, joined, locked, payload_directory
from porch.runtime.clock import Clock

OWN_FILES = ("/codev/projects/*/status*.yaml*", "/codev/executions/*/status*.yaml*", "/worktrees/")


@contextmanager
def begun(
    where: Where, about: Subject, loaded: library.Loaded, wanted: Wanted, watch: Watch
) -> Iterator[Held]:
    """The first record of a run, written under its lock before anything else happens."""
    definition = loaded.demand()
    foreign = adopting.foreign(where, about, wanted.adopt)
    is_scripted = wanted.agent == "scripted"
    script = scripted.chosen(wanted.script, loaded.files[0]) if is_scripted else ""
    if is_scripted:
        specs.demand_script(definition.protocol, script)
    directory = where.run_dir(about.run)
    atomic.ensure_directory(directory)
    with locked(directory, about.run, "porch run", 1.0):
        journal, scan = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if scan.records:
                raise lock.busy(about.run, None)
            store = payload_directory(where, about.run)
            digest = payloads.put(store, canonical(definition))
            started = joined(where, about.run, journal, State(), definition, [], Clock())
            _make_room(where, about)
            compiled.keep_stamps(directory, digest, loaded.files)
            first = _first(where, about, digest, wanted, store, script)
            if definition.protocol.spec:
                first = specs.begun(where, about, definition.protocol, wanted, first)
            adopted = adopting.adopted(definition.protocol, foreign, first) if foreign else None
            started.book.record(adopted or first)
            if foreign and adopted:
                watch.notice(adopting.told(foreign, adopted))
            for finding in loaded.findings:
                watch.notice(str(finding))
            watch.notice(_where_it_works(where))
            yield started


def _where_it_works(where: Where) -> str:
    """Nobody should learn afterwards that a run worked in their own checkout."""
    known = git.find(where.workspace) if where.common_dir else None
    if known is None:
        return f"working in {where.workspace}, which is no git repository: no evidence stays fresh"
    kind = "the worktree" if known.linked else "your checkout"
    return f"working in {kind} {where.workspace} on branch {known.branch or '(none)'}"


def _make_room(where: Where, about: Subject) -> None:
    os.makedirs(os.path.join(where.root, about.project_dir), exist_ok=True)
    os.makedirs(os.path.join(where.workspace, about.project_dir), exist_ok=True)
    if where.common_dir:
        git.exclude(where.common_dir, OWN_FILES)


def _first(
    where: Where, about: Subject, digest: str, wanted: Wanted, store: str, script: str
) -> f.RunStarted:
    return f.RunStarted(
        run=about.run,
        id=about.id,
        title=about.title,
        protocol=wanted.protocol,
        digest=digest,
        subject=payloads.put(store, about.text.encode()) if about.text else "",
        inputs=dict(wanted.inputs or {}),
        project_dir=about.project_dir,
        # Without a main checkout there is no one place for it but the run's own directory.
        status_file="" if where.is_bare else about.status_file,
        worktree=os.path.relpath(where.workspace, where.base),
        base_commit=(git.head(where.workspace) or "") if where.common_dir else "",
        by=os.environ.get("USER", ""),
        agent=wanted.agent,
        script=payloads.put(store, script.encode()) if script else "",
    )
