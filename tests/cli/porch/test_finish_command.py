"""The way out of a run: merged, proposed or kept, once, and nobody's changes touched."""

import json
import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.fleet.finish.proposal import WrittenText, split_text
from porch.git import index_lock
from tests.earlier_releases import rewrite_journal
from tests.torture import choose_some

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

NAME = "p_0001_x"
CHECKED: Mapping[str, Any] = {"id": "work", "checks": {"tests": {"setting": "test"}}}
SETTINGS = '[agent]\nback_off = 0.01\n\n[commands]\ntest = "test -f new.py && test ! -f bad.txt"\n'
GH = """#!/bin/sh
echo "$@" >> {room}/calls
case "$1 $2" in
  "pr view") test -f {room}/open && cat {room}/open || exit 1 ;;
  "pr create") cat > {room}/body; echo https://example.org/pull/7 ;;
  "pr comment") test ! -f {room}/mute || exit 1; cat > {room}/comment ;;
esac
"""


def ended(desk: "Desk", *more: str, settings: str = SETTINGS) -> str:
    """A run that has ended, on its own branch unless `--here` is given; what it said."""
    desk.protocol("p", CHECKED)
    desk.write("codev/config.toml", settings)
    turn = {"write": {"new.py": "x = 1\n"}, "say": "done"}
    script = desk.script(agents={"work": [turn]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    return desk.porch("run", "p", "0001", "--title", "x", "--script", script, *more).out


def committed(desk: "Desk", name: str, text: str, message: str = "mine") -> None:
    desk.write(name, text)
    desk.git("add", "-A")
    desk.git("commit", "-qm", message)


def finished(desk: "Desk") -> list[str]:
    return [fact["how"] for fact in desk.facts("WorkFinished")]


def test_r2_the_end_of_a_run_says_what_was_done_and_how_to_finish(desk: "Desk") -> None:
    said = ended(desk)
    assert f"1 commit on branch {NAME}: 1 file, 1 line added, 0 removed" in said
    assert "1 agent turn, 0.00 USD" in said
    assert "porch finish 0001 (--merge into main, --squash, --pr, --keep)" in said
    assert desk.facts("RunStarted")[0]["into"] == "main"


def test_finish_without_an_option_says_what_each_would_do_and_changes_nothing(
    desk: "Desk",
) -> None:
    ended(desk)
    before, records = desk.git("for-each-ref"), len(desk.records())
    said = desk.porch("finish", "0001").out
    assert "Nothing was changed" in said
    assert "  the scripted agent wrote these files: examples, not work\n" in said
    for option in ("--merge", "--squash", "--pr", "--keep"):
        assert f"porch finish 0001 {option}" in said
    assert "merge into main" in said
    assert (desk.git("for-each-ref"), len(desk.records())) == (before, records)
    assert "exclude each other" in desk.porch("finish", "0001", "--pr", "--keep", code=2).err


def test_merge_makes_a_merge_commit_with_the_files_and_says_so_everywhere(desk: "Desk") -> None:
    ended(desk)
    committed(desk, "other.txt", "2\n")
    said = desk.porch("finish", "0001", "--merge").out
    assert "0001-x: merged into main (" in said
    assert "checked on the merged files: test passed" in said
    assert desk.git("log", "-1", "--format=%P").count(" ") == 1, "two parents"
    assert (desk.root / "new.py").read_text() == "x = 1\n"
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("worktree", "list").count("\n") == 1, "the checkout for the checks is gone"
    assert "merged into main" in desk.porch("status", "0001").out
    again = desk.porch("finish", "0001").out
    assert again == "0001-x is already merged into main; nothing was changed\n"
    assert desk.status()["finished"] == "merged into main"
    assert "merged into main" in desk.porch("log", "0001").out


@pytest.mark.parametrize("is_old", [False, True])
def test_a_run_that_was_finished_is_not_told_to_be_finished_again(
    desk: "Desk", is_old: bool
) -> None:
    ended(desk, *(["--here"] if is_old else []))
    if is_old:
        rewrite_journal(desk.run_dir())
    desk.porch("finish", "0001", "--merge")
    for words in (["resume", "0001"], ["run", "p", "0001"]):
        said = desk.porch(*words).out
        assert "finish it" not in said
        assert f"  it is {'committed on' if is_old else 'merged into'} main" in said


def test_the_work_goes_to_the_branch_that_one_stood_on(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(desk)
    desk.git("worktree", "add", "-q", "../side", "-b", "feature")
    monkeypatch.chdir(desk.root.parent / "side")
    script = str(desk.root / "script.yaml")
    desk.porch("run", "p", "0002", "--title", "y", "--script", script, "--worktree")
    assert desk.facts("RunStarted", "0002-y")[0]["into"] == "feature"
    main = desk.git("rev-parse", "main")
    desk.porch("finish", "2", "--merge")
    assert desk.git("rev-parse", "main") == main
    assert desk.git("show", "feature:new.py") == "x = 1"


def test_where_one_stood_on_no_branch_finish_asks_for_one_and_guesses_nothing(
    desk: "Desk",
) -> None:
    ended(desk)
    desk.git("switch", "-q", "--detach")
    script = str(desk.root / "script.yaml")
    said = desk.porch("run", "p", "0002", "--title", "y", "--script", script, "--worktree").out
    assert "porch finish 0002 (--merge --into BRANCH" in said
    assert "name the one that gets the work with --into BRANCH" in desk.porch("finish", "2").out
    refs = desk.git("for-each-ref", "refs/heads")
    for way in ("--merge", "--squash", "--pr"):
        assert "began on no branch" in desk.porch("finish", "2", way, code=1).err
    assert desk.git("for-each-ref", "refs/heads") == refs
    assert "merged into main" in desk.porch("finish", "2", "--merge", "--into", "main").out


def test_a_second_finish_is_a_notice_and_nothing_is_merged_twice(desk: "Desk") -> None:
    ended(desk)
    desk.porch("finish", "0001", "--squash")
    assert desk.git("log", "-1", "--format=%s %P").startswith("0001 x ")
    head = desk.git("rev-parse", "main")
    for option in ("--squash", "--merge", "--keep"):
        assert "nothing was changed" in desk.porch("finish", "0001", option).out
    assert desk.git("rev-parse", "main") == head
    assert finished(desk) == ["squashed"]


@pytest.mark.parametrize("way", ["--merge", "--squash"])
def test_work_that_is_merged_goes_into_another_branch_if_one_is_named(
    desk: "Desk", way: str
) -> None:
    ended(desk)
    desk.git("branch", "release")
    desk.porch("finish", "0001", "--merge")
    main = desk.git("rev-parse", "main")
    for option in ("--pr", "--keep"):
        assert "nothing was changed" in desk.porch("finish", "1", option, "--into", "release").out
    assert "0001-x: merged into release" in desk.porch("finish", "1", way, "--into", "release").out
    assert desk.git("show", "release:new.py") == "x = 1"
    for words in ([way], [way, "--into", "release"]):
        assert "nothing was changed" in desk.porch("finish", "0001", *words).out
    assert desk.git("rev-parse", "main") == main


def test_the_branch_of_the_run_itself_is_no_target(desk: "Desk") -> None:
    ended(desk)
    own = ("--into", "p_0001_x")
    for words in (own, ("--merge", *own), ("--pr", *own)):
        assert "is the branch of the run itself" in desk.porch("finish", "1", *words, code=1).err
    assert "0001-x: merged into main" in desk.porch("finish", "0001", "--merge").out


def test_a_finish_after_the_branch_was_tidied_away_says_where_the_work_is(desk: "Desk") -> None:
    ended(desk)
    desk.porch("finish", "0001", "--merge")
    desk.git("worktree", "remove", "--force", "worktrees/p_0001_x")
    desk.git("branch", "-D", "p_0001_x")
    for way in ([], ["--merge"]):
        assert "is already merged into main" in desk.porch("finish", "0001", *way).out


def test_a_branch_that_was_put_away_is_brought_back_as_the_message_says(desk: "Desk") -> None:
    ended(desk)
    desk.git("worktree", "remove", "--force", "worktrees/p_0001_x")
    desk.git("branch", "-M", "p_0001_x", "archive/p_0001_x")
    said = desk.porch("finish", "0001", "--merge", code=1).err
    fix = re.search(r"bring it back: git (.*)", said)
    assert fix
    desk.git(*fix[1].split())
    assert "merged into main" in desk.porch("finish", "0001", "--merge").out


def test_r5_what_finish_prints_names_one_run_only(desk: "Desk") -> None:
    ended(desk)
    desk.porch("finish", "0001", "--merge")
    said = desk.porch("run", "tick", "0001", "--title", "y", "--no-claude", "--worktree").out
    ways = re.findall(r"porch finish (\S+)", said)
    ways += re.findall(r"porch finish (\S+)", desk.porch("finish", "tick_0001_y").out)
    assert set(ways) == {"tick_0001_y"}


def test_a_failed_check_on_the_merged_files_refuses_with_the_report(desk: "Desk") -> None:
    ended(desk)
    committed(desk, "bad.txt", "together they fail\n")
    head = desk.git("rev-parse", "main")
    said = desk.porch("finish", "0001", "--merge", code=1).err
    assert "test failed on the merged files" in said
    assert "exit code 1" in said
    assert (desk.git("rev-parse", "main"), finished(desk)) == (head, [])
    assert desk.git("worktree", "list").count("\n") == 1


def test_a_conflict_names_the_files_and_the_way_out_which_works(desk: "Desk") -> None:
    ended(desk)
    committed(desk, "new.py", "x = 2\n")
    before = desk.git("for-each-ref")
    said = desk.porch("finish", "0001", "--merge", code=1).err
    assert "Files: new.py" in said
    assert "git merge main" in said
    assert "finish again with --accept-changes" in said
    assert desk.git("for-each-ref") == before
    assert f"{NAME} and main conflict in new.py" in desk.porch("finish", "0001").out
    place = str(desk.root / "worktrees" / NAME)
    desk.git("-C", place, "merge", "-q", "-X", "ours", "main")
    desk.porch("finish", "0001", "--merge", "--accept-changes")
    assert (desk.root / "new.py").read_text() == "x = 1\n"


def test_a_dirty_target_is_refused_with_the_other_ways_and_never_touched(desk: "Desk") -> None:
    ended(desk)
    (desk.root / "codev/config.toml").write_text(SETTINGS + "\n")
    said = desk.porch("finish", "0001", "--merge", code=1).err
    assert "codev/config.toml" in said
    assert "--pr" in said
    assert "--keep" in said
    desk.git("checkout", "-q", "codev/config.toml")
    desk.write("new.py", "mine, untracked\n")
    assert "new.py" in desk.porch("finish", "0001", "--merge", code=1).err
    assert (desk.root / "new.py").read_text() == "mine, untracked\n"
    assert "finish-dirty-target" in desk.porch("finish", "0001", "--merge", "--json", code=1).all
    assert not desk.facts("WorkFinished")


def test_a_lock_of_git_in_the_target_is_named_with_its_own_way_out(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3: the checkout is clean, and there is nothing to move away."""
    monkeypatch.setattr(index_lock, "WAIT_S", 0.05)
    ended(desk)
    lock = desk.write(".git/index.lock", "")
    said = " ".join(desk.porch("finish", "0001", "--merge", code=6).err.split())
    assert "error[git-locked]: .git/index.lock exists" in said
    assert "remove .git/index.lock" in said
    lock.unlink()
    desk.porch("finish", "0001", "--merge")


def test_another_branch_can_be_named_which_need_not_be_checked_out(desk: "Desk") -> None:
    ended(desk)
    desk.git("branch", "release")
    desk.porch("finish", "0001", "--merge", "--into", "release")
    assert desk.git("show", "release:new.py") == "x = 1"
    assert not (desk.root / "new.py").exists()


def test_a_target_that_moves_during_the_checks_is_merged_and_checked_again(desk: "Desk") -> None:
    moved = desk.root.parent / "moved"
    meanwhile = f"touch {moved}; git -C {desk.root} commit -q --allow-empty -m meanwhile"
    test = f"case $PWD in *finish_*) test -f {moved} || {{ {meanwhile}; }};; esac"
    ended(desk, settings=f'[agent]\nback_off = 0.01\n\n[commands]\ntest = "{test}"\n')
    desk.porch("finish", "0001", "--merge")
    assert moved.exists()
    assert desk.git("log", "-1", "--format=%s", "HEAD^1") == "meanwhile"
    assert desk.git("show", "HEAD:new.py") == "x = 1"


def test_a_target_that_does_not_exist_is_refused(desk: "Desk") -> None:
    ended(desk)
    for way in (["--merge"], []):
        said = desk.porch("finish", "0001", *way, "--into", "nowhere", code=1).err
        assert "there is no branch 'nowhere'" in said
        assert "--into BRANCH" in said
    assert not desk.facts("WorkFinished")


def test_a_target_that_was_renamed_is_said_and_another_can_be_named(desk: "Desk") -> None:
    ended(desk)
    desk.git("branch", "-m", "main", "trunk")
    said = desk.porch("finish", "0001").out
    assert "it began on main, and there is no such branch now" in said
    assert "there is no branch 'main'" in desk.porch("finish", "0001", "--merge", code=1).err
    assert "merged into trunk" in desk.porch("finish", "1", "--merge", "--into", "trunk").out


def test_keep_leaves_the_branch_and_a_merge_can_follow(desk: "Desk") -> None:
    ended(desk)
    assert f"kept on branch {NAME}" in desk.porch("finish", "0001", "--keep").out
    desk.porch("finish", "0001", "--merge")
    assert finished(desk) == ["kept", "merged"]


def test_only_a_complete_run_is_merged(desk: "Desk") -> None:
    desk.protocol("p", {"id": "work", "checks": {"tests": {"command": "false", "max_retries": 0}}})
    desk.write("codev/config.toml", SETTINGS)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    words = ("run", "p", "0001", "--title", "x", "--worktree", "--no-claude")
    desk.porch(*words, code=3)
    desk.porch("answer", "0001", "failed:work", "stopped", "--as-person", code=None)
    desk.porch("resume", "0001", code=None)
    refused = desk.porch("finish", "0001", "--merge", code=1)
    assert "only a complete run is merged" in refused.err
    assert not desk.facts("WorkFinished")


def test_a_run_that_has_not_ended_is_not_finished(desk: "Desk") -> None:
    desk.begin({"id": "go", "gate": {"name": "go"}}, code=3)
    assert "has not ended" in desk.porch("finish", "0001", "--merge", code=1).err


def test_only_people_finish(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    ended(desk)
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "only people" in desk.porch("finish", "0001", "--merge", code=2).err
    desk.porch("finish", "0001", "--merge", "--as-person")
    assert desk.facts("WorkFinished")[0]["as_person"] is True


KILL_POINTS = [
    *("finish.after-candidate", "finish.after-checks", "merge.before-swap"),
    *("merge.after-swap", "merge.after-checkout", "finish.before-record"),
]
# One after the other of both options, so that each third is one of each.
KILLED = [(option, point) for point in KILL_POINTS for option in ("--merge", "--squash")]


@pytest.mark.torture
@pytest.mark.parametrize("option, point", choose_some(KILLED, 3))
def test_killed_anywhere_the_next_finish_ends_it_and_merges_once(
    desk: "Desk", point: str, option: str
) -> None:
    ended(desk)
    before = int(desk.git("rev-list", "--count", "--first-parent", "main"))
    dead = desk.call("finish", "0001", option, code=None, PORCH_CRASH_AT=point)
    assert dead.code == -signal.SIGKILL
    desk.porch("finish", "0001", option)
    assert int(desk.git("rev-list", "--count", "--first-parent", "main")) == before + 1
    assert desk.git("status", "--porcelain") == ""
    assert len(finished(desk)) == 1
    assert desk.git("worktree", "list").count("\n") == 1


@pytest.mark.parametrize("rule, place", [("new.py", "new.py"), ("/new.py/", "new.py/kept.txt")])
def test_a_file_that_git_ignores_is_never_overwritten(desk: "Desk", rule: str, place: str) -> None:
    ended(desk)
    exclude = desk.root / ".git" / "info" / "exclude"
    exclude.write_text(f"{exclude.read_text()}\n{rule}\n")
    desk.write(place, "only here\n")
    head = desk.git("rev-parse", "main")
    said = desk.porch("finish", "0001", "--merge", code=1).err
    assert "files that git ignores" in said
    assert "would be overwritten (new.py)" in said
    assert (desk.root / place).read_text() == "only here\n"
    assert (desk.git("rev-parse", "main"), finished(desk)) == (head, [])
    (desk.root / place).rename(desk.root.parent / "aside")
    assert "merged into main" in desk.porch("finish", "0001", "--merge").out


def test_a_commit_of_a_submodule_that_only_the_run_has_is_pushed_first(
    desk: "Desk", tmp_path: Path
) -> None:
    inner, work = tmp_path / "lib.git", desk.root / "worktrees" / NAME / "lib"
    desk.git("clone", "-q", "--bare", str(desk.root), str(inner))
    desk.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    ended(desk)
    allowed = ("-c", "protocol.file.allow=always")
    desk.git("-C", str(work.parent), *allowed, "submodule", "update", "-q", "--init")
    desk.git("-C", str(work), "commit", "-q", "--allow-empty", "-m", "inside")
    desk.git("-C", str(work.parent), "commit", "-qam", "the submodule moves")
    main = desk.git("rev-parse", "main")
    for way in ("--merge", "--squash", "--pr"):
        said = desk.porch("finish", "0001", way, code=1).err
        assert "the submodule lib is at" in said
        assert f"git -C {work} push origin HEAD:refs/heads/BRANCH" in said
    assert desk.git("rev-parse", "main") == main
    desk.git("-C", str(work), "push", "-q", "origin", "HEAD:refs/heads/new")
    said = desk.porch("finish", "0001", "--merge", "--accept-changes").out
    assert "merged into main" in said


# --- pull requests


@pytest.fixture
def remote(desk: "Desk", tmp_path: Path) -> Path:
    place = tmp_path / "remote.git"
    desk.git("init", "-q", "--bare", str(place))
    desk.git("remote", "add", "origin", str(place))
    return place


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    room = tmp_path / "gh"
    (room / "bin").mkdir(parents=True)
    (room / "bin/gh").write_text(GH.format(room=room))
    (room / "bin/gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{room}/bin{os.pathsep}{os.environ['PATH']}")
    return room


@pytest.mark.req("P-016")
def test_p24_a_pull_request_holds_what_was_asked_measured_and_decided(
    desk: "Desk", remote: Path, gh: Path
) -> None:
    desk.write("codev/config.toml", SETTINGS)
    gated = {"id": "go", "gate": {"name": "go"}}
    desk.protocol("p", CHECKED, gated)
    script = desk.script(agents={"work": [{"write": {"new.py": "x = 1\n"}, "say": "done"}]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--script", script, "--worktree", code=3)
    desk.porch("approve", "0001", "go")
    desk.porch("resume", "0001")
    said = desk.porch("finish", "0001", "--pr").out
    assert "pull request https://example.org/pull/7" in said
    assert desk.git("-C", str(remote), "rev-parse", NAME) == desk.git("rev-parse", NAME)
    body = (gh / "body").read_text()
    for heading in ("## What was asked", "## Checks", "## Decisions"):
        assert heading in body
    assert "- work, tests: passed" in body
    assert "approved by" in body
    assert f"--base main --head {NAME}" in (gh / "calls").read_text()
    assert "pull request https://example.org/pull/7" in desk.porch("status", "0001").out


@pytest.mark.req("P-180")
def test_p24_a_bugfix_ends_with_the_pull_request_that_its_agent_wrote(
    desk: "Desk", remote: Path, gh: Path
) -> None:
    desk.write("142.md", "The button is red.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "settings")
    asked = desk.porch("run", "bugfix", "--issue", "142.md", "--no-claude").out
    assert "porch finish 142 (--merge into main, --squash, --pr, --keep)" in asked
    assert "https://example.org/pull/7" in desk.porch("finish", "142", "--pr").out
    (opened,) = [line for line in (gh / "calls").read_text().splitlines() if "pr create" in line]
    assert "--base main --head bugfix_142" in opened
    assert "--title Fix what the issue describes" in opened
    body = (gh / "body").read_text()
    assert body.startswith("The cause is in `codev/executions/bugfix_142/diagnosis.md`.\n")
    assert "> The button is red." in body
    assert "- complete, tests: passed" in body


@pytest.fixture
def own_agent(desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command of one's own as the agent, and a person who wants pull requests from protocol p."""
    own = tmp_path / "settings" / "porch"
    own.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent))
    (own / "config.toml").write_text('[finish]\npull_request = ["p"]\n')
    words = ["sh", "-c", "cat > /dev/null; echo 'x = 1' > new.py; echo done"]
    desk.write("codev/config.toml", f"{SETTINGS}\n[agents.mine]\ncommand = {json.dumps(words)}\n")
    desk.protocol("p", CHECKED)
    # So that the tests pass before the work, too, and nobody is asked about them.
    desk.write("new.py", "x = 0\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    return own / "config.toml"


RUN = ("run", "p", "0001", "--title", "x", "--agent", "mine", "--worktree")


@pytest.mark.req("P-180")
def test_p24_a_protocol_that_ends_with_a_pull_request_opens_it_at_its_end(
    desk: "Desk", remote: Path, gh: Path, own_agent: Path
) -> None:
    said = desk.porch(*RUN)
    assert "https://example.org/pull/7" in said.out + said.err
    assert (gh / "calls").read_text().count("pr create") == 1
    assert desk.git("-C", str(remote), "rev-parse", NAME) == desk.git("rev-parse", NAME)
    assert finished(desk) == ["proposed"]
    desk.porch("resume", "0001")
    assert (gh / "calls").read_text().count("pr create") == 1, "once, however often it is resumed"


def test_p24_nothing_is_published_without_gh_a_remote_or_the_wish_of_a_person(
    desk: "Desk", gh: Path, own_agent: Path, tmp_path: Path
) -> None:
    said = desk.porch(*RUN)
    assert "porch finish 0001 (--merge into main, --squash, --pr, --keep)" in said.out
    assert not (gh / "calls").exists(), "there is no remote"
    desk.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    desk.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    own_agent.write_text("[finish]\npull_request = []\n")
    desk.porch("resume", "0001")
    assert not (gh / "calls").exists(), "the person does not want it"
    own_agent.write_text('[finish]\npull_request = ["p"]\n')
    desk.call("resume", "0001", CLAUDECODE="1", code=None)
    assert not (gh / "calls").exists(), "agents publish nothing"
    assert finished(desk) == []


def test_p24_a_pull_request_that_cannot_be_opened_loses_nothing(
    desk: "Desk", gh: Path, own_agent: Path
) -> None:
    desk.git("remote", "add", "origin", "/nowhere/at/all.git")
    said = desk.porch(*RUN)
    assert "the pull request was not opened" in said.out + said.err
    assert "`porch finish 0001 --pr`" in said.out + said.err
    assert desk.entered()[-1] == "complete"


def test_what_an_agent_wrote_for_a_pull_request_needs_no_heading() -> None:
    assert split_text("# A title\n\nText.\n") == WrittenText("A title", "Text.")
    assert split_text("Only text.\n") == WrittenText("", "Only text.")
    assert split_text("") == WrittenText()


def test_p24_an_open_pull_request_is_found_and_said(desk: "Desk", remote: Path, gh: Path) -> None:
    ended(desk)
    known = {"url": "https://example.org/pull/3", "state": "OPEN", "headRefName": NAME}
    (gh / "open").write_text(json.dumps(known))
    said = desk.porch("finish", "0001", "--pr").out
    assert "was open already" in said
    assert "https://example.org/pull/3" in said
    assert "pr create" not in (gh / "calls").read_text()
    assert desk.facts("WorkFinished")[0]["url"] == known["url"]


def test_without_gh_the_branch_is_pushed_and_the_way_to_look_at_it_printed(
    desk: "Desk", remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(desk)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    said = desk.porch("finish", "0001", "--pr").out
    assert f"git diff origin/main...origin/{NAME}" in said
    assert desk.git("-C", str(remote), "rev-parse", NAME)
    assert finished(desk) == ["pushed"]


def test_a_pull_request_of_work_on_the_base_branch_itself_is_refused(
    desk: "Desk", remote: Path, gh: Path
) -> None:
    ended(desk, "--here")
    rewrite_journal(desk.run_dir())
    said = desk.porch("finish", "0001", "--pr", code=1).err
    assert "needs a branch of its own" in said
    assert not (gh / "calls").exists()


def test_an_old_run_of_a_checkout_on_a_topic_branch_is_proposed(
    desk: "Desk", remote: Path, gh: Path
) -> None:
    desk.git("switch", "-qc", "topic")
    ended(desk, "--here")
    rewrite_journal(desk.run_dir())
    desk.porch("finish", "0001", "--pr")
    assert "--base main --head topic" in (gh / "calls").read_text()
    assert desk.git("show", "topic:new.py") == "x = 1"


def test_work_that_a_pull_request_has_committed_is_not_called_unchecked(
    desk: "Desk", remote: Path, gh: Path
) -> None:
    desk.git("switch", "-q", "-c", "feature")
    ended(desk, "--here")
    rewrite_journal(desk.run_dir())
    desk.porch("finish", "0001", "--pr")
    said = desk.porch("finish", "0001", "--merge").out
    assert "the work was there already" in said
    assert "no check was set" not in said
