"""What lies in a checkout: a worktree as porch made it or not, and what is not committed.

A worktree is ready when it stands on its branch, at the commit at which it began.
"""

import os
import re
from collections.abc import Iterator

from porch.errors import OutsideError
from porch.git import git_directory, repository, worktrees
from porch.git.moves.checkout_move import require_worktree_branch
from porch.machine.state import RunState
from porch.model.path_globs import matches_any
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.run_places import list_own_paths, workspace_of
from porch.store.where import ProjectPaths
from porch.store.worktree_records import WorktreeRecord, list_placed

NAMED = 5
# Here a protocol counts as it lies there, whatever is committed.
_PROTOCOLS = ("codev/protocols/", "codev-skeleton/protocols/", ".claude/protocols/")


def require_ready(path: str, record: WorktreeRecord) -> None:
    """After the set-up: on the right branch, at the right commit."""
    require_worktree_branch(path, record.branch)
    head = repository.read_head(path)
    if head != record.base:
        raise OutsideError(
            f"the set-up commands moved the branch {record.branch} from {record.base[:12]} to "
            f"{(head or 'no commit')[:12]}; the new worktree was removed",
            fix="leave commits and `git switch` out of [worktree] setup",
            code="worktree-setup",
        )


def is_untouched(path: str, record: WorktreeRecord) -> bool:
    """Whether a worktree that was made ready is as it was left; nobody has worked in it."""
    here = git_directory.find_git_directory(path)
    return (
        here is not None
        and git_directory.is_registered(path, here)
        and git_directory.read_branch(here) == record.branch
        and repository.read_head(path) == record.base
    )


def stands_on_branch(path: str, record: WorktreeRecord) -> bool:
    here = git_directory.find_git_directory(path) if os.path.isdir(path) else None
    return here is not None and git_directory.read_branch(here) == record.branch


def may_be_removed(where: ProjectPaths, path: str, record: WorktreeRecord) -> bool:
    """Whether nothing of anybody's would be lost: no commit, and no work in one that was ready."""
    if record.was_there:
        return False
    head = repository.resolve_commit(where.base, f"refs/heads/{record.branch}")
    if head not in (None, record.base):
        return False
    here = git_directory.find_git_directory(path)
    if here is None:
        # Git makes this file first, so nobody can have worked here; or the directory is gone.
        return not os.path.lexists(path) or not os.path.isdir(path) or not os.listdir(path)
    stands = git_directory.read_branch(here)
    is_ours = here.own != here.common and stands in (None, record.branch)
    left = worktrees.list_changed_paths(path) if record.is_ready and is_ours else []
    return is_ours and not {*left}.difference(list_placed(record, path))


def select_documents(where: ProjectPaths, about: RunSubject, changed: list[str]) -> list[str]:
    """Documents of this run that lie uncommitted where one stands, such as a spec just written."""
    own = list_own_paths("")
    old = re.compile(rf"codev/(?:specs|plans)/{re.escape(about.id)}-[^/]+\.md")
    found = []
    for name in changed:
        is_mine = name.startswith(f"{about.project_dir}/") or old.fullmatch(name)
        whole = os.path.join(where.workspace, name)
        is_file = os.path.isfile(whole) and not os.path.islink(whole)
        if is_mine and is_file and not matches_any(name, own):
            found.append(name)
    return found


def describe_left_behind(changed: list[str], brought: list[str]) -> list[str]:
    """What a person should know who thinks that the new worktree has everything they see."""
    told = [f"copied to the new worktree, because they are not committed: {_name(brought)}"]
    left = [name for name in changed if name not in brought]
    what = "1 file is" if len(left) == 1 else f"{len(left)} files are"
    them = "it" if len(left) == 1 else "them"
    said = f"{what} not committed ({_name(left)}); the new worktree begins without {them}"
    protocols = [name for name in left if name.startswith(_PROTOCOLS)]
    used = (
        f"not committed, too: {_name(protocols)}; protocols are read from the checkout, so look at "
        "what changed there if you have not changed it"
    )
    return [*(told if brought else []), *([said] if left else []), *([used] if protocols else [])]


def describe_checkout(where: ProjectPaths, state: RunState) -> Iterator[str]:
    """Before a run goes on in a person's own checkout: what is not as at its start, or as now."""
    run = state.run
    if state.instances or not where.common_dir:
        return
    workspace = workspace_of(where, state)
    if not run.commits_nothing:
        yield (
            "an earlier release began this run in your checkout, so it goes on there: porch "
            "commits its documents, and `porch finish` commits its changes. New runs work in a "
            "worktree of their own, and with --here you commit the changes"
        )
    branch = repository.read_checkout_branch(workspace)
    if run.into and branch != run.into:
        yield (
            f"the run began on branch {run.into}, and {workspace} is on {branch or 'no branch'} "
            f"now; to go back: git switch {run.into}"
        )


def list_uncommitted(where: ProjectPaths) -> list[str]:
    """What differs from the last commit where one stands; a bare repository has no files.

    Asked while git writes a worktree, which must not wait for this.
    """
    has_files = where.workspace != where.common_dir
    return worktrees.list_changed_paths(where.workspace, is_aside=True) if has_files else []


def _name(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
