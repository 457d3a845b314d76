"""A variant that nobody works on any more, while its siblings wait for it to be compared.

A person decides: go on without it, wait until somebody works on it again, or discard it. They are
asked as soon as a claim is given back, and when somebody waits to have variants compared.
"""

from porch.machine.plan import run_rules
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import (
    Prompt,
    compared_variants,
    unready_variants,
)
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.gates.form_answers import pose_question
from porch.plan.prompts import claim_owner

UNFINISHED = "unfinished"


def ask_about_unfinished(held: LockedPlan, number: int) -> None:
    """Pose the question once some variants are ready and nobody works on any of the others."""
    item, prompts = str(number), held.prompts
    unready = unready_variants(prompts, number)
    is_asked = run_rules.gate_position(held.state, UNFINISHED, item) is not None
    is_answered = bool(held.recalled(run_rules.answer_path(UNFINISHED), item))
    is_alone = len(unready) == len(compared_variants(prompts, number))
    if not unready or is_alone or is_asked or is_answered:
        return
    if all(_is_given_up(prompts[id_]) for id_ in unready):
        reason = "\n".join(_describe_variant(id_, prompts[id_]) for id_ in unready)
        pose_question(held, UNFINISHED, item, {"reason": reason})


def _is_given_up(prompt: Prompt) -> bool:
    """Work on it has begun, and whoever did it is gone; what was never begun waits its turn."""
    is_working = prompt.in_progress and claim_owner.is_owner_present(prompt.owner)
    return bool(prompt.started_at) and not is_working


def _describe_variant(id_: PromptId, prompt: Prompt) -> str:
    why = f": {prompt.blocked_reason}" if prompt.blocked_reason else ""
    return f"{id_} is {prompt.status}, and nobody works on it any more{why}"
