"""Bringing work home: the branch of a prompt into the feature branch, and a plan to its end."""

from dataclasses import dataclass
from typing import Any

from porch.adapters import git, implementation_branches, plan_files, worktrees
from porch.adapters.implementation_branches import Merged, worktree_of
from porch.adapters.merged_branches import has_begun
from porch.adapters.merging import Conflict
from porch.adapters.where import Where
from porch.errors import FailedError, OutsideError
from porch.machine.facts import PlanMoved
from porch.machine.prompts import Prompt, merged_numbers, outdated
from porch.model.prompt_ids import PromptId
from porch.operations.branches import create_pr
from porch.operations.plans import opening, papers, planning, shelf
from porch.operations.plans.contents import checkout_of, tree_of
from porch.operations.plans.desk import Desk
from porch.operations.plans.prompting import allowed, forced_past
from porch.operations.plans.settling import draw_stage
from porch.operations.plans.working import unmerged


def merge_worktree(
    where: Where, id_: PromptId, *, force: bool = False, caller: str = ""
) -> dict[str, Any]:
    """A merge commit on the feature branch; a conflict leaves everything as it was."""
    with opening.held(where, caller) as held:
        prompt = papers.demand(held, id_)
        if prompt.merge_commit_hash and prompt.status == "merged":
            return _merged(held, id_, prompt.merge_commit_hash, found_existing=True)
        forced = allowed("merge-worktree", held, id_, force)
        branch = prompt.worktree_branch_name
        _demand_committed(where, branch)
        message = f"Merge prompt {id_} implementation"
        _demand_work(held, branch)
        fresh = outdated(prompt, tree_of(held.plan, branch))
        forced += forced_past("merge-worktree", id_, fresh, force)
        done = _done(held, branch, message)
        if isinstance(done, Conflict):
            raise _conflict(held, branch, done)
        news = {"status": "merged", "merge_commit_hash": done.commit}
        held.move("merge-worktree", {id_: news}, forced, branch=branch)
        papers.put(held, id_, {})
        return _merged(held, id_, done.commit, done.found_existing, forced)


def _demand_committed(where: Where, branch: str) -> None:
    """What is not committed would be missing from the merge without a word."""
    path = worktree_of(where, branch)
    left = worktrees.dirty(path) if path else []
    if left:
        raise FailedError(
            f"the worktree {path} holds work that is not committed: {', '.join(left[:5])}",
            fix="commit it there, then merge again",
            code="uncommitted-work",
        )


def _demand_work(held: Desk, branch: str) -> None:
    """A branch that was only just made is contained in its feature branch as a merged one is."""
    repo = held.plan.where.base
    if git.resolve(repo, f"refs/heads/{branch}") is None:
        raise FailedError(
            f"there is no branch '{branch}'", fix="make it, and commit the work", code="no-worktree"
        )
    if not has_begun(repo, held.plan.branch, branch):
        raise FailedError(
            f"nothing was committed on {branch}",
            fix="commit the work there first",
            code="nothing-to-merge",
        )


def _done(held: Desk, branch: str, message: str) -> Merged | Conflict:
    """Looked at only when it did not work: files that a crash left behind look like changes."""
    try:
        return implementation_branches.merge(held.plan.where, held.plan.branch, branch, message)
    except OutsideError:
        _demand_room(held)
        raise


def _demand_room(held: Desk) -> None:
    """The checkout of the feature branch moves along with it, so nobody may be in the middle."""
    path = checkout_of(held.plan, held.plan.branch)
    if path is None:
        return
    if git.resolve(path, "MERGE_HEAD"):
        raise FailedError(
            f"a merge is going on in {path}",
            fix="finish it with `git commit`, or `git merge --abort` it; then merge again",
            code="merge-in-progress",
        )
    changed = worktrees.unsaved(path)
    if changed:
        raise FailedError(
            f"the checkout {path} of '{held.plan.branch}' holds changes: {', '.join(changed[:5])}",
            fix="commit or stash them there, then merge again",
            code="uncommitted-changes",
        )


def _conflict(held: Desk, branch: str, found: Conflict) -> FailedError:
    files = ", ".join(found.files)
    return FailedError(
        f"'{branch}' and '{held.plan.branch}' disagree in {files}; nothing was changed",
        fix=f"on '{branch}': git merge {held.plan.branch}, settle the conflict by what the commit "
        "messages of both sides wanted, commit, have it reviewed and tried again, and merge",
        code="merge-conflict",
    )


def _merged(
    held: Desk, id_: PromptId, commit: str, found_existing: bool, forced: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {
        "prompt_id": str(id_),
        "worktree_branch": held.prompts[id_].worktree_branch_name,
        "merge_commit_hash": commit,
        "status": "merged",
        "found_existing": found_existing,
        "unmerged_alternatives": unmerged(held.plan, held.prompts, id_.number),
        "forced": list(forced),
        "notes": held.notes,
    }


@dataclass(frozen=True, slots=True)
class Request:
    """The pull request that a finished plan is to become."""

    title: str = ""
    body: str = ""
    draft: bool = False


def complete(
    where: Where,
    summary: str = "",
    request: Request | None = None,
    *,
    force: bool = False,
    caller: str = "",
) -> dict[str, Any]:
    """End the plan here, and publish it only if that is asked for."""
    told = _completed(where, summary, force=force, caller=caller)
    if request is None:
        return {**told, "pr_url": None}
    title = request.title or next(iter(told["summary"].splitlines()), "").lstrip("# ")
    made = create_pr(where, title, request.body or told["summary"], draft=request.draft)
    return {**told, "pr_url": made["pr_url"]}


def _completed(where: Where, summary: str, *, force: bool, caller: str) -> dict[str, Any]:
    """The end of a plan: all of it is merged or put aside, and a summary says what it was."""
    with opening.held(where, caller) as held:
        left = [str(id_) for id_ in _open(held)]
        if not held.prompts and not force:
            raise FailedError(
                "the plan has no prompts, so nothing was done",
                fix="write them first: `envoy plan write-prompt`; --force ends it all the same",
                code="no-prompts",
            )
        if left and not force:
            raise FailedError(
                f"not every prompt is merged: {', '.join(left)}",
                fix="finish them, remove them with `envoy plan clear-prompt`, or add --force",
                code="prompts-not-merged",
            )
        text = summary.strip() or _summary(held)
        shelf.plan_page(shelf.of(held.plan))  # what cannot be shown is not recorded
        plan_files.write(held.plan.file(planning.SUMMARY), f"{text}\n")
        forced = ("prompts-not-merged",) if left else ()
        fact = PlanMoved("complete", {}, {"stage": "completed"}, {"text": text}, forced=forced)
        held.record(fact)
        draw_stage(held)
        return {
            "success": True,
            "stage": "completed",
            "summary_written": True,
            "summary": text,
            "unmerged_prompts": left,
            "notes": held.notes,
        }


def _open(held: Desk) -> list[PromptId]:
    merged = merged_numbers(held.prompts)
    return [
        id_
        for id_, prompt in held.prompts.items()
        if id_.number not in merged and not prompt.is_put_aside
    ]


def _summary(held: Desk) -> str:
    """From what was recorded; nobody's judgement is in it."""
    found = shelf.of(held.plan)
    body = shelf.plan_page(found).body
    title = next((line for line in body.splitlines() if line.startswith("# ")), "# Summary")
    return "\n\n".join([title, *(_line(found, id_, p) for id_, p in found.prompts.items())])


def _line(found: shelf.Shelf, id_: PromptId, prompt: Prompt) -> str:
    fields = found.fields(id_)
    last = fields["walkthrough"][-1] if fields["walkthrough"] else {}
    how = (
        f"merged as {prompt.merge_commit_hash[:12]}" if prompt.merge_commit_hash else prompt.status
    )
    aside = f", {prompt.variant_solution}" if prompt.is_put_aside else ""
    told = str(last.get("approach", "")).strip()
    head = f"## Prompt {id_} ({how}{aside})"
    return "\n\n".join(part for part in (head, str(fields["description"]).strip(), told) if part)
