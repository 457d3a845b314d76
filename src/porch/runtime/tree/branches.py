"""What the engine does with the branches of an instance: integrate, verify, publish, update."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from porch.adapters import checkouts, git, merging, refs, updating, worktrees
from porch.errors import OutsideError
from porch.machine import facts as f
from porch.machine import suites
from porch.machine.effects import MoveBranch
from porch.machine.state import Instance, State
from porch.runtime.tree import places, suite
from porch.runtime.tree.accepting import own_patch
from porch.runtime.world import World

MERGE = "Porch-Merge"
CONTRACT, BUILD, INTEGRATION = "ContractViolation", "BuildFailure", "IntegrationFailure"
NAMED = 20
PATCH = ".patch"


async def run(world: World, effect: MoveBranch) -> f.EffectFact:
    world.new_turn_directory(effect.id)
    return await OPERATIONS[effect.op](world, effect)


def _refusal(reason: str, details: str, failing: list[str]) -> dict[str, Any]:
    return {"reason": reason, "details": details, "failingTests": failing[:NAMED]}


def _trailer(world: World, effect: MoveBranch, name: str) -> str:
    return f"{name}: {world.state().run.name} {effect.position}/{effect.op}"


async def _integrate(world: World, effect: MoveBranch) -> f.GitEnded:
    """The tests, once they were seen to be red, become part of the instance's own branch."""
    about = effect.about
    main = await asyncio.to_thread(places.main, world, effect.instance, about)
    await asyncio.to_thread(places.tests, world, effect.instance, about)
    message = effect.message
    trailer = _trailer(world, effect, "Porch-Effect")
    branch = places.tests_branch(about)
    done = await asyncio.to_thread(merging.integrate, main, branch, message, trailer)
    if isinstance(done, merging.Conflict):
        said = f"the tests conflict with the branch in {', '.join(done.files)}"
        return f.GitEnded(effect.id, "conflict", _refusal(INTEGRATION, said, []))
    return f.GitEnded(effect.id, "clean", {"commit": done})


async def _contract(world: World, effect: MoveBranch) -> f.GitEnded:
    """All children have settled: what the whole suite says now, and whose part of it fails."""
    children = _merged(world, effect)
    if not children:
        return f.GitEnded(effect.id, "clean", {"report": ""})
    main = await asyncio.to_thread(places.main, world, effect.instance, effect.about)
    found = await suite.suite(world, effect.id, main, fresh=True)
    broken = [key for key, path in children if _fails(found, path)]
    said = suites.summary(found)
    if broken:
        return f.GitEnded(effect.id, "refused", {"children": broken, "report": said})
    return f.GitEnded(effect.id, "clean", {"report": said})


def _merged(world: World, effect: MoveBranch) -> list[tuple[str, str]]:
    """Merged children of this instance, and where their tests lie."""
    spawn = world.definition().protocol.spawn
    known = world.state().instances
    mine = {k.key: k for n, k in known.items() if n and k.parent == effect.instance}
    done = [k for k in mine.values() if k.outcome == "complete"]
    return [(k.key, str(k.spec.get(spawn.suite, ""))) for k in done] if spawn else []


def _fails(found: suites.Suite, path: str) -> bool:
    part = suites.part(found, [path]) if path and found.has_cases else None
    return bool(part and part.cases and suites.failing(part))


async def _candidate(world: World, effect: MoveBranch) -> f.GitEnded:
    """One squash commit on the target's head, built beside, and looked at before anybody else."""
    about = effect.about
    approved = next((str(v) for path, v in effect.values.items() if path.endswith(PATCH)), "")
    if approved and approved != await asyncio.to_thread(own_patch, world, about):
        said = "the branch does not hold what was approved; it has to be reviewed again"
        return f.GitEnded(effect.id, "refused", _refusal(INTEGRATION, said, []))
    message = effect.message
    trailer = _trailer(world, effect, MERGE)
    scratch = places.main_path(world, effect.instance) + places.READ
    made = await asyncio.to_thread(
        merging.candidate, world.workspace, about.target, about.branch, message, trailer, scratch
    )
    if isinstance(made, merging.Conflict):
        said = f"it conflicts with {about.target} in {', '.join(made.files)}"
        payload = _refusal(INTEGRATION, said, [])
        return f.GitEnded(effect.id, "conflict", payload)
    before = await suite.suite_at(world, effect.id, made.old_head, scratch)
    return await _verified(world, effect, made, before, scratch)


async def _verified(
    world: World,
    effect: MoveBranch,
    made: merging.Candidate,
    before: suites.Suite,
    scratch: str,
) -> f.GitEnded:
    """Relative to the target: it builds, its own tests are green, nothing else got worse."""
    await asyncio.to_thread(checkouts.reread, world.workspace, scratch, made.commit)
    built = await suite.build(world, effect.id, scratch)
    tree = await asyncio.to_thread(git.tree_at, world.workspace, made.commit)
    after = await suite.suite(world, effect.id, scratch, key=tree)
    if not built.ok:
        return f.GitEnded(effect.id, "refused", _refusal(BUILD, built.report, []))
    own = suites.part(after, _own(effect)) if after.has_cases else after
    wrong = suites.not_green(own)
    if wrong:
        refusal = _refusal(CONTRACT, "\n".join(wrong[:NAMED]), suites.failing(own))
        return f.GitEnded(effect.id, "refused", refusal)
    worse = suites.regressions(before, after) if before.cases else []
    if worse:
        refusal = _refusal(INTEGRATION, "\n".join(worse[:NAMED]), suites.failing(after))
        return f.GitEnded(effect.id, "refused", refusal)
    evidence = [
        {"name": "own tests", "result": "passed", "report": suites.summary(own)},
        {"name": "all tests", "result": "no regression", "report": suites.summary(after)},
    ]
    payload = {"commit": made.commit, "old": made.old_head, "evidence": evidence}
    return f.GitEnded(effect.id, "clean", payload)


def _own(effect: MoveBranch) -> list[str]:
    """Where the tests lie that must be green: paths that the state reads, not the approval."""
    return [str(v) for k, v in effect.values.items() if isinstance(v, str) and "patch" not in k]


def _made(effect: MoveBranch) -> Mapping[str, Any]:
    """The candidate among what the state reads."""
    read = [value for value in effect.values.values() if isinstance(value, Mapping)]
    return next(value for value in read if {"commit", "old"} <= value.keys())


async def _publish(world: World, effect: MoveBranch) -> f.GitEnded:
    about = effect.about
    made = _made(effect)
    checkout = None
    if effect.instance:
        parent = world.state().instances[about.parent]
        checkout = await asyncio.to_thread(places.main, world, about.parent, parent)
    new, old = str(made["commit"]), str(made["old"])
    try:
        done = await asyncio.to_thread(
            merging.publish, world.workspace, about.target, new, old, checkout
        )
    except OutsideError as error:
        # A person's own checkout is in the way: only they can clear it.
        return f.GitEnded(effect.id, "refused", {"reason": str(error)})
    if done == "stale":
        said = f"{about.target} has moved since the candidate was built"
        return f.GitEnded(effect.id, "conflict", {"reason": said})
    return f.GitEnded(effect.id, "clean", {"commit": new})


async def _update(world: World, effect: MoveBranch) -> f.GitEnded:
    """Onto the parent's new head, mechanically; an agent is asked only where that does not do."""
    main = await asyncio.to_thread(places.main, world, effect.instance, effect.about)
    if await asyncio.to_thread(places.is_merging, main):
        await asyncio.to_thread(updating.abort, main)
    event = effect.values.get("update") or {}
    base = str(event["newParentHead"])
    before = await suite.suite(world, effect.id, main)
    alone = not _has_children(world.state(), effect.instance)
    made = await asyncio.to_thread(updating.update, main, base, alone)
    if alone and isinstance(made, merging.Conflict):
        # A commit of before may clash although what it did was taken back since.
        made = await asyncio.to_thread(updating.update, main, base, False)
    if isinstance(made, merging.Conflict):
        trouble = {"base": base, "kind": "conflict", "files": list(made.files), "report": ""}
        return f.GitEnded(effect.id, "conflict", trouble)
    after = await suite.suite(world, effect.id, main)
    worse = suites.regressions(before, after)
    if worse:
        said = "\n".join(worse[:NAMED])
        trouble = {"base": base, "kind": "regression", "files": [], "report": said}
        return f.GitEnded(effect.id, "refused", trouble)
    return f.GitEnded(effect.id, "clean", {"base": base, "commit": made.head})


def _has_children(state: State, instance: str) -> bool:
    return any(k.parent == instance and not k.outcome for n, k in state.instances.items() if n)


Operation = Callable[[World, MoveBranch], Awaitable[f.GitEnded]]
OPERATIONS: Mapping[str, Operation] = {
    "integrate": _integrate,
    "contract": _contract,
    "candidate": _candidate,
    "publish": _publish,
    "update": _update,
}


def tidy(world: World) -> list[str]:
    """Worktrees of instances that are over: archived and removed; what is unsaved is kept first.

    A root that failed is left as it is, for a person to look at.
    """
    told: list[str] = []
    for name, known in world.state().instances.items():
        if known.outcome == "complete" or (known.outcome and name):
            told += _put_away(world, name, known)
    return told


def _put_away(world: World, name: str, known: Instance) -> list[str]:
    path, tests = places.main_path(world, name), places.tests_branch(known)
    # A finished branch that was to be merged nowhere is what the run leaves to people.
    branch = known.branch if known.target else None
    checkouts.clear(world.workspace, path + places.READ)
    gone = _removed(world, path + places.TESTS, tests, tests)
    gone += _removed(world, path, known.branch, branch)
    refs.forget(world.workspace, f"{places.ENTRY}{known.branch}/")
    return gone


def _removed(world: World, place: str, name: str, branch: str | None) -> list[str]:
    is_branch = branch is not None and git.resolve(world.workspace, f"refs/heads/{name}")
    if not os.path.isdir(place) and not is_branch:
        return []
    worktrees.remove(world.workspace, place, branch)
    return [name] if branch else []
