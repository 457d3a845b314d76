"""What was refused at one visit: told to the next try, which begins where all was well.

An agent that gives a refused answer again, over the same files, would give it a third time as well.
"""

import json
import os
import shutil
from collections.abc import Collection
from hashlib import sha256

import msgspec
from msgspec import Struct

from porch.agents.events import Answered
from porch.errors import OutsideError
from porch.git import repository
from porch.git.command import run_git
from porch.git.moves.checkout_repair import name_salvage_ref, salvage_uncommitted
from porch.git.moves.own_refs import set_own_ref
from porch.git.worktrees import list_changed_paths
from porch.machine.effects import AskAgent
from porch.run.agents.world import World
from porch.system import atomic
from porch.tree.branches import branch_update
from porch.tree.claim import InstancePlace
from porch.tree.instance_worktrees import is_merging
from porch.tree.suites.suite_run import hash_content

REFUSED_FILE = "refused.json"


class KeptRefusal(Struct, frozen=True):
    """An answer that was not accepted, over which files, and why."""

    exit: str
    reasons: tuple[str, ...]
    digest: str
    rules: tuple[str, ...] = ()


class RefusedTry(Struct, frozen=True):
    """The refusals of one try; `is_over` if they were its end."""

    refusals: tuple[KeptRefusal, ...] = ()
    is_over: bool = False


def digest_answer(world: World, place: InstancePlace, answer: Answered) -> str:
    """The same for the same words over the same files, and for nothing else."""
    said = json.dumps([answer.exit, answer.payload], sort_keys=True, default=str)
    files = _hash_files(world, place) if place.is_own else place.entry
    return sha256(f"{said}\0{files}".encode("utf-8", "surrogatepass")).hexdigest()


def _hash_files(world: World, place: InstancePlace) -> str:
    """What cannot be measured, such as a repository inside, is the same until it can."""
    try:
        return hash_content(world, place.path)
    except OutsideError as error:
        return error.findings[0].message


def keep_refusal(world: World, effect: AskAgent, refusal: KeptRefusal) -> None:
    known = _read_try(world, effect.id)
    _write_try(world, effect.id, RefusedTry((*known.refusals, refusal)))


def end_refused_try(world: World, effect: AskAgent) -> None:
    known = _read_try(world, effect.id)
    _write_try(world, effect.id, RefusedTry(known.refusals, is_over=True))


def list_refusals(world: World, effect: AskAgent) -> list[KeptRefusal]:
    """All of this visit, the oldest first."""
    front, _, number = effect.id.rpartition("/")
    tries = [_read_try(world, f"{front}/{each}") for each in range(int(number) + 1)]
    return [refusal for each in tries for refusal in each.refusals]


def find_repeated_rules(world: World, effect: AskAgent, rules: Collection[str]) -> tuple[str, ...]:
    """Of these rules, those that have ended an earlier try of this visit already."""
    front, _, number = effect.id.rpartition("/")
    tries = (_read_try(world, f"{front}/{each}") for each in range(int(number)))
    ended = {rule for each in tries if each.is_over for rule in each.refusals[-1].rules}
    return tuple(rule for rule in rules if rule in ended)


def begin_where_all_was_well(world: World, effect: AskAgent, place: InstancePlace) -> list[str]:
    """Behind a try that ended refused: its files are put aside; under which names they are."""
    front, _, number = effect.id.rpartition("/")
    before = int(number) - 1
    if before < 0 or not place.is_own or not _read_try(world, f"{front}/{before}").is_over:
        return []
    if is_merging(place.path):
        branch_update.abort_unfinished_work(place.path)
    inner = _move_repositories(place.path, world.turn_directory(f"{front}/{before}"))
    ref = f"{name_salvage_ref(place.branch, effect.position)}-try-{before + 1}"
    is_kept = _put_aside(place, ref, f"Refused at {effect.position}")
    return [*([ref] if is_kept else ()), *inner]


def _move_repositories(path: str, kept: str) -> list[str]:
    """Repositories that somebody made inside: no ref can hold them, and they are not deleted."""
    names = [name.rstrip("/") for name in list_changed_paths(path) if name.endswith("/")]
    moved = [os.path.join(kept, "repositories", name) for name in names]
    for name, to in zip(names, moved, strict=True):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.move(os.path.join(path, name), to)
    return moved


def _put_aside(place: InstancePlace, ref: str, message: str) -> bool:
    head = repository.read_head(place.path) or ""
    if salvage_uncommitted(place.path, ref, message) is None:
        if head == place.entry:
            return False
        set_own_ref(place.path, ref, head)
    run_git(place.path, "reset", "-q", "--hard", place.entry)
    for _ in range(2):
        # Once more for what only a file of that try had told git to ignore.
        run_git(place.path, "clean", "-fdq")
    return True


def _read_try(world: World, effect: str) -> RefusedTry:
    try:
        with open(os.path.join(world.turn_directory(effect), REFUSED_FILE), "rb") as file:
            return msgspec.json.decode(file.read(), type=RefusedTry)
    except (OSError, msgspec.DecodeError):
        return RefusedTry()


def _write_try(world: World, effect: str, known: RefusedTry) -> None:
    path = os.path.join(world.turn_directory(effect), REFUSED_FILE)
    atomic.replace_file(path, msgspec.json.encode(known), sync=False)
