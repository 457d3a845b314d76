"""Committing the work of a run that an earlier release began in a person's own checkout.

Such a run still ends as it was meant to: exactly the files that it changed are checked beside,
then committed on the branch on which it began. If somebody switched that branch, if another run has
worked there since, or if the person had edited the same files before, porch cannot tell what
belongs to the run. Then it commits nothing and names the files. Runs of this release commit nothing
there.
"""

import os
import tempfile
from collections.abc import Mapping

from msgspec import Struct

from porch.errors import FailedError, StateError
from porch.fleet.finish.candidate_checks import check_candidate
from porch.fleet.finish.run_work import RunWork, list_differing, name_work
from porch.git import repository
from porch.git.command import run_git
from porch.git.repository import TRAILER
from porch.machine.state import Run
from porch.run.engine.session import HeldRun
from porch.store.journal import scan_journal
from porch.store.run_names import quote_word
from porch.store.where import ProjectPaths
from porch.system import crash_points
from porch.system.clock import parse_instant


class CommittedWork(Struct, frozen=True):
    """The commit that holds the work of a run, and the checks that passed on it just now."""

    commit: str
    checks: Mapping[str, str]
    is_new: bool = True


def commit_here(found: HeldRun, work: RunWork) -> CommittedWork:
    """Commit exactly what the run changed; all else that is uncommitted stays so."""
    run, place = found.book.state.run, work.workspace
    _refuse_other_branch(run, work)
    # One run is committed once: what changes here later is somebody else's work.
    trailer = f"{TRAILER}: {found.name} finish"
    done = repository.find_commit_by_trailer(place, trailer)
    if done is not None:
        return CommittedWork(_update_index(place, done), {}, is_new=False)
    _refuse_no_changes(found.name, work)
    _refuse_shared_checkout(found, work)
    _refuse_edited_before(run, work)

    def write_tree(head: str | None) -> str:
        with tempfile.TemporaryDirectory(prefix="porch-finish-") as room:
            index = os.path.join(room, "index")
            return repository.write_tree_of_paths(place, work.files, head, index)

    checks = _check_tree(found, work, write_tree(repository.read_head(place)))
    made = repository.commit_tree_on_head(place, write_tree, name_work(found.book.state), trailer)
    if made is None:
        # The agents committed everything themselves.
        return CommittedWork(repository.read_head(place) or "", checks)
    return CommittedWork(made, checks)


def _refuse_other_branch(run: Run, work: RunWork) -> None:
    if not work.branch:
        raise FailedError(
            f"{work.workspace} is on no branch, so a commit would be lost",
            fix=f"git switch {run.into or '-c NAME'} there, then finish again",
            code="finish-no-branch",
        )
    if run.into and work.branch != run.into:
        raise FailedError(
            f"{run.name} began on {run.into}, and {work.workspace} is on {work.branch} now; "
            "nothing was committed",
            fix=f"git switch {quote_word(run.into)} there, then finish again; or commit the "
            f"changes on {work.branch} yourself: git add -- {_quote_files(work)}",
            code="finish-other-branch",
        )


def _quote_files(work: RunWork) -> str:
    return " ".join(map(quote_word, work.files))


def _refuse_no_changes(name: str, work: RunWork) -> None:
    """Work that was stashed, deleted or left on another branch must not be called committed."""
    if not work.files:
        raise FailedError(
            f"there is nothing to commit: the files in {work.workspace} are those with which "
            f"{name} began",
            fix="if its work was put away, bring it back (git stash list, git branch), then "
            "finish again; --keep leaves everything as it is",
            code="finish-no-changes",
        )


def _refuse_shared_checkout(found: HeldRun, work: RunWork) -> None:
    """Files of a run that came later cannot be told from those of this one."""
    other = _find_other_run(found.where, found.book.state.run, work.workspace)
    if other:
        raise FailedError(
            f"the run {other} has worked in {work.workspace} since, and porch cannot tell its "
            f"changes from those of {found.name}",
            fix=f"commit yourself what belongs to {found.name}: git add -- {_quote_files(work)}; "
            "--keep leaves everything as it is",
            code="finish-shared-checkout",
        )


def _find_other_run(where: ProjectPaths, run: Run, workspace: str) -> str:
    """Another run that was driven in this checkout after the given one began."""
    since = parse_instant(run.started_at)
    for name in where.runs():
        path = os.path.join(where.run_dir(name), "journal.jsonl")
        if name == run.name or os.stat(path).st_mtime < since.timestamp():
            continue
        try:
            records = scan_journal(path).records
        except StateError:
            continue  # nobody knows what it did, and nobody can finish it
        first = records[0]["fact"].get("start") or records[0]["fact"]
        place = os.path.join(where.base, first.get("worktree") or ".")
        is_same = os.path.realpath(place) == os.path.realpath(workspace)
        drives = (each["at"] for each in records if each["fact"]["is"] == "RunnerStarted")
        # A tree begins in the checkout and works in worktrees.
        if is_same and not first.get("spec") and any(parse_instant(at) > since for at in drives):
            return name
    return ""


def _refuse_edited_before(run: Run, work: RunWork) -> None:
    """A commit of such a file would take along what the person had not committed."""
    if not (run.base_tree and run.base_commit):
        return
    edited = list_differing(work.workspace, run.base_commit, run.base_tree)
    mixed = sorted({*edited}.intersection(work.uncommitted))
    if mixed:
        raise FailedError(
            f"you had changed these files before the run did, and not committed them: "
            f"{', '.join(mixed)}",
            fix="commit these files yourself, then finish again; --keep leaves everything as it is",
            code="finish-mixed-edits",
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


def _update_index(place: str, commit: str) -> str:
    """Also after a crash; behind a later commit the index has moved on."""
    if commit == repository.read_head(place):
        repository.update_user_index(place, commit)
    return commit
