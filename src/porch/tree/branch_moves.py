"""What the engine does with the branches of an instance: integrate, verify, publish, update."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from porch.errors import OutsideError
from porch.git import checkouts, merge, repository
from porch.machine import facts as f
from porch.machine.effects import MoveBranch
from porch.machine.exits.target_questions import CLASH, REMOVED
from porch.machine.instances.git_state_inputs import UNNAMED
from porch.machine.state import RunState
from porch.run.agents.world import World
from porch.tree import instance_worktrees
from porch.tree.answers.answer_acceptance import find_own_patch_id
from porch.tree.branches import branch_update
from porch.tree.branches.target_history import (
    describe_removed_commits,
    find_removed_commits,
    note_target,
)
from porch.tree.instance_worktrees import find_missing_target_head
from porch.tree.suites import suite_results, suite_run

MERGE_TRAILER = "Porch-Merge"
CONTRACT, BUILD, INTEGRATION = "ContractViolation", "BuildFailure", "IntegrationFailure"
MOST_NAMED = 20


async def run_branch_move(world: World, effect: MoveBranch) -> f.EffectFact:
    world.new_turn_directory(effect.id)
    ended = await OPERATIONS[effect.op](world, effect)
    if effect.op == "publish" and ended.exit == "clean":
        return ended
    head = await asyncio.to_thread(find_missing_target_head, world, effect.instance, effect.about)
    return replace(ended, target_head=head)


def _make_refusal(reason: str, details: str, failing: list[str]) -> dict[str, Any]:
    return {"reason": reason, "details": details, "failingTests": failing[:MOST_NAMED]}


def _make_trailer(world: World, effect: MoveBranch, name: str) -> str:
    return f"{name}: {world.state().run.name} {effect.position}/{effect.op}"


async def _integrate_tests(world: World, effect: MoveBranch) -> f.GitEnded:
    """The tests, once they were seen to be red, become part of the instance's own branch."""
    about = effect.about
    main = await asyncio.to_thread(
        instance_worktrees.ensure_main_worktree, world, effect.instance, about
    )
    await asyncio.to_thread(instance_worktrees.ensure_tests_worktree, world, effect.instance, about)
    message = effect.message
    trailer = _make_trailer(world, effect, "Porch-Effect")
    branch = about.tests_branch
    # The number of tries that a record has seen begin.
    is_again = not effect.id.endswith("/0")
    done = await asyncio.to_thread(
        merge.integrate_tests_branch, main, branch, message, trailer, is_again=is_again
    )
    if isinstance(done, merge.Conflict):
        said = f"the tests conflict with the branch in {', '.join(done.files)}"
        return f.GitEnded(
            effect=effect.id, exit="conflict", payload=_make_refusal(INTEGRATION, said, [])
        )
    return f.GitEnded(effect=effect.id, exit="clean", payload={"commit": done})


async def _check_contract(world: World, effect: MoveBranch) -> f.GitEnded:
    """All children have settled: what the whole suite says now, and whose part of it fails."""
    children = _list_merged_children(world, effect)
    if not children:
        return f.GitEnded(effect=effect.id, exit="clean", payload={"report": ""})
    main = await asyncio.to_thread(
        instance_worktrees.ensure_main_worktree, world, effect.instance, effect.about
    )
    found = await suite_run.run_suite(world, effect.id, main, fresh=True)
    failing = set(suite_results.list_failing_paths(found, [path for _, path in children]))
    broken = [key for key, path in children if path in failing]
    said = suite_results.describe_suite_run(found)
    if broken:
        return f.GitEnded(
            effect=effect.id, exit="refused", payload={"children": broken, "report": said}
        )
    return f.GitEnded(effect=effect.id, exit="clean", payload={"report": said})


def _list_merged_children(world: World, effect: MoveBranch) -> list[tuple[str, str]]:
    """Merged children of this instance, and where their tests lie."""
    known = world.state().instances
    spawn = world.definition().protocol.spawn_of(effect.about.part)
    mine = {k.key: k for n, k in known.items() if n and k.parent == effect.instance}
    done = [k for k in mine.values() if k.outcome == "complete"]
    return [(k.key, str(k.spec.get(spawn.suite, ""))) for k in done] if spawn else []


async def _build_candidate(world: World, effect: MoveBranch) -> f.GitEnded:
    """One squash commit on the target's head, built beside, and looked at before anybody else."""
    about = effect.about
    # Both ends are looked up once: what is compared with the approval is what is merged.
    target = merge.require_branch_head(world.workspace, about.target)
    trouble = await asyncio.to_thread(_take_in_target, world, effect, target)
    if trouble is not None:
        return trouble
    head = merge.require_branch_head(world.workspace, about.branch)
    patch = await asyncio.to_thread(find_own_patch_id, world, about, head, target)
    if effect.approved != patch:
        refusal = _refuse_patch(effect, patch)
        return f.GitEnded(effect=effect.id, exit="refused", payload=refusal)
    async with instance_worktrees.hold_reader(world, effect.instance) as scratch:
        return await _build_in(world, effect, target, head, scratch)


def _take_in_target(world: World, effect: MoveBranch, target: str) -> f.GitEnded | None:
    """Nothing if the branch can be merged; else what a person has to say first."""
    about = effect.about
    own = merge.require_branch_head(world.workspace, about.branch)
    removed = find_removed_commits(world, effect.instance, about, own=own, target=target)
    if removed and effect.confirmed != removed.name:
        said = describe_removed_commits(world, about, removed)
        refusal = {**_make_refusal(REMOVED, said, []), "removed": removed.name}
        return f.GitEnded(effect=effect.id, exit="refused", payload=refusal)
    if not effect.asks_of_clash or merge.has_ancestor(world.workspace, own, target):
        if removed or merge.has_ancestor(world.workspace, own, target):
            note_target(world, about, target)
        return None
    main = instance_worktrees.ensure_main_worktree(world, effect.instance, about)
    note_target(world, about, target)
    return _merge_target(effect, main, target)


def _merge_target(effect: MoveBranch, main: str, target: str) -> f.GitEnded | None:
    """By git alone, as an update would; a merge that somebody has begun there is theirs."""
    if instance_worktrees.is_merging(main):
        said = _describe_unfinished(main)
    else:
        made = branch_update.update_branch(main, target, rebase=False)
        if not isinstance(made, merge.Conflict):
            return None
        said = _describe_clash(effect, main, made.files)
    payload = _make_refusal(CLASH, said, [])
    return f.GitEnded(effect=effect.id, exit="conflict", payload=payload)


def _describe_unfinished(main: str) -> str:
    return f"the merge in {main} is not finished: commit it, then answer retry"


def _describe_clash(effect: MoveBranch, main: str, files: Iterable[str]) -> str:
    target = effect.about.target
    return (
        f"{target} has moved, and this work clashes with it in {', '.join(files)}. No state of the "
        f"graph is given the merge. Run `git merge {target}` in {main}, resolve it and commit it, "
        "then answer retry; if that changes what was approved, it is reviewed again"
    )


async def _build_in(
    world: World, effect: MoveBranch, target: str, head: str, scratch: str
) -> f.GitEnded:
    about, message = effect.about, effect.message
    trailer = _make_trailer(world, effect, MERGE_TRAILER)
    made = await asyncio.to_thread(
        merge.create_candidate,
        world.workspace,
        target,
        head,
        message,
        trailer=trailer,
        scratch=scratch,
    )
    if isinstance(made, merge.Conflict):
        said = f"it conflicts with {about.target} in {', '.join(made.files)}"
        payload = _make_refusal(INTEGRATION, said, [])
        return f.GitEnded(effect=effect.id, exit="conflict", payload=payload)
    before = await suite_run.run_suite_at(world, effect.id, made.old_head, scratch)
    return await _verify_candidate(world, effect, made, before, scratch)


async def _verify_candidate(
    world: World,
    effect: MoveBranch,
    made: merge.MergeCandidate,
    before: suite_results.SuiteRun,
    scratch: str,
) -> f.GitEnded:
    """Relative to the target: it builds, its own tests are green, nothing else got worse."""
    await asyncio.to_thread(checkouts.ensure_read_checkout, world.workspace, scratch, made.commit)
    built = await suite_run.run_build(world, effect.id, scratch)
    tree = await asyncio.to_thread(repository.read_commit_tree, world.workspace, made.commit)
    after = await suite_run.run_suite(world, effect.id, scratch, key=tree)
    if not built.ok:
        return f.GitEnded(
            effect=effect.id, exit="refused", payload=_make_refusal(BUILD, built.report, [])
        )
    own = suite_results.select_cases(after, effect.own) if after.has_cases else after
    wrong = suite_results.explain_not_green(own)
    if wrong:
        refusal = _make_refusal(
            CONTRACT, "\n".join(wrong[:MOST_NAMED]), suite_results.list_failing_ids(own)
        )
        return f.GitEnded(effect=effect.id, exit="refused", payload=refusal)
    worse = suite_results.list_regressions(before, after) if before.cases else []
    if worse:
        refusal = _make_refusal(
            INTEGRATION, "\n".join(worse[:MOST_NAMED]), suite_results.list_failing_ids(after)
        )
        return f.GitEnded(effect=effect.id, exit="refused", payload=refusal)
    evidence = [
        {"name": "own tests", "result": "passed", "report": suite_results.describe_suite_run(own)},
        {
            "name": "all tests",
            "result": "no regression",
            "report": suite_results.describe_suite_run(after),
        },
    ]
    payload = {"commit": made.commit, "old": made.old_head, "evidence": evidence}
    return f.GitEnded(effect=effect.id, exit="clean", payload=payload)


def _refuse_patch(effect: MoveBranch, patch: str) -> dict[str, Any]:
    """What nobody approved is not merged; an old graph cannot say what was, so a person does."""
    if effect.is_named:
        said = "the branch is not what was approved; it must be reviewed again"
        return _make_refusal(INTEGRATION, said, [])
    said = (
        f"the graph of this run does not name what was approved; look at the branch "
        f"{effect.about.branch}, then say whether it may be merged into {effect.about.target}"
    )
    return {**_make_refusal(UNNAMED, said, []), "patch": patch}


async def _publish_candidate(world: World, effect: MoveBranch) -> f.GitEnded:
    about = effect.about
    made = effect.candidate
    checkout = None
    if effect.instance:
        parent = world.state().instances[about.parent]
        checkout = await asyncio.to_thread(
            instance_worktrees.ensure_main_worktree, world, about.parent, parent
        )
    new, old = str(made["commit"]), str(made["old"])
    try:
        done = await asyncio.to_thread(
            merge.publish_commit, world.workspace, about.target, new=new, old=old, checkout=checkout
        )
    except OutsideError as error:
        # A person's own checkout is in the way: only they can clear it.
        said = str(error).replace("run `porch resume`", "answer this question")
        return f.GitEnded(effect=effect.id, exit="refused", payload={"reason": said})
    if done == "stale":
        said = f"{about.target} has moved since the candidate was built"
        return f.GitEnded(effect=effect.id, exit="conflict", payload={"reason": said})
    return f.GitEnded(effect=effect.id, exit="clean", payload={"commit": new})


async def _update_branch(world: World, effect: MoveBranch) -> f.GitEnded:
    """Onto the parent's new head, mechanically; an agent is asked only where that does not do."""
    main = await asyncio.to_thread(
        instance_worktrees.ensure_main_worktree, world, effect.instance, effect.about
    )
    event = effect.values.get("update") or {}
    base = str(event["newParentHead"])
    ended = await asyncio.to_thread(_prepare_update, world, effect, main, base)
    if ended is not None:
        return ended
    before = await suite_run.run_suite(world, effect.id, main)
    alone = not _has_children(world.state(), effect.instance)
    made = await asyncio.to_thread(branch_update.update_branch, main, base, alone)
    if alone and isinstance(made, merge.Conflict):
        # A commit of before may clash although what it did was taken back since.
        made = await asyncio.to_thread(branch_update.update_branch, main, base, False)
    if isinstance(made, merge.Conflict):
        said = _describe_clash(effect, main, made.files) if effect.asks_of_clash else ""
        return _make_update_conflict(effect, base, made.files, said)
    after = await suite_run.run_suite(world, effect.id, main)
    worse = suite_results.list_regressions(before, after)
    if suite_results.list_failing_ids(after):
        # A test that came in is green there: if it is red here, that is news as well.
        async with instance_worktrees.hold_reader(world, effect.instance) as scratch:
            theirs = await suite_run.run_suite_at(world, effect.id, base, scratch)
        more = suite_results.list_regressions(theirs, after) if theirs.cases else []
        worse = list(dict.fromkeys((*worse, *more)))
    if worse:
        said = "\n".join(worse[:MOST_NAMED])
        trouble = {"base": base, "kind": "regression", "files": [], "report": said}
        return f.GitEnded(effect=effect.id, exit="refused", payload=trouble)
    return f.GitEnded(effect=effect.id, exit="clean", payload={"base": base, "commit": made.head})


def _prepare_update(world: World, effect: MoveBranch, main: str, base: str) -> f.GitEnded | None:
    """Nothing if the update can begin; otherwise how it has ended already."""
    if instance_worktrees.is_merging(main):
        if effect.asks_of_clash:
            return _make_update_conflict(effect, base, (), _describe_unfinished(main))
        branch_update.abort_unfinished_work(main)
    own = merge.require_branch_head(world.workspace, effect.about.branch)
    removed = find_removed_commits(world, effect.instance, effect.about, own=own, target=base)
    if removed or _is_gone(world, effect, base):
        # Replayed on a target without them, they would come back; at the merge a person is asked.
        return f.GitEnded(effect=effect.id, exit="clean", payload={"base": base, "commit": own})
    note_target(world, effect.about, base)
    return None


def _is_gone(world: World, effect: MoveBranch, base: str) -> bool:
    """Whether somebody has removed this commit from the target since it was heard of."""
    head = merge.require_branch_head(world.workspace, effect.about.target)
    return head != base and not merge.has_ancestor(world.workspace, head, base)


def _make_update_conflict(
    effect: MoveBranch, base: str, files: Iterable[str], said: str
) -> f.GitEnded:
    """For the state that is given the merge; where there is none, it says what a person does."""
    trouble = {"base": base, "kind": "conflict", "files": list(files), "report": said}
    asked = {"reason": CLASH} if effect.asks_of_clash else {}
    return f.GitEnded(effect=effect.id, exit="conflict", payload={**trouble, **asked})


def _has_children(state: RunState, instance: str) -> bool:
    return any(k.parent == instance and not k.outcome for n, k in state.instances.items() if n)


Operation = Callable[[World, MoveBranch], Awaitable[f.GitEnded]]
OPERATIONS: Mapping[str, Operation] = {
    "integrate": _integrate_tests,
    "contract": _check_contract,
    "candidate": _build_candidate,
    "publish": _publish_candidate,
    "update": _update_branch,
}
