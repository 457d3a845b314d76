"""Rules that a command on a prompt must meet, and those that --force sets aside."""

from collections.abc import Sequence

from porch.errors import FailedError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    Condition,
    unmet_conditions,
)
from porch.plan.files import locked_plan
from porch.plan.files.locked_plan import LockedPlan


def check_prompt_rules(
    action: str, held: LockedPlan, id_: PromptId, force: bool
) -> tuple[str, ...]:
    """The rules that --force sets aside; without it the first of them refuses."""
    locked_plan.require_open_plan(held)
    return check_broken_rules(action, id_, unmet_conditions(action, held.prompts, id_), force)


def check_broken_rules(
    action: str, id_: PromptId, broken: Sequence[Condition], force: bool
) -> tuple[str, ...]:
    if broken and not force:
        rest = "".join(f"; also: {each.otherwise}" for each in broken[1:])
        raise FailedError(
            f"{action}: prompt {id_}: {broken[0].otherwise}{rest}",
            fix=f"{broken[0].fix}; only a person can go on without that",
            code=broken[0].code,
        )
    return tuple(each.code for each in broken)
