"""X2: a run in a worktree uses the settings of the commit it starts from, and says what differs."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.settings import PROJECT_FILE, load_settings
from tests.cli.conftest import PLACE, SETTINGS
from tests.trust import trust_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

TEST: Mapping[str, Any] = {"setting": "test", "max_retries": 0}
WORK: Mapping[str, Any] = {"id": "work", "checks": {"test": TEST}}
LOOK: Mapping[str, Any] = {"id": "look", "gate": "look"}
BASE = "[agent]\nback_off = 0.01\n"


def configure(desk: "Desk", text: str) -> None:
    """As it is written while nobody commits it."""
    (desk.root / PROJECT_FILE).write_text(text)


def commands(test: str) -> str:
    return f'{BASE}[commands]\ntest = "{test}"\n'


def words(text: str) -> str:
    return " ".join(text.split())


def results(desk: "Desk", run: str = "0001-x") -> list[str]:
    return [fact["result"] for fact in desk.facts("CheckEnded", run)]


def test_x2_a_worktree_uses_what_is_committed_and_says_what_differs(desk: "Desk") -> None:
    desk.write(PROJECT_FILE, commands("touch measured.log"))
    head = desk.git("rev-parse", "HEAD")
    configure(desk, commands("false") + "[timeouts]\ncheck = 7\n")
    said = desk.begin_in_worktree(WORK, LOOK, agents={}, code=3)
    told = f"{PROJECT_FILE} differs from commit {head[:12]} (commands.test, timeouts.check)"
    assert f"{told}; the run uses the commit" in words(said.all)
    assert "settings changed since" not in said.all
    assert (desk.root / PLACE / "measured.log").exists()
    # Whoever goes on is told as after any other change, and can take the file.
    assert (
        "settings changed since the run began: commands.test"
        in desk.porch("resume", "1", code=3).all
    )
    desk.porch("upgrade", "1")


def test_x2_in_the_checkout_the_file_counts_that_lies_there(desk: "Desk") -> None:
    desk.write(PROJECT_FILE, commands("false"))
    configure(desk, commands("true"))
    said = desk.begin(WORK, LOOK, agents={}, code=3)
    assert "(commands.test); with --here, the run uses your file" in words(said.all)
    assert results(desk)[-1] == "passed"


def test_x2_settings_that_are_the_same_are_no_news(desk: "Desk") -> None:
    configure(desk, f"# a comment\n{SETTINGS}")
    said = desk.begin_in_worktree(LOOK, agents={}, code=3)
    assert "differs" not in said.all


def test_x2_what_an_agent_writes_into_the_settings_governs_no_other_run(desk: "Desk") -> None:
    """Commands need no trust, so nothing but the commit stands in its way."""
    desk.write(PROJECT_FILE, commands("test ! -e broken"))
    weak = commands("true").replace("\n", "\\n").replace('"', '\\"')
    shell = f'printf "{weak}" > ../../{PROJECT_FILE}; touch broken'
    agents = {"work": [{"run": [["sh", "-ec", shell]]}]}
    desk.begin_in_worktree(WORK, LOOK, agents=agents, code=3)
    assert (desk.root / PROJECT_FILE).read_text() == commands("true")
    again = ("run", "p", "0002", "--title", "y", "--script", "script.yaml")
    said = desk.porch(*again, code=3)
    assert "(commands.test); the run uses the commit" in words(said.all)
    assert set(results(desk, "0002-y")) == {"failed"}


def test_x2_a_file_that_is_not_committed_counts_once_it_is(desk: "Desk") -> None:
    desk.git("rm", "-q", "--cached", PROJECT_FILE)
    desk.git("commit", "-qm", "without settings")
    configure(desk, commands("touch measured.log"))
    required = {"id": "work", "checks": {"test": {**TEST, "optional": False}}}
    said = desk.begin_in_worktree(required, LOOK, agents={}, code=None)
    assert "commands.test" in said.all
    assert f"git add {PROJECT_FILE} && git commit -m settings {PROJECT_FILE}" in words(said.all)
    desk.commit_settings()
    desk.porch("run", "p", "0002", "--title", "y", "--script", "script.yaml", code=3)
    assert (desk.root / "worktrees/p_0002_y/measured.log").exists()


@pytest.mark.parametrize("check", [{"if_missing": "skip-scripted"}, {"optional": True}])
def test_a_check_is_not_skipped_because_its_command_is_not_committed(
    desk: "Desk", check: Mapping[str, Any]
) -> None:
    desk.write(PROJECT_FILE, BASE)
    configure(desk, commands("touch measured.log"))
    work = {"id": "work", "checks": {"test": {"setting": "test", **check}}}
    said = words(desk.begin_in_worktree(work, LOOK, agents={}, code=2).all)
    kind = "optional" if "optional" in check else "required"
    assert f"check 'test' is {kind}, but [commands] test is not committed" in said
    assert "error[no-check-command]" in said
    assert "skipped checks" not in said
    assert not desk.run_dir().exists()
    fix = f"git add {PROJECT_FILE} && git commit -m settings {PROJECT_FILE}"
    assert f"fix: {fix}" in said
    subprocess.run(["sh", "-ec", fix], cwd=desk.root, check=True, capture_output=True)
    desk.porch("run", "p", "0002", "--title", "y", "--script", "script.yaml", code=3)
    assert (desk.root / "worktrees/p_0002_y/measured.log").exists()


def test_x2_a_protocol_that_is_not_committed_is_said_to_count(desk: "Desk") -> None:
    """An agent of another run may have changed it, and the worktree does not have it."""
    said = words(desk.begin_in_worktree(LOOK, agents={}, code=3).all)
    told = "not committed, too: codev/protocols/p/protocol.json; protocols are read from the"
    assert told in said
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    again = ("run", "p", "0002", "--title", "y", "--script", "script.yaml")
    assert "protocols are read" not in desk.porch(*again, code=3).all


def test_x2_reviewers_are_those_of_the_commit(desk: "Desk") -> None:
    desk.write(PROJECT_FILE, f'{BASE}[panel]\nmodels = ["one"]\n')
    configure(desk, f'{BASE}[panel]\nmodels = ["two"]\n')
    phase = {"id": "work", "consultation": {"models": ["three"]}}
    desk.begin_in_worktree(phase, LOOK, agents={}, code=None)
    assert {each.split("/")[2] for each in desk.started("review")} == {"one"}


@pytest.mark.parametrize("is_trusted", [True, False])
def test_x2_settings_of_the_commit_that_nobody_trusts_are_shown_and_can_be_trusted(
    desk: "Desk", is_trusted: bool
) -> None:
    """They start programs, whatever lies in the checkout by now."""
    configure(desk, f'{BASE}[worktree]\nsetup = ["touch made.log"]\n')
    desk.commit_settings()
    configure(desk, BASE)
    said = desk.begin_in_worktree(LOOK, agents={}, code=2)
    assert "untrusted-settings" in said.all
    assert not (desk.root / "worktrees").exists()
    head = desk.git("rev-parse", "HEAD")[:12]
    assert f"{PROJECT_FILE} in commit {head}" in desk.porch("trust", code=3).out
    if not is_trusted:
        return
    (request,) = desk.porch("trust", "--json", code=3).json["requests"]
    desk.porch("trust", request["digest"])
    desk.porch("run", "p", "0001", "--title", "x", "--script", "script.yaml", code=3)
    assert (desk.root / PLACE / "made.log").exists()


def test_x2_what_waits_in_the_checkout_waits_for_a_worktree_too(desk: "Desk") -> None:
    """It would count as soon as the worktree is made again."""
    configure(desk, f'{BASE}[worktree]\nsetup = ["touch made.log"]\n')
    desk.begin_in_worktree(LOOK, agents={}, code=2)
    trust_settings(desk.root)
    desk.porch("run", "p", "0001", "--title", "x", "--script", "script.yaml", code=3)
    assert not (desk.root / PLACE / "made.log").exists()


def test_x2_a_link_counts_as_what_it_leads_to_inside_the_commit(
    desk: "Desk", tmp_path: Path
) -> None:
    (tmp_path / "outside.toml").write_text(commands("outside"))
    (desk.root / "shared.toml").write_text(commands("inside"))
    for target, known in (("../shared.toml", {"test": "inside"}), (tmp_path / "outside.toml", {})):
        (desk.root / PROJECT_FILE).unlink()
        (desk.root / PROJECT_FILE).symlink_to(target)
        desk.git("add", "-A")
        desk.git("commit", "-qm", "a link")
        head = desk.git("rev-parse", "HEAD")
        assert dict(load_settings(str(desk.root), commit=head).commands) == known


def test_x2_a_broken_file_in_the_commit_is_named_as_such(desk: "Desk") -> None:
    configure(desk, "[commands\n")
    desk.commit_settings()
    head = desk.git("rev-parse", "HEAD")[:12]
    configure(desk, SETTINGS)
    said = desk.begin_in_worktree(LOOK, agents={}, code=2)
    assert f"{PROJECT_FILE} in commit {head}:1" in said.all
