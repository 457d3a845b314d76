"""A retry repeats what failed: nobody pays for an agent, a reviewer or an approval twice."""

from typing import TYPE_CHECKING

import pytest

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


@pytest.mark.parametrize("lock", ["HEAD.lock", "refs/heads/main.lock", "index.lock"])
def test_after_a_refused_commit_a_retry_only_commits_again(desk: "Desk", lock: str) -> None:
    """R3: no agent is started, the approval stands, and the lock file is named."""
    file = desk.write(f".git/{lock}", "")
    decided = {"spec-ok": [{"approve": True}]}
    desk.begin(SPEC, {"id": "build"}, agents=WRITTEN, decisions=decided, code=3)
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
