"""What was done, for whoever writes it up: walkthroughs, and which of them are written up."""

from collections.abc import Mapping
from typing import Any

from porch.adapters import base_branch, git
from porch.adapters.git_command import attempt
from porch.adapters.where import Where
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening, papers, shelf
from porch.operations.plans.shelf import Shelf


def walkthrough_of(where: Where, id_: PromptId) -> dict[str, Any]:
    found = shelf.opened(where)
    return _told(found, id_, found.fields(id_))


def all_walkthroughs(where: Where) -> dict[str, Any]:
    """Of every prompt that has one and is not written up."""
    found = shelf.opened(where)
    due = [
        id_ for id_, p in found.prompts.items() if p.is_written and not p.documentation_extracted
    ]
    notes = found.notes()
    told = [_told(found, id_, found.page(id_, notes).fields) for id_ in due]
    return {"count": len(due), "walkthroughs": told, "notes": notes}


def _told(found: Shelf, id_: PromptId, fields: Mapping[str, Any]) -> dict[str, Any]:
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


def _summary(found: Shelf, fields: Mapping[str, Any]) -> str:
    """The files and lines of the merge; before it, of the files that the prompt is about."""
    repo, merged = found.plan.where.base, fields["merge_commit_hash"]
    if merged:
        # A branch that came home by fast-forward has no commit that brought all of it.
        is_merge = git.resolve(repo, f"{merged}^2") is not None
        start = f"{merged}^1" if is_merge else fields["base_commit"] or f"{merged}^1"
        words = ("diff", "--stat", start, merged)
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
        papers.demand(held, id_)
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
        papers.draw_all(held, due)
        marked = [str(id_) for id_ in due]
        return {"marked_count": len(due), "marked_prompts": marked, "notes": held.notes}
