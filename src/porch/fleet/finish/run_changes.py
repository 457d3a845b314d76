"""What a run changed, file by file: against the files with which it began, whoever looks when."""

import os

from msgspec import Struct

from porch.errors import FailedError, OutsideError, PorchError
from porch.fleet.finish.run_work import measure_now, shown_paths
from porch.git import repository
from porch.git.file_changes import ChangedContent, list_changed_contents
from porch.machine.state import RunState
from porch.plan.branches.implementation_branches import ARCHIVED
from porch.run.engine.run_places import own_branch, workspace_of
from porch.store.where import ProjectPaths


class RunChanges(Struct, frozen=True, kw_only=True):
    """`old` and `new` are what git compares at `place`; `told` says of what `new` is the content.

    Where nothing can be compared, `trouble` says why.
    """

    place: str = ""
    old: str = ""
    new: str = ""
    told: str = ""
    files: tuple[ChangedContent, ...] = ()
    trouble: str = ""


def compare_run(where: ProjectPaths, state: RunState) -> RunChanges:
    """All that differs now; a run whose worktree is gone is read from its branch."""
    if not where.common_dir:
        return RunChanges(trouble="this project is not a git repository, so nothing is compared")
    if not state.run.base:
        return RunChanges(trouble="nothing says with which files this run began")
    try:
        place, new, told = _find_content(where, state)
    except PorchError as error:
        return RunChanges(trouble=error.findings[0].message)
    for old in dict.fromkeys(filter(None, (state.run.base_tree, state.run.base_commit))):
        try:
            files = list_changed_contents(place, old, new, shown_paths())
        except OutsideError:
            continue  # the tree of the start was cleaned away; the commit then is there
        # The work comes first, and what porch itself wrote about it last.
        own = (state.run.project_dir + "/consultation-", "codev/.porch/")
        files = sorted(files, key=lambda each: each.path.startswith(own))
        return RunChanges(place=place, old=old, new=new, told=told, files=tuple(files))
    return RunChanges(trouble="git no longer has the files with which this run began")


def _find_content(where: ProjectPaths, state: RunState) -> tuple[str, str, str]:
    workspace = workspace_of(where, state)
    branch, delivery = own_branch(state), state.run.delivery
    if os.path.isdir(workspace) and (not delivery or not branch):
        return workspace, measure_now(where, state), "the content of the files as they are now"
    names = [delivery.head] if delivery and delivery.head else []
    names += [f"refs/heads/{branch}", f"refs/heads/{ARCHIVED}{branch}"] if branch else []
    for name in names:
        commit = repository.resolve_commit(where.base, name)
        if commit:
            return where.base, commit, f"the content of commit {commit[:12]}, the last of this run"
    raise FailedError(
        "the worktree and the branch of this run are gone", fix="", code="finish-branch-gone"
    )
