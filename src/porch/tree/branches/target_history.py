"""What the target of an instance had and has no more: a merge would bring it back unseen.

Beside each branch stands the newest commit of its target that porch has seen it take in. If that
is no longer behind the target's head, somebody has removed it.
"""

from msgspec import Struct

from porch.git import merge, repository
from porch.git.command import run_git
from porch.machine.state import Instance
from porch.run.agents.world import World
from porch.tree.branches import refs

ENTRY_REFS = "refs/porch/entry/"
MOST_NAMED = 5


class RemovedCommits(Struct, frozen=True):
    """The newest commit that the branch has of its target's past, and where the target is now."""

    newest: str
    target: str

    @property
    def name(self) -> str:
        """What a person confirms: these commits, and this target."""
        return f"{self.newest} {self.target}"


def note_target(world: World, about: Instance, commit: str) -> None:
    """The branch has this commit of its target, or is about to get it."""
    refs.set_ref(world.workspace, _target_ref(about), commit)


def _target_ref(about: Instance) -> str:
    # No state has such a name, and it is one of those that need no process of git.
    return f"{ENTRY_REFS}{about.branch}/-target"


def find_removed_commits(
    world: World, instance: str, about: Instance, *, own: str, target: str
) -> RemovedCommits | None:
    """What this branch would bring back, if anything."""
    root = "" if instance else world.state().run.base_commit
    noted = repository.resolve_commit(world.workspace, _target_ref(about)) or root
    if not noted or merge.has_ancestor(world.workspace, target, noted):
        return None
    # Where the last update came to nothing, the branch does not have all of it.
    newest = refs.find_merge_base(world.workspace, own, noted)
    if merge.has_ancestor(world.workspace, target, newest):
        return None
    return RemovedCommits(newest, target)


def describe_removed_commits(world: World, about: Instance, removed: RemovedCommits) -> str:
    """Which commits they are, and how to have the branch without them."""
    words = ("log", "--format=%h %s", removed.newest, "--not", removed.target)
    found = run_git(world.workspace, *words).splitlines()
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return (
        f"{about.target} no longer has commits that it had when this work took them in: "
        f"{', '.join(found[:MOST_NAMED])}{more}. To merge {about.branch} would bring them back. "
        f"To leave them out, run `git rebase --onto {about.target} {removed.newest[:12]}` in its "
        "worktree, then answer retry"
    )
