"""Claims measured: each word of a protocol's checks, by the answer's words or by the engine."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256

from msgspec.structs import replace

from porch.errors import OutsideError
from porch.git import checkouts, repository
from porch.machine.path_values import is_within
from porch.model import types as t
from porch.model.protocol import Measure
from porch.tree.answers.red_rule import find_red_rule
from porch.tree.branches import branch_update, changes, refs
from porch.tree.branches.update_troubles import find_update_trouble
from porch.tree.claim import Claim
from porch.tree.instance_worktrees import hold_reader
from porch.tree.suites import suite_results, suite_run

MOST_REASONS = 20
NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_"


async def measure_claim(claim: Claim) -> list[str]:
    """Every reason to refuse the claim; commands are run only for words that are right."""
    reasons: list[str] = []
    for measure in claim.exit.measures:
        if measure.name in WORD_CHECKS:
            found = await asyncio.to_thread(WORD_CHECKS[measure.name], claim, measure)
            reasons += claim.broke(measure.name, found[:MOST_REASONS])
    for measure in () if reasons else claim.exit.measures:
        if measure.name in MEASURES:
            found = await MEASURES[measure.name](claim, measure)
            reasons += claim.broke(measure.name, found[:MOST_REASONS])
    return reasons


async def _check_build(claim: Claim, _: Measure) -> list[str]:
    built = await suite_run.run_build(claim.world, claim.effect.id, claim.place.path)
    if built.is_set:
        claim.saw("build", "passed" if built.ok else "failed", built.report)
    return [] if built.ok else [f"the build fails:\n{built.report}"]


async def _check_green(claim: Claim, _: Measure) -> list[str]:
    found = await suite_run.run_suite(
        claim.world, claim.effect.id, claim.place.path, fresh=True, seen=claim.tree
    )
    waiting = await _list_waiting_tests(claim, found)
    kept = _drop_cases(found, waiting)
    reasons = suite_results.explain_not_green(kept)
    claim.saw("tests", "failed" if reasons else "passed", suite_results.describe_suite_run(kept))
    if waiting:
        claim.notes.append(
            f"these tests failed before the work began and are not counted: {', '.join(waiting)}"
        )
    return reasons


async def _list_waiting_tests(claim: Claim, found: suite_results.SuiteRun) -> list[str]:
    """Tests of a parent that wait for the parent's own work: red where the child began, too.

    Without this no child could be green on a branch that holds them.
    """
    world, effect = claim.world, claim.effect
    bad = suite_results.list_failing_ids(found) if found.has_cases and effect.instance else []
    if not bad:
        return []
    about, parent = effect.about, world.state().instances[effect.about.parent]
    spawn = world.definition().protocol.spawn_of(parent.part)
    base = await asyncio.to_thread(
        refs.find_merge_base, world.workspace, about.target, about.branch
    )
    async with hold_reader(world, effect.instance) as scratch:
        before = await suite_run.run_suite_at(world, effect.id, base, scratch)
    own = suite_results.select_cases(found, [str(about.spec.get(spawn.suite, ""))] if spawn else [])
    red, mine = (
        set(suite_results.list_failing_ids(before)),
        set(suite_results.list_failing_ids(own)),
    )
    return [id_ for id_ in bad if id_ in red and id_ not in mine]


def _drop_cases(found: suite_results.SuiteRun, ids: list[str]) -> suite_results.SuiteRun:
    if not ids:
        return found
    cases = tuple(case for case in found.cases if case.id not in ids)
    # The exit code was about all of them.
    return replace(found, cases=cases, code=0)


async def _check_tests_ran(claim: Claim, measure: Measure) -> list[str]:
    found = await _run_suite_of_place(claim)
    return [
        f"there is no test called '{name}'"
        for name in suite_results.list_missing_names(found, map(str, claim.values(measure.of)))
    ]


async def _run_suite_of_place(claim: Claim) -> suite_results.SuiteRun:
    """Of who only reads it is the commit that counts, whatever was left beside it."""
    world, effect, place = claim.world, claim.effect.id, claim.place
    if place.is_own:
        return await suite_run.run_suite(world, effect, place.path)
    return await suite_run.run_suite_at(world, effect, place.entry, place.path)


async def _check_red(claim: Claim, measure: Measure) -> list[str]:
    """The new tests on the commit that has no implementation: each must fail there."""
    files = [str(each) for each in claim.values(measure.of)]
    base = str(claim.value(measure.by[0]))
    changed = await asyncio.to_thread(_list_changed_tests, claim, base, files)
    protocol, mine = claim.world.definition().protocol, claim.effect
    rule = find_red_rule(protocol, claim.world.state(), mine.instance, mine.state)
    if rule.may_stay and not changed:
        unnamed = await asyncio.to_thread(_list_changed_tests, claim, base, None)
        if unnamed and not files:
            return [f"name the test files that you changed: {', '.join(unnamed)}"]
        claim.notes.append("no test was added; the earlier ones are still there")
        return []
    async with hold_reader(claim.world, claim.effect.instance) as scratch:
        found = await _run_without_work(claim, base, files, scratch)
    if isinstance(found, str):
        return [found]
    old, new = found
    known = {case.id for case in old.cases} if old.has_cases else set()
    reasons, notes = suite_results.explain_not_red(
        new, old, known, has_work=rule.may_pass, changed=changed
    )
    claim.notes += notes
    claim.saw("red", "failed" if reasons else "passed", suite_results.describe_suite_run(new))
    return reasons


async def _run_without_work(
    claim: Claim, base: str, files: list[str], scratch: str
) -> tuple[suite_results.SuiteRun, suite_results.SuiteRun] | str:
    """The suite at the base, and with the new tests beside it; or why they cannot be had."""
    world, head = claim.world, repository.read_head(claim.place.path) or ""
    await asyncio.to_thread(checkouts.ensure_read_checkout, world.workspace, scratch, base)
    trees = [repository.read_commit_tree(world.workspace, commit) for commit in (base, head)]
    old = await suite_run.run_suite(world, claim.effect.id, scratch, key=trees[0])
    try:
        await asyncio.to_thread(refs.check_out_files, scratch, head, files)
    except OutsideError as error:
        return f"the commit does not contain these tests; does git ignore one? {error}"
    key = _hash_words("red", *trees, *files)
    return old, await suite_run.run_suite(world, claim.effect.id, scratch, key=key)


def _hash_words(*words: str) -> str:
    return sha256("\0".join(words).encode()).hexdigest()


def _list_changed_tests(claim: Claim, base: str, files: list[str] | None) -> list[str]:
    """Of these files, or of all, those that the commit without an implementation has otherwise."""
    head = repository.read_head(claim.place.path) or "HEAD"
    found = changes.compare_commits(claim.place.path, base, head)
    return [each.path for each in found if files is None or is_within(each.path, files)]


async def _check_untouched(claim: Claim, measure: Measure) -> list[str]:
    files = [str(each) for each in claim.values(measure.of)]
    base, head = str(claim.value(measure.by[0])), repository.read_head(claim.place.path) or ""
    changed = [c.path for c in changes.compare_commits(claim.place.path, base, head)]
    return [f"'{each}' was changed, but you may not change it" for each in files if each in changed]


async def _finish_handed_over_merge(claim: Claim, _: Measure) -> list[str]:
    """The merge that was handed over in the middle is finished, and only mechanically."""
    world, effect, path = claim.world, claim.effect, claim.place.path
    if find_update_trouble(world, effect).get("kind") != "conflict":
        return []
    trailer = f"Porch-Effect: {world.state().run.name} {effect.position}/update"
    done = branch_update.finish_conflicted_merge(path, f"merge {effect.about.target}", trailer)
    if isinstance(done, list):
        return [f"'{name}' still contains conflict markers" for name in done]
    return []


async def _check_in_conflict(claim: Claim, measure: Measure) -> list[str]:
    """The files that really conflict; a regression has none, and so it cannot be judged."""
    trouble = find_update_trouble(claim.world, claim.effect)
    files = trouble.get("files") or ()
    wrong = [str(each) for each in claim.values(measure.of) if each not in files]
    return [f"'{each}' is not in conflict, but {', '.join(files)}" for each in wrong if files]


async def _raise_to_breaking(claim: Claim, measure: Measure) -> list[str]:
    """What vanished is a breaking change, whatever an agent calls it."""
    old, new = (str(claim.value(path)) for path in measure.by)
    gone = changes.find_removed_exports(claim.world.workspace, old, new)
    name = measure.of[0].split(".")[-1]
    type_ = next(f.type for f in claim.exit.record.fields if f.name == name)
    solid, _ = t.unwrap_type(type_, claim.world.definition().protocol.types)
    if gone and isinstance(solid, t.Enum) and claim.payload.get(name) != solid.options[-1]:
        claim.payload[name] = solid.options[-1]
        claim.notes.append(f"{name} was raised: {', '.join(gone[:5])} no longer exist")
    return []


MEASURES: Mapping[str, Callable[[Claim, Measure], Awaitable[list[str]]]] = {
    "builds": _check_build,
    "green": _check_green,
    "settled": _finish_handed_over_merge,
    "in_conflict": _check_in_conflict,
    "red": _check_red,
    "untouched": _check_untouched,
    "raised": _raise_to_breaking,
    "ran": _check_tests_ran,
}


def _check_covered(claim: Claim, measure: Measure) -> list[str]:
    by = set(map(str, claim.values(measure.by)))
    return [f"'{each}' is not covered" for each in claim.values(measure.of) if each not in by]


def _check_unique(claim: Claim, measure: Measure) -> list[str]:
    found = claim.values(measure.of)
    again = dict.fromkeys(each for each in found if found.count(each) > 1)
    return [f"'{each}' is assigned more than once" for each in again]


def _check_branch_names(claim: Claim, measure: Measure) -> list[str]:
    found = [str(each) for each in claim.values(measure.of)]
    bad = [each for each in found if not _is_branch_name(each)]
    reasons = [
        f"'{each}' cannot be the name of a branch: use small letters, digits, '_' and single '-'"
        for each in bad
    ]
    return reasons + _check_unique(claim, measure)


def _is_branch_name(text: str) -> bool:
    """Two signs in a row are how porch names the other worktrees of a member."""
    return (
        0 < len(text) <= 40
        and set(text) <= set(NAME_CHARACTERS)
        and not {text[0], text[-1]} & set("-_")
        and "--" not in text
    )


def _check_disjoint_paths(claim: Claim, measure: Measure) -> list[str]:
    found = [str(each) for each in claim.values(measure.of)]
    return [
        f"'{one}' and '{other}' overlap"
        for n, one in enumerate(found)
        for other in found[n + 1 :]
        if is_within(one, [other]) or is_within(other, [one])
    ]


def _check_paths_exist(claim: Claim, measure: Measure) -> list[str]:
    root = os.path.realpath(claim.place.path)
    reasons = []
    for each in map(str, claim.values(measure.of)):
        real = os.path.realpath(os.path.join(root, each))
        if not real.startswith(root + os.sep):
            reasons.append(f"'{each}' is outside the worktree")
        elif not os.path.isfile(real) and not (os.path.isdir(real) and os.listdir(real)):
            reasons.append(f"'{each}' does not exist")
    return reasons


def _check_paths_within(claim: Claim, measure: Measure) -> list[str]:
    where = claim.values(measure.by)
    outside = [str(e) for e in claim.values(measure.of) if not is_within(str(e), where)]
    return [f"'{each}' is not under {', '.join(map(str, where))}" for each in outside]


def _check_fields_empty(claim: Claim, measure: Measure) -> list[str]:
    found = claim.values(measure.of)
    what = ", ".join(path.split(".")[-1] for path in measure.of)
    return [f"{what} must be empty, but it has {', '.join(map(str, found))}"] if found else []


def _check_some_filled(claim: Claim, measure: Measure) -> list[str]:
    names = " or ".join(path.split(".")[-1] for path in measure.of)
    return [] if claim.values(measure.of) else [f"write something in {names}; all of it is empty"]


# What stands for code that nobody has written yet, in the languages that people use.
STUB_WORDS = ("NotImplementedError", "undefined", "todo!(", "unimplemented!(", "TODO: implement")


def _check_no_stubs(claim: Claim, measure: Measure) -> list[str]:
    """No stub is left where the work was to be done."""
    root = claim.place.path
    found = []
    for place in map(str, claim.values(measure.of)):
        for path in _list_source_files(os.path.join(root, place)):
            with open(path, encoding="utf-8", errors="replace") as file:
                left = [word for word in STUB_WORDS if word in file.read()]
            name = os.path.relpath(path, root)
            found += [f"'{name}' still contains a stub: {word}" for word in left[:1]]
    return [each for each in found if not _is_about_denied_file(claim, each)]


def _is_about_denied_file(claim: Claim, reason: str) -> bool:
    """A file that may not be changed may hold what it held."""
    denied = [str(each) for each in claim.values(claim.effect.ask.denies)]
    return any(reason.startswith(f"'{name}'") for name in denied)


def _list_source_files(place: str) -> list[str]:
    if os.path.isfile(place):
        return [place]
    return [
        os.path.join(directory, name)
        for directory, _, names in os.walk(place)
        for name in names
        # Nothing but files: a pipe that an agent left would hold us up for ever.
        if not name.endswith((".pyc", ".md")) and os.path.isfile(os.path.join(directory, name))
    ]


WORD_CHECKS: Mapping[str, Callable[[Claim, Measure], list[str]]] = {
    "covers": _check_covered,
    "once": _check_unique,
    "names": _check_branch_names,
    "disjoint": _check_disjoint_paths,
    "exists": _check_paths_exist,
    "within": _check_paths_within,
    "empty": _check_fields_empty,
    "some": _check_some_filled,
    "finished": _check_no_stubs,
}
