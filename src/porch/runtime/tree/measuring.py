"""Claims measured: each word of a protocol's checks and how the engine sees to it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from hashlib import sha256

from porch.adapters import changes, checkouts, git, refs, updating
from porch.errors import OutsideError
from porch.machine import suites
from porch.machine.paths import is_within
from porch.model import types as t
from porch.model.protocol import Measure
from porch.runtime.tree import suite
from porch.runtime.tree.claims import Claim
from porch.runtime.tree.places import READ, main_path
from porch.runtime.tree.troubles import trouble
from porch.runtime.tree.words import WORDS

MOST_REASONS = 20


async def measured(claim: Claim) -> list[str]:
    """Every reason to refuse the claim; commands are run only for words that are right."""
    reasons: list[str] = []
    for measure in claim.exit.measures:
        if measure.name in WORDS:
            found = await asyncio.to_thread(WORDS[measure.name], claim, measure)
            reasons += found[:MOST_REASONS]
    for measure in () if reasons else claim.exit.measures:
        if measure.name in MEASURES:
            reasons += (await MEASURES[measure.name](claim, measure))[:MOST_REASONS]
    return reasons


async def _builds(claim: Claim, _: Measure) -> list[str]:
    built = await suite.build(claim.world, claim.effect.id, claim.place.path)
    if built.is_set:
        claim.saw("build", "passed" if built.ok else "failed", built.report)
    return [] if built.ok else [f"the build fails:\n{built.report}"]


async def _green(claim: Claim, _: Measure) -> list[str]:
    found = await suite.suite(claim.world, claim.effect.id, claim.place.path, fresh=True)
    waiting = await _waiting(claim, found)
    kept = _without(found, waiting)
    reasons = suites.not_green(kept)
    claim.saw("tests", "failed" if reasons else "passed", suites.summary(kept))
    if waiting:
        claim.notes.append(f"red before this work began, and not its own: {', '.join(waiting)}")
    return reasons


async def _waiting(claim: Claim, found: suites.Suite) -> list[str]:
    """Tests of a parent that wait for the parent's own work: red where the child began, too.

    Without this no child could be green on a branch that holds them.
    """
    world, effect = claim.world, claim.effect
    bad = suites.failing(found) if found.has_cases and effect.instance else []
    if not bad:
        return []
    about, spawn = effect.about, world.definition().protocol.spawn
    base = await asyncio.to_thread(refs.merge_base, world.workspace, about.target, about.branch)
    scratch = main_path(world, effect.instance) + READ
    before = await suite.suite_at(world, effect.id, base, scratch)
    own = suites.part(found, [str(about.spec.get(spawn.suite, ""))] if spawn else [])
    red, mine = set(suites.failing(before)), set(suites.failing(own))
    return [id_ for id_ in bad if id_ in red and id_ not in mine]


def _without(found: suites.Suite, ids: list[str]) -> suites.Suite:
    if not ids:
        return found
    cases = tuple(case for case in found.cases if case.id not in ids)
    # The exit code was about all of them.
    return replace(found, cases=cases, code=0)


async def _ran(claim: Claim, measure: Measure) -> list[str]:
    found = await suite.suite(claim.world, claim.effect.id, claim.place.path)
    return [
        f"there is no test called '{name}'"
        for name in suites.missing(found, map(str, claim.values(measure.of)))
    ]


async def _red(claim: Claim, measure: Measure) -> list[str]:
    """The new tests on the commit that has no implementation: each must fail there."""
    files = [str(each) for each in claim.values(measure.of)]
    base = str(claim.value(measure.by[0]))
    if claim.effect.visit > 1 and not await asyncio.to_thread(_are_new, claim, base, files):
        # Planned anew with the tests of before: whoever wants another one asks for it in a review.
        claim.notes.append("no test was added; the ones from before still wait")
        return []
    world, scratch = claim.world, main_path(claim.world, claim.effect.instance) + READ
    head = git.head(claim.place.path) or ""
    await asyncio.to_thread(checkouts.reread, world.workspace, scratch, base)
    trees = [git.tree_at(world.workspace, commit) for commit in (base, head)]
    old = await suite.suite(world, claim.effect.id, scratch, key=trees[0])
    try:
        await asyncio.to_thread(refs.overlay, scratch, head, files)
    except OutsideError as error:
        return [f"what was committed does not hold these tests; does git ignore one? {error}"]
    new = await suite.suite(world, claim.effect.id, scratch, key=_key("red", *trees, *files))
    known = {case.id for case in old.cases} if old.has_cases else set()
    reasons, notes = suites.not_red(new, old, known)
    claim.notes += notes
    claim.saw("red", "failed" if reasons else "passed", suites.summary(new))
    return reasons


def _key(*words: str) -> str:
    return sha256("\0".join(words).encode()).hexdigest()


def _are_new(claim: Claim, base: str, files: list[str]) -> bool:
    head = git.head(claim.place.path) or "HEAD"
    return any(is_within(c.path, files) for c in changes.changed(claim.place.path, base, head))


async def _untouched(claim: Claim, measure: Measure) -> list[str]:
    files = [str(each) for each in claim.values(measure.of)]
    base, head = str(claim.value(measure.by[0])), git.head(claim.place.path) or ""
    changed = [c.path for c in changes.changed(claim.place.path, base, head)]
    return [f"'{each}' was changed; it is not yours to change" for each in files if each in changed]


async def _settled(claim: Claim, _: Measure) -> list[str]:
    """The merge that was handed over in the middle is finished, and only mechanically."""
    world, effect, path = claim.world, claim.effect, claim.place.path
    if trouble(world, effect).get("kind") != "conflict":
        return []
    trailer = f"Porch-Effect: {world.state().run.name} {effect.position}/update"
    done = updating.finish_conflicted(path, f"merge {effect.about.target}", trailer)
    if isinstance(done, list):
        return [f"'{name}' still holds conflict markers" for name in done]
    return []


async def _raised(claim: Claim, measure: Measure) -> list[str]:
    """What vanished is a breaking change, whatever an agent calls it."""
    old, new = (str(claim.value(path)) for path in measure.by)
    gone = changes.exports_gone(claim.world.workspace, old, new)
    name = measure.of[0].split(".")[-1]
    type_ = next(f.type for f in claim.exit.record.fields if f.name == name)
    solid, _ = t.bare(type_, claim.world.definition().protocol.types)
    if gone and isinstance(solid, t.Enum) and claim.payload.get(name) != solid.options[-1]:
        claim.payload[name] = solid.options[-1]
        claim.notes.append(f"{name} was raised: {', '.join(gone[:5])} vanished")
    return []


MEASURES: Mapping[str, Callable[[Claim, Measure], Awaitable[list[str]]]] = {
    "builds": _builds,
    "green": _green,
    "settled": _settled,
    "red": _red,
    "untouched": _untouched,
    "raised": _raised,
    "ran": _ran,
}
