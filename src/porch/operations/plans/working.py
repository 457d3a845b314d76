"""Carrying prompts out: claim, record, release, complete, and what was done."""

from typing import Any

from porch.adapters import base_branch, git, owners
from porch.adapters.git_command import attempt
from porch.adapters.implementation_branches import branch_of, feature_of, worktree_of
from porch.adapters.merged_branches import brought_by, has_begun
from porch.adapters.merging import contains
from porch.adapters.where import Where
from porch.dialects import walkthrough as walkthroughs
from porch.errors import FailedError, UsageError
from porch.machine.prompts import Prompt, Prompts, outdated, recorded
from porch.model.prompt_ids import PromptId
from porch.model.prompt_ids import specialist as name_of_specialist
from porch.operations.plans import opening, pages, papers
from porch.operations.plans.contents import tree_of
from porch.operations.plans.desk import Desk
from porch.operations.plans.place import Plan
from porch.operations.plans.prompting import allowed, forced_past
from porch.runtime.clock import Clock


def start_prompt(
    where: Where,
    id_: PromptId,
    specialist: str,
    worktree: str = "",
    *,
    take_over: bool = False,
    force: bool = False,
    caller: str = "",
) -> dict[str, Any]:
    """Claim a prompt; of two that try, one gets it. Earlier work is gone on with."""
    name = name_of_specialist(specialist)
    with opening.held(where, caller) as held:
        prompt = papers.demand(held, id_)
        forced = allowed("start-prompt", held, id_, force)
        forced += _refuse_taken(id_, prompt, take_over)
        branch = worktree or prompt.worktree_branch_name or _own_branch(held.plan, id_)
        _demand_branch(held, id_, branch)
        has_begun = bool(prompt.started_at)
        news = {
            "in_progress": True,
            "delegated_to": name,
            "worktree_branch_name": branch,
            "started_at": prompt.started_at or Clock().now(),
            "base_commit": prompt.base_commit or _head(held.plan),
            "owner": owners.present(),
            "blocked_reason": "",
        }
        held.move("start-prompt", {id_: news}, forced)
        papers.put(held, id_, {})
        return {
            "id": str(id_),
            "in_progress": True,
            "specialist": name,
            "worktree": branch,
            "worktree_path": worktree_of(where, branch),
            "current_iteration": prompt.current_iteration,
            "resumed": has_begun,
            "notes": held.notes,
        }


def _refuse_taken(id_: PromptId, prompt: Prompt, take_over: bool) -> tuple[str, ...]:
    if not prompt.in_progress or not owners.is_present(prompt.owner):
        return ()
    if take_over:
        return ("already-in-progress",)
    raise FailedError(
        f"prompt {id_} is being worked on by {prompt.delegated_to or 'somebody'} "
        f"since {prompt.started_at}",
        fix="take another one from `envoy plan next`; if that worker is certainly gone, add "
        "--take-over, which is logged",
        code="already-in-progress",
    )


def _own_branch(plan: Plan, id_: PromptId) -> str:
    return branch_of(plan.branch, id_.number, id_.variant)


def _demand_branch(held: Desk, id_: PromptId, branch: str) -> None:
    plan = held.plan
    is_name = attempt(plan.where.base, "check-ref-format", f"refs/heads/{branch}").returncode == 0
    others = {p.worktree_branch_name for other, p in held.prompts.items() if other != id_}
    # A variant that is discarded takes its branch with it.
    taken = branch in (plan.branch, "HEAD", *others) or base_branch.is_direct(branch)
    if not is_name or branch.startswith("-") or taken:
        raise UsageError(
            f"{branch!r} cannot be the branch of a prompt",
            fix=f"use {plan.branch}--implementation-N[-V]",
            code="bad-worktree",
        )
    known = feature_of(branch)
    if known is None or known[0] != plan.branch:
        held.notes.append(
            f"in a worktree of '{branch}' envoy will not find this plan: only names like "
            f"{plan.branch}--implementation-N say where they belong"
        )


def _head(plan: Plan) -> str:
    return git.resolve(plan.where.base, f"refs/heads/{plan.branch}") or ""


def record_implementation(
    where: Where,
    id_: PromptId,
    text: str,
    iteration: int,
    reason: str = "",
    type_: str = "",
    *,
    force: bool = False,
    caller: str = "",
) -> dict[str, Any]:
    """What was done in one iteration; told again it replaces what was told before."""
    if not text.strip():
        raise UsageError(
            "there is no walkthrough",
            fix="say what was done with --walkthrough",
            code="missing-walkthrough",
        )
    with opening.held(where, caller) as held:
        prompt = held.demand(id_)
        forced = allowed("record-implementation", held, id_, force)
        known = list(pages.fields_of(held.plan, id_, prompt)["walkthrough"])
        _demand_iteration(known, iteration, reason)
        told = walkthroughs.read(text)
        entry = walkthroughs.as_fields(told, iteration)
        entry["type"] = _type(prompt, iteration, type_ or told.type, reason)
        entry["refinement_reason"] = reason or entry["refinement_reason"]
        kept = [each for each in known if each.get("iteration") != iteration]
        news = {**recorded(prompt, iteration), "owner": owners.present()}
        held.move("record-implementation", {id_: news}, forced, **_logged(entry))
        papers.put(held, id_, {"walkthrough": [*kept, entry]})
        return {
            "id": str(id_),
            "status": "implemented",
            "iteration": iteration,
            "type": entry["type"],
            "walkthrough_count": len(kept) + 1,
            "notes": held.notes,
        }


def _logged(entry: dict[str, Any]) -> dict[str, Any]:
    return {"iteration": entry["iteration"], "type": entry["type"], "text": entry["approach"]}


def _demand_iteration(known: list[dict[str, Any]], iteration: int, reason: str) -> None:
    last = max((int(each.get("iteration", 0)) for each in known), default=0)
    if iteration not in (max(last, 1), last + 1):
        raise UsageError(
            f"iteration {iteration} cannot follow iteration {last}",
            fix=f"record {last + 1}, or {max(last, 1)} again",
            code="invalid-iteration",
        )
    if iteration > 1 and not reason.strip():
        raise UsageError(
            f"iteration {iteration} needs a reason",
            fix='say why with --refinement-reason "Review feedback: ..."',
            code="missing-refinement-reason",
        )


def _type(prompt: Prompt, iteration: int, named: str, reason: str) -> str:
    if iteration == 1 and named in ("", "initial"):
        return "initial"
    if iteration == 1 or named == "initial" or named not in ("", *walkthroughs.types):
        raise UsageError(
            f"iteration {iteration} cannot have the type '{named}'",
            fix="the first is initial; later ones are review-refinement or testing-refinement",
            code="invalid-type",
        )
    is_tested = prompt.testing == "failed" or reason.lower().startswith("testing")
    return named or ("testing-refinement" if is_tested else "review-refinement")


def complete_prompt(
    where: Where, id_: PromptId, *, force: bool = False, caller: str = ""
) -> dict[str, Any]:
    """Done with: its work is on the feature branch, and everything the protocol asks for was so."""
    with opening.held(where, caller) as held:
        prompt = papers.demand(held, id_)
        merged = prompt.merge_commit_hash or found_merged(held.plan, prompt)
        by_hand: tuple[str, ...] = ()
        if merged and merged != prompt.merge_commit_hash:
            fresh = outdated(prompt, tree_of(held.plan, prompt.worktree_branch_name))
            by_hand = forced_past("complete-prompt", id_, fresh, force)
            held.move("found-merged", {id_: {"merge_commit_hash": merged}}, by_hand)
        forced = allowed("complete-prompt", held, id_, force) + by_hand
        held.move("complete-prompt", {id_: {"status": "merged", "in_progress": False}}, forced)
        papers.put(held, id_, {})
        return {
            "id": str(id_),
            "status": "merged",
            "merge_commit_hash": merged or None,
            "unmerged_alternatives": unmerged(held.plan, held.prompts, id_.number),
            "forced": list(forced),
            "notes": held.notes,
        }


def found_merged(plan: Plan, prompt: Prompt) -> str:
    """The commit that brought a branch home, if somebody merged it by hand."""
    repo, feature, branch = plan.where.base, _head(plan), prompt.worktree_branch_name
    head = git.resolve(repo, f"refs/heads/{branch}")
    if not head or not feature or head == prompt.base_commit:
        return ""
    if not contains(repo, feature, head) or not has_begun(repo, plan.branch, branch):
        return ""
    return brought_by(repo, feature, head) or head


def unmerged(plan: Plan, prompts: Prompts, number: int) -> list[str]:
    """Branches that a person wanted kept beside the main one."""
    branches = [
        prompt.worktree_branch_name
        for id_, prompt in prompts.items()
        if id_.number == number and prompt.variant_solution == "alternative"
    ]
    return [b for b in branches if b and git.resolve(plan.where.base, f"refs/heads/{b}")]


def release(
    where: Where, id_: PromptId, reason: str = "", *, force: bool = False, caller: str = ""
) -> dict[str, Any]:
    """Give a prompt back, by whoever worked on it or handed it out; its work stays as it is."""
    with opening.held(where, caller) as held:
        prompt = held.demand(id_)
        forced = _refuse_others(id_, prompt, force)
        if prompt.in_progress:
            news = {"in_progress": False, "blocked_reason": reason}
            held.move("release-prompt", {id_: news}, forced, reason=reason)
            papers.draw_all(held, [id_])
        return {
            "id": str(id_),
            "released": prompt.in_progress,
            "blocked_reason": reason or None,
            "notes": held.notes,
        }


def _refuse_others(id_: PromptId, prompt: Prompt, force: bool) -> tuple[str, ...]:
    """The process that has a claim gives it back; agents that share one are not told apart."""
    if not prompt.in_progress or not owners.is_present(prompt.owner):
        return ()
    if owners.is_same(prompt.owner, owners.present()):
        return ()
    if not force:
        raise FailedError(
            f"prompt {id_} is being worked on by {prompt.delegated_to or 'somebody'} elsewhere",
            fix="let them give it back; --force takes it from them, and is logged",
            code="already-in-progress",
        )
    return ("already-in-progress",)


def release_all(where: Where, *, force: bool = False, caller: str = "") -> dict[str, Any]:
    """Claims of workers that are gone; those of living ones stay unless it is forced."""
    with opening.held(where, caller) as held:
        taken = {id_: prompt for id_, prompt in held.prompts.items() if prompt.in_progress}
        gone = [id_ for id_, p in taken.items() if force or not owners.is_present(p.owner)]
        if gone:
            living = [id_ for id_ in gone if owners.is_present(taken[id_].owner)]
            forced = ("already-in-progress",) if living else ()
            held.move("release-all-prompts", {key: {"in_progress": False} for key in gone}, forced)
        papers.draw_all(held, gone)
        kept = [
            {"id": str(id_), "specialist": p.delegated_to or None, "since": p.started_at}
            for id_, p in taken.items()
            if id_ not in gone
        ]
        return {
            "released_count": len(gone),
            "released": [str(id_) for id_ in gone],
            "kept": kept,
            "total_prompts": len(held.prompts),
            "notes": held.notes,
        }
