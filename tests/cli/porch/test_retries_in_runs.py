"""A retry repeats what failed: nobody pays for an agent, a reviewer or an approval twice."""

from typing import TYPE_CHECKING

import pytest

from porch.git import index_lock
from tests.earlier_releases import rewrite_journal

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok"},
    "on_complete": {"commit": True},
}
WRITTEN = {"specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}]}
# A check that is killed the first time, and passes the second time.
KILLED_ONCE = "test -e ../once || { touch ../once; kill -9 $$; }"


def retry_meaning(desk: "Desk") -> str:
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    return next(str(each["meaning"]) for each in asked["options"] if each["answer"] == "retry")


@pytest.mark.parametrize(
    "lock",
    [
        "worktrees/p_0001_x/HEAD.lock",
        "refs/heads/p_0001_x.lock",
    ],
)
def test_after_a_refused_commit_a_retry_only_commits_again(desk: "Desk", lock: str) -> None:
    """R3: no agent is started, the approval stands, and the lock file is named."""
    leave = ["sh", "-c", f"touch $(git rev-parse --git-common-dir)/{lock}"]
    locked = {"specify": [{**WRITTEN["specify"][0], "run": leave}]}
    decided = {"spec-ok": [{"approve": True}]}
    desk.begin_in_worktree(SPEC, {"id": "build"}, agents=locked, decisions=decided, code=3)
    file = desk.root / ".git" / lock
    assert desk.entered()[-1] == "failed:specify"
    shown = " ".join(desk.porch("pending").out.split())
    assert f".git/{lock} exists, so" in shown
    assert f"remove .git/{lock}" in shown
    assert f".git/{lock} exists, so" in desk.porch("log", "1").out
    assert retry_meaning(desk).startswith("commit again; no agent is started")
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-2:] == ["specify:commit", "failed:specify"]
    file.unlink()
    desk.porch("retry", "1")
    assert "is complete" in desk.porch("resume", "1").out
    agents = [effect for effect in desk.started() if "specify" in effect]
    assert len(agents) == 1
    assert desk.status()["gates"]["spec-ok"]["status"] == "approved"
    assert "Build the thing." in desk.git("log", "-p", "--all", "--", "*spec.md")


def test_in_a_checkout_a_retry_of_a_run_of_an_earlier_release_only_commits_again_too(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_lock, "WAIT_S", 0.05)
    desk.begin(SPEC, {"id": "build"}, agents=WRITTEN, code=3)
    rewrite_journal(desk.run_dir())
    desk.porch("approve", "1", "spec-ok", code=None)
    file = desk.write(".git/index.lock", "")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-2:] == ["specify:commit", "failed:specify"]
    assert ".git/index.lock exists, so" in " ".join(desk.porch("pending").out.split())
    file.unlink()
    desk.porch("retry", "1")
    assert "is complete" in desk.porch("resume", "1").out
    assert len([effect for effect in desk.started() if "specify" in effect]) == 1
    assert "Build the thing." in desk.git("log", "-p", "main", "--", "*spec.md")


def test_after_a_killed_check_a_retry_runs_the_check_and_not_the_agent(desk: "Desk") -> None:
    """R3: nothing is known about the work, so nothing is charged for it."""
    desk.begin({"id": "build", "checks": {"unit": {"command": KILLED_ONCE}}}, code=3)
    assert desk.facts("CheckEnded")[-1]["result"] == "unmeasured"
    assert retry_meaning(desk).startswith("run the checks again; no agent is started")
    desk.porch("retry", "1")
    assert "is complete" in desk.porch("resume", "1").out
    assert len(desk.started()) == 1
    moves = [move["is"] for record in desk.records() for move in record["moves"]]
    assert "Charged" not in moves


def test_after_a_failed_check_a_retry_starts_the_agent_with_new_budgets(desk: "Desk") -> None:
    """R3: a failing check is the work, and the work is what is done again."""
    failing = {"command": "false", "max_retries": 0, "retry_delay": 0}
    desk.begin({"id": "build", "checks": {"unit": failing}}, code=3)
    assert retry_meaning(desk) == "start build again with new budgets"
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=3)
    assert len(desk.started()) == 2
