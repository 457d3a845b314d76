"""From an agent's answer to an accepted exit: legal, typed, owned, measured, filled."""

import asyncio
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from porch.agents.events import Answered
from porch.errors import OutsideError
from porch.git import changed_paths, checkouts, git_directory, merge, repository, worktrees
from porch.git.index.index_flags import clear_index_flags
from porch.git.measured_tree import measure_tree
from porch.git.odd_files import ODD_CODES
from porch.machine.effects import AskAgent
from porch.machine.instances.child_specs import find_plan_problems, list_planned_children
from porch.machine.instances.listed_children import find_problems_below_plan
from porch.machine.path_values import is_within
from porch.machine.state import Instance, RunState
from porch.model import typed_answers
from porch.model import types as t
from porch.model.protocol import Exit, Protocol
from porch.model.protocol_parts import part_of_name
from porch.run.agents.world import World
from porch.store import payloads
from porch.store.large_payloads import expand_payloads
from porch.tree.answers.claim_measures import MOST_REASONS, measure_claim
from porch.tree.branches import branch_update, changes, refs
from porch.tree.branches.raw_commits import compare_measured_tree, may_convert_files
from porch.tree.branches.update_troubles import find_update_trouble
from porch.tree.claim import Claim, InstancePlace, find_judging_changes
from porch.tree.instance_worktrees import is_merging
from porch.tree.mechanical_changes import find_unmechanical_lines
from porch.tree.question_text import find_children_room, list_unasked_fields

PATCH_KEPT = 5_000_000
# Checks that look at the files that lie there.
FILE_MEASURES = frozenset(("builds", "green", "exists", "finished"))


class AcceptedAnswer(Struct, frozen=True):
    """An answer that holds, with what the engine saw and filled in."""

    exit: str
    payload: Mapping[str, Any]
    tree: str
    evidence: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]
    envelope: Mapping[str, Any]


class RefusedAnswer(Struct, frozen=True):
    """What is wrong with an answer, for the agent to mend, and which rules say so."""

    reasons: tuple[str, ...]
    rules: tuple[str, ...]


async def accept_answer(
    world: World, effect: AskAgent, place: InstancePlace, answer: Answered
) -> AcceptedAnswer | RefusedAnswer:
    """All reasons at once where possible; measuring begins only when the words are right."""
    known = next((each for each in effect.exits if each.name == answer.exit), None)
    if known is None:
        return RefusedAnswer((_describe_unknown_exit(effect, answer),), ("exit",))
    protocol = world.definition().protocol
    payload, reasons, notes = _repair_and_check_payload(
        protocol, world.state(), effect, known, answer.payload
    )
    reasons += _list_contradictions(place, known, answer.payload)
    if reasons:
        return RefusedAnswer(tuple(reasons[:MOST_REASONS]), ("answer",))
    claim = Claim(world, effect, place, known, payload, notes=notes)
    reasons = claim.broke("paths", await _check_ownership(claim))
    if not reasons:
        await asyncio.to_thread(_settle_files, claim)
        reasons = await measure_claim(claim)
    if not reasons and effect.ask.mechanical:
        reasons = claim.broke("mechanical", await asyncio.to_thread(_check_mechanical, claim))
    if reasons:
        return RefusedAnswer(tuple(reasons[:MOST_REASONS]), tuple(claim.rules))
    if effect.ask.mechanical and _gives_up(claim):
        await asyncio.to_thread(_restore_branch, claim)
    return await asyncio.to_thread(_make_accepted_answer, claim)


def _describe_unknown_exit(effect: AskAgent, answer: Answered) -> str:
    legal = f"allowed: {', '.join(each.name for each in effect.exits)}"
    if answer.exit:
        return f"'{answer.exit}' is not an exit of {effect.state}; {legal}"
    why = f" ({answer.payload})" if isinstance(answer.payload, str) else ""
    return f"the answer names no exit{why}; {legal}"


def _repair_and_check_payload(
    protocol: Protocol, state: RunState, effect: AskAgent, known: Exit, given: Any
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Repaired and checked against the record, without what is not asked of the agent."""
    missing = list_unasked_fields(protocol, effect, known)
    asked = t.remove_fields(known.record, missing)
    kept = dict(given) if isinstance(given, dict) else given
    if isinstance(kept, dict):
        # Nothing said about what is not asked for is no contradiction.
        kept = {
            k: v
            for k, v in kept.items()
            if k not in missing or not (v is None or k in known.filled)
        }
    repaired, notes = typed_answers.repair_value(kept, asked, protocol.types)
    reasons = typed_answers.check_value(repaired, asked, protocol.types)
    reasons += _find_surplus_children(protocol, effect, known, repaired)
    if not reasons:
        path = f"{effect.state}.{known.name}"
        reasons += find_plan_problems(protocol, state, effect.instance, path, repaired)
        reasons += find_problems_below_plan(protocol, state, effect.instance, path, repaired)
    payload = dict(repaired) if isinstance(repaired, dict) else {}
    for field in known.record.fields:
        if field.name in missing and field.name not in known.filled:
            # Only the list of children is left out; where it cannot be null, there are none.
            payload[field.name] = None if t.unwrap_type(field.type, protocol.types)[1] else []
    return payload, reasons, notes


def _find_surplus_children(
    protocol: Protocol, effect: AskAgent, known: Exit, said: Any
) -> list[str]:
    """More children than there is room for; none at all are not even asked for."""
    spawn = protocol.spawn_of(part_of_name(effect.state))
    room = find_children_room(effect)
    if spawn is None or not spawn.specs.startswith(f"{effect.state}.{known.name}."):
        return []
    specs = list_planned_children(spawn, said)
    most = room.get("most", spawn.fan_out)
    if len(specs) <= most:
        return []
    return [f"{len(specs)} children are planned, but only {most} are allowed"]


def _list_contradictions(place: InstancePlace, known: Exit, given: Any) -> list[str]:
    """A commit that an agent names although nobody asked must at least be the one that is there."""
    head = _read_judged_head(place)
    claimed = given if isinstance(given, dict) else {}
    return [
        f"{name} says {claimed[name]}, but HEAD is {head[:12]}; porch fills this in itself"
        for name, path in known.filled.items()
        if path == "engine.head" and claimed.get(name) and not _is_same_commit(claimed[name], head)
    ]


def _is_same_commit(said: Any, head: str) -> bool:
    return isinstance(said, str) and len(said) >= 7 and head.startswith(said)


async def _check_ownership(claim: Claim) -> list[str]:
    """Who touched which path, on the real diff since the work began."""
    if not claim.place.is_own:
        return []
    ask, place = claim.effect.ask, claim.place
    if elsewhere := _find_other_branch(place):
        return [elsewhere]
    head = repository.read_head(place.path) or ""
    if not await asyncio.to_thread(changes.is_ancestor, place.path, place.entry, head):
        return [f"the branch no longer contains {place.entry[:12]}, where this work began"]
    if not ask.mechanical and (forged := await asyncio.to_thread(_find_forged_commits, claim)):
        return [f"commit {commit[:12]} contains a line that only porch writes" for commit in forged]
    found = await asyncio.to_thread(_measure_changed_paths, claim)
    return [found] if isinstance(found, str) else _find_foreign_changes(claim, found)


def _find_other_branch(place: InstancePlace) -> str:
    """What counts is the branch of the instance; an agent may have gone to another one."""
    here = git_directory.find_git_directory(place.path)
    if here is None or not os.path.isdir(place.path):
        raise OutsideError(
            f"the worktree {place.path} is gone", fix="it is made again at the next try"
        )
    branch = git_directory.read_branch(here)
    if branch == place.branch:
        return ""
    return (
        f"the worktree stands on {branch or 'no branch'}, but only {place.branch} counts: bring "
        f"your work there (git switch {place.branch}), then answer again"
    )


def _find_foreign_changes(claim: Claim, found: list[changed_paths.ChangedPath]) -> list[str]:
    ask = claim.effect.ask
    reasons = [f"'{c.path}' is a link that points outside" for c in found if c.escapes]
    if ask.mechanical:
        return reasons
    allowed, denied = claim.values(ask.allows), claim.values(ask.denies)
    reasons += find_judging_changes(claim, found)
    for change in found:
        if is_within(change.path, denied):
            reasons.append(f"'{change.path}' was changed, but you may not change it")
        elif ask.allows and not is_within(change.path, allowed):
            where = ", ".join(map(str, allowed))
            reasons.append(f"'{change.path}' was changed, but you may change only {where}")
    return reasons


def _measure_changed_paths(claim: Claim) -> list[changed_paths.ChangedPath] | str:
    """All that differs from where the work began; or why nobody can tell, for who caused it."""
    place = claim.place
    try:
        claim.tree = measure_tree(place.path, room=claim.world.tree_room)
        found = compare_measured_tree(place.path, place.entry, claim.tree)
        claim.changed = tuple(each.path for each in found)
        return found
    except OutsideError as error:
        if error.findings[0].code not in ODD_CODES:
            raise
        return error.findings[0].message


def _find_forged_commits(claim: Claim) -> list[str]:
    """Commits of the agent that look like porch's own: they would be believed, or not reviewed."""
    place = claim.place
    if repository.read_head(place.path) == place.entry:
        return []
    own, found = make_position_trailer(claim), changes.list_commits(place.path, place.entry, "HEAD")
    return [each.id for each in found if each.has_line("Porch-") and not each.has_line(own)]


def make_position_trailer(claim: Claim) -> str:
    """By which the engine knows the commits of one position again."""
    return f"Porch-Effect: {claim.world.state().run.name} {claim.effect.position}/commit"


def _settle_files(claim: Claim) -> None:
    """What is measured is what counts: the work with what was left, or what was shown to read."""
    if claim.place.is_own:
        _commit_leftovers(claim)
    elif FILE_MEASURES & {each.name for each in claim.exit.measures}:
        path, shown = claim.place.path, claim.place.entry
        checkouts.ensure_read_checkout(claim.world.workspace, path, shown)


def _commit_leftovers(claim: Claim) -> None:
    """What the agent left uncommitted is committed by the engine, under the effect's own name."""
    if is_merging(claim.place.path):
        return
    clear_index_flags(claim.place.path)
    effect, trailer = claim.effect, make_position_trailer(claim)
    message = f"{effect.state}({effect.about.key}): {claim.exit.name}"
    path, known = claim.place.path, _list_uncommitted(claim)
    if known is None:
        worktrees.commit_allowed_changes(path, lambda _: True, message, trailer)
    elif known:
        worktrees.commit_named_paths(path, known, message, trailer)


def _list_uncommitted(claim: Claim) -> tuple[str, ...] | None:
    """What was measured to differ, if that is what git would commit; otherwise git has to say."""
    path = claim.place.path
    is_measured = repository.read_head(path) == claim.place.entry and not may_convert_files(path)
    return claim.changed if is_measured else None


def _check_mechanical(claim: Claim) -> list[str]:
    """The instance's own patch before and after: a rebaser changes names, not logic."""
    path, entry = claim.place.path, claim.place.entry
    base = str(find_update_trouble(claim.world, claim.effect).get("base") or "")
    if not base or _gives_up(claim):
        return []
    old = refs.find_merge_base(path, entry, base)
    before, is_cut = changes.render_diff(path, old, entry, limit=PATCH_KEPT)
    after, is_cut_too = changes.render_diff(path, base, "HEAD", limit=PATCH_KEPT)
    if is_cut or is_cut_too:
        return ["the patch is too large to check that it is mechanical"]
    return [f"not a mechanical change: {line}" for line in find_unmechanical_lines(before, after)]


def _gives_up(claim: Claim) -> bool:
    """Whether the answer says that the merge in the middle is not finished."""
    return all(each.name != "settled" for each in claim.exit.measures)


def _restore_branch(claim: Claim) -> None:
    """Who cannot adapt leaves the branch as it was found; what was tried is kept aside.

    Then the other side is taken where both clash: whoever does this part again has to see it, or
    the next update would clash in the same place.
    """
    path, entry = claim.place.path, claim.place.entry
    if is_merging(path):
        branch_update.abort_unfinished_work(path)
    if repository.read_head(path) != entry:
        merge.move_branch(path, entry)
    trouble = find_update_trouble(claim.world, claim.effect)
    if trouble.get("kind") == "conflict":
        about, base = claim.effect.about, str(trouble["base"])
        message = f"merge {about.target}; its side is taken where both changed the same"
        branch_update.take_their_side(path, base, message, make_position_trailer(claim))


def _make_accepted_answer(claim: Claim) -> AcceptedAnswer:
    payload = {**claim.payload, **_fill_engine_fields(claim)}
    exit_, effect = claim.exit, claim.effect
    data = json.dumps(payload, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    digest = payloads.write_payload(claim.world.payload_directory, data)
    envelope = {
        "instance": effect.instance,
        "state": effect.state,
        "exit": exit_.name,
        "severity": exit_.severity,
        "route_hint": exit_.hint,
        "payload_ref": f"sha256:{digest}",
    }
    return AcceptedAnswer(
        exit_.name,
        payload,
        repository.read_commit_tree(claim.place.path, _read_judged_head(claim.place)),
        tuple(claim.evidence),
        tuple(claim.notes),
        envelope,
    )


def _find_engine_value(claim: Claim, path: str, head: str) -> Any:
    if path == "engine.head":
        return head
    if path == "engine.patch":
        # Who works in the branch itself approves what it became, all others what they were shown.
        is_main = claim.place.is_own and claim.place.branch == claim.effect.about.branch
        seen = head if is_main else claim.place.entry
        return find_own_patch_id(claim.world, claim.effect.about, seen)
    return claim.value(path)


def _read_judged_head(place: InstancePlace) -> str:
    """The commit that an answer is about: of who only reads, what was there to be read."""
    return (repository.read_head(place.path) or "") if place.is_own else place.entry


def find_own_patch_id(world: World, about: Instance, head: str, target: str = "") -> str:
    """What a commit of an instance adds to its target; an approval is for this.

    The branch may have moved since the commit was shown, so nobody but the caller can say which.
    """
    name = target or about.target or world.state().run.base_commit
    base = repository.resolve_branch_or_commit(world.workspace, name)
    return _hash_patch_between(world.workspace, base, head)


@lru_cache(maxsize=64)
def _hash_patch_between(repo: str, target: str, head: str) -> str:
    """Asked when an answer is accepted and again when it is acted on; commits never change."""
    return changes.hash_patch(repo, refs.find_merge_base(repo, target, head), head)


def _fill_engine_fields(claim: Claim) -> dict[str, Any]:
    head = _read_judged_head(claim.place)
    found = {}
    for name, path in claim.exit.filled.items():
        value = _find_engine_value(claim, path, head)
        found[name] = expand_payloads(claim.world.payload_directory, value)
    return found
