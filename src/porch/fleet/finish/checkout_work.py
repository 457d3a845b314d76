"""The work of a run in one's own checkout: checked beside, then committed on the current branch.

Exactly what the run changed is committed. The person may have edited files before the run began,
even the same ones. So the change of the run, from the files with which it began to those of now, is
put on top of HEAD, as a cherry-pick would. What the person edited stays uncommitted.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence

from msgspec import Struct

from porch.errors import FailedError
from porch.fleet.finish.candidate_checks import check_candidate
from porch.fleet.finish.run_work import MeasuredChanges, RunWork, measure_run_changes, name_work
from porch.git import repository
from porch.git.command import run_exact_git, run_git
from porch.git.measured_tree import own_environment
from porch.git.merge import Conflict, cherry_pick_tree
from porch.git.own_git_directory import ensure_own_git_directory
from porch.git.repository import TRAILER
from porch.run.engine.session import HeldRun
from porch.run.verbs.lease import find_leaseholder
from porch.store.run_names import quote_word
from porch.store.where import ProjectPaths
from porch.system import crash_points

Entry = tuple[str, str]  # mode and blob
_LINKS = ("120000", "160000")


def write_run_tree(workspace: str, base: str, paths: Sequence[str], head: str | None) -> str:
    """The tree of HEAD with what the run changed at these paths."""
    with tempfile.TemporaryDirectory(prefix="porch-finish-") as room:
        index = os.path.join(room, "index")
        now = repository.write_tree_of_paths(workspace, paths, head, index)
        before = _write_tree_before(workspace, base, paths, head=head, index=index)
    head_tree = repository.read_commit_tree(workspace, head)
    if before == head_tree:
        return now
    env = repository.read_commit_identity(workspace)
    began = run_git(workspace, "commit-tree", before, "-m", "began", env=env).strip()
    ended = run_git(workspace, "commit-tree", now, "-p", began, "-m", "ended", env=env).strip()
    tree = cherry_pick_tree(workspace, head_tree, ended)
    if isinstance(tree, Conflict):
        raise _mixed_edits_error(tree.files)
    return tree


def _mixed_edits_error(files: Sequence[str]) -> FailedError:
    return FailedError(
        f"you and the run changed the same lines, and yours are not committed: {', '.join(files)}",
        fix="commit these files yourself, then finish again; --keep leaves everything as it is",
        code="finish-mixed-edits",
    )


def _write_tree_before(
    workspace: str, base: str, paths: Sequence[str], *, head: str | None, index: str
) -> str:
    """HEAD, but with these paths as they were when the run began."""
    env = {"GIT_INDEX_FILE": index}
    run_git(workspace, "read-tree", head or "--empty", env=env)
    known = _read_entries(run_git(workspace, "ls-files", "-s", "-z", env=env), has_stage=True)
    began = _read_base(workspace, base)
    rows = []
    for path in paths:
        entry = began.get(path)
        if entry is None:
            rows.append(f"0 {'0' * len(base)}\t{path}\0")
        elif known.get(path) != entry:
            rows.append(f"{entry[0]} {_bring_blob(workspace, path, entry)}\t{path}\0")
    run_git(workspace, "update-index", "-z", "--index-info", env=env, stdin="".join(rows))
    return run_git(workspace, "write-tree", env=env).strip()


def _read_base(workspace: str, base: str) -> Mapping[str, Entry]:
    own = own_environment(workspace, ensure_own_git_directory(workspace))
    return _read_entries(run_exact_git(workspace, "ls-tree", "-r", "-z", base, env=own))


def _read_entries(listing: str, has_stage: bool = False) -> dict[str, Entry]:
    found = {}
    for row in filter(None, listing.split("\0")):
        front, _, path = row.partition("\t")
        parts = front.split(" ")
        found[path] = (parts[0], parts[1] if has_stage else parts[2])
    return found


def _bring_blob(workspace: str, path: str, entry: Entry) -> str:
    """What was measured is raw; what is committed went through the filters of its path."""
    mode, blob = entry
    if mode == "160000":
        return blob
    own = own_environment(workspace, ensure_own_git_directory(workspace))
    text = run_exact_git(workspace, "cat-file", "blob", blob, env=own)
    named = () if mode in _LINKS else ("--path", path)
    return run_git(workspace, "hash-object", "-w", "--stdin", *named, stdin=text).strip()


class CommittedWork(Struct, frozen=True):
    """The commit that holds the work of a run, and the checks that passed on it just now."""

    commit: str
    checks: Mapping[str, str]
    is_new: bool = True


def commit_here(found: HeldRun, work: RunWork) -> CommittedWork:
    """Commit exactly what the run changed; what was edited before it stays uncommitted."""
    state, place = found.book.state, work.workspace
    if not work.branch:
        raise FailedError(
            f"{place} is on no branch, so a commit would be lost",
            fix="git switch -c NAME there, then finish again",
            code="finish-no-branch",
        )
    _refuse_shared_checkout(found, place)
    measured = measure_run_changes(found.where, state)
    paths = measured.paths
    # One run is committed once: what changes here later is somebody else's work.
    trailer = f"{TRAILER}: {found.name} finish"
    done = repository.find_commit_by_trailer(place, trailer)
    if done is not None:
        return CommittedWork(_follow_index(place, done), {}, is_new=False)
    _refuse_no_changes(found.name, place, paths)
    _refuse_mixed_runs(found.name, place, measured)

    def write_tree(head: str | None) -> str:
        return write_run_tree(place, state.run.base, paths, head)

    checks = _check_tree(found, work, write_tree(repository.read_head(place)))
    message = name_work(state)
    made = repository.commit_tree_on_head(place, write_tree, message, trailer)
    if made is None:
        # The agents committed everything themselves.
        return CommittedWork(repository.read_head(place) or "", checks)
    return CommittedWork(_follow_index(place, made), checks)


def _refuse_shared_checkout(found: HeldRun, place: str) -> None:
    """Files of a run that came later cannot be told from those of this one."""
    at = found.where
    other = find_leaseholder(ProjectPaths(at.root, place, at.common_dir, at.state_dir, at.base))
    if other and other != found.name:
        raise FailedError(
            f"the run {other} works in {place}, too, and its files are not committed; nobody can "
            f"tell them from those of {found.name}",
            fix=f"finish or stop {other} and commit its files first, or commit those of "
            f"{found.name} by hand; --keep leaves everything as it is",
            code="finish-shared-checkout",
        )


def _refuse_no_changes(name: str, place: str, paths: Sequence[str]) -> None:
    """Work that was stashed, deleted or left on another branch must not be called committed."""
    if not paths:
        raise FailedError(
            f"there is nothing to commit: the files in {place} are those with which {name} began",
            fix="if its work was put away, bring it back (git stash list, git branch), then "
            "finish again; --keep leaves everything as it is",
            code="finish-no-changes",
        )


def _refuse_mixed_runs(name: str, place: str, measured: MeasuredChanges) -> None:
    """What two runs did in one file, or by turns, only a person can tell apart."""
    later = measured.later
    if later is None or not measured.shared:
        return
    files = ", ".join(measured.shared)
    how = "worked here by turns with" if later.overlaps else "worked here after"
    first = (
        ""
        if later.overlaps
        else f"finish the other one first: porch finish {later.id} --merge; or "
    )
    names = " ".join(map(quote_word, measured.shared))
    raise FailedError(
        f"the run {later.name} {how} {name} in {place}, and nobody can tell which of them changed "
        f"what in these files: {files}",
        fix=f"{first}commit these files yourself (git add -- {names}), then finish again; "
        "--keep leaves everything as it is",
        code="finish-mixed-runs",
    )


def _check_tree(found: HeldRun, work: RunWork, tree: str) -> Mapping[str, str]:
    place = work.workspace
    head = repository.read_head(place)
    words = ("commit-tree", tree, *(("-p", head) if head else ()), "-m", "candidate")
    commit = run_git(place, *words, env=repository.read_commit_identity(place)).strip()
    crash_points.reach_point("finish.after-candidate")
    checks = check_candidate(found, commit, work)
    crash_points.reach_point("finish.after-checks")
    return checks


def _follow_index(place: str, commit: str) -> str:
    """Also after a crash; behind a later commit the index has moved on."""
    if commit == repository.read_head(place):
        repository.update_user_index(place, commit)
    return commit
