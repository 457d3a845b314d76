"""Taking a plan in hand: its lock, its inbox, and files that show what its journal holds.

The run of a plan has no driver. Each command takes the lock, answers the inbox, sees that the
files show what the journal holds, records what it moves, and draws the prompts it moved.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from porch.adapters import atomic, git, payloads
from porch.adapters.journal import Journal
from porch.adapters.where import Where
from porch.errors import FailedError, Finding, OutsideError, PorchError
from porch.machine import facts as f
from porch.machine import plans
from porch.machine.state import State
from porch.model.definition import Definition, canonical
from porch.model.definition import digest as digest_of
from porch.operations import session
from porch.operations.plans import place, settling
from porch.operations.plans.desk import Desk
from porch.operations.plans.place import Plan
from porch.operations.session import joined, locked, payload_directory
from porch.operations.wishing import who
from porch.runtime.clock import Clock

PATIENCE_S = 10.0
OWN_FILES = ("/.claude/plans/",)
ROOMS = ("prompts", "findings", "design", "user_feedback")


@contextmanager
def held(
    where: Where, caller: str = "", *, make: bool = False, plan: Plan | None = None
) -> Iterator[Desk]:
    """The plan of the branch we stand on, locked; made if it may be made by this command.

    Who comes back to a plan names it: the worktree in which it was found may be gone by then.
    """
    plan = plan or place.current(where)
    if not make:
        place.demand(plan)
    _make_room(plan)
    if plan.run not in where.runs():
        _begin(plan)
    with session.held(where, plan.run, "envoy plan", PATIENCE_S) as found:
        desk = Desk(plan, found, caller)
        _upgrade(desk)
        found.drain()
        settling.settle(desk)
        with _heard(desk):
            yield desk
        if found.pictures.late:
            found.pictures.picture(found.book.definition, found.book.state)


@contextmanager
def _heard(desk: Desk) -> Iterator[None]:
    """Whoever complains tells what was noticed before, too: it may never be noticed again."""
    try:
        yield
    except PorchError as error:
        notes = [Finding("plan-note", note, severity="note") for note in desk.notes]
        error.findings = (*error.findings, *notes)
        raise


def demand_open(desk: Desk) -> None:
    """A plan that has ended is not worked on; what was said of it afterwards may still be kept."""
    if desk.state.outcome:
        raise FailedError(
            f"the plan of {desk.plan.branch} is {desk.state.outcome}",
            fix="what is still to be done needs a plan on a branch of its own",
            code="plan-completed",
        )


def _make_room(plan: Plan) -> None:
    for room in ROOMS:
        os.makedirs(plan.file(room), exist_ok=True)
    # What could not be shown must not be recorded, so that is looked at before anything else.
    for path in (plan.directory, *map(plan.file, ROOMS)):
        if not os.access(path, os.W_OK | os.X_OK):
            raise OutsideError(
                f"{path} cannot be written to",
                fix="give this user the right to it",
                code="disk-denied",
            )
    git.exclude(plan.where.common_dir, OWN_FILES)


def _begin(plan: Plan) -> None:
    """The first record of the implicit run; whoever comes second finds it there."""
    where = plan.where
    directory = where.run_dir(plan.run)
    atomic.ensure_directory(directory)
    with locked(directory, plan.run, "envoy plan", PATIENCE_S):
        journal, scan = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if not scan.records:
                found = joined(where, plan.run, journal, State(), definition(), [], Clock())
                found.book.record(_first(plan))


def _first(plan: Plan) -> f.RunStarted:
    store = payload_directory(plan.where, plan.run)
    return f.RunStarted(
        run=plan.run,
        id=f"{plans.NAME}/{plan.branch}",
        title=plan.branch,
        protocol=plans.NAME,
        digest=payloads.put(store, canonical(definition())),
        by=who(),
    )


def _upgrade(desk: Desk) -> None:
    """Nobody chose the definition of a plan, so nobody has to ask for that of a newer release."""
    data = canonical(definition())
    digest = digest_of(definition())
    if desk.state.run.digest != digest:
        payloads.put(payload_directory(desk.plan.where, desk.plan.run), data)
        wish = f.Wish(f"upgrade-{digest[:24]}-{desk.state.seq}", "upgrade", data={"digest": digest})
        desk.found.book.record(f.WishTaken(wish))


@cache
def definition() -> Definition:
    return Definition(plans.protocol())
