"""Where an instance works: its worktrees, found again by name and asserted at every launch."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from porch.adapters import checkouts, git, merging, refs, updating, worktrees
from porch.errors import OutsideError
from porch.machine.effects import AskAgent
from porch.machine.paths import look
from porch.machine.state import Instance
from porch.runtime.world import World

TESTS = "--tests"
# One checkout for whoever only reads or measures; in one instance they take turns.
READ = "--read"
ENTRY = "refs/porch/entry/"


@dataclass(frozen=True, slots=True)
class Place:
    """A directory to work in; `entry` is the commit that was there when the work began."""

    path: str
    branch: str
    entry: str
    is_own: bool = True


def main_path(world: World, instance: str) -> str:
    """The worktree of an instance, named after the run's own branch."""
    run = world.state().run
    name = f"{run.protocol}_{run.id}{'.' + instance if instance else ''}"
    return os.path.join(world.workspace, "worktrees", name)


def tests_branch(about: Instance) -> str:
    return about.branch + TESTS


def main(world: World, instance: str, about: Instance) -> str:
    """The instance's own worktree; its branch begins where the one it will merge into is."""
    path = main_path(world, instance)
    base = world.state().run.base_commit if not instance else about.target
    worktrees.ensure(world.workspace, path, about.branch, base)
    return path


def tests(world: World, instance: str, about: Instance) -> str:
    path = main_path(world, instance) + TESTS
    worktrees.ensure(world.workspace, path, tests_branch(about), about.branch)
    return path


@asynccontextmanager
async def opened(world: World, effect: AskAgent) -> AsyncIterator[Place]:
    """The place of one question, for as long as it is being answered; git holds up nobody else."""
    manager = _opened(world, effect)
    place = await asyncio.to_thread(manager.__enter__)
    try:
        yield place
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)


@contextmanager
def _opened(world: World, effect: AskAgent) -> Iterator[Place]:
    about, kind = effect.about, effect.ask.workspace
    if kind == "read":
        path = main_path(world, effect.instance) + READ
        checkouts.reread(world.workspace, path, commit_to_read(world, effect))
        yield Place(path, about.branch, git.head(path) or "", is_own=False)
        return
    path = main(world, effect.instance, about)
    if kind == "tests":
        path = tests(world, effect.instance, about)
        _follow(world, effect, path)
    elif not effect.ask.mechanical and is_merging(path):
        updating.abort(path)
    branch = tests_branch(about) if kind == "tests" else about.branch
    yield Place(path, branch, _entry(effect, path))


def is_merging(path: str) -> bool:
    """Whether a merge was begun there and is not finished."""
    return git.resolve(path, "MERGE_HEAD") is not None


def _follow(world: World, effect: AskAgent, path: str) -> None:
    """At each entry the tests begin from the head of the instance; half done work is kept."""
    head = git.resolve(world.workspace, f"refs/heads/{effect.about.branch}")
    is_new = git.resolve(path, _entry_ref(effect)) is None
    if head and is_new and not worktrees.dirty(path):
        merging.move_branch(path, head)


def commit_to_read(world: World, effect: AskAgent) -> str:
    """The commit that a reader gets to see: a named one, else the head of whoever speaks."""
    state, ask = world.state(), effect.ask
    standing = state.positions.get(effect.position)
    if ask.at and standing is not None:
        return str(look(world.definition().protocol, state, standing, ask.at))
    about = state.instances[effect.about.parent] if ask.of_parent else effect.about
    return about.branch


def _entry_ref(effect: AskAgent) -> str:
    name = effect.position.replace(":", "-").replace("#", "/")
    return f"{ENTRY}{effect.about.branch}/{name}"


def _entry(effect: AskAgent, path: str) -> str:
    """Where the work of this visit began, however often it was interrupted since."""
    ref = _entry_ref(effect)
    known = git.resolve(path, ref)
    if known is not None:
        return known
    head = git.head(path)
    if head is None:
        raise OutsideError(f"{path} has no commit", fix="make a first commit on the base branch")
    refs.set_ref(path, ref, head)
    return head
