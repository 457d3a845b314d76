"""Whole protocols from the first draft to `complete`, through the command that people type."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

CORPUS = Path(__file__).parents[2] / "corpus" / "phases"
LOOP = [f"{state}:phase_{n}" for n in (1, 2, 3) for state in ("implement", "defend", "evaluate")]
PLAN = "## Implementation Phases\n\n### Phase 1: One\n- a\n\n### Phase 2: Two\n- b\n"


def agents_of(places: list[str]) -> list[str]:
    """Of all places those where an agent works, as a reader of the seed would list them."""
    inner = {"checks", "consult", "gate", "commit", "recheck", "phase_completion"}
    return [place for place in places if not inner.intersection(place.split(":"))]


@pytest.mark.req("P-002", "P-011", "P-015", "P-023", "P-024", "P-053", "P-055", "P-056", "P-097")
@pytest.mark.req("P-101", "P-130", "P-132", "P-134", "P-135", "P-136", "P-137", "P-190", "P-192")
@pytest.mark.req("P-197")
def test_spider_goes_through_all_six_phases_with_two_approvals(desk: "Desk") -> None:
    first = desk.porch("run", "spider", "0073", "--title", "User Auth", "--no-claude", code=3)
    assert "waiting for your decision: specify_approval" in first.out
    place = "worktrees/spider_0073_user-auth"
    assert desk.porch("pending", "--hook").out == "Gate pending: 0073 specify_approval\n"
    desk.porch("approve", "0073", "specify_approval")
    desk.porch("resume", "0073", code=3)
    assert desk.porch("pending", "--hook").out == "Gate pending: 0073 plan_approval\n"
    desk.porch("approve", "0073", "plan_approval")
    desk.write("staged.txt", "mine\n")
    desk.git("add", "staged.txt")
    last = desk.porch("resume", "0073")
    assert "0073-user-auth is complete" in last.out

    run = "0073-user-auth"
    assert agents_of(desk.entered(run)) == [
        "specify:draft",
        "plan:draft",
        "implement",  # where the plan is read
        *LOOP,
        "review",
        "complete",
    ]
    signals = [fact["signal"] for fact in desk.facts("ExitAccepted", run)]
    loop = ["PHASE_IMPLEMENTED", "TESTS_WRITTEN", "EVALUATION_COMPLETE"]
    assert signals == ["SPEC_DRAFTED", "PLAN_DRAFTED", *loop * 3, "REVIEW_COMPLETE"]
    project = desk.root / place / "codev" / "projects" / run
    names = {path.name for path in project.iterdir()}
    assert {"spec.md", "plan.md", "review.md"} <= names
    assert {"consultation-specify-round-1.md", "consultation-plan-round-1.md"} <= names
    status = desk.status(f"codev/projects/{run}")
    assert status["state"] == "complete"
    assert {gate["status"] for gate in status["gates"].values()} == {"approved"}
    assert {phase["status"] for phase in status["phases"].values()} == {"complete"}
    turns = [place.replace(":phase", " phase") for place in LOOP]
    worked = ["specify:draft", "plan:draft", *turns, "review"]
    subjects = desk.git("-C", place, "log", "--reverse", "--format=%s").splitlines()
    assert subjects == ["first", *(f"{run}: {place}" for place in worked)]
    files = desk.git("-C", place, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    documents = ("spec.md", "plan.md", "review.md")
    assert {f"codev/projects/{run}/{name}" for name in documents} <= set(files)
    assert desk.git("log", "--format=%s") == "first"
    assert desk.git("diff", "--cached", "--name-only") == "staged.txt"
    assert "Porch-Effect:" in desk.git("-C", place, "log", "-1", "--format=%b")

    before = desk.bytes(run, f"codev/projects/{run}")
    for words in (["run", "spider", "0073"], ["resume", "73"], ["done", "73"], ["stop", "73"]):
        assert "is already complete; nothing was changed" in desk.porch(*words).all
    assert "already complete" in desk.porch("approve", "73", "plan_approval").out
    assert desk.bytes(run, f"codev/projects/{run}") == before


def _seed(desk: "Desk", file: str) -> None:
    """A SPIDER file of the seed as it is printed there, with prompts of our own."""
    directory = desk.root / "codev" / "protocols" / "spider"
    directory.mkdir(parents=True)
    shutil.copyfile(CORPUS / file, directory / "protocol.json")
    (directory / "prompts").mkdir()
    for phase in json.loads((CORPUS / file).read_text())["phases"]:
        (directory / "prompts" / f"{phase['id']}.md").write_text(f"Phase {phase['id']}.\n")


@pytest.mark.req("P-062", "P-063", "P-064", "P-068", "P-069", "P-070", "P-071", "P-072", "P-073")
@pytest.mark.req("P-074", "P-075", "P-076", "P-077", "P-078", "P-079", "P-080", "P-106", "P-107")
@pytest.mark.parametrize(
    "file, panel", [("seed-spider-1.json", "consult"), ("seed-spider-2.json", "review")]
)
def test_the_seeds_own_spider_runs_as_it_is_printed(
    desk: "Desk", command: Callable[[str, str], Path], file: str, panel: str
) -> None:
    command("npm", 'echo "npm $*" >> "$HOME/npm.log"')
    _seed(desk, file)
    changes = [{"verdict": "REQUEST_CHANGES", "findings": ["more"]}, {"verdict": "APPROVE"}]
    script = desk.script(reviews={f"specify:{panel}": {"codex": changes}})
    words = ("run", "spider", "0001", "--title", "x", "--here", "--script", script)
    desk.porch(*words, code=3)
    desk.porch("approve", "0001", "specify_approval")
    desk.write("codev/projects/0001-x/plan.md", PLAN)
    desk.porch(*words, code=3)
    desk.porch("approve", "0001", "plan_approval")
    desk.porch(*words)
    loop = [f"{s}:phase_{n}" for n in (1, 2) for s in ("implement", "defend", "evaluate")]
    places = [place for place in desk.entered() if not place.endswith(":checks")]
    assert places[:4] == ["specify:draft", f"specify:{panel}", "specify:revise", f"specify:{panel}"]
    assert [p for p in agents_of(places) if p != "specify:review"] == [
        "specify:draft",
        "specify:revise",
        "plan:draft",
        "implement",
        *loop,
        "review",
        "complete",
    ]
    lines = (desk.root.parent / "home" / "npm.log").read_text().splitlines()
    # For each phase of the plan, and once more behind the review.
    assert lines == ["npm run build", "npm test"] * 3


@pytest.mark.req("F-007", "F-014", "F-015", "F-018", "F-019", "F-020", "F-027", "F-029", "F-030")
@pytest.mark.req("F-031", "F-032", "F-034", "F-035", "F-045", "F-046", "F-047", "F-051", "F-060")
def test_a_spider_made_of_the_format_seeds_fragments_runs(
    desk: "Desk", command: Callable[[str, str], Path]
) -> None:
    command("npm", 'echo "npm $*" >> "$HOME/npm.log"')
    command("gh", 'case "$2" in list) echo 7;; view) echo "Gemini and Codex say APPROVE";; esac')
    _seed(desk, "seed-format-spider.json")
    desk.write("codev/specs/0001-x.md", "# The spec\n")
    desk.write("app.js", "1\n")
    desk.git("add", "app.js")
    desk.git("commit", "-qm", "code")
    words = ("run", "spider", "0001", "--title", "x", "--here", "--script")
    script = desk.script(
        decisions={"plan-approval": [{"approve": True}]},
        agents={"review": [{"default": True, "signal": "all_tests_pass"}]},
    )
    said = desk.porch(*words, script, code=3)
    assert "spec-approval" in said.out
    assert "Human approves specification before planning" in desk.porch("pending").out
    desk.porch("approve", "1", "spec-approval")
    desk.write("codev/projects/0001-x/plan.md", "Just do it.\n")
    said = desk.porch(*words, script, code=3)
    assert "pr-ready" in said.out
    lines = (desk.root.parent / "home" / "npm.log").read_text().splitlines()
    assert lines == ["npm run build", "npm test"] * 2  # the phases' own, then phase_completion
    assert [f["result"] for f in desk.facts("CheckEnded") if "/pr_has_3way/" in f["effect"]] == [
        "passed"
    ]
    desk.porch("approve", "1", "pr-ready")
    assert "is complete" in desk.porch("resume", "1").out


def _project(desk: "Desk") -> None:
    desk.write("codev/projects/0073-user-auth/spec.md", "# User auth\n\nOne line.\n")
    desk.write("codev/projects/0073-user-auth/plan.md", "# Plan\n\nOne step.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a finished project")


@pytest.mark.req("P-002", "P-042", "P-172", "P-175", "P-176", "P-198")
def test_tick_amends_an_existing_project_where_it_is(desk: "Desk") -> None:
    _project(desk)
    desk.porch("run", "tick", "0073", "--title", "Add feature", "--no-claude", "--here")
    run = "tick_0073_add-feature"
    assert agents_of(desk.entered(run)) == ["understand", "implement", "verify:assess", "complete"]
    changed = desk.git("diff", "--name-only").splitlines()
    assert changed == [
        "codev/projects/0073-user-auth/plan.md",
        "codev/projects/0073-user-auth/spec.md",
    ]
    assert len(list((desk.root / "codev/projects").iterdir())) == 1
    assert desk.status(f"codev/executions/{run}")["state"] == "complete"
    reviews = desk.started("review", run)
    assert len(reviews) == 3
    assert "tick-review" in desk.prompt(reviews[0], run)
    implement = next(e for e in desk.started("agent", run) if e.startswith("implement"))
    assert "amendment" in desk.prompt(implement, run)


@pytest.mark.parametrize("lines, result", [(299, "passed"), (300, "failed")])
def test_the_scope_of_a_tick_is_measured_and_not_believed(
    desk: "Desk", lines: int, result: str
) -> None:
    _project(desk)
    script = desk.script(
        agents={"implement": [{"write": {"big.txt": "line\n" * lines}, "say": "A tiny change."}]}
    )
    desk.protocol(
        "small",
        {
            "id": "implement",
            "checks": {"scope": {"net_lines_below": 300, "max_retries": 0, "retry_delay": 0}},
        },
        subject="amendment",
    )
    words = ("run", "small", "0073", "--title", "x", "--here", "--script", script)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "the protocol and the script")
    desk.porch(*words, code=0 if result == "passed" else 3)
    check = desk.facts("CheckEnded", "small_0073_x")[0]
    assert check["result"] == result
    assert f"{lines} lines added" in check["report"]


def test_a_scope_that_cannot_be_measured_fails(desk: "Desk") -> None:
    phase = {
        "id": "implement",
        "checks": {"scope": {"net_lines_below": 300, "max_retries": 0, "retry_delay": 0}},
    }
    # The base is gone when the check looks for it.
    lose = ["sh", "-c", "rm -rf .git/porch/tree.git/objects; echo x > new.txt"]
    desk.begin(phase, agents={"implement": [{"run": lose}]}, code=3)
    assert desk.facts("CheckEnded")[0]["result"] == "unmeasured"
    assert desk.entered()[-1] == "failed:implement"


@pytest.mark.req("P-002", "P-177", "P-198")
def test_bugfix_takes_its_issue_from_a_file_and_writes_a_pull_request(desk: "Desk") -> None:
    desk.write("142.md", "# It crashes\n\nWhen the name is empty.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "an issue")
    desk.porch("run", "bugfix", "142.md", "--no-claude", "--here")
    assert agents_of(desk.entered("bugfix_142")) == ["diagnose", "fix", "test", "pr", "complete"]
    assert (desk.root / "codev/executions/bugfix_142/pr.md").exists()
    assert desk.status("codev/executions/bugfix_142")["id"] == "142"
    diagnose = desk.started("agent", "bugfix_142")[0]
    assert "When the name is empty." in desk.prompt(diagnose, "bugfix_142")


@pytest.mark.req("P-198")
def test_bugfix_also_takes_the_number_of_an_issue(desk: "Desk") -> None:
    desk.porch("run", "bugfix", "#142", "--no-claude", "--here")
    assert desk.porch("status", "142").out.startswith("142 issue-142 (bugfix)")
    assert desk.status("codev/executions/bugfix_142")["state"] == "complete"
