"""Whatever a repository configures for git to run, our own calls of git do not run it."""

from pathlib import Path

import pytest

from porch.git import checkouts, command, merge, repository, worktrees
from porch.git.command import call_git
from porch.tree.branches import changes
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")


@pytest.fixture
def armed(repo: Path) -> Path:
    """A repository with two branches, in which every program that git could run leaves a mark."""
    mark = f"sh -c 'touch {repo.parent}/ran; cat'"
    program = repo.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {repo.parent}/ran\nexit 1\n")
    program.chmod(0o755)
    (repo / ".gitattributes").write_text("* filter=x merge=y diff=z\n")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "attributes")
    for branch, text in (("side", "side\n"), ("main", "main\n")):
        sh(repo, "checkout", "-q", *(("-b",) if branch == "side" else ()), branch)
        (repo / f"{branch}.txt").write_text(text)
        (repo / "a.txt").write_text(f"{text}one\n" if branch == "side" else f"one\n{text}")
        sh(repo, "add", "-A")
        sh(repo, "commit", "-qm", branch)
    for key in ("filter.x.clean", "filter.x.smudge", "filter.x.process"):
        sh(repo, "config", key, mark)
    for key in ("merge.y.driver", "diff.z.textconv", "diff.z.command", "diff.external"):
        sh(repo, "config", key, str(program))
    for key in ("gpg.program", "core.fsmonitor", "core.editor", "core.pager"):
        sh(repo, "config", key, str(program))
    for key in ("log.showSignature", "commit.gpgSign", "filter.x.required"):
        sh(repo, "config", key, "true")
    for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
        (repo / ".git" / "hooks" / name).symlink_to(program)
    return repo


def test_v3_no_program_of_a_repository_is_run_by_our_git(armed: Path, tmp_path: Path) -> None:
    here, head = str(armed), sh(armed, "-c", "log.showSignature=false", "rev-parse", "HEAD")
    (armed / "a.txt").write_text("changed\n")
    (armed / "new.txt").write_text("new\n")
    assert worktrees.list_changed_paths(here) == ["a.txt", "new.txt"]
    assert repository.commit_paths(here, ["new.txt"], "new", "Porch-Effect: 1")
    worktrees.commit_allowed_changes(here, lambda _: True, "rest", "Porch-Effect: 2")
    assert worktrees.list_changed_paths(here) == []
    merge.merge_commits(here, "main", "side")
    assert "+changed" in changes.render_diff(here, head, "HEAD")[0]
    made = changes.list_commits(here, head, "HEAD")
    assert [each.has_line("Porch-Effect:") for each in made] == [True, True]
    with checkouts.open_detached_checkout(here, str(tmp_path / "look"), "side") as place:
        assert Path(place, "side.txt").read_text() == "side\n"
    assert not (tmp_path / "ran").exists()


def test_a_filter_that_a_person_configured_everywhere_still_counts(
    repo: Path, git_home: Path
) -> None:
    with (git_home / ".gitconfig").open("a") as file:
        file.write('[filter "up"]\n\tclean = tr a-z A-Z\n')
    sh(repo, "config", "filter.up.clean", "true")
    (repo / ".gitattributes").write_text("*.txt filter=up\n")
    (repo / "new.txt").write_text("new\n")
    commit = repository.commit_paths(str(repo), ["new.txt"], "new", "Porch-Effect: 1")
    assert sh(repo, "cat-file", "blob", f"{commit}:new.txt") == "NEW"


def test_a_plain_repository_costs_no_question_to_git(repo: Path) -> None:
    assert command.disarm_environment(str(repo), call_git) == {}
    sh(repo, "config", "filter.x=y.clean", "true")
    (repo / "sub").mkdir()
    found = command.disarm_environment(str(repo / "sub"), call_git)
    assert found == {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "filter.x=y.clean",
        "GIT_CONFIG_VALUE_0": "",
    }
