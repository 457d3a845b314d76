"""Making the worktree of a run: whole and checked, or not at all.

A record is written first. Whatever fails after that, or whatever a crash leaves, is taken back: the
worktree, the branch, the processes of the set-up. A branch or a directory that porch did not make
is never touched.
"""

import contextlib
import fcntl
import os
from collections.abc import Callable, Collection, Iterator
from functools import partial

from msgspec.structs import replace

from porch.errors import BusyError
from porch.git import repository, worktrees
from porch.git.command import run_git
from porch.git.fresh.checkout_index import remember_checkout
from porch.git.worktree_lock import lock_worktrees
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.run_places import mark_of
from porch.run.settings import Settings, load_settings
from porch.run.worktrees import checkout_state, free_place, placed_files, setup_commands
from porch.run.worktrees.names import DIRECTORY, make_worktree_name
from porch.store.where import ProjectPaths
from porch.store.worktree_records import (
    WorktreeRecord,
    keep_record,
    read_record,
    remove_record,
    stamp_file,
    take_port_block,
)
from porch.system import atomic, crash_points, process_marks
from porch.system.early_answer import EarlyAnswer
from porch.system.regular_file import open_regular

Notice = Callable[[str], None]


def _do_nothing() -> None: ...


@contextlib.contextmanager
def hold_run_worktree(
    where: ProjectPaths,
    protocol: str,
    about: RunSubject,
    notice: Notice,
    *,
    base: str = "HEAD",
    trust: Collection[str] = (),
    meanwhile: Callable[[], object] = _do_nothing,
) -> Iterator[ProjectPaths]:
    """Have `worktrees/<name>` on a branch of the same name, for a run that is begun there.

    Yields the places in which to begin it; until the end nobody else makes or removes it. If the
    run did not begin, the worktree is taken back. `base` is a commit of the checkout one stands in.
    `meanwhile` is called while git writes the files: what it does is neither seen by anybody nor
    fails.
    """
    commit = free_place.require_base(where, base)
    name = make_worktree_name(protocol, about)
    path = worktree_path(where, name)
    into = repository.read_checkout_branch(where.workspace)
    wanted = WorktreeRecord(name=name, run=about.run, branch=name, base=commit, into=into)
    with lock_worktree_name(where, name):
        if not _take_back_unused(where, path, wanted):
            free_place.require_free_place(where, path, name)
            known = load_settings(where.root, trust=trust, commit=commit)
            _make_worktree(where, path, wanted, about, notice, meanwhile, known=known)
        try:
            yield _places_in(where, path)
        except BaseException:
            # Also after Ctrl-C, or where a directory cannot be written: what has begun is kept.
            _take_back_unbegun(where, path, wanted)
            raise


def _take_back_unbegun(where: ProjectPaths, path: str, wanted: WorktreeRecord) -> None:
    known = read_record(where, wanted.name)
    is_unused = known is not None and not where.has_begun(wanted.run)
    if known is not None and is_unused and checkout_state.may_be_removed(where, path, known):
        roll_back(where, path, known)


def worktree_path(where: ProjectPaths, name: str) -> str:
    """In the main checkout; beside a bare repository, whose own `worktrees` belongs to git."""
    return os.path.join(where.top, DIRECTORY, name)


def _places_in(where: ProjectPaths, path: str) -> ProjectPaths:
    root = path if where.is_bare else where.root
    return ProjectPaths(root, path, where.common_dir, where.state_dir, where.base)


@contextlib.contextmanager
def lock_worktree_name(where: ProjectPaths, name: str) -> Iterator[None]:
    """One at a time makes a worktree of this name; the second has nothing to wait for."""
    place = os.path.join(where.state_dir, "worktrees")
    atomic.ensure_directory(place)
    path = os.path.join(place, f"{name}.lock")
    with open(path, "a", encoding="ascii", opener=open_regular) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BusyError(
                f"another porch process is making the worktree {name} right now",
                fix="wait until it is ready; `porch status` then shows its run",
                code="worktree-busy",
            ) from error
        yield


def _take_back_unused(where: ProjectPaths, path: str, wanted: WorktreeRecord) -> bool:
    """Whether a worktree that was made before can be used; a half made one is removed first."""
    known = read_record(where, wanted.name)
    if known is None or known.run != wanted.run:
        return False
    if known.was_there:
        return checkout_state.stands_on_branch(path, known)
    process_marks.reap_processes(f"{mark_of(where, wanted.run)}:setup-")
    if known.is_ready and known.base == wanted.base and checkout_state.is_untouched(path, known):
        keep_record(where, replace(known, into=wanted.into))
        return True
    if checkout_state.may_be_removed(where, path, known):
        roll_back(where, path, known)
    return False


def _make_worktree(
    where: ProjectPaths,
    path: str,
    wanted: WorktreeRecord,
    about: RunSubject,
    notice: Notice,
    meanwhile: Callable[[], object],
    *,
    known: Settings,
) -> None:
    uncommitted = EarlyAnswer(partial(checkout_state.list_uncommitted, where))

    def use_wait() -> None:
        uncommitted.ask()
        meanwhile()

    with lock_worktrees(worktrees.require_common_dir(where.base)):
        # Two who ask at once must not get the same ports.
        record = take_port_block(where, wanted)
        keep_record(where, record)
    crash_points.reach_point("worktree.after-record")
    try:
        if worktrees.ensure_worktree(
            where.base, path, record.branch, record.base, meanwhile=use_wait
        ):
            remember_checkout(path)
        record = _fill_worktree(where, path, record, about, uncommitted, known=known, notice=notice)
        checkout_state.require_ready(path, record)
        keep_record(where, replace(record, is_ready=True))
        crash_points.reach_point("worktree.after-ready")
    except OSError as error:
        roll_back(where, path, record)
        raise atomic.disk_error(path, "set up the worktree", error) from error
    except BaseException:
        roll_back(where, path, record)
        raise


def _fill_worktree(
    where: ProjectPaths,
    path: str,
    record: WorktreeRecord,
    about: RunSubject,
    uncommitted: EarlyAnswer[list[str]],
    *,
    known: Settings,
    notice: Notice,
) -> WorktreeRecord:
    source = where.workspace if where.is_bare else where.root
    told: list[str] = []
    placed = placed_files.place_files(source, path, known, told)
    placed_files.require_placed(source, path, placed)
    changed = uncommitted.take()
    documents = checkout_state.select_documents(where, about, changed)
    brought = placed_files.copy_documents(where.workspace, path, documents)
    record = replace(record, placed=placed)
    keep_record(where, record)
    crash_points.reach_point("worktree.after-placed")
    for note in (*told, *checkout_state.describe_left_behind(changed, brought)):
        notice(note)
    log = os.path.join(where.state_dir, DIRECTORY, f"{record.name}.log")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log)
    mark = mark_of(where, record.run)
    setup_commands.run_setup_commands(path, known, record.port_base, mark=mark, log=log)
    crash_points.reach_point("worktree.after-setup")
    return replace(record, set_up=stamp_set_up(path, known, (*placed, *brought)))


def stamp_set_up(path: str, known: Settings, own: Collection[str]) -> dict[str, str]:
    """What the set-up commands wrote: all that git would commit there, except `own`."""
    if not known.setup:
        return {}
    written = (name for name in worktrees.list_changed_paths(path) if name not in own)
    return {name: stamp_file(os.path.join(path, name)) for name in written}


def roll_back(where: ProjectPaths, path: str, record: WorktreeRecord) -> None:
    """Take back everything that was made; commits of a set-up command stay under a ref."""
    repo, ref = where.base, f"refs/heads/{record.branch}"
    head = repository.resolve_commit(repo, ref)
    if head not in (None, record.base):
        worktrees.archive_branch(repo, record.branch, worktrees.ARCHIVE + record.branch)
    here = worktrees.find_worktree(worktrees.list_worktrees(repo), path)
    if here is not None:
        worktrees.delete_directory(path)
    worktrees.deregister_worktree(repo, here)
    if head is not None:
        run_git(repo, "update-ref", "-d", ref, head)
    remove_record(where, record.name)
