"""The work of a run in one's own checkout: checked beside, then committed on the current branch."""

from collections.abc import Mapping

from msgspec import Struct

from porch.errors import FailedError
from porch.fleet.finish.candidate_checks import check_candidate
from porch.fleet.finish.checkout_commit import write_run_tree
from porch.fleet.finish.run_work import RunWork, list_run_changes, measure_now, name_work
from porch.git import repository
from porch.git.command import run_git
from porch.git.repository import TRAILER
from porch.run.engine.session import HeldRun
from porch.system import crash_points


class CommittedWork(Struct, frozen=True):
    """The commit that holds the work of a run, and the checks that passed on it."""

    commit: str
    checks: Mapping[str, str]


def commit_here(found: HeldRun, work: RunWork) -> CommittedWork:
    """Commit exactly what the run changed; what was edited before it stays uncommitted."""
    state, place = found.book.state, work.workspace
    if not work.branch:
        raise FailedError(
            f"{place} is on no branch, so a commit would be lost",
            fix="git switch -c NAME there, then finish again",
            code="finish-no-branch",
        )
    now = measure_now(found.where, state)
    paths = [change.path for change in list_run_changes(found.where, state, now)]
    # One run is committed once: what changes here later is somebody else's work.
    trailer = f"{TRAILER}: {found.name} finish"
    done = repository.find_commit_by_trailer(place, trailer)
    if done is not None:
        return CommittedWork(_follow_index(place, done), {})

    def write_tree(head: str | None) -> str:
        return write_run_tree(place, state.run.base, paths, head)

    checks = _check_tree(found, place, write_tree(repository.read_head(place)))
    message = name_work(state)
    made = repository.commit_tree_on_head(place, write_tree, message, trailer)
    if made is None:
        # The agents committed everything themselves.
        return CommittedWork(repository.read_head(place) or "", checks)
    return CommittedWork(_follow_index(place, made), checks)


def _check_tree(found: HeldRun, place: str, tree: str) -> Mapping[str, str]:
    head = repository.read_head(place)
    words = ("commit-tree", tree, *(("-p", head) if head else ()), "-m", "candidate")
    commit = run_git(place, *words, env=repository.read_commit_identity(place)).strip()
    crash_points.reach_point("finish.after-candidate")
    checks = check_candidate(found, commit)
    crash_points.reach_point("finish.after-checks")
    return checks


def _follow_index(place: str, commit: str) -> str:
    """Also after a crash; behind a later commit the index has moved on."""
    if commit == repository.read_head(place):
        repository.update_user_index(place, commit)
    return commit
