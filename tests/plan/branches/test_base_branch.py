"""Which branch is the base, asked in real repositories, and what everybody may work on directly."""

from pathlib import Path

import pytest

from porch.plan.branches import base_branch
from porch.plan.branches.base_branch import FoundBase
from tests.repositories import sh

NOTHING: dict[str, str] = {}


def named(name: str) -> dict[str, str]:
    return {"BASE_BRANCH": name}


def test_main_is_found_from_a_branch_of_it(repo: Path) -> None:
    sh(repo, "switch", "-qc", "feat/x")
    assert base_branch.find_base_branch(str(repo), NOTHING) == FoundBase("main", "detected")


@pytest.mark.parametrize("name", ["master", "develop", "staging", "production"])
def test_the_other_usual_names_are_found_where_there_is_no_main(repo: Path, name: str) -> None:
    sh(repo, "branch", "-m", "main", name)
    sh(repo, "switch", "-qc", "feat/x")
    assert base_branch.find_base_branch(str(repo), NOTHING) == FoundBase(name, "detected")


def test_the_first_of_the_usual_names_wins(repo: Path) -> None:
    sh(repo, "branch", "-m", "main", "production")
    sh(repo, "branch", "develop")
    assert base_branch.find_base_branch(str(repo), NOTHING).branch == "develop"


def test_a_branch_without_common_history_is_no_base(repo: Path) -> None:
    sh(repo, "branch", "develop")
    sh(repo, "switch", "-qc", "feat/x")
    sh(repo, "branch", "-D", "main")
    sh(repo, "switch", "-q", "--orphan", "main")
    sh(repo, "commit", "-q", "--allow-empty", "-m", "another beginning")
    sh(repo, "switch", "-q", "feat/x")
    assert base_branch.find_base_branch(str(repo), NOTHING) == FoundBase("develop", "detected")


def test_the_environment_names_any_branch_that_exists(repo: Path) -> None:
    sh(repo, "branch", "release/1")
    assert base_branch.find_base_branch(str(repo), named("release/1")) == FoundBase(
        "release/1", "environment"
    )


@pytest.mark.parametrize("name", ["nowhere", "main~0", "HEAD", "-f", "../main", "main^{commit}"])
def test_what_names_no_branch_is_passed_over_and_said(repo: Path, name: str) -> None:
    found = base_branch.find_base_branch(str(repo), named(name))
    assert (found.branch, found.source) == ("main", "detected")
    assert name in found.note


def test_main_is_said_where_nothing_is_found(empty: Path) -> None:
    assert base_branch.find_base_branch(str(empty), NOTHING) == FoundBase("main", "default")


def test_a_clone_of_one_branch_knows_the_base_of_its_origin(repo: Path, tmp_path: Path) -> None:
    sh(repo, "branch", "feat/x")
    sh(tmp_path, "clone", "-q", "-b", "feat/x", str(repo), "clone")
    clone = str(tmp_path / "clone")
    assert base_branch.find_base_branch(clone, NOTHING) == FoundBase("main", "detected")
    assert base_branch.branch_commit(clone, "main") == sh(repo, "rev-parse", "main")


@pytest.mark.parametrize(
    "branch",
    [
        *("main", "master", "develop", "development", "dev", "staging", "stage", "production"),
        *("prod", "quick/fix", "curator/x", "docs/readme"),
    ],
)
def test_on_these_nobody_plans(branch: str) -> None:
    assert base_branch.is_protected_branch(branch)


@pytest.mark.parametrize("branch", ["feat/x", "mainly", "quick", "docs", "feat/docs/x", "Main", ""])
def test_on_others_somebody_does(branch: str) -> None:
    assert not base_branch.is_protected_branch(branch)
