"""What was done, for whoever writes it up: walkthroughs, and which of them are written up."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from porch.git import repository
from porch.git.command import try_git
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.branches import base_branch
from porch.plan.files import plan_snapshot, prompt_pictures
from porch.plan.files.plan_snapshot import PlanSnapshot
from porch.plan.files.prompt_files import Fields
from porch.plan.session import plan_session
from porch.store.where import ProjectPaths


class PromptWalkthrough(Struct, frozen=True, kw_only=True):
    """What was done for a prompt, iteration by iteration, and what it changed."""

    prompt_num: int
    variant: str | None
    description: str
    success_criteria: str
    walkthrough: Sequence[Mapping[str, Any]]
    git_diff_summary: str
    merge_commit_hash: str | None
    documentation_extracted: bool


class AllWalkthroughs(Struct, frozen=True, kw_only=True):
    """Of all prompts that nobody has written up yet."""

    count: int
    walkthroughs: Sequence[PromptWalkthrough]
    notes: Sequence[str]


class PromptExtracted(Struct, frozen=True, kw_only=True):
    """A prompt that is written up."""

    id: str
    documentation_extracted: bool = True
    notes: Sequence[str]


class PromptsDocumented(Struct, frozen=True, kw_only=True):
    """The prompts that are written up from now on."""

    marked_count: int
    marked_prompts: Sequence[str]
    notes: Sequence[str]


def read_walkthrough(where: ProjectPaths, id_: PromptId) -> PromptWalkthrough:
    found = plan_snapshot.read_current_plan(where)
    return _prompt_walkthrough(found, id_, found.page(id_).fields)


def read_all_walkthroughs(where: ProjectPaths) -> AllWalkthroughs:
    """Of every prompt that has one and is not written up."""
    found = plan_snapshot.read_current_plan(where)
    due = [
        id_ for id_, p in found.prompts.items() if p.is_written and not p.documentation_extracted
    ]
    notes = found.notes()
    told = [_prompt_walkthrough(found, id_, found.page_or_note(id_, notes).fields) for id_ in due]
    return AllWalkthroughs(count=len(due), walkthroughs=told, notes=notes)


def _prompt_walkthrough(found: PlanSnapshot, id_: PromptId, fields: Fields) -> PromptWalkthrough:
    return PromptWalkthrough(
        prompt_num=id_.number,
        variant=id_.variant or None,
        description=fields["description"],
        success_criteria=fields["success_criteria"],
        walkthrough=fields["walkthrough"],
        git_diff_summary=_read_diff_summary(found, fields),
        merge_commit_hash=fields["merge_commit_hash"],
        documentation_extracted=fields["documentation_extracted"],
    )


def _read_diff_summary(found: PlanSnapshot, fields: Fields) -> str:
    """The files and lines of the merge; before it, of the files that the prompt is about."""
    repo, merged = found.plan.where.base, fields["merge_commit_hash"]
    if merged:
        # A branch that came home by fast-forward has no commit that brought all of it.
        is_merge = repository.resolve_commit(repo, f"{merged}^2") is not None
        start = f"{merged}^1" if is_merge else fields["base_commit"] or f"{merged}^1"
        words = ("diff", "--stat", start, merged)
        return try_git(repo, *words).stdout if repository.resolve_commit(repo, merged) else ""
    files = [str(each) for each in fields["relevant_files"]]
    base = base_branch.branch_commit(
        repo, base_branch.find_base_branch(found.plan.where.workspace).branch
    )
    branch = fields["worktree_branch_name"] or found.plan.branch
    if not files or not base or not repository.resolve_commit(repo, f"refs/heads/{branch}"):
        return ""
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    return try_git(repo, "diff", "--stat", f"{base}...{branch}", "--", *files, env=env).stdout


def mark_prompt_extracted(where: ProjectPaths, id_: PromptId, caller: str = "") -> PromptExtracted:
    with plan_session.hold_plan(where, caller) as held:
        file = prompt_pictures.read_open_prompt(held, id_).file
        held.move("mark-prompt-extracted", {id_: {"documentation_extracted": True}})
        prompt_pictures.draw_file(held, id_, file)
        return PromptExtracted(id=str(id_), notes=held.notes)


def mark_all_documented(where: ProjectPaths, caller: str = "") -> PromptsDocumented:
    """Every merged prompt is written up."""
    with plan_session.hold_plan(where, caller) as held:
        due = [
            id_
            for id_, prompt in held.prompts.items()
            if prompt.status == "merged" and not prompt.documentation_extracted
        ]
        if due:
            held.move(
                "mark-all-documented", {key: {"documentation_extracted": True} for key in due}
            )
        prompt_pictures.refresh_files(held, due)
        marked = [str(id_) for id_ in due]
        return PromptsDocumented(marked_count=len(due), marked_prompts=marked, notes=held.notes)
