"""Conflicts as `af status` tells them: asked of git again only when a branch has moved.

Only what is committed counts. Porch commits the work of each phase, so that is soon enough.
"""

from porch.errors import PorchError
from porch.fleet.finish.forecast import (
    ConflictForecast,
    ConflictPair,
    find_conflicts,
    forecast_live_runs,
    is_live,
    list_live_branches,
)
from porch.git.command import try_git
from porch.machine.state import RunState
from porch.plan.branches.base_branch import find_base_branch
from porch.run.engine.run_places import own_branch
from porch.store.where import ProjectPaths

_HEADS = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")


class FleetForecast:
    """Made once by whoever looks several times; what cannot be foretold hides no run."""

    def __init__(self, where: ProjectPaths):
        self._where = where
        self._heads = ""
        self._of_runs: dict[str, tuple[ConflictPair, ...]] = {}
        self._of_all: ConflictForecast | None = None

    def look_at_run(self, state: RunState) -> tuple[ConflictPair, ...]:
        """What the branch of one run will meet; nothing if it has none, or nobody will merge it."""
        branch = own_branch(state)
        if not branch or not is_live(state) or not self._where.common_dir:
            return ()
        self._forget_if_moved()
        if branch not in self._of_runs:
            self._of_runs[branch] = self._find_for_branch(branch, state.run.into)
        return self._of_runs[branch]

    def look_at_all(self) -> ConflictForecast:
        """Every two branches of live runs, and the order in which the fewest conflict."""
        self._forget_if_moved()
        if self._of_all is None:
            self._of_all = self._find_for_all()
        return self._of_all

    def _forget_if_moved(self) -> None:
        heads = try_git(self._where.base, *_HEADS).stdout if self._where.common_dir else ""
        if heads != self._heads:
            self._heads, self._of_runs, self._of_all = heads, {}, None

    def _find_for_branch(self, branch: str, into: str) -> tuple[ConflictPair, ...]:
        repo = self._where.base
        try:
            target = into or find_base_branch(repo).branch
            others = [each for each in list_live_branches(self._where) if each != branch]
            return find_conflicts(repo, branch, others, target)
        except PorchError:
            return ()

    def _find_for_all(self) -> ConflictForecast:
        try:
            return forecast_live_runs(self._where, find_base_branch(self._where.base).branch)
        except PorchError:
            return ConflictForecast((), ())
