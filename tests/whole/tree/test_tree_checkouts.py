"""A tree keeps checkouts for its living members only."""

from pathlib import Path
from typing import Any

import pytest

from bench import grown
from porch.git import worktrees
from porch.machine.state import RunState
from porch.run.engine.drive_options import DriveWatch

SIZE = 9


@pytest.mark.usefixtures("git_home")
def test_t6_there_are_never_more_checkouts_than_three_for_each_living_member(
    tmp_path: Path,
) -> None:
    repo, living, seen = tmp_path / "repo", [1], list[tuple[int, int]]()

    def count(_record: Any, state: RunState) -> None:
        found = len(worktrees.list_worktrees(str(repo))) - 1
        # Who has ended with this record goes next, before anything begins.
        seen.append((found, living[-1]))
        living.append(sum(not known.outcome for known in state.instances.values()))

    state = grown.drive_tree(repo, SIZE, DriveWatch(record=count))
    assert [pair for pair in seen if pair[0] > 3 * pair[1]] == []
    assert max(found for found, _ in seen) <= 3 * 5 < 3 * len(state.instances)
    assert len(worktrees.list_worktrees(str(repo))) == 1


@pytest.mark.usefixtures("git_home")
def test_nothing_is_kept_of_what_was_measured_in_worktrees_that_are_gone(tmp_path: Path) -> None:
    repo, most = tmp_path / "repo", [0]

    def count(_record: Any, _state: RunState) -> None:
        most.append(len(list(repo.glob(".git/porch/runs/*/trees/*.index*"))))

    grown.drive_tree(repo, 3, DriveWatch(record=count))
    assert max(most) > 0
    assert list(repo.glob(".git/porch/runs/*/trees/*.index*")) == []
