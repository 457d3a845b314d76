"""Where an instance works: its worktrees, found again by name and asserted at every launch."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from porch.errors import OutsideError
from porch.git import checkouts, merge, repository, worktrees
from porch.git.fresh.checkout_index import remember_checkout
from porch.machine.effects import AskAgent
from porch.machine.path_values import look_up_path
from porch.machine.state import Instance, RunState
from porch.run.agents.world import World
from porch.tree.branches import branch_update, refs, target_history
from porch.tree.branches.raw_commits import remember_raw_commit
from porch.tree.branches.target_history import ENTRY_REFS, find_removed_commits
from porch.tree.claim import InstancePlace

TESTS_SUFFIX = "--tests"
# One checkout for whoever only reads or measures, of one instance or of all; they take turns.
READ_SUFFIX = "--read"


def main_worktree_path(world: World, instance: str) -> str:
    """The worktree of an instance, named after the run's own branch."""
    return os.path.join(world.workspace, worktree_name(world.state(), instance))


def worktree_name(state: RunState, instance: str) -> str:
    """Where it lies in the repository of the run."""
    name = f"{state.run.protocol}_{state.run.id}{'.' + instance if instance else ''}"
    return os.path.join("worktrees", name)


def ensure_main_worktree(world: World, instance: str, about: Instance) -> str:
    """The instance's own worktree; its branch begins where the one it will merge into is."""
    path = main_worktree_path(world, instance)
    base = world.state().run.base_commit if not instance else about.target
    if instance and not _has_branch(world, about.target):
        # Its parent has planned without a worktree of its own.
        ensure_main_worktree(world, about.parent, world.state().instances[about.parent])
    if not _has_branch(world, about.branch):
        begin = repository.resolve_branch_or_commit(world.workspace, base)
        target_history.note_target(world, about, begin)
    _ensure_worktree(world, path, about.branch, base)
    return path


def _ensure_worktree(world: World, path: str, branch: str, base: str) -> None:
    if worktrees.ensure_worktree(world.workspace, path, branch, base):
        remember_checkout(path)


def _has_branch(world: World, branch: str) -> bool:
    return repository.resolve_commit(world.workspace, f"refs/heads/{branch}") is not None


def ensure_tests_worktree(world: World, instance: str, about: Instance) -> str:
    path = main_worktree_path(world, instance) + TESTS_SUFFIX
    _ensure_worktree(world, path, about.tests_branch, about.branch)
    return path


@asynccontextmanager
async def open_instance_place(world: World, effect: AskAgent) -> AsyncIterator[InstancePlace]:
    """The place of one question, for as long as it is being answered; git holds up nobody else."""
    if effect.ask.workspace == "read":
        async with hold_reader(world, effect.instance) as path:
            yield await asyncio.to_thread(_open_reader, world, effect, path)
        return
    yield await asyncio.to_thread(_open_own_place, world, effect)


@asynccontextmanager
async def hold_reader(world: World, instance: str) -> AsyncIterator[str]:
    """The checkout of who only reads or measures; where all members share one, in turns."""
    if not world.settings.share_readers:
        yield main_worktree_path(world, instance) + READ_SUFFIX
        return
    path = main_worktree_path(world, "") + READ_SUFFIX
    async with _find_turn(path):
        yield path


def _find_turn(path: str) -> asyncio.Lock:
    """One lock for each shared checkout; a lock belongs to the loop in which it is waited for."""
    loop = asyncio.get_running_loop()
    known = _TURNS.get(path)
    if known is None or known[0] is not loop:
        known = _TURNS[path] = (loop, asyncio.Lock())
    return known[1]


_TURNS: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Lock]] = {}


def _open_reader(world: World, effect: AskAgent, path: str) -> InstancePlace:
    if not _has_branch(world, effect.about.branch):
        # The first state of a graph may only read; nobody has made its branch yet.
        ensure_main_worktree(world, effect.instance, effect.about)
    shown = _ensure_shown_commit(world, effect)
    checkouts.ensure_read_checkout(world.workspace, path, shown)
    return InstancePlace(path, effect.about.branch, shown, is_own=False)


def _ensure_shown_commit(world: World, effect: AskAgent) -> str:
    """What is shown at this visit, whoever moves the branch meanwhile: an answer is about that."""
    ref = _entry_ref(effect)
    known = repository.resolve_commit(world.workspace, ref)
    if known is not None:
        return known
    name = find_commit_to_read(world, effect)
    commit = repository.resolve_branch_or_commit(world.workspace, name)
    refs.set_ref(world.workspace, ref, commit)
    return commit


def _open_own_place(world: World, effect: AskAgent) -> InstancePlace:
    about, kind = effect.about, effect.ask.workspace
    path = ensure_main_worktree(world, effect.instance, about)
    if kind == "tests":
        path = ensure_tests_worktree(world, effect.instance, about)
        _move_tests_to_head(world, effect, path)
    elif not effect.ask.mechanical and is_merging(path):
        branch_update.abort_unfinished_work(path)
    branch = about.tests_branch if kind == "tests" else about.branch
    return InstancePlace(path, branch, _ensure_entry_commit(effect, path, world.tree_room))


def is_merging(path: str) -> bool:
    """Whether a merge was begun there and is not finished."""
    return repository.resolve_commit(path, "MERGE_HEAD") is not None


def _move_tests_to_head(world: World, effect: AskAgent, path: str) -> None:
    """At each entry the tests begin from the head of the instance; half done work is kept."""
    head = repository.resolve_commit(world.workspace, f"refs/heads/{effect.about.branch}")
    if head is None or head == repository.read_head(path):
        return
    is_new = repository.resolve_commit(path, _entry_ref(effect)) is None
    if is_new and not worktrees.list_changed_paths(path):
        merge.move_branch(path, head)


def find_commit_to_read(world: World, effect: AskAgent) -> str:
    """The commit that a reader gets to see: a named one, else the head of whoever speaks."""
    state, ask = world.state(), effect.ask
    standing = state.positions.get(effect.position)
    if ask.at and standing is not None:
        return str(look_up_path(world.definition().protocol, state, standing, ask.at))
    about = state.instances[effect.about.parent] if ask.of_parent else effect.about
    return about.branch


def find_missing_target_head(world: World, instance: str, about: Instance) -> str:
    """The head of the branch that the whole tree merges into, if the root's own lacks it.

    Members below hear of what moves their targets from those who merge there.
    """
    if instance or not about.target or world.definition().protocol.interrupt is None:
        return ""
    head, own = (
        repository.resolve_commit(world.workspace, f"refs/heads/{name}")
        for name in (about.target, about.branch)
    )
    if head is None or own is None or head == world.state().run.base_commit:
        return ""
    if merge.has_ancestor(world.workspace, own, head):
        return ""
    # What was removed there is a person's business, at the merge.
    return "" if find_removed_commits(world, instance, about, own=own, target=head) else head


def _entry_ref(effect: AskAgent) -> str:
    name = effect.position.replace(":", "-").replace("#", "/")
    return f"{ENTRY_REFS}{effect.about.branch}/{name}"


def _ensure_entry_commit(effect: AskAgent, path: str, room: str = "") -> str:
    """Where the work of this visit began, however often it was interrupted since."""
    ref = _entry_ref(effect)
    known = repository.resolve_commit(path, ref)
    if known is not None:
        return known
    head = repository.read_head(path)
    if head is None:
        raise OutsideError(f"{path} has no commit", fix="make a first commit on the base branch")
    remember_raw_commit(path, room)
    refs.set_ref(path, ref, head)
    return head
