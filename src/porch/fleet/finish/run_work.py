"""The work of a run as it lies there now: on which branch, how much, and what is not committed."""

import os

from msgspec import Struct

from porch.errors import FailedError
from porch.fleet.finish.later_work import LaterWork, find_later_work
from porch.git import git_directory, repository, worktrees
from porch.git.command import run_git
from porch.machine.state import RunState
from porch.plan.branches.implementation_branches import ARCHIVED
from porch.run.engine.run_places import list_own_paths, own_branch, tree_room, workspace_of
from porch.store.where import ProjectPaths
from porch.store.worktree_records import find_record_of, list_placed

# After these the work of a run is in a commit.
SETTLED = ("merged", "squashed", "committed")


class RunWork(Struct, frozen=True):
    """What a run has done. Without a branch of its own it lies in somebody's checkout."""

    repo: str
    workspace: str
    branch: str
    is_own: bool
    head: str
    into: str
    commits: int
    files: tuple[str, ...]
    added: int
    removed: int
    uncommitted: tuple[str, ...]
    # What a person has to accept who delivers it, in sentences; see `acceptance`.
    not_passed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # since it was approved
    later: LaterWork | None = None
    reason: str = ""  # why it is delivered although not all of it has passed

    others: int = 0  # files of the checkout that are not committed, and not of the run

    @property
    def accepted(self) -> tuple[str, ...]:
        """What is not as it was when people looked at it last."""
        return (*self.changed, *(self.later.describe() if self.later else ()))

    def describe(self) -> str:
        what = "1 commit" if self.commits == 1 else f"{self.commits} commits"
        files = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
        added = "1 line" if self.added == 1 else f"{self.added} lines"
        lines = f"{files}, {added} added, {self.removed} removed"
        return f"{what} on branch {self.branch}: {lines}" if self.is_own else lines


def survey_work(where: ProjectPaths, state: RunState, into: str = "") -> RunWork:
    """Measure the work of a run; `into` is the branch that a person named."""
    if not where.common_dir:
        raise FailedError(
            f"{where.root} is not a git repository, so there is nothing to merge or to propose",
            fix="the files of the run are where it wrote them",
            code="finish-without-git",
        )
    branch = own_branch(state)
    return (
        _survey_branch(where, state, branch, into) if branch else _survey_here(where, state, into)
    )


def is_settled(state: RunState, work: RunWork) -> bool:
    """Whether all of it is in a commit of porch; later commits on its branch can follow."""
    known = state.run.delivery
    if known is None or known.how not in SETTLED:
        return False
    # In a checkout of one's own, what changes after the commit is one's own work.
    return not work.is_own or known.head == work.head


def name_work(state: RunState) -> str:
    """What commits and pull requests are called: the id, and the title as it was typed."""
    return f"{state.run.id} {state.run.heading or state.run.title}".strip()


def _survey_branch(where: ProjectPaths, state: RunState, branch: str, into: str) -> RunWork:
    head = repository.resolve_commit(where.base, f"refs/heads/{branch}")
    if head is None:
        kept = f"{ARCHIVED}{branch}"
        is_kept = repository.resolve_commit(where.base, f"refs/heads/{kept}") is not None
        way = f"bring it back: git branch {branch} {kept}" if is_kept else _tell_way(where, state)
        raise FailedError(
            f"the branch {branch} of the run is gone", fix=way, code="finish-branch-gone"
        )
    root = state.instances.get("")
    target = into or state.run.into or (root.target if root else "")
    if not target and not state.run.own_worktree:
        target = _find_usual_target(where.base)
    base = state.run.base_commit or head
    commits = _count_commits(where.base, base, head)
    rows = _count_lines(where.base, base, head) if base != head else []
    workspace = workspace_of(where, state)
    uncommitted = _list_uncommitted(where, workspace, branch)
    return RunWork(
        where.base,
        workspace,
        branch,
        True,
        head,
        target,
        commits,
        tuple(path for _, _, path in rows),
        sum(added for added, _, _ in rows),
        sum(removed for _, removed, _ in rows),
        uncommitted,
        later=find_later_work(where, state, head, uncommitted, target) if state.outcome else None,
    )


def _tell_way(where: ProjectPaths, state: RunState) -> str:
    """Of a tree its journal names many commits, and only a person knows which one is meant."""
    if not state.run.own_worktree:
        return (
            f"bring it back: git branch {own_branch(state)} COMMIT; `porch log` names the commits"
        )
    from porch.run.worktrees.last_commit import describe_way_back

    return describe_way_back(where, state.run)


def _find_usual_target(repo: str) -> str:
    from porch.plan.branches.base_branch import find_base_branch

    return find_base_branch(repo).branch


def _count_commits(repo: str, old: str, new: str) -> int:
    return int(run_git(repo, "rev-list", "--count", f"{old}..{new}")) if old != new else 0


def _count_lines(repo: str, old: str, new: str) -> list[tuple[int, int, str]]:
    words = ("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
    rows = [row.split("\t", 2) for row in run_git(repo, *words, old, new).split("\0") if row]
    return [(_number(added), _number(removed), path) for added, removed, path in rows]


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0  # of a binary file there stands a dash


def _list_uncommitted(where: ProjectPaths, workspace: str, branch: str) -> tuple[str, ...]:
    found = git_directory.find_git_directory(workspace) if os.path.isdir(workspace) else None
    if found is None or git_directory.read_branch(found) != branch:
        return ()
    placed = list_placed(find_record_of(where, workspace), workspace)
    return tuple(p for p in worktrees.list_changed_paths(workspace) if p not in placed)


def _survey_here(where: ProjectPaths, state: RunState, into: str) -> RunWork:
    """All that differs from the files with which the run began; earlier edits are not among it."""
    from porch.git import tree_changes

    run, workspace = state.run, workspace_of(where, state)
    if not run.base:
        raise FailedError(
            "nothing says with which files this run began, so nobody can tell what it changed",
            fix="commit what belongs to it by hand",
            code="finish-no-base",
        )
    found = git_directory.find_git_directory(workspace)
    branch = (git_directory.read_branch(found) if found else None) or ""
    end = measure_now(where, state)
    names = list_differing(workspace, run.base, end)
    added, removed = tree_changes.count_net_lines(workspace, run.base, end, shown_paths())
    uncommitted = worktrees.list_changed_paths(workspace)
    return RunWork(
        where.base,
        workspace,
        branch,
        False,
        repository.read_head(workspace) or "",
        into or run.into or branch,
        0,
        names,
        added,
        removed,
        tuple(name for name in names if name in uncommitted),
        others=len({*uncommitted}.difference(names)),
    )


def shown_paths() -> tuple[str, ...]:
    """What porch draws for readers; documents and the answers of reviewers are work."""
    return list_own_paths("")


def measure_now(where: ProjectPaths, state: RunState) -> str:
    from porch.git import measured_tree

    room = tree_room(where.run_dir(state.run.name))
    return measured_tree.measure_tree(workspace_of(where, state), shown_paths(), room)


def list_differing(workspace: str, old: str, new: str) -> tuple[str, ...]:
    """The paths at which two trees differ, without those that porch draws."""
    from porch.git import tree_changes

    changes = tree_changes.list_changed_paths(workspace, old, new, shown_paths())
    return tuple(change.path for change in changes)
