"""How a claim stands to whoever asks for a prompt: free, their own, or somebody else's."""

import os
from collections.abc import Mapping
from typing import Any, Literal

from porch.errors import FailedError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.plan.prompts import claim_owner
from porch.plan.prompts.prompt_next_step import start_command
from porch.run.engine.caller import find_agent_sign

ClaimStanding = Literal["free", "own", "gone", "taken"]


def judge_claim(prompt: Prompt, specialist: str, caller: Mapping[str, Any]) -> ClaimStanding:
    """`own` goes on; `gone` is another worker who is not there any more, `taken` one who is."""
    if not prompt.in_progress:
        return "free"
    is_present = claim_owner.is_owner_present(prompt.owner)
    is_same_name = specialist == prompt.delegated_to
    if claim_owner.is_same_owner(prompt.owner, caller):
        # Specialists of one session work side by side; only their names tell them apart.
        return "own" if is_same_name or not is_present else "taken"
    if is_present:
        return "taken"
    # A worker whose agent names no session is known by nothing but its name.
    is_known = is_same_name and not claim_owner.have_sessions(prompt.owner, caller)
    return "own" if is_known else "gone"


def require_claim(
    id_: PromptId, prompt: Prompt, standing: ClaimStanding, take_over: bool
) -> tuple[str, ...]:
    """The rule that taking over sets aside; without it, nobody's work is taken from them."""
    match standing:
        case "free" | "own":
            return ()
        case "taken":
            error = _taken_error(id_, prompt)
        case "gone":
            error = _gone_error(id_, prompt)
    # Agents follow what they are told, and this worker may well be there.
    if not take_over or (standing == "taken" and find_agent_sign(os.environ)):
        raise error
    return (error.findings[0].code,)


def _taken_error(id_: PromptId, prompt: Prompt) -> FailedError:
    return FailedError(
        f"prompt {id_} is being worked on by {prompt.delegated_to or 'somebody'} "
        f"since {prompt.started_at}",
        fix="take another one from `envoy plan next`; only a person can take it from them",
        code="already-in-progress",
    )


def _gone_error(id_: PromptId, prompt: Prompt) -> FailedError:
    return FailedError(
        f"prompt {id_} was begun by {prompt.delegated_to or 'somebody'} on "
        f"{prompt.worktree_branch_name or 'a branch'}, who is gone and has not finished it",
        fix=f"continue their work: `{start_command(id_, prompt, take_over=True)}`; this is logged",
        code="worker-gone",
    )


def describe_former_worker(prompt: Prompt) -> dict[str, Any]:
    """For the log: from whom a prompt was taken over."""
    owner = prompt.owner or {}
    told = {"specialist": prompt.delegated_to, "since": prompt.started_at}
    return {**told, **{name: owner[name] for name in ("session", "host", "pid") if name in owner}}
