"""Holding what an agent says about a prompt against what is so."""

import os
from typing import Any

from porch.adapters import git
from porch.adapters.merging import contains
from porch.adapters.where import Where
from porch.errors import FailedError
from porch.machine.prompts import Prompt
from porch.model.prompt_ids import PromptId
from porch.operations.plans import place, shelf
from porch.operations.plans.place import Plan

CLAIMS = ("merged", "put-aside")


def verify(where: Where, id_: PromptId, claim: str, branch: str = "") -> dict[str, Any]:
    """Whether what an agent says about a prompt is so; nothing else than that is asked."""
    plan = place.of(where, branch) if branch else place.current(where)
    if not plan.exists and os.environ.get("PORCH_DRY_RUN"):
        return {"id": str(id_), "verified": True, "note": "a dry run, and nothing is planned"}
    prompt = shelf.of(place.demand(plan)).demand(id_)
    is_so = prompt.is_put_aside if claim == "put-aside" else _is_home(plan, prompt)
    if not is_so:
        raise FailedError(
            f"prompt {id_} is not {claim}: its status is {prompt.status}",
            fix="do what is left of the steps, or end with the output that is true",
            code="claim-not-so",
        )
    return {"id": str(id_), "verified": True, "note": ""}


def _is_home(plan: Plan, prompt: Prompt) -> bool:
    feature = git.resolve(plan.where.base, f"refs/heads/{plan.branch}")
    merged = prompt.merge_commit_hash
    if prompt.status != "merged" or not merged or not feature:
        return False
    return contains(plan.where.base, feature, merged)
