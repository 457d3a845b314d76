"""Place, branch and claim of a prompt in one step: all of it, or nothing."""

from collections.abc import Sequence

from msgspec import Struct

from porch.errors import FailedError, PorchError
from porch.git import repository
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.branches.branch_worktree import BranchPlace, make_branch_place
from porch.plan.claims import prompt_claims
from porch.plan.claims.prompt_claims import PromptStarted
from porch.plan.files import plan_snapshot
from porch.plan.files.plan_location import Plan
from porch.store.where import ProjectPaths
from porch.store.worktree_records import find_record_of


class PromptWorktree(Struct, frozen=True, kw_only=True):
    """A claim with the worktree in which the work is done."""

    id: str
    specialist: str
    branch: str
    worktree_path: str
    created: bool
    port_base: int | None
    resumed: bool
    status: str
    next_step: str
    notes: Sequence[str]


def make_prompt_worktree(
    where: ProjectPaths,
    id_: PromptId,
    specialist: str,
    *,
    take_over: bool = False,
    force: bool = False,
    caller: str = "",
) -> PromptWorktree:
    """Claim a prompt, and have its branch checked out and set up; of two that try, one gets it.

    If the worktree cannot be made, a claim that is new is given back.
    """
    found = plan_snapshot.read_current_plan(where)
    was_claimed = id_ in found.prompts and found.prompts[id_].in_progress
    started = prompt_claims.start_prompt(
        where, id_, specialist, take_over=take_over, force=force, caller=caller
    )
    if started.worktree_path is not None:
        record = find_record_of(where, started.worktree_path)
        place = BranchPlace(started.worktree_path, record.port_base if record else 0)
        return _tell(started, place, created=False, notes=())
    told: list[str] = []
    try:
        place = _make_place(found.plan, started.worktree, told)
    except BaseException:
        if not was_claimed:
            _give_back(where, id_, caller)
        raise
    return _tell(started, place, created=True, notes=told)


def _make_place(plan: Plan, branch: str, told: list[str]) -> BranchPlace:
    base = repository.resolve_commit(plan.where.base, f"refs/heads/{plan.branch}")
    if base is None:
        raise FailedError(
            f"'{plan.branch}' has no commit yet, so no worktree can begin there",
            fix="commit something first: git commit --allow-empty -m start",
            code="no-commit",
        )
    return make_branch_place(plan.where, branch, base, owner=plan.run, notice=told.append)


def _give_back(where: ProjectPaths, id_: PromptId, caller: str) -> None:
    """What went wrong before is what has to be said."""
    try:
        prompt_claims.release_prompt(where, id_, "its worktree could not be made", caller=caller)
    except PorchError:
        return


def _tell(
    started: PromptStarted, place: BranchPlace, *, created: bool, notes: Sequence[str]
) -> PromptWorktree:
    return PromptWorktree(
        id=started.id,
        specialist=started.specialist,
        branch=started.worktree,
        worktree_path=place.path,
        created=created,
        port_base=place.port_base or None,
        resumed=started.resumed,
        status=started.status,
        next_step=started.next_step,
        notes=[*started.notes, *notes],
    )
