"""Which branches will conflict, before anybody merges: all live runs, each with each.

Only pairs that changed a common path are merged on trial, in the object store.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from porch.errors import PorchError
from porch.git import repository
from porch.git.command import run_git, try_git
from porch.git.merge import Conflict, merge_commits
from porch.machine.state import RunState
from porch.run.engine.run_places import own_branch
from porch.run.verbs import run_list
from porch.run.verbs.read_run import RunReader
from porch.store.where import ProjectPaths

MERGED = ("merged", "squashed")


class ConflictPair(Struct, frozen=True):
    """Two branches that cannot be merged one after the other without somebody's help."""

    one: str
    other: str
    files: tuple[str, ...]

    def describe(self) -> str:
        return f"{self.one} and {self.other} conflict in {', '.join(self.files)}"


class ConflictForecast(Struct, frozen=True):
    """The pairs that conflict, and the order of merging in which the fewest do."""

    pairs: tuple[ConflictPair, ...]
    order: tuple[str, ...]

    def of_branch(self, branch: str) -> list[ConflictPair]:
        return [pair for pair in self.pairs if branch in (pair.one, pair.other)]


def forecast_live_runs(where: ProjectPaths, target: str) -> ConflictForecast:
    """All branches of runs that nobody has merged, against each other and the target."""
    return forecast_conflicts(where.base, list_live_branches(where), target)


def list_live_branches(where: ProjectPaths) -> list[str]:
    """The branches of runs whose work is not merged yet; a run that cannot be read has none."""
    if not where.common_dir:
        return []
    reader, found = RunReader(where), []
    for name in _list_unmerged_runs(where):
        try:
            state = reader.read(name).state
        except PorchError:
            continue
        branch = own_branch(state)
        if branch and is_live(state):
            found.append(branch)
    heads = {b: repository.resolve_commit(where.base, f"refs/heads/{b}") for b in found}
    return [branch for branch in found if heads[branch]]


def is_live(state: RunState) -> bool:
    """Whether somebody may still merge its work: only a complete run is merged."""
    return state.outcome in ("", "complete") and not is_merged(state)


def is_merged(state: RunState) -> bool:
    return state.run.delivery is not None and state.run.delivery.how in MERGED


def _list_unmerged_runs(where: ProjectPaths) -> list[str]:
    """By their rows: in an old project most runs are merged, and need not be read."""
    rows = run_list.every_row(where, "row").rows
    told = {name: row["row"] for name, row in rows.items()}
    return [name for name, row in told.items() if row["waiting"] or row["state"] not in MERGED]


def forecast_conflicts(repo: str, branches: Sequence[str], target: str) -> ConflictForecast:
    """Try every pair, and every branch with the target; nothing is written but loose objects."""
    changed = {branch: _list_changed(repo, target, branch) for branch in branches}
    moved = {branch: _list_changed(repo, branch, target) for branch in branches}
    pairs = [
        _try_pair(repo, each, target) for each in branches if _meet(changed[each], moved[each])
    ]
    pairs += [
        _try_pair(repo, one, other)
        for one, other in combinations(branches, 2)
        if _meet(changed[one], changed[other])
    ]
    known = tuple(pair for pair in pairs if pair is not None)
    return ConflictForecast(known, order_merges(branches, known, target))


def find_conflicts(
    repo: str, branch: str, others: Iterable[str], target: str
) -> tuple[ConflictPair, ...]:
    """What one branch will meet: the target, and others of which it is not known who comes first.

    Less than the forecast of all, because the others are not tried with each other.
    """
    mine = _list_changed(repo, target, branch)
    rivals = [target] if _meet(mine, _list_changed(repo, branch, target)) else []
    rivals += [each for each in others if mine and _meet(mine, _list_changed(repo, target, each))]
    pairs = (_try_pair(repo, branch, each) for each in rivals)
    return tuple(pair for pair in pairs if pair is not None)


def order_merges(
    branches: Iterable[str], pairs: Iterable[ConflictPair], target: str
) -> tuple[str, ...]:
    """As many as possible that do not conflict come first, those with the fewest enemies at once.

    A branch that conflicts with the target conflicts anyway, so it waits.
    """
    enemies: dict[str, set[str]] = {branch: set() for branch in branches}
    for pair in pairs:
        for one, other in ((pair.one, pair.other), (pair.other, pair.one)):
            if one in enemies:
                enemies[one].add(other)
    first: list[str] = []
    for branch in sorted(enemies, key=lambda each: (len(enemies[each]), each)):
        if not enemies[branch] & {*first, target}:
            first.append(branch)
    return (*first, *sorted(set(enemies) - {*first}, key=lambda b: (len(enemies[b]), b)))


def _list_changed(repo: str, since: str, branch: str) -> frozenset[str]:
    """What a branch changed since it left another; a rename is a deletion and a new file."""
    words = ("diff", "--name-only", "-z", "--no-renames", f"{since}...{branch}", "--")
    done = try_git(repo, *words)
    if done.returncode:  # nothing in common: everything may meet
        return frozenset(run_git(repo, "ls-tree", "-r", "-z", "--name-only", branch).split("\0"))
    return frozenset(done.stdout.split("\0")) - {""}


def _meet(one: frozenset[str], other: frozenset[str]) -> bool:
    """A common path, or a file where the other has a directory."""
    return bool(one & other or _tops(one) & other or one & _tops(other))


def _tops(paths: frozenset[str]) -> frozenset[str]:
    parts = (path.split("/") for path in paths)
    return frozenset("/".join(each[:end]) for each in parts for end in range(1, len(each)))


def _try_pair(repo: str, one: str, other: str) -> ConflictPair | None:
    heads: Mapping[str, str | None] = {
        each: repository.resolve_commit(repo, f"refs/heads/{each}") for each in (one, other)
    }
    ours, theirs = heads[one], heads[other]
    if not ours or not theirs:
        return None
    result = merge_commits(repo, ours, theirs)
    return ConflictPair(one, other, result.files) if isinstance(result, Conflict) else None
