"""The commands of the settings, run once as a run would run them: in a new worktree, set up.

What passed there counts for the next run from the same files, and the other way round.
"""

import asyncio
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

from porch.errors import PorchError
from porch.fleet.setup.setup_record import read_record
from porch.git import measured_tree, repository, worktrees
from porch.git.checkouts import open_detached_checkout, remove_scratch_checkout
from porch.run.engine.run_places import list_own_paths, mark_of, require_known_place
from porch.run.handlers import command_trials
from porch.run.handlers.command_trials import TrialPlace, TrialResult
from porch.run.settings import PROJECT_FILE, Settings
from porch.run.worktrees.make import worktree_path
from porch.run.worktrees.placed_files import place_files
from porch.run.worktrees.setup_commands import check_environment, run_setup_commands
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths
from porch.system import atomic

NAME = "doctor"
Tell = Callable[[str], None]


def examine_commands(
    where: ProjectPaths, known: Settings, tell: Tell | None
) -> Iterator[DoctorLine]:
    """How each of them went; without `tell` nobody waits for them, so none is run."""
    head = repository.read_head(where.workspace) if where.common_dir else None
    if tell is None or head is None or where.workspace == where.common_dir:
        why = "run `codev doctor` to try it" if head else "not tried: there is no commit yet"
        for name, text in known.commands.items():
            yield DoctorLine("ok", f"{name} is set: {text}", more=(why,))
        return
    if known.untrusted:
        # Without them a new worktree lacks what a run would have, and the result would mislead.
        for name, text in known.commands.items():
            what = f"{name} was not tried: {text}"
            fix = "run `porch trust` first: a new worktree may need the settings that it shows"
            yield DoctorLine("warning", what, fix)
        return
    try:
        require_known_place(where)
        results = try_commands(where, known, head, tell)
    except PorchError as error:
        finding = error.findings[0]
        limit = "no run in a worktree: a new one cannot be set up"
        yield DoctorLine("warning", finding.message, finding.fix, limit=limit)
        return
    changed = {*worktrees.list_changed_paths(where.workspace)} - _list_setup_files(where.root)
    for name, result in results.items():
        yield _describe(name, known.commands[name], result, len(changed))


def _list_setup_files(root: str) -> set[str]:
    """What porch wrote itself; no test needs it."""
    with suppress(PorchError, OSError):
        if record := read_record(root):
            return {*record.files}
    return set()


def try_commands(
    where: ProjectPaths,
    known: Settings,
    commit: str,
    tell: Tell,
    *,
    uncommitted: Collection[str] = (),
) -> dict[str, TrialResult]:
    """How each command of the settings went, on a commit and on files that shall be committed."""
    scratch = worktree_path(where, NAME)
    directory = os.path.join(where.state_dir, NAME)
    atomic.ensure_directory(directory)
    mark = f"{mark_of(where, NAME)}:"
    with (
        _without_empty_directory(os.path.dirname(scratch)),
        open_detached_checkout(where.base, scratch, commit),
    ):
        _bring_files(where.workspace, scratch, uncommitted)
        place_files(where.root, scratch, known, [])
        if known.setup:
            tell("setting up a new worktree")
        run_setup_commands(scratch, known, 0, mark=mark, log=os.path.join(directory, "setup.log"))
        place = TrialPlace(
            directory=scratch,
            tree=measured_tree.measure_tree(scratch, list_own_paths("")),
            set_up=command_trials.describe_set_up(known),
            env=check_environment(os.environ, known),
            mark=mark,
            output=os.path.join(directory, "output.txt"),
        )
        results = {}
        for name, text in known.commands.items():
            tell(f"running {name}: {text}")
            trial = command_trials.try_command(where.state_dir, text, place, known)
            results[name] = asyncio.run(trial)
        return results


def remove_killed_trial(where: ProjectPaths) -> None:
    """The worktree of a trial that was killed; nobody keeps anything in it."""
    scratch = worktree_path(where, NAME)
    if os.path.lexists(scratch):
        with _without_empty_directory(os.path.dirname(scratch)):
            remove_scratch_checkout(where.base, scratch)


def _bring_files(source: str, scratch: str, names: Collection[str]) -> None:
    """As they are in the checkout; what is gone there goes here."""
    for name in names:
        here, there = os.path.join(source, name), os.path.join(scratch, name)
        with suppress(OSError):
            os.unlink(there)
        if os.path.islink(here) or os.path.isfile(here):
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy2(here, there, follow_symlinks=False)


@contextmanager
def _without_empty_directory(path: str) -> Iterator[None]:
    """Where no run has a worktree, a look leaves no place for them."""
    try:
        yield
    finally:
        with suppress(OSError):
            os.rmdir(path)


def _describe(name: str, text: str, result: TrialResult, changed: int) -> DoctorLine:
    if result.result == "passed":
        when = f"on the same files at {result.at}" if result.is_reused else f"{result.seconds:g} s"
        return DoctorLine("ok", f"{name} passes in a new worktree: {text}", more=(when,))
    how = "does not pass" if result.result == "failed" else "could not be measured"
    fix = (
        "make it work in a new worktree: [worktree] setup and copy bring what git does not have; "
        f"or change [commands] {name} in {PROJECT_FILE}"
    )
    if changed:
        files = "1 file is" if changed == 1 else f"{changed} files are"
        fix = f"commit what it needs ({files} not committed), or {fix}"
    what = f"{name} {how} in a new worktree: {text}"
    limit = f"a run asks you first: {name} {how}"
    return DoctorLine("warning", what, fix, more=(result.line,), limit=limit)
