"""What decides a measurement, compared with how the phase found it."""

import asyncio
import os
from collections.abc import Collection, Mapping

from msgspec.structs import replace

from porch.errors import OutsideError
from porch.git import measured_tree, tree_changes, tree_files
from porch.machine import facts as f
from porch.machine.effects import RunAgent, RunCheck
from porch.machine.state import Standing
from porch.model.measuring_parts import has_measuring_part, is_same_measuring_part
from porch.model.path_globs import matches_any
from porch.model.permissions import parse_permissions
from porch.model.protection import (
    WORDS,
    ProtectedPaths,
    looks_like_test,
    make_protected_paths,
)
from porch.model.protocol import Agent, Check, Human, Protocol
from porch.run.agents.turn_record import read_terms
from porch.run.agents.world import World
from porch.run.engine.effect_failures import describe_error
from porch.run.handlers.phase_entries import PhaseEntry, read_phase_entry, write_phase_entry
from porch.text.sha256 import sha256

MOST_NAMED = 50
_MOST_BYTES = 1 << 20
RETRY = "retry"
UNKNOWN_ENTRY = "porch does not know how the files were when this phase began"


async def note_phase_entry(world: World, effect: RunAgent) -> None:
    """Before a turn: once per visit, what the phase or a person brought about is its beginning."""
    standing = world.state().positions.get(effect.position)
    if standing is not None and world.in_git:
        await asyncio.to_thread(_note_entry, world, standing)


def _note_entry(world: World, standing: Standing) -> None:
    known = read_phase_entry(world.phase_entry_file(standing))
    if known is not None and known.since == standing.position:
        return
    try:
        now = measure_workspace(world)
    except OutsideError:
        # Said where it counts: by the comparison, which cannot be made then either.
        return
    if known is None or _enters_phase(world.definition().protocol, standing):
        carried = _list_carried_files(world, known) if known else {}
        hidden = _hash_hidden_files(world, standing)
        entry = PhaseEntry(standing.position, now, now, carried=carried, hidden=hidden)
        write_phase_entry(world.phase_entry_file(standing), entry)
    elif _comes_from_person(world.definition().protocol, standing):
        write_phase_entry(
            world.phase_entry_file(standing), _entry_after_person(world, standing, known, now)
        )


def _list_carried_files(world: World, known: PhaseEntry) -> dict[str, str]:
    """A phase that is begun again begins with what it left; that is not forgotten by it."""
    paths = [*known.refused, *known.agreed]
    before = tree_files.read_entries(world.workspace, known.tree, paths)
    return {**{path: before.get(path, "") for path in paths}, **known.carried}


def _enters_phase(protocol: Protocol, standing: Standing) -> bool:
    source = protocol.states.get(standing.because.rpartition(".")[0])
    return source is None or source.group != protocol.states[standing.state].group


def _comes_from_person(protocol: Protocol, standing: Standing) -> bool:
    source = protocol.states.get(standing.because.rpartition(".")[0])
    return source is not None and isinstance(source.actor, Human)


def _entry_after_person(
    world: World, standing: Standing, known: PhaseEntry, now: str
) -> PhaseEntry:
    """Who says to try again has seen what was refused; who edits a file answers for it."""
    is_agreed = standing.because.endswith(f".{RETRY}")
    agreed = {**known.agreed, **known.refused} if is_agreed else known.agreed
    changes = (
        tree_changes.list_changed_paths(world.workspace, known.last, now) if known.last else []
    )
    paths = [each.path for each in changes]
    new = tree_files.read_entries(world.workspace, now, paths)
    given = {**known.given, **{path: new.get(path, "") for path in paths}}
    return replace(known, since=standing.position, last=now, given=given, agreed=agreed, refused={})


def add_touched_files(
    world: World, position: str, fact: f.ExitAccepted | f.TurnEndedSilent
) -> f.ExitAccepted | f.TurnEndedSilent:
    """After a turn: what is protected here and no longer as the phase found it."""
    standing = world.state().positions.get(position)
    if standing is None or not world.in_git:
        return fact
    known = read_phase_entry(world.phase_entry_file(standing))
    if known is None:
        return replace(fact, uncompared=UNKNOWN_ENTRY)
    try:
        now = measure_workspace(world)
        refused, agreed = _compare_with_entry(world, standing, now)
        carried = _list_still_changed(world, standing)
        lost = _list_lost_tests(world, known, now)
        beyond = _list_unpermitted(world, fact.effect, known, now)
    except OutsideError as error:
        return replace(fact, uncompared=describe_error(error))
    names = _name_most({*refused, *agreed, *carried, *lost})
    outside = {"unpermitted": list(_name_most(beyond))} if beyond else {}
    return replace(fact, touched=names, outside=outside)


def _name_most(paths: Collection[str]) -> tuple[str, ...]:
    names = sorted(paths)
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return (*names[:MOST_NAMED], *more)


def _list_lost_tests(world: World, known: PhaseEntry, now: str) -> list[str]:
    """Files with the name of a test that hold nothing any more, whatever the checks call."""
    changes = tree_changes.list_changed_paths(world.workspace, known.tree, now)
    paths = [c.path for c in changes if c.status in ("D", "M") and looks_like_test(c.path)]
    after = tree_files.read_entries(world.workspace, now, paths)
    return [
        path
        for path in paths
        if known.given.get(path) != after.get(path, "")
        and not (path in after and tree_files.read_tree_text(world.workspace, after[path]).strip())
    ]


def _list_unpermitted(world: World, effect: str, known: PhaseEntry, now: str) -> list[str]:
    """What was written in a turn where its permissions name other files; not all agents obey."""
    allowed = parse_permissions(read_terms(world.turn_directory(effect)).permissions)
    if allowed.writes_everywhere or not allowed.write:
        return []
    changes = tree_changes.list_changed_paths(world.workspace, known.last or known.tree, now)
    own = (*allowed.write, f"/{world.state().run.project_dir}/**")
    return [each.path for each in changes if not matches_any(each.path, own)]


def _list_still_changed(world: World, standing: Standing) -> list[str]:
    known = read_phase_entry(world.phase_entry_file(standing))
    if known is None or not known.carried:
        return []
    now = tree_files.read_entries(world.workspace, known.last, list(known.carried))
    return [path for path, before in known.carried.items() if now.get(path, "") != before]


async def measure_protected_files(world: World, effect: RunCheck, now: str) -> f.CheckEnded:
    """The check of a protocol that declares what is protected."""
    standing = world.state().positions[effect.position]
    if not world.in_git:
        said = "outside a git repository nothing can be compared"
        return f.CheckEnded(effect=effect.id, result="skipped", report=said)
    if read_phase_entry(world.phase_entry_file(standing)) is None:
        said = f"{UNKNOWN_ENTRY}; start it again"
        return f.CheckEnded(effect=effect.id, result="unmeasured", report=said)
    try:
        refused, _ = await asyncio.to_thread(_compare_with_entry, world, standing, now)
    except OutsideError as error:
        return f.CheckEnded(effect=effect.id, result="unmeasured", report=str(error))
    if not refused:
        return f.CheckEnded(effect=effect.id, result="passed", report="nothing protected changed")
    return f.CheckEnded(effect=effect.id, result="failed", report=_describe_refusal(refused))


def _describe_refusal(refused: Mapping[str, str]) -> str:
    """In one line, because of a report most readers see the first or the last."""
    names = [f"{name}{'' if refused[name] else ' (deleted)'}" for name in sorted(refused)]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (
        f"this phase may not change what decides a measurement: {', '.join(names[:MOST_NAMED])}"
        f"{more}. Put these files back as they were when the phase began. If one of them has to "
        "change, stop and say which and why: only a person can let it pass"
    )


def _compare_with_entry(
    world: World, standing: Standing, now: str
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What is refused now, and what a person agreed to, of all that changed since the entry."""
    known = read_phase_entry(world.phase_entry_file(standing))
    if known is None:
        return {}, {}
    refused, agreed = _sort_changes(world, standing, known, now)
    write_phase_entry(world.phase_entry_file(standing), replace(known, last=now, refused=refused))
    return refused, agreed


def list_refused_changes(world: World, standing: Standing, now: str) -> list[str]:
    """The paths of a measured tree that this phase may not have changed, and nobody agreed to."""
    known = read_phase_entry(world.phase_entry_file(standing))
    return list(_sort_changes(world, standing, known, now)[0]) if known else []


def _sort_changes(
    world: World, standing: Standing, known: PhaseEntry, now: str
) -> tuple[dict[str, str], dict[str, str]]:
    changed = list_protected_changes(world, standing, known.tree, now)
    changed |= _list_hidden_changes(known.hidden, _hash_hidden_files(world, standing))
    changed = {path: new for path, new in changed.items() if known.given.get(path) != new}
    agreed = {path: new for path, new in changed.items() if known.agreed.get(path) == new}
    return {path: new for path, new in changed.items() if path not in agreed}, agreed


def list_protected_changes(world: World, standing: Standing, old: str, now: str) -> dict[str, str]:
    """Between two trees: what may not be written at a position, with what it is now."""
    rules = find_protected_paths(world, standing)
    changes = tree_changes.list_changed_paths(world.workspace, old, now)
    linked = _list_linked_paths(world, rules, old) if changes else ()
    paths = [c.path for c in changes if rules.is_refused(c.path) or matches_any(c.path, linked)]
    before, after = (tree_files.read_entries(world.workspace, tree, paths) for tree in (old, now))
    return {
        path: after.get(path, "")
        for path in paths
        if rules.is_whole(path)
        or matches_any(path, linked)
        or not _is_same_part(world, path, before.get(path, ""), after.get(path, ""))
    }


def _list_linked_paths(world: World, rules: ProtectedPaths, tree: str) -> list[str]:
    """Where protected links lead: whoever writes there writes what is read through the link."""
    links = tree_files.list_links(world.workspace, tree)
    # Of a directory it is what lies in it that is protected.
    return [
        f"/{end}"
        for path, end in links.items()
        if rules.is_refused(path) or rules.is_refused(f"{path}/x")
    ]


def _hash_hidden_files(world: World, standing: Standing) -> dict[str, str]:
    """Ignored files that would be refused if git saw them; not those in an ignored directory."""
    rules = find_protected_paths(world, standing)
    own, found = world.own_paths(), tree_files.list_ignored_paths(world.workspace)
    names = [name for name in found if rules.is_refused(name) and not matches_any(name, own)]
    return {name: _hash_file(world, name) for name in names}


def _hash_file(world: World, name: str) -> str:
    path = os.path.join(world.workspace, name)
    if not os.path.isfile(path):
        # A directory, a pipe: that it is there is all that can be said.
        return "ignored"
    with open(path, "rb") as file:
        return f"ignored {sha256(file.read(_MOST_BYTES)).hexdigest()}"


def _list_hidden_changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    paths = dict.fromkeys((*before, *now))
    return {path: now.get(path, "") for path in paths if before.get(path) != now.get(path)}


def _is_same_part(world: World, path: str, old: str, new: str) -> bool:
    if not has_measuring_part(path):
        return False
    texts = [
        tree_files.read_tree_text(world.workspace, entry) if entry else "" for entry in (old, new)
    ]
    return is_same_measuring_part(path, *texts)


def find_protected_paths(world: World, standing: Standing) -> ProtectedPaths:
    """What may not be written at a position, by its protocol and by what its checks run."""
    protocol = world.definition().protocol
    group = protocol.states[standing.state].group
    actors = [each.actor for each in protocol.states.values() if each.group == group]
    may_write = [glob for a in actors if isinstance(a, Agent) for glob in a.may_write]
    declared = protocol.protected if protocol.is_protecting else WORDS
    texts = list_check_texts(world)
    return make_protected_paths(declared, tuple(dict.fromkeys(may_write)), texts)


def list_check_texts(world: World) -> list[str]:
    """The shell texts of all checks of the run."""
    states = world.definition().protocol.states.values()
    commands = [c for s in states if isinstance(s.actor, Check) for c in s.actor.commands]
    known = world.settings.commands
    texts = [c.shell or known.get(c.setting, "") for c in commands]
    return [text for text in texts if text]


def measure_workspace(world: World) -> str:
    return measured_tree.measure_tree(world.workspace, world.own_paths(), world.tree_room)


def note_entry_tree(world: World, standing: Standing, tree: str) -> None:
    """For a position that nobody works in: what it is compared with."""
    hidden = _hash_hidden_files(world, standing)
    entry = PhaseEntry(standing.position, tree, tree, hidden=hidden)
    write_phase_entry(world.phase_entry_file(standing), entry)


def find_entry_tree(world: World, standing: Standing) -> str:
    """The files as the phase of a position found them; empty if nobody noted that."""
    known = read_phase_entry(world.phase_entry_file(standing))
    return known.tree if known else ""
