"""What was done, for whoever writes it up: walkthroughs, and which of them are written up."""

from typing import Any

from porch.adapters import base_branch, git
from porch.adapters.git_command import attempt
from porch.adapters.where import Where
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening, papers, shelf
from porch.operations.plans.shelf import Shelf


def walkthrough_of(where: Where, id_: PromptId) -> dict[str, Any]:
    return _told(shelf.opened(where), id_)


def all_walkthroughs(where: Where) -> dict[str, Any]:
    """Of every prompt that has one and is not written up."""
    found = shelf.opened(where)
    due = [
        id_ for id_, p in found.prompts.items() if p.is_written and not p.documentation_extracted
    ]
    return {"count": len(due), "walkthroughs": [_told(found, id_) for id_ in due]}


def _told(found: Shelf, id_: PromptId) -> dict[str, Any]:
    fields = found.fields(id_)
    return {
        "prompt_num": id_.number,
        "variant": id_.variant or None,
        "description": fields["description"],
        "success_criteria": fields["success_criteria"],
        "walkthrough": fields["walkthrough"],
        "git_diff_summary": _summary(found, fields),
        "merge_commit_hash": fields["merge_commit_hash"],
        "documentation_extracted": fields["documentation_extracted"],
    }


def _summary(found: Shelf, fields: dict[str, Any]) -> str:
    """The files and lines of the merge; before it, of the files that the prompt is about."""
    repo, merged = found.plan.where.base, fields["merge_commit_hash"]
    if merged:
        words = ("diff", "--stat", f"{merged}^1", merged)
        return attempt(repo, *words).stdout if git.resolve(repo, merged) else ""
    files = [str(each) for each in fields["relevant_files"]]
    base = base_branch.commit_of(repo, base_branch.of(found.plan.where.workspace).branch)
    branch = fields["worktree_branch_name"] or found.plan.branch
    if not files or not base or not git.resolve(repo, f"refs/heads/{branch}"):
        return ""
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    return attempt(repo, "diff", "--stat", f"{base}...{branch}", "--", *files, env=env).stdout


def mark_extracted(where: Where, id_: PromptId, caller: str = "") -> dict[str, Any]:
    with opening.held(where, caller) as held:
        held.demand(id_)
        held.move("mark-prompt-extracted", {id_: {"documentation_extracted": True}})
        papers.put(held, id_, {})
        return {"id": str(id_), "documentation_extracted": True, "notes": held.notes}


def mark_all(where: Where, caller: str = "") -> dict[str, Any]:
    """Every merged prompt is written up."""
    with opening.held(where, caller) as held:
        due = [
            id_
            for id_, prompt in held.prompts.items()
            if prompt.status == "merged" and not prompt.documentation_extracted
        ]
        if due:
            held.move(
                "mark-all-documented", {key: {"documentation_extracted": True} for key in due}
            )
        for id_ in due:
            papers.put(held, id_, {})
        return {"marked_count": len(due), "marked_prompts": [str(id_) for id_ in due]}
