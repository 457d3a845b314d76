"""`envoy plan` and `envoy git merge-worktree` as an agent types them, in a real repository."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.cli.dispatch import run_words as run_command
from porch.cli.rows import ENVOY as ROWS
from porch.cli.rows import CommandRow
from tests import commands
from tests.repositories import at_home, make_repository

Told = dict[str, Any]
Envoy = Callable[..., Told]
HOME = Path(".claude/plans/feat~x")
PLAN_ROWS = [row for row in ROWS if row.module.endswith(".plan")]
PLAN = ("plan", "write-plan", "--title", "T", "--objective", "o", "--context", "c")


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    at_home(tmp_path / "home", monkeypatch)
    monkeypatch.delenv("N_PARALLEL_WORKERS", raising=False)
    place = make_repository(tmp_path / "repo", {"a.txt": "one\n"}, "feat/x")
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def envoy(root: Path, capsys: pytest.CaptureFixture[str]) -> Envoy:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", words)
        told: Told = json.loads(capsys.readouterr().out)
        assert left == code, told
        if code:
            assert set(told) == {"status", "error"}
            assert told["status"] == "error"
            assert set(told["error"]) == {"type", "message", "suggestion", "findings"}
            assert told["error"]["message"]
            assert told["error"]["suggestion"], told
            return dict(told["error"])
        assert set(told) == {"status", "data"}
        assert told["status"] == "success"
        return dict(told["data"])

    return type_


def really(root: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The command itself, in a process of its own."""
    return commands.run("envoy", words, root, {**os.environ, **environ})


@pytest.mark.req("E-020", "E-024", "E-028", "E-041", "E-081")
def test_a_prompt_is_carried_from_its_plan_to_its_end(root: Path, envoy: Envoy) -> None:
    envoy("plan", "init", "--agent", "planner")
    envoy(*PLAN)
    words = ("--files", "src/a.py, b.py", "--criteria", "green", "--context", "All of it")
    told = envoy("plan", "write-prompt", "1", *words, "--depends-on", "", "--description", "d")
    assert (told["id"], told["created"]) == ("1", True)
    envoy("plan", "write-prompt", "2", "b", "--depends-on", "[1]", "--debug", "--requires-testing")
    told = envoy("plan", "read-prompt", "2b")
    assert told["front_matter"]["depends_on"] == [1]
    assert (told["front_matter"]["kind"], told["id"]) == ("debug", "2_B")
    assert told["front_matter"]["requires_manual_testing"] is True
    told = envoy("plan", "next", "-n", "3")
    assert [row["prompt_num"] for row in told["prompts"]] == [1]
    assert told["blocked"] == [{"id": "2_B", "waiting_on": [1]}]
    work = root.parent / "work"
    branch = "feat/x--implementation-1"
    git(root, "worktree", "add", "-q", "-b", branch, str(work))
    told = envoy("plan", "start-prompt", "1", "--specialist", "backend", "--worktree", branch)
    assert told["worktree_path"] == str(work)
    (work / "a.txt").write_text("x\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "work")
    told = envoy("plan", "record-implementation", "1", "--walkthrough", "Done.", "--iteration", "1")
    assert told["status"] == "implemented"
    merged = envoy("git", "merge-worktree", "1")["merge_commit_hash"]
    assert git(root, "rev-parse", "HEAD") == merged
    assert envoy("plan", "complete-prompt", "1")["status"] == "merged"
    told = envoy("plan", "get-prompt-walkthrough", "1")
    assert (told["merge_commit_hash"], "a.txt" in told["git_diff_summary"]) == (merged, True)
    assert envoy("plan", "get-all-walkthroughs")["count"] == 1
    assert envoy("plan", "mark-prompt-extracted", "1")["documentation_extracted"] is True
    assert envoy("plan", "mark-all-documented")["marked_count"] == 0
    told = envoy("plan", "complete", code=1)
    assert told["type"] == "prompts_not_merged"
    assert envoy("plan", "clear-prompt", "2_B")["deleted"] is True
    assert envoy("plan", "complete", "--summary", "All is well")["stage"] == "completed"
    assert envoy("plan", "check")["summary"] == "All is well\n"
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.req("E-088")
def test_an_iteration_after_a_review_is_recorded(root: Path, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "1")
    envoy("plan", "start-prompt", "1", "--specialist", "backend")
    record = ("plan", "record-implementation", "1", "--walkthrough", "Done.", "--iteration")
    envoy(*record, "1")
    told = envoy(*record, "2", code=2)
    assert told["type"] == "missing_refinement_reason"
    told = envoy(*record, "2", "--refinement-reason", "Review feedback: shorter")
    assert (told["iteration"], told["type"]) == (2, "review-refinement")
    told = envoy(
        *record, "3", "--refinement-reason", "They tried it", "--type", "testing-refinement"
    )
    assert told["type"] == "testing-refinement"


WRONG: list[tuple[tuple[str, ...], str, int]] = [
    (("plan", "read-prompt", "9"), "not_found", 1),
    (("plan", "read-prompt", "../1"), "invalid_number", 2),
    (("plan", "read-prompt", "0"), "invalid_number", 2),
    (("plan", "read-prompt", "1", "AB"), "invalid_variant", 2),
    (("plan", "write-prompt", "1/../2"), "invalid_number", 2),
    (("plan", "write-prompt", "1", "A"), "standalone_exists", 2),
    (("plan", "write-prompt", "1", "--depends-on", "1_A"), "invalid_number", 2),
    (("plan", "write-prompt", "1", "--depends-on", "9" * 5000), "invalid_number", 2),
    (("plan", "write-prompt", "1", "--depends-on", "\u00b2"), "invalid_number", 2),
    (("plan", "write-prompt", "1", "--depends-on", "1"), "self_dependency", 2),
    (("plan", "write-prompt", "2", "--depends-on", "7"), "unknown_dependency", 2),
    (("plan", "write-prompt", "2", "--files", "../x"), "bad_path", 2),
    (("plan", "update-prompt-dependencies", "9", "--depends-on", ""), "not_found", 1),
    (("plan", "clear-prompt", "9"), "not_found", 1),
    (("plan", "next", "-n", "0"), "invalid_count", 2),
    (("plan", "start-prompt", "9", "--specialist", "a"), "not_found", 1),
    (("plan", "start-prompt", "1", "--specialist", "../a"), "invalid_specialist", 2),
    (
        ("plan", "start-prompt", "1", "--specialist", "a", "--worktree", "a b"),
        "bad_worktree",
        2,
    ),
    (
        ("plan", "record-implementation", "1", "--walkthrough", "x", "--iteration", "1"),
        "not_started",
        1,
    ),
    (
        ("plan", "record-implementation", "1", "--walkthrough", " ", "--iteration", "1"),
        "missing_walkthrough",
        2,
    ),
    (("plan", "complete-prompt", "1"), "not_merged", 1),
    (("plan", "get-prompt-walkthrough", "9"), "not_found", 1),
    (("plan", "mark-prompt-extracted", "9"), "not_found", 1),
    (("git", "merge-worktree", "1"), "no_worktree", 1),
    (("git", "merge-worktree", "x"), "invalid_number", 2),
    (("plan", "append-user-input", " "), "empty_content", 1),
    (
        ("plan", "write-plan", "--title", " ", "--objective", "", "--context", ""),
        "empty_content",
        2,
    ),
]


def test_what_is_refused_has_its_type_its_code_and_a_way_out(root: Path, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "1")
    before = (root / HOME / "prompts/1.md").read_bytes()
    for words, type_, code in WRONG:
        assert envoy(*words, code=code)["type"] == type_, words
    assert (root / HOME / "prompts/1.md").read_bytes() == before
    assert sorted(os.listdir(root / HOME / "prompts")) == ["1.md"]


NO_PLAN = [
    ("get-full-plan",),
    ("validate-dependencies",),
    ("next",),
    ("read-prompt", "1"),
    ("clear-prompt", "1"),
    ("start-prompt", "1", "--specialist", "a"),
    ("record-implementation", "1", "--walkthrough", "x", "--iteration", "1"),
    ("complete-prompt", "1"),
    ("release-all-prompts",),
    ("get-prompt-walkthrough", "1"),
    ("get-all-walkthroughs",),
    ("mark-prompt-extracted", "1"),
    ("mark-all-documented",),
    ("update-prompt-dependencies", "1", "--depends-on", ""),
    ("complete",),
]


def test_without_a_plan_a_branch_or_a_repository_it_is_said(
    root: Path, envoy: Envoy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in NO_PLAN:
        assert envoy("plan", *words, code=1)["type"] == "no_plan", words
    assert envoy("git", "merge-worktree", "1", code=1)["type"] == "no_plan"
    assert not (root / ".claude").exists()
    assert envoy("plan", "status")["exists"] is False
    assert envoy("plan", "check")["exists"] is False
    git(root, "switch", "-q", "--detach")
    for words in (("init",), ("status",), ("check",), *NO_PLAN):
        assert envoy("plan", *words, code=1)["type"] == "no_branch", words
    monkeypatch.chdir(tmp_path)
    for words in (("init",), ("status",), ("check",), *NO_PLAN):
        assert envoy("plan", *words, code=2)["type"] == "no_repository", words


def test_a_journal_that_cannot_be_trusted_is_exit_5(root: Path, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "1")
    journal = root / ".git/porch/runs/plan_feat~x/journal.jsonl"
    data = bytearray(journal.read_bytes())
    data[len(data) // 3] ^= 1
    journal.write_bytes(data)
    for words in (("init",), ("check",), ("next",), ("start-prompt", "1", "--specialist", "a")):
        assert envoy("plan", *words, code=5)["type"] == "journal_damaged"
    assert journal.read_bytes() == bytes(data)


def test_a_file_in_the_way_is_exit_6_in_the_same_shape(root: Path, envoy: Envoy) -> None:
    (root / ".claude").write_text("not a directory")
    told = envoy_outside(root)
    assert told["status"] == "error"
    assert (root / ".claude").read_text() == "not a directory"


def envoy_outside(root: Path) -> Told:
    done = really(root, "plan", "init")
    assert done.returncode == 6, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def test_who_calls_goes_into_the_log(root: Path, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "1", "--agent", "planner")
    envoy("plan", "append-user-input", "hello", "--agent", "hook")
    text = (root / ".git/porch/runs/plan_feat~x/journal.jsonl").read_text()
    facts = [json.loads(line)["fact"] for line in text.splitlines()]
    told = [(fact["action"], fact["agent"]) for fact in facts if fact["is"] == "PlanMoved"]
    assert told == [("write-prompt", "planner"), ("append-user-input", "hook")]
    assert "planner" not in (root / HOME / "prompts/1.md").read_text()


@pytest.mark.parametrize("row", PLAN_ROWS, ids=lambda row: row.words)
def test_help_is_given_and_does_nothing_else(
    root: Path, capsys: pytest.CaptureFixture[str], row: CommandRow
) -> None:
    assert run_command("envoy", [*row.words.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert row.help in " ".join(text.split())
    assert "--agent NAME" in text
    assert not (root / ".claude").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "init", "--nope"),
        ("plan", "nope"),
        ("plan", "write-plan", "--title", "T"),
        ("plan", "start-prompt", "1"),
        ("plan", "record-implementation", "1", "--walkthrough", "x", "--iteration", "one"),
        ("plan", "record-implementation", "1", "--walkthrough", "x", "--iteration", "9" * 5000),
        ("plan", "next", "-n", "many"),
        ("plan", "update-prompt-dependencies", "1"),
        ("plan", "read-prompt"),
        ("plan", "read-prompt", "1", "A", "B"),
        ("plan", "append-user-input"),
        ("plan", "append-user-input", "\udcff"),
    ],
)
def test_a_command_that_is_typed_wrong_does_nothing(
    root: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert run_command("envoy", words) == 2
    assert "error[usage]" in capsys.readouterr().err
    assert not (root / ".claude").exists()


@pytest.mark.req("E-022", "E-023")
def test_the_command_itself_answers_in_a_worktree(root: Path, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "1", "--context", "\u00c4ll of it")
    work = root.parent / "work"
    git(root, "worktree", "add", "-q", "-b", "feat/x--implementation-1", str(work))
    done = really(work, "plan", "read-prompt", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["data"]["content"] == "\u00c4ll of it"
    done = really(work, "plan", "start-prompt", "1", "--specialist", "a", N_PARALLEL_WORKERS="3")
    assert json.loads(done.stdout)["data"]["worktree_path"] == str(work)
    assert git(work, "status", "--porcelain") == ""
    assert not (work / ".claude").exists()
    done = really(work, "plan", "start-prompt", "1", "--specialist", "b")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["type"] == "already_in_progress"
    done = really(work, "plan", "start-prompt", "1", "--specialist", "b", "--take-over")
    assert done.returncode == 0
    done = really(work, "plan", "release-all-prompts")
    assert [each["id"] for each in json.loads(done.stdout)["data"]["kept"]] == ["1"]


@pytest.mark.req("E-089")
def test_a_conflict_is_exit_1_and_leaves_the_tree(root: Path, envoy: Envoy) -> None:
    envoy("plan", "write-prompt", "1")
    work = root.parent / "work"
    git(root, "worktree", "add", "-q", "-b", "feat/x--implementation-1", str(work))
    for place, text in ((work, "mine\n"), (root, "theirs\n")):
        (place / "a.txt").write_text(text)
        git(place, "add", "-A")
        git(place, "commit", "-qm", text.strip())
    envoy("plan", "start-prompt", "1", "--specialist", "a")
    envoy("plan", "record-implementation", "1", "--walkthrough", "x", "--iteration", "1")
    head = git(root, "rev-parse", "HEAD")
    done = really(root, "git", "merge-worktree", "1")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert (error["type"], "a.txt" in error["message"]) == ("merge_conflict", True)
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "status", "--porcelain") == git(work, "status", "--porcelain") == ""
    assert (root / "a.txt").read_text() == "theirs\n"
