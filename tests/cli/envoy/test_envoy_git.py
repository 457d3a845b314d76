"""`envoy git` as an agent types it: one envelope, whatever comes of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.cli.dispatch import run_words as run_command
from porch.cli.envoy import git as envoy_git
from porch.plan.branches import branch_diff
from tests.repositories import at_home, make_repository, sh

Told = dict[str, Any]
Git = Callable[..., Told]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    at_home(tmp_path / "home", monkeypatch)
    place = make_repository(tmp_path / "repo", {"a.txt": "one\n"}, "feat/x")
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def git(repo: Path, capsys: pytest.CaptureFixture[str]) -> Git:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", ["git", *words])
        told: Told = json.loads(capsys.readouterr().out)
        assert left == code, told
        assert told["status"] == ("error" if code else "success")
        return told

    return type_


def test_the_base_is_told(repo: Path, git: Git) -> None:
    assert git("get-base-branch")["data"]["branch"] == "main"
    told = git("is-base-branch", "--agent", "planner", "--json")["data"]
    assert (told["is_base"], told["current_branch"]) == (False, "feat/x")
    assert git("checkout-base")["data"]["previous_branch"] == "feat/x"
    assert git("is-base-branch")["data"]["is_base"] is True


@pytest.mark.req("E-026")
def test_the_difference_to_the_base_is_told(
    repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "sub").mkdir()
    (repo / "sub/new.txt").write_text("1\n2\n")
    (repo / "a.txt").write_text("other\n")
    told = git("diff-base")["data"]
    assert [row["path"] for row in told["changed_files"]] == ["a.txt", "sub/new.txt"]
    assert (told["added"], told["deleted"]) == (3, 1)
    assert "-one\n+other\n" in told["diff"]
    monkeypatch.chdir(repo / "sub")
    told = git("diff-base", "--path", "new.txt", "--summary", "--agent", "reviewer")["data"]
    assert (told["path"], told["diff"], told["added"]) == ("sub/new.txt", "", 2)
    told = git("diff-base", "--max-bytes", "60")["data"]
    assert (told["truncated"], told["truncated_files"]) == (True, ["a.txt", "sub/new.txt"])
    wrong = git("diff-base", "--path", "../../x", code=2)["error"]
    assert wrong["type"] == "outside_path"


def test_the_text_is_cut_where_the_adapter_would_cut_it() -> None:
    assert envoy_git._CAP == branch_diff.CAP


def test_what_goes_wrong_has_its_type(repo: Path, git: Git) -> None:
    assert git("create-pr", "--title", "t", "--body", "b", code=1)["error"]["type"] == "no_remote"
    sh(repo, "switch", "-q", "--detach")
    wrong = git("diff-base", code=1)["error"]
    assert (wrong["type"], bool(wrong["suggestion"])) == ("no_branch", True)
    assert git("cleanup-worktrees", code=1)["error"]["type"] == "no_branch"


def test_outside_of_a_repository_it_is_said(
    repo: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert git("get-base-branch", code=2)["error"]["type"] == "no_repository"


def test_a_pull_request_needs_words(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("envoy", ["git", "create-pr", "--title", "t"]) == 2
    assert "--body" in capsys.readouterr().err


def test_a_pull_request_is_made(
    repo: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin/gh"
    gh.write_text('#!/bin/sh\n[ "$2" = create ] && cat && echo https://example.org/pull/1\n')
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    sh(tmp_path, "init", "-q", "--bare", "remote.git")
    sh(repo, "remote", "add", "origin", str(tmp_path / "remote.git"))
    told = git("create-pr", "--title", "t", "--body", "Text\n", "--draft", "--agent", "x")["data"]
    assert (told["pr_url"], told["success"]) == ("https://example.org/pull/1", True)


def test_worktrees_that_are_left_are_told(repo: Path, git: Git, tmp_path: Path) -> None:
    branch = "feat/gone--implementation-2-A"
    sh(repo, "worktree", "add", "-q", "-b", branch, str(tmp_path / "two"))
    assert [row["branch"] for row in git("cleanup-worktrees")["data"]["orphaned"]] == [branch]
    told = git("cleanup-worktrees", "--dry-run", "--force-orphans")["data"]
    assert ([row["branch"] for row in told["cleaned"]], told["dry_run"]) == ([branch], True)
    (tmp_path / "two/.git").write_text("gitdir: /nowhere\n")
    told = git("cleanup-worktrees", "--force-orphans", code=1)
    assert [row["branch"] for row in told["data"]["errors"]] == [branch]
    assert told["error"]["suggestion"]
