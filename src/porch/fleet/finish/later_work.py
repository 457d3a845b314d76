"""What was done on the branch of a run after it had ended: nobody measured or reviewed it there.

What is delivered is the head at the end of the run. Whoever wants more has seen what it is. Once a
person has had later work delivered, the next look begins behind that.
"""

import os

from msgspec import Struct

from porch.git import repository
from porch.git.command import run_git
from porch.git.merge import has_ancestor
from porch.machine.state import RunState
from porch.run.engine.run_commits import read_run_end
from porch.run.engine.run_places import workspace_of
from porch.run.worktrees.last_commit import find_last_commit
from porch.store.where import ProjectPaths

_NAMED = 10


class LaterWork(Struct, frozen=True):
    """Commits behind the end of a run, newest first, and files that lie there uncommitted.

    Earlier releases did not always note the end; then it is the last commit of the run that the
    journal names, and agents may have made some of these commits before the end.
    """

    end: str
    is_noted: bool
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()
    is_rewritten: bool = False
    measuring: tuple[str, ...] = ()  # of these files those that decide a measurement
    is_refused: bool = False  # the protocol protects them

    def describe(self) -> tuple[str, ...]:
        said = []
        if self.commits or self.is_rewritten:
            said.append(self._describe_commits())
        if self.uncommitted:
            files = "1 file" if len(self.uncommitted) == 1 else f"{len(self.uncommitted)} files"
            names = _name_some(self.uncommitted)
            said.append(f"{files} changed after the run ended and not committed: {names}")
        if self.measuring:
            names = _name_some(self.measuring)
            said.append(f"what measures the work was changed after the run ended: {names}")
        return tuple(said)

    def _describe_commits(self) -> str:
        number = "1 commit" if len(self.commits) == 1 else f"{len(self.commits)} commits"
        end = self.end[:12] or "the beginning"
        if self.is_rewritten:
            when = f"instead of {end}, with which the run ended, the branch has now"
            first = f"{when} {number}"
        elif self.is_noted:
            first = f"{number} after the run ended (at {end})"
        else:
            first = (
                f"{number} after {end}, the last commit of the run that an earlier release noted; "
                "some may have been made before it ended"
            )
        files = f"; files: {_name_some(self.files)}" if self.files else ""
        return f"{first}: {_name_some(self.commits)}{files}"


def _name_some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def find_later_work(
    where: ProjectPaths, state: RunState, head: str, uncommitted: tuple[str, ...], target: str
) -> LaterWork | None:
    """None if the branch is as the run left it, or as a person had it delivered since."""
    noted = read_run_end(where.run_dir(state.run.name))
    end, is_noted = noted.commit if noted else "", True
    delivery = state.run.delivery
    if delivery is not None and delivery.how != "kept" and delivery.head:
        end = delivery.head
    elif not end:
        # Where members of a tree worked, the last commit of the journal is that of any of them.
        end = "" if state.instances else find_last_commit(where, state.run)
        is_noted = False
    # Until the last work is committed, what lies there is work of the run.
    files = uncommitted if noted and not noted.is_open and state.run.own_worktree else ()
    left = tuple(p for p in files if not _is_repository(workspace_of(where, state), p))
    if end == head:
        return LaterWork(end, is_noted, uncommitted=left) if left else None
    known = end if repository.resolve_commit(where.base, end) else state.run.base_commit
    # What was merged into the branch from its target is not news there.
    others = (f"^{known}", *((f"^refs/heads/{target}",) if _has_branch(where, target) else ()))
    names = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", known, head, "--")
    return LaterWork(
        end,
        is_noted,
        tuple(run_git(where.base, "log", "--format=%h %s", head, *others).splitlines()),
        tuple(filter(None, run_git(where.base, *names).split("\0"))),
        left,
        known != end or not has_ancestor(where.base, head, end),
    )


def _has_branch(where: ProjectPaths, name: str) -> bool:
    return bool(name) and repository.resolve_commit(where.base, f"refs/heads/{name}") is not None


def _is_repository(workspace: str, path: str) -> bool:
    """A repository inside cannot be committed, whenever it came."""
    return os.path.lexists(os.path.join(workspace, path, ".git"))
