"""Where a person finds what a gate asks about: the paths, and the commands that show it."""

import os
from collections.abc import Iterator

from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.plan.prompt_lifecycle import Prompts, variants_of
from porch.plan.branches.implementation_branches import find_worktree_path
from porch.plan.files.plan_location import Plan
from porch.plan.files.prompt_files import prompt_path


def list_places(plan: Plan, prompts: Prompts, gate: str, item: str) -> list[str]:
    """One line for each; nothing for a gate that is about no file."""
    match gate:
        case "findings":
            return [f"findings: {_show_path(plan, plan.findings_dir)}"]
        case "plan":
            return [
                f"plan: {_show_path(plan, plan.directory)}",
                "the whole of it: envoy plan get-full-plan",
            ]
        case "variants":
            ids = list(variants_of(prompts, int(item)))
        case _:
            ids = [parse_prompt_id([item])] if item else []
    return [line for id_ in ids if id_ in prompts for line in _describe_work(plan, prompts, id_)]


def _describe_work(plan: Plan, prompts: Prompts, id_: PromptId) -> Iterator[str]:
    yield f"prompt {id_}: {_show_path(plan, prompt_path(plan, id_))}"
    branch = prompts[id_].worktree_branch_name
    place = find_worktree_path(plan.where, branch) if branch else None
    if place:
        yield f"worktree: {_show_path(plan, place)}"
    if branch:
        yield f"changes: git diff {plan.branch}...{branch}"


def _show_path(plan: Plan, path: str) -> str:
    """From the main checkout, unless it lies elsewhere."""
    short = os.path.relpath(path, plan.where.base)
    return path if short.startswith("..") else short
