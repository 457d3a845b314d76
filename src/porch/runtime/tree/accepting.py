"""From an agent's answer to an accepted exit: legal, typed, owned, measured, filled."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from porch.adapters import changes, git, merging, payloads, refs, updating, worktrees
from porch.adapters.agents.events import Answered
from porch.machine.effects import AskAgent
from porch.machine.mechanical import unmechanical
from porch.machine.paths import is_within
from porch.machine.state import Instance
from porch.model import answers
from porch.model import types as t
from porch.model.protocol import Exit, Protocol
from porch.runtime.payloading import expand
from porch.runtime.tree.claims import Claim
from porch.runtime.tree.measuring import MOST_REASONS, measured
from porch.runtime.tree.places import Place, is_merging
from porch.runtime.tree.troubles import trouble
from porch.runtime.world import World

PATCH_KEPT = 5_000_000


@dataclass(frozen=True, slots=True)
class Accepted:
    """An answer that holds, with what the engine saw and filled in."""

    exit: str
    payload: Mapping[str, Any]
    tree: str
    evidence: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]
    envelope: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong with an answer, for the agent to mend."""

    reasons: tuple[str, ...]


async def accept(
    world: World, effect: AskAgent, place: Place, answer: Answered
) -> Accepted | Refused:
    """All reasons at once where possible; measuring begins only when the words are right."""
    known = next((each for each in effect.exits if each.name == answer.exit), None)
    if known is None:
        return Refused((_unknown(effect, answer),))
    protocol = world.definition().protocol
    payload, reasons, notes = _typed(protocol, effect, known, answer.payload)
    reasons += _contradicted(place, known, answer.payload)
    if reasons:
        return Refused(tuple(reasons[:MOST_REASONS]))
    claim = Claim(world, effect, place, known, payload, notes=notes)
    reasons = await _owned(claim)
    if not reasons:
        await asyncio.to_thread(_committed, claim)
        reasons = await measured(claim)
    if not reasons and effect.ask.mechanical:
        reasons = await asyncio.to_thread(_mechanical, claim)
    if reasons:
        return Refused(tuple(reasons[:MOST_REASONS]))
    if effect.ask.mechanical and _gives_up(claim):
        await asyncio.to_thread(_taken_back, claim)
    return await asyncio.to_thread(_accepted, claim)


def _unknown(effect: AskAgent, answer: Answered) -> str:
    legal = f"legal: {', '.join(each.name for each in effect.exits)}"
    if answer.exit:
        return f"'{answer.exit}' is not an exit of {effect.state}; {legal}"
    why = f" ({answer.payload})" if isinstance(answer.payload, str) else ""
    return f"the answer names no exit{why}; {legal}"


def _typed(
    protocol: Protocol, effect: AskAgent, known: Exit, given: Any
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Repaired and checked against the record, without what is not asked of the agent."""
    missing = left_out(protocol, effect, known)
    asked = t.without(known.record, missing)
    kept = dict(given) if isinstance(given, dict) else given
    if isinstance(kept, dict):
        # Nothing said about what is not asked for is no contradiction.
        kept = {
            k: v
            for k, v in kept.items()
            if k not in missing or not (v is None or k in known.filled)
        }
    repaired, notes = answers.repair(kept, asked, protocol.types)
    reasons = answers.problems(repaired, asked, protocol.types)
    reasons += _too_many(protocol, effect, known, repaired)
    payload = dict(repaired) if isinstance(repaired, dict) else {}
    for field in known.record.fields:
        if field.name in missing and field.name not in known.filled:
            payload[field.name] = None
    return payload, reasons, notes


def _too_many(protocol: Protocol, effect: AskAgent, known: Exit, said: Any) -> list[str]:
    """More children than there is room for; none at all are not even asked for."""
    spawn, room = protocol.spawn, effect.values.get("children") or {}
    if spawn is None or not spawn.specs.startswith(f"{effect.state}.{known.name}."):
        return []
    specs = said.get(spawn.specs.split(".")[2]) if isinstance(said, dict) else None
    most = room.get("most", spawn.fan_out)
    if not isinstance(specs, list) or len(specs) <= most:
        return []
    return [f"{len(specs)} children are planned, and there is room for {most}"]


def left_out(protocol: Protocol, effect: AskAgent, known: Exit) -> set[str]:
    """Fields that are the engine's to fill, or that may not be answered now."""
    out = set(known.filled)
    spawn = protocol.spawn
    if spawn and spawn.specs.startswith(f"{effect.state}.{known.name}."):
        room = effect.values.get("children") or {}
        if not room.get("allowed", True):
            out.add(spawn.specs.split(".")[2])
    return out


def _contradicted(place: Place, known: Exit, given: Any) -> list[str]:
    """A commit that an agent names although nobody asked must at least be the one that is there."""
    head = git.head(place.path) or ""
    claimed = given if isinstance(given, dict) else {}
    return [
        f"{name} says {claimed[name]}, but HEAD is {head[:12]}; porch fills this in itself"
        for name, path in known.filled.items()
        if path == "engine.head" and claimed.get(name) and not _is_same(claimed[name], head)
    ]


def _is_same(said: Any, head: str) -> bool:
    return isinstance(said, str) and len(said) >= 7 and head.startswith(said)


async def _owned(claim: Claim) -> list[str]:
    """Who touched which path, on the real diff since the work began."""
    if not claim.place.is_own:
        return []
    ask, place = claim.effect.ask, claim.place
    head = git.head(place.path) or ""
    if not await asyncio.to_thread(changes.descends, place.path, place.entry, head):
        return [f"the branch no longer contains {place.entry[:12]}, where this work began"]
    if not ask.mechanical and (forged := await asyncio.to_thread(_forged, claim)):
        return [f"commit {commit[:12]} carries a line that only porch writes" for commit in forged]
    allowed, denied = claim.values(ask.allows), claim.values(ask.denies)
    found = await asyncio.to_thread(changes.touched, place.path, place.entry)
    reasons = [f"'{c.path}' is a link that leads outside" for c in found if c.escapes]
    if ask.mechanical:
        return reasons
    for change in found:
        if is_within(change.path, denied):
            reasons.append(f"'{change.path}' was changed; it is not yours to change")
        elif ask.allows and not is_within(change.path, allowed):
            where = ", ".join(map(str, allowed))
            reasons.append(f"'{change.path}' was changed; only {where} may be")
    return reasons


def _forged(claim: Claim) -> list[str]:
    """Commits of the agent that look like porch's own: they would be believed, or not reviewed."""
    place = claim.place
    if git.head(place.path) == place.entry:
        return []
    known = changes.carrying(place.path, place.entry, "HEAD", trailer_of(claim))
    found = changes.carrying(place.path, place.entry, "HEAD", "Porch-")
    return [commit for commit in found if commit not in known]


def trailer_of(claim: Claim) -> str:
    """By which the engine knows the commits of one position again."""
    return f"Porch-Effect: {claim.world.state().run.name} {claim.effect.position}/commit"


def _committed(claim: Claim) -> None:
    """What the agent left uncommitted is committed by the engine, under the effect's own name."""
    if not claim.place.is_own or is_merging(claim.place.path):
        return
    effect, trailer = claim.effect, trailer_of(claim)
    message = f"{effect.state}({effect.about.key}): {claim.exit.name}"
    worktrees.commit_all(claim.place.path, lambda _: True, message, trailer)


def _mechanical(claim: Claim) -> list[str]:
    """The instance's own patch before and after: a rebaser changes names, not logic."""
    path, entry = claim.place.path, claim.place.entry
    base = str(trouble(claim.world, claim.effect).get("base") or "")
    if not base or _gives_up(claim):
        return []
    old = refs.merge_base(path, entry, base)
    before, is_cut = changes.diff_text(path, old, entry, limit=PATCH_KEPT)
    after, is_cut_too = changes.diff_text(path, base, "HEAD", limit=PATCH_KEPT)
    if is_cut or is_cut_too:
        return ["the patch is too large to be seen to be mechanical"]
    return [f"more than mechanical: {line}" for line in unmechanical(before, after)]


def _gives_up(claim: Claim) -> bool:
    """Whether the answer says that the merge in the middle is not finished."""
    return all(each.name != "settled" for each in claim.exit.measures)


def _taken_back(claim: Claim) -> None:
    """Who cannot adapt leaves the branch as it was found; what was tried is kept aside."""
    path, entry = claim.place.path, claim.place.entry
    if is_merging(path):
        updating.abort(path)
    if git.head(path) != entry:
        merging.move_branch(path, entry)


def _accepted(claim: Claim) -> Accepted:
    payload = {**claim.payload, **_filled(claim)}
    exit_, effect = claim.exit, claim.effect
    data = json.dumps(payload, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    digest = payloads.put(claim.world.payload_directory, data)
    envelope = {
        "instance": effect.instance,
        "state": effect.state,
        "exit": exit_.name,
        "severity": exit_.severity,
        "route_hint": exit_.hint,
        "payload_ref": f"sha256:{digest}",
    }
    return Accepted(
        exit_.name,
        payload,
        git.tree_at(claim.place.path, git.head(claim.place.path)),
        tuple(claim.evidence),
        tuple(claim.notes),
        envelope,
    )


def _engine(claim: Claim, path: str, head: str) -> Any:
    if path == "engine.head":
        return head
    if path == "engine.patch":
        return own_patch(claim.world, claim.effect.about)
    return claim.value(path)


def own_patch(world: World, about: Instance) -> str:
    """What an instance adds to its target, whatever that is based on; an approval is for this."""
    target = about.target or world.state().run.base_commit
    base = refs.merge_base(world.workspace, target, about.branch)
    return changes.patch_id(world.workspace, base, about.branch)


def _filled(claim: Claim) -> dict[str, Any]:
    head = git.head(claim.place.path) or ""
    found = {}
    for name, path in claim.exit.filled.items():
        value = _engine(claim, path, head)
        found[name] = expand(claim.world.payload_directory, value)
    return found
