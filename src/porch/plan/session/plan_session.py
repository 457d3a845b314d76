"""Taking a plan in hand: its lock, its inbox, and files that show what its journal holds.

The run of a plan has no driver. Each command takes the lock, answers the inbox, sees that the
files show what the journal holds, records what it moves, and draws the prompts it moved.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from porch.errors import Finding, OutsideError, PorchError
from porch.git import repository
from porch.machine import facts as f
from porch.machine.plan import run_rules
from porch.machine.state import RunState
from porch.model.definition import Definition, serialize_definition
from porch.model.definition import hash_definition as digest_of
from porch.plan.files import plan_location
from porch.plan.files.drawn_files import DrawnFiles
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_location import Plan
from porch.plan.session import file_sync
from porch.run.engine import session
from porch.run.engine.caller import find_user_name
from porch.run.engine.run_places import payload_directory, require_known_place
from porch.run.engine.session import assemble_held_run, lock_run
from porch.store import payloads
from porch.store.journal import Journal
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.clock import Clock
from porch.system.regular_file import require_directory_inside

PATIENCE_S = 60.0
OWN_FILES = ("/.claude/plans/",)
ROOMS = ("prompts", "findings", "design", "user_feedback")


@contextmanager
def hold_plan(
    where: ProjectPaths, caller: str = "", *, make: bool = False, plan: Plan | None = None
) -> Iterator[LockedPlan]:
    """The plan of the branch we stand on, locked; made if it may be made by this command.

    Who comes back to a plan names it: the worktree in which it was found may be gone by then.
    """
    require_known_place(where)
    plan = plan or plan_location.find_current_plan(where)
    if not make:
        plan_location.require_plan(plan)
    _make_room(plan)
    if not where.has_begun(plan.run):
        _begin_run(plan)
    with session.hold_run(where, plan.run, "envoy plan", PATIENCE_S) as found:
        desk = LockedPlan(plan, found, DrawnFiles(found.directory), caller)
        _upgrade_definition(desk)
        found.drain()
        file_sync.sync_files(desk)
        with _add_notes_to_errors(desk):
            yield desk


@contextmanager
def _add_notes_to_errors(desk: LockedPlan) -> Iterator[None]:
    """Whoever complains tells what was noticed before, too: it may never be noticed again."""
    try:
        yield
    except PorchError as error:
        notes = [Finding("plan-note", note, severity="note") for note in desk.notes]
        error.findings = (*error.findings, *notes)
        raise


def _make_room(plan: Plan) -> None:
    for room in ROOMS:
        require_directory_inside(plan.where.base, plan.file(room))
        os.makedirs(plan.file(room), exist_ok=True)
    # What could not be shown must not be recorded, so that is looked at before anything else.
    for path in (plan.directory, *map(plan.file, ROOMS)):
        if not os.access(path, os.W_OK | os.X_OK):
            raise OutsideError(
                f"{path} cannot be written to",
                fix="give this user write permission",
                code="disk-denied",
            )
    repository.add_local_excludes(plan.where.common_dir, OWN_FILES)


def _begin_run(plan: Plan) -> None:
    """The first record of the implicit run; whoever comes second finds it there."""
    where = plan.where
    directory = where.run_dir(plan.run)
    atomic.ensure_directory(directory)
    with lock_run(directory, plan.run, "envoy plan", PATIENCE_S):
        journal, scan = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if not scan.records:
                found = assemble_held_run(
                    where,
                    plan.run,
                    journal=journal,
                    state=RunState(),
                    definition=make_plan_definition(),
                    clock=Clock(),
                )
                found.book.record(_first_fact(plan))
                found.draw_late()


def _first_fact(plan: Plan) -> f.RunStarted:
    store = payload_directory(plan.where, plan.run)
    return f.RunStarted(
        run=plan.run,
        id=f"{run_rules.NAME}/{plan.branch}",
        title=plan.branch,
        protocol=run_rules.NAME,
        digest=payloads.write_payload(store, serialize_definition(make_plan_definition())),
        by=find_user_name(),
    )


def _upgrade_definition(desk: LockedPlan) -> None:
    """Nobody chose the definition of a plan, so nobody has to ask for that of a newer release."""
    data = serialize_definition(make_plan_definition())
    digest = digest_of(make_plan_definition())
    if desk.state.run.digest != digest:
        payloads.write_payload(payload_directory(desk.plan.where, desk.plan.run), data)
        wish = f.Wish(
            id=f"upgrade-{digest[:24]}-{desk.state.seq}", kind="upgrade", data={"digest": digest}
        )
        desk.found.book.record(f.WishTaken(wish=wish))


@cache
def make_plan_definition() -> Definition:
    return Definition(run_rules.build_plan_protocol())
