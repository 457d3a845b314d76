"""`codev migrate`: planned as a whole; nothing old goes before all that is new was verified.

At every instant each document lies somewhere whole: first all of them are copied, then every copy
is read again, and only then the old ones go. The journal of a migrated project begins with
approvals that a person has just accepted.
"""

import os
from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from porch.dialects import status_file
from porch.errors import FailedError, PorchError
from porch.fleet.migration import old_worktrees
from porch.fleet.migration.old_progress import PROTOCOL, OldProgress, judge_progress, render_status
from porch.fleet.migration.old_tree import OldProject, read_old_tree
from porch.fleet.migration.old_worktrees import OldWorktree
from porch.fleet.setup.additive_files import PlannedFile, plan_new_file, write_planned_file
from porch.run.definitions.current_definition import load_current_definition
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.drive_options import DriveWatch, RunRequest
from porch.run.verbs.read_run import read_run
from porch.run.verbs.start import begin_run
from porch.run.verbs.steer import stop_run
from porch.store import where as places
from porch.store.where import ProjectPaths
from porch.system.regular_file import open_regular

Say = Callable[[str], None]


class DocumentMove(Struct, frozen=True):
    """One file from its old place to its new one."""

    old: str
    new: str
    planned: PlannedFile


class PlannedProject(Struct, frozen=True):
    """One project that will be moved; `conflict` says why it is left alone instead."""

    project: OldProject
    moves: tuple[DocumentMove, ...]
    progress: OldProgress
    conflict: str = ""
    is_begun: bool = False


class MigrationPlan(Struct, frozen=True):
    """Everything that would happen, in the order in which it would."""

    projects: tuple[PlannedProject, ...] = ()
    worktrees: tuple[OldWorktree, ...] = ()
    left: dict[str, str] = field(default_factory=dict)

    @property
    def ready(self) -> list[PlannedProject]:
        return [each for each in self.projects if not each.conflict]

    @property
    def claims(self) -> list[tuple[str, str, str]]:
        """Project, gate and reason of each approval that somebody would have to accept."""
        asked = (each for each in self.ready if not each.is_begun)
        return [(p.project.run, gate, why) for p in asked for gate, why in p.progress.claims]

    @property
    def is_empty(self) -> bool:
        return not self.projects and not self.worktrees and not self.left


class MigrationChoice(Struct, frozen=True):
    """What a person decided: whether claims count, and what becomes of old worktrees."""

    adopt: bool = False
    clean: bool = False


def plan_migration(where: ProjectPaths) -> MigrationPlan:
    """Look at everything; nothing is changed."""
    tree = read_old_tree(where.root)
    named = _name_as_existing(where.root, tree.projects)
    projects = tuple(_plan_project(where, each) for each in named)
    runs = {**_existing_runs(where.root), **_runs_by_id(named)}
    old = old_worktrees.list_old_worktrees(where.root, runs) if where.common_dir else []
    other = old_worktrees.list_other_entries(where.root, old)
    left = {**tree.left, **dict.fromkeys(other, "it is not a worktree of this repository")}
    return MigrationPlan(projects, tuple(old), left)


def _plan_project(where: ProjectPaths, project: OldProject) -> PlannedProject:
    moves = plan_moves(where.root, project)
    names = dict(zip(project.files, moves, strict=True))
    texts = {n: move.planned.data.decode("utf-8", "replace") for n, move in names.items()}
    progress, conflict = judge_progress(project, texts), find_conflict(moves)
    # Begun by somebody, or by a migration that was cut short: its journal says where it stands.
    begun = project.run in where.runs()
    return PlannedProject(project, tuple(moves), progress, conflict, begun)


def _name_as_existing(root: str, projects: Sequence[OldProject]) -> list[OldProject]:
    """A number that has a directory already keeps it, whatever the file is called."""
    known, alone = _existing_runs(root), _runs_by_id(projects)
    return [
        replace(each, title=known[each.id].partition("-")[2])
        if each.id in known and alone[each.id]
        else each
        for each in projects
    ]


def _runs_by_id(projects: Sequence[OldProject]) -> dict[str, str]:
    """Nothing for a number that two projects share: nobody could say which one is meant."""
    found: dict[str, str] = {}
    for each in projects:
        found[each.id] = "" if each.id in found else each.run
    return found


def _existing_runs(root: str) -> dict[str, str]:
    try:
        names = sorted(os.listdir(os.path.join(root, "codev", "projects")))
    except OSError:
        return {}
    return {name.partition("-")[0]: name for name in names if "-" in name}


def apply_migration(
    where: ProjectPaths, plan: MigrationPlan, chosen: MigrationChoice, say: Say
) -> list[str]:
    """Do it; answers with what failed. Old worktrees are touched only if nothing did."""
    failed = _try_each(plan.ready, lambda each: _copy_project(where, each, chosen))
    if failed:
        return failed
    for old in plan.worktrees:
        say(_settle_worktree(where, old, chosen))

    def finish(each: PlannedProject) -> None:
        _finish_project(where, each, chosen)
        say(f"{each.project.run}: moved to {each.project.directory}/{_stand(each, chosen)}")

    failed = _try_each(plan.ready, finish)
    if old_worktrees.remove_builders_directory(where.root):
        say(f"removed the empty directory {old_worktrees.BUILDERS}")
    return failed


def _try_each(
    projects: Sequence[PlannedProject], do: Callable[[PlannedProject], None]
) -> list[str]:
    """One project that cannot be moved keeps no other from it."""
    failed = []
    for each in projects:
        try:
            do(each)
        except (PorchError, OSError) as error:
            failed.append(f"{each.project.run}: {error}")
    return failed


def _stand(each: PlannedProject, chosen: MigrationChoice) -> str:
    if each.is_begun:
        return ", where its run goes on"
    state = each.progress.state if _counts(each, chosen) else each.progress.state_without
    return f", at {state}"


def _counts(each: PlannedProject, chosen: MigrationChoice) -> bool:
    return chosen.adopt and bool(each.progress.claims) and not each.is_begun


def _copy_project(where: ProjectPaths, each: PlannedProject, chosen: MigrationChoice) -> None:
    """The new directory, complete and understood; the old files are still there."""
    copy_documents(where.root, list(each.moves))
    verify_copies(where.root, list(each.moves))
    if each.is_begun:
        return
    counts = _counts(each, chosen)
    plan = next((m.planned.data for m in each.moves if m.new.endswith("/plan.md")), b"")
    text = render_status(
        each.project, each.progress, plan.decode("utf-8", "replace"), with_claims=counts
    )
    path = f"{each.project.directory}/status.yaml"
    write_planned_file(where.root, plan_new_file(where.root, path, text.encode()))
    _require_understood(where, path)


def _require_understood(where: ProjectPaths, path: str) -> None:
    """`porch run` must be able to begin with it, or the old files stay."""
    with open(os.path.join(where.root, path), encoding="utf-8", errors="replace") as file:
        known = status_file.read_status_file(file.read(), path)
    protocol = load_current_definition(where, known.protocol).demand().protocol
    status_file.match_state(protocol, known)


def _finish_project(where: ProjectPaths, each: PlannedProject, chosen: MigrationChoice) -> None:
    if _counts(each, chosen):
        worktree = OldWorktree("", "", each.project.run).new_path
        place = os.path.join(where.root, worktree)
        here = places.find_project(place) if os.path.isdir(place) else where
        adopt_project(here, each.project.run, is_complete=each.progress.state == "complete")
    remove_old_documents(where.root, list(each.moves))


def _settle_worktree(where: ProjectPaths, each: OldWorktree, chosen: MigrationChoice) -> str:
    if chosen.clean and not each.is_in_use:
        kept = old_worktrees.clean_worktree(where.root, each)
        return f"{each.path}: removed; its work is kept: {kept}"
    if each.trouble:
        return f"{each.path}: left alone: {each.trouble}"
    old_worktrees.move_worktree(where.root, each)
    _move_documents_inside(os.path.join(where.root, each.new_path), each.run)
    return f"{each.path}: moved to {each.new_path}, branch {each.new_branch}"


def _move_documents_inside(worktree: str, run: str) -> None:
    """The branch has its own versions of the documents, perhaps newer ones."""
    for project in read_old_tree(worktree).projects:
        if project.run == run:
            moves = plan_moves(worktree, project)
            if not find_conflict(moves):
                copy_documents(worktree, moves)
                remove_old_documents(worktree, moves)


def adopt_project(where: ProjectPaths, run: str, *, is_complete: bool) -> None:
    """The status file becomes the first fact; nobody works on it until `porch resume`."""
    id_, _, title = run.partition("-")
    directory = f"codev/projects/{run}"
    about = RunSubject(run, id_, title, directory, f"{directory}/status.yaml")
    wanted = RunRequest(PROTOCOL, subject=id_, adopt=True)
    loaded = load_current_definition(where, PROTOCOL)
    with begin_run(where, about, loaded, wanted, watch=DriveWatch()):
        pass
    # Read again from the disk: what cannot be read is not verified.
    read_run(where, run)
    if not is_complete:
        stop_run(where, run)


def plan_moves(root: str, project: OldProject) -> list[DocumentMove]:
    moves = []
    for name, old in project.files.items():
        new = f"{project.directory}/{name}"
        moves.append(DocumentMove(old, new, plan_new_file(root, new, _read(root, old))))
    return moves


def find_conflict(moves: list[DocumentMove]) -> str:
    """What stands in the way: nobody's file is replaced by an older one."""
    return next((f"{m.new} is there with other content" for m in moves if _is_other(m)), "")


def _is_other(move: DocumentMove) -> bool:
    return move.planned.fate == "kept"


def copy_documents(root: str, moves: list[DocumentMove]) -> None:
    for move in moves:
        write_planned_file(root, move.planned)


def verify_copies(root: str, moves: list[DocumentMove]) -> None:
    """Every copy is read again, and is what the old file is now."""
    for move in moves:
        if _read(root, move.old) != _read(root, move.new):
            raise FailedError(
                f"{move.new} is not the same as {move.old}; nothing was removed",
                fix="compare the two files, keep the right one, then run `codev migrate` again",
                code="not-verified",
            )


def remove_old_documents(root: str, moves: list[DocumentMove]) -> None:
    verify_copies(root, moves)
    for move in moves:
        os.unlink(os.path.join(root, move.old))
    for place in {os.path.dirname(move.old) for move in moves}:
        _remove_empty_directory(os.path.join(root, place))


def _remove_empty_directory(path: str) -> None:
    """Other files of people keep it where it is."""
    if os.path.isdir(path) and not os.listdir(path):
        os.rmdir(path)


def _read(root: str, path: str) -> bytes:
    with open(os.path.join(root, path), "rb", opener=open_regular) as file:
        return file.read()
