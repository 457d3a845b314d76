"""What a pull request says of a track that no real run of the other tests has."""

from porch.fleet.finish.pull_request_text import write_pull_request_text
from porch.fleet.finish.run_work import RunWork
from tests.plans import AI, Walk, confirm, phase, plan, task

WORK = RunWork(
    repo="",
    workspace="",
    branch="",
    is_own=False,
    head="",
    into="",
    commits=0,
    files=(),
    added=0,
    removed=0,
    uncommitted=(),
)


def text_of(*findings: str) -> str:
    walk = Walk(plan(phase("P1", task("T1.1", confirm(AI)))))
    walk.work(files=["a"]).report("APPROVE", *findings)
    return write_pull_request_text(walk.protocol, walk.state, "Log in", [], WORK)


def test_e9_a_pull_request_says_what_reviewers_noted_without_stopping_the_run() -> None:
    told = text_of("(not blocking) no end")
    assert "\n## Noted by reviewers\n\n- T1.1-after-ai, checker: no end\n" in told
    assert "Noted" not in text_of()
