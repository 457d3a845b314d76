"""`envoy plan worktree`: place, branch and claim in one step, set up as the settings say."""

import subprocess
from pathlib import Path

import pytest

from porch.errors import OutsideError, PorchError
from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.claims.prompt_worktree import PromptWorktree, make_prompt_worktree
from porch.plan.files import plan_snapshot
from porch.plan.prompts import plan_document, prompt_edits
from porch.plan.prompts.prompt_edits import PromptWords
from porch.run.trust_requests import UntrustedSettingsError
from porch.store import where as places
from porch.store.where import ProjectPaths
from porch.store.worktree_records import list_records
from tests.repositories import at_home, make_repository
from tests.trust import trust_settings

SETTINGS = '[worktree]\nsetup = ["echo $PORCH_PORT_BASE > ports"]\ncopy = [".env"]\n'
ONE = parse_prompt_id(["1"])
BRANCH = "feat/x--implementation-1"


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectPaths:
    at_home(tmp_path / "home", monkeypatch)
    files = {"codev/config.toml": SETTINGS, ".gitignore": ".env\nports\n"}
    root = make_repository(tmp_path / "repo", files, "feat/x")
    (root / ".env").write_text("KEY=1\n")
    monkeypatch.chdir(root)
    trust_settings(root)
    found = places.find_project(str(root))
    plan_document.init_plan(found)
    plan_document.write_plan(found, "T", "o", "c")
    words = PromptWords(criteria="c", context="x", depends_on=())
    prompt_edits.write_prompt(found, ONE, words)
    return found


def make(where: ProjectPaths, specialist: str = "backend") -> PromptWorktree:
    return make_prompt_worktree(where, ONE, specialist)


def has_branch(where: ProjectPaths) -> bool:
    words = ["git", "show-ref", "--verify", "-q", f"refs/heads/{BRANCH}"]
    return subprocess.run(words, cwd=where.root, check=False).returncode == 0


def test_n11_place_branch_and_claim_are_made_in_one_step(where: ProjectPaths) -> None:
    made = make(where)
    place = Path(made.worktree_path)
    assert (made.branch, made.created, made.resumed) == (BRANCH, True, False)
    assert place == Path(where.root) / "worktrees" / "feat-x--implementation-1"
    assert (place / ".env").read_text() == "KEY=1\n"
    assert (place / "ports").read_text().strip() == str(made.port_base)
    prompt = plan_snapshot.read_current_plan(where).prompts[ONE]
    assert (prompt.in_progress, prompt.delegated_to) == (True, "backend")
    again = make(where)
    assert (again.created, again.resumed) == (False, True)
    assert (again.worktree_path, again.port_base) == (made.worktree_path, made.port_base)


def test_n11_where_the_set_up_fails_nothing_is_left_of_place_branch_and_claim(
    where: ProjectPaths,
) -> None:
    config = Path(where.root) / "codev/config.toml"
    config.write_text('[worktree]\nsetup = ["echo no; exit 3"]\n')
    trust_settings(Path(where.root))
    with pytest.raises(OutsideError, match="exit code 3"):
        make(where)
    assert not plan_snapshot.read_current_plan(where).prompts[ONE].in_progress
    assert not has_branch(where)
    assert not (Path(where.root) / "worktrees" / "feat-x--implementation-1").exists()
    assert not list(list_records(where))
    config.write_text(SETTINGS)
    assert make(where).created


def test_x6_no_place_is_made_with_settings_that_nobody_trusts(where: ProjectPaths) -> None:
    config = Path(where.root) / "codev/config.toml"
    config.write_text('[worktree]\nsetup = ["touch started"]\n')
    with pytest.raises(UntrustedSettingsError):
        make(where)
    assert not plan_snapshot.read_current_plan(where).prompts[ONE].in_progress
    assert not has_branch(where)
    assert not (Path(where.root) / "worktrees" / "feat-x--implementation-1").exists()


def test_n11_a_branch_with_work_is_checked_out_again_and_never_lost(where: ProjectPaths) -> None:
    made = make(where)
    place = Path(made.worktree_path)
    (place / "work.txt").write_text("done\n")
    for words in (["add", "work.txt"], ["commit", "-qm", "work"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    subprocess.run(["git", "worktree", "remove", "--force", place], cwd=where.root, check=True)
    config = Path(where.root) / "codev/config.toml"
    config.write_text('[worktree]\nsetup = ["exit 3"]\n')
    trust_settings(Path(where.root))
    with pytest.raises(OutsideError):
        make(where)
    assert has_branch(where)
    config.write_text(SETTINGS)
    again = make(where)
    assert (Path(again.worktree_path) / "work.txt").read_text() == "done\n"


def test_n11_of_two_that_want_one_prompt_one_gets_it(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "one")
    monkeypatch.setenv("CLAUDECODE", "1")
    make(where)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "two")
    with pytest.raises(PorchError):
        make(where, "frontend")
    assert plan_snapshot.read_current_plan(where).prompts[ONE].delegated_to == "backend"


def test_n11_a_directory_that_is_in_the_way_is_left_alone(where: ProjectPaths) -> None:
    place = Path(where.root) / "worktrees" / "feat-x--implementation-1"
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("mine\n")
    with pytest.raises(PorchError, match="is there already"):
        make(where)
    assert (place / "mine.txt").read_text() == "mine\n"
    assert not plan_snapshot.read_current_plan(where).prompts[ONE].in_progress
