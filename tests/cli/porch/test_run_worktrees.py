"""Runs in worktrees of their own, and runs that would meet in one checkout."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words
from porch.git import index_lock
from porch.store.where import find_project
from tests import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

RUN = "0001-x"
NAME = "p_0001_x"
WORK: Mapping[str, Any] = {"id": "work", "artifact": "notes.md"}
GATED: Mapping[str, Any] = {"id": "go", "gate": {"name": "go"}}
SCRIPT: Mapping[str, Any] = {
    "agents": {"work": [{"write": {"new.py": "x = 1\n"}, "say": "done"}]},
}


def committed_protocol(desk: "Desk", *phases: Mapping[str, Any], **parts: Any) -> str:
    """The protocol and its script, committed, so that the checkout is clean."""
    desk.protocol("p", *phases)
    script = desk.script(**(parts or SCRIPT))
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    return script


def words(script: str, *more: str, id_: str = "0001") -> tuple[str, ...]:
    return ("run", "p", id_, "--title", "x", "--script", script, *more)


def subjects(desk: "Desk", branch: str = NAME) -> list[str]:
    return desk.git("log", "--reverse", "--format=%s", f"main..{branch}").splitlines()


@pytest.mark.req("P-018", "P-160")
def test_r2_a_run_ends_with_its_work_on_its_own_branch(desk: "Desk") -> None:
    script = committed_protocol(desk, WORK)
    head = desk.git("rev-parse", "main")
    desk.porch(*words(script, "--worktree"))
    assert desk.git("rev-parse", "main") == head, "the person's branch has not moved"
    assert desk.git("status", "--porcelain") == "", "and their checkout is as it was"
    assert desk.git("show", f"{NAME}:new.py") == "x = 1"
    place = desk.root / "worktrees" / NAME
    assert subprocess.check_output(["git", "status", "--porcelain"], cwd=place) == b""
    exit_ = desk.facts("ExitAccepted")[0]
    assert exit_["commit"] == desk.git("rev-list", "--reverse", f"main..{NAME}").splitlines()[0]
    started = desk.facts("RunStarted")[0]
    assert (started["own_worktree"], started["branch"]) == (True, NAME)
    assert started["worktree"] == f"worktrees/{NAME}"
    assert desk.status()["worktree"] == f"worktrees/{NAME}"


def test_each_phase_is_a_commit_with_its_effect(desk: "Desk") -> None:
    two = {"id": "two"}
    script = committed_protocol(
        desk,
        {"id": "work"},
        two,
        agents={
            "work": [{"write": {"one.txt": "1"}, "say": "done"}],
            "two": [{"write": {"two.txt": "2"}, "say": "done"}],
        },
    )
    said = desk.porch(*words(script))
    assert f"committed {desk.git('rev-parse', NAME)[:12]}" in said.out
    assert subjects(desk) == ["0001-x: work", "0001-x: two"]
    body = desk.git("log", "-1", "--format=%(trailers:key=Porch-Effect,valueonly)", NAME)
    assert body.strip() == "0001-x two#1/agent/two/0"


@pytest.mark.parametrize(
    "point",
    [
        *("worktree.after-record", "worktree.after-add", "worktree.after-ready"),
        *("git.before-update-ref", "git.after-update-ref", "git.after-index"),
        *("journal.before-write:3", "journal.after-sync:3", "turn.after-end"),
    ],
)
def test_a_run_that_was_killed_anywhere_ends_with_each_commit_once(
    desk: "Desk", point: str
) -> None:
    script = committed_protocol(desk, {"id": "work"})
    dead = desk.call(*words(script, "--worktree"), code=None, PORCH_CRASH_AT=point)
    assert dead.code == -signal.SIGKILL
    desk.porch(*words(script, "--worktree"))
    assert subjects(desk) == ["0001-x: work"]
    assert desk.facts("ExitAccepted")[-1]["commit"] == desk.git("rev-parse", NAME)
    assert desk.git("worktree", "list").count("\n") == 1


def test_work_that_cannot_be_committed_is_said_and_costs_no_turn(desk: "Desk") -> None:
    script = committed_protocol(
        desk,
        {"id": "work"},
        {"id": "two"},
        agents={
            "work": [{"run": ["sh", "-c", "echo 1 > one.txt; git switch -qc other"]}],
            "two": [{"run": ["git", "switch", "-q", NAME]}],
        },
    )
    said = desk.porch(*words(script))
    assert "not committed: " in said.out
    assert "is on other" in said.out
    assert len(desk.started("agent")) == 2
    assert desk.git("rev-parse", "other") == desk.git("rev-parse", "main")
    assert desk.git("show", f"{NAME}:one.txt") == "1", "the next commit took it along"


def test_work_that_is_still_not_committed_at_the_end_is_said_and_nothing_is_merged_without_it(
    desk: "Desk",
) -> None:
    away = {"run": ["sh", "-c", "echo 1 > one.txt; git switch -qc other"], "say": "done"}
    script = committed_protocol(desk, {"id": "work"}, agents={"work": [away]})
    desk.porch(*words(script, "--worktree"))
    assert "is on other" in desk.porch("status", "1").out
    assert "porch finish 0001 tries it again" in desk.porch("status", "1").out
    assert "is on other; porch" in desk.porch("finish", "1").out
    main = desk.git("rev-parse", "main")
    refused = desk.porch("finish", "1", "--merge", code=1).err
    assert "is not committed: " in refused
    assert "is on other" in refused
    assert desk.git("rev-parse", "main") == main
    desk.git("-C", f"worktrees/{NAME}", "switch", "-q", NAME)
    desk.porch("finish", "1", "--merge")
    assert desk.git("show", "main:one.txt") == "1"
    assert "not committed" not in desk.porch("status", "1").out


@pytest.mark.parametrize(
    "ignored, copied",
    [("", ".env"), ("", "./.env"), (".env\nmodules\n", ".env"), ("/.env\nmodules*\n", ".env")],
)
def test_what_the_set_up_put_there_is_not_committed(
    desk: "Desk", ignored: str, copied: str
) -> None:
    desk.write(".env", "KEY=1\n")
    desk.write(".gitignore", ignored)
    (desk.root / "modules").mkdir()
    desk.write("modules/m.js", "m\n")
    config = (desk.root / "codev/config.toml").read_text()
    desk.write(
        "codev/config.toml", f'{config}[worktree]\ncopy = ["{copied}"]\nlink = ["modules"]\n'
    )
    desk.git("add", "codev", ".gitignore")
    desk.git("commit", "-qm", "settings")
    desk.protocol("p", WORK)
    said = desk.porch(*words(desk.script(**SCRIPT), "--worktree"))
    assert "not committed: " not in said.all
    files = desk.git("ls-tree", "-r", "--name-only", NAME).splitlines()
    assert "new.py" in files
    assert not {".env", "modules", "modules/m.js"} & set(files)


def test_agents_and_checks_know_the_ports_of_their_worktree(desk: "Desk") -> None:
    show = {"run": ["sh", "-c", 'echo "$PORCH_PORT_BASE" > agent.txt'], "say": "done"}
    phase = {"id": "work", "checks": {"ports": {"command": 'test -n "$PORCH_PORT_BASE"'}}}
    script = committed_protocol(desk, phase, agents={"work": [show]})
    desk.porch(*words(script, "--worktree"))
    assert int(desk.git("show", f"{NAME}:agent.txt")) >= 20000


def test_an_approval_stays_one_though_its_file_is_committed(desk: "Desk") -> None:
    spec = "codev/projects/0001-x/spec.md"
    gated = {"id": "draft", "artifact": "spec.md", "gate": {"name": "ok"}}
    script = committed_protocol(
        desk,
        gated,
        {"id": "work"},
        agents={
            "draft": [{"write": {spec: "# A\n"}, "say": "done"}],
            "work": [{"write": {"new.py": "x\n"}, "say": "done"}],
        },
    )
    desk.porch(*words(script, "--worktree"), code=3)
    desk.porch("approve", "1", "ok")
    desk.porch("resume", "1")
    assert desk.facts("ApprovalOutdated") == []
    assert desk.git("show", f"{NAME}:{spec}") == "# A"


def test_a_run_goes_on_where_its_worktree_was_deleted_by_hand(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, GATED, {"id": "after"}, **SCRIPT)
    desk.porch(*words(script, "--worktree"), code=3)
    shutil.rmtree(desk.root / "worktrees")
    desk.porch("approve", "1", "go")
    said = desk.porch("resume", "1")
    assert "was gone; it was made again" in said.all
    assert (desk.root / "worktrees" / NAME / "new.py").exists()


def test_a_lock_that_a_killed_git_left_in_the_worktree_costs_no_commit(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_lock, "WAIT_S", 0.05)
    left = 'echo 1 > one.txt; touch "$(git rev-parse --git-path index.lock)"'
    script = committed_protocol(
        desk, {"id": "work"}, agents={"work": [{"run": ["sh", "-c", left], "say": "done"}]}
    )
    assert "not committed" not in desk.porch(*words(script, "--worktree")).all
    assert "not committed" not in desk.porch("finish", "1", "--merge").all
    assert desk.git("show", "main:one.txt") == "1"


GONE: Mapping[str, Any] = {"run": ["sh", "-c", 'rm -rf "$PWD"'], "say": "done"}


def test_a_turn_whose_worktree_was_deleted_does_not_count_and_is_taken_again(desk: "Desk") -> None:
    mark = desk.root.parent / "deleted"
    once = f'test -e {mark} && echo "x = 1" > new.py || {{ touch {mark}; rm -rf "$PWD"; }}'
    turn = {"run": ["sh", "-c", once], "say": "done"}
    script = committed_protocol(desk, {"id": "work"}, agents={"work": [turn]})
    said = desk.porch(*words(script))
    assert len(desk.started("agent")) == 2
    assert "its worktree was deleted" in said.out
    assert "its worktree was deleted" in desk.porch("log", "1").out
    assert desk.git("show", f"{NAME}:new.py") == "x = 1"


def test_a_worktree_that_is_deleted_in_every_turn_ends_with_a_question_that_says_why(
    desk: "Desk",
) -> None:
    script = committed_protocol(desk, {"id": "work"}, agents={"work": [GONE]})
    desk.porch(*words(script, "--worktree"), code=3)
    assert len(desk.started("agent")) == 5
    assert "its worktree was deleted" in desk.porch("status", "1").out


def test_a_turn_of_a_dead_runner_does_not_count_if_its_worktree_is_another_one(
    desk: "Desk",
) -> None:
    script = committed_protocol(desk, {"id": "work"}, **SCRIPT)
    desk.call(*words(script, "--worktree"), code=None, PORCH_CRASH_AT="turn.after-end")
    shutil.rmtree(desk.root / "worktrees")
    desk.porch("resume", "1")
    assert len(desk.started("agent")) == 2
    assert desk.git("show", f"{NAME}:new.py") == "x = 1"


def test_work_reported_by_hand_is_committed(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, GATED)
    desk.porch(*words(script, "--worktree", "--hands-off"), code=None)
    (desk.root / "worktrees" / NAME / "mine.txt").write_text("m\n")
    desk.porch("done", "1", code=None)
    assert desk.git("show", f"{NAME}:mine.txt") == "m"


def test_edits_after_the_end_are_the_persons(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, **SCRIPT)
    desk.porch(*words(script, "--worktree"))
    head = desk.git("rev-parse", NAME)
    (desk.root / "worktrees" / NAME / "mine.txt").write_text("m\n")
    desk.porch(*words(script, "--worktree"))
    assert desk.git("rev-parse", NAME) == head


# Which place a run gets.


def test_r15_a_trial_does_not_commit_to_the_persons_branch(desk: "Desk") -> None:
    desk.git("commit", "-q", "--allow-empty", "-m", "mine")
    head = desk.git("rev-parse", "main")
    desk.porch("run", "bugfix", "142", "--no-claude")
    assert desk.git("rev-parse", "main") == head
    assert desk.git("branch", "--show-current") == "main"
    assert subjects(desk, "bugfix_142")


def test_r15_here_is_a_word_for_those_who_want_it(desk: "Desk") -> None:
    desk.protocol("p", WORK)
    desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here")
    assert desk.facts("RunStarted", "1-x")[0]["worktree"] == "."
    assert not (desk.root / "worktrees").exists()


def test_r15_outside_git_a_trial_works_where_it_is_if_a_person_wants_that(
    desk: "Desk", tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.root = tmp_path / "plain"
    desk.root.mkdir()
    monkeypatch.chdir(desk.root)
    desk.protocol("p", WORK)
    said = desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here").out
    assert f"working in {desk.root}\nnot a git repository" in said
    for more in ((), ("--worktree",)):
        said = desk.porch("run", "p", "2", "--title", "x", "--no-claude", *more, code=2).err
        assert "error[no-repository]" in said


@pytest.mark.req("P-211")
def test_every_run_has_a_worktree_of_its_own_with_a_real_agent_too(real: "Desk") -> None:
    """X16: the rehearsal is the same play."""
    real.protocol("p", {"id": "work", "signals": {"DONE": "complete"}})
    real.git("add", "-A")
    real.git("commit", "-qm", "a protocol")
    head = real.git("rev-parse", "main")
    said = real.porch("run", "p", "0001", "Do it", "--title", "x").out
    place = real.root / "worktrees" / NAME
    assert f"working in the worktree {place} on branch {NAME}, starting from main" in said
    assert f"from main ({head[:12]})" in said
    started = real.facts("RunStarted")[0]
    assert (started["own_worktree"], "commits_nothing" in started) == (True, False)
    assert (real.git("rev-parse", "main"), real.git("status", "--porcelain")) == (head, "")


def test_the_start_on_no_branch_and_in_a_subdirectory_is_said(desk: "Desk") -> None:
    script = committed_protocol(desk, WORK)
    desk.git("switch", "-q", "--detach")
    head = desk.git("rev-parse", "HEAD")[:12]
    inner = desk.root / "codev"
    done = commands.run("porch", words(script), inner, os.environ)
    assert f"worktrees/{NAME} on branch {NAME}, starting from no branch ({head})" in done.stdout


def test_the_word_for_a_worktree_changes_nothing(desk: "Desk") -> None:
    script = committed_protocol(desk, WORK)
    for id_, more in (("0001", ()), ("0002", ("--worktree",))):
        desk.porch(*words(script, *more, id_=id_))
        assert desk.facts("RunStarted", f"{id_}-x")[0]["worktree"] == f"worktrees/p_{id_}_x"


def test_the_two_words_exclude_each_other(desk: "Desk") -> None:
    desk.protocol("p", WORK)
    said = desk.porch("run", "p", "1", "--title", "x", "--here", "--worktree", code=2)
    assert "exclude each other" in said.err


def test_r15_without_a_name_for_git_it_is_said_as_whom_porch_commits(
    desk: "Desk", home: Any
) -> None:
    script = committed_protocol(desk, {"id": "work"}, **SCRIPT)
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    from porch.git import repository

    repository._IDENTITIES.clear()
    said = desk.porch(*words(script, "--worktree"))
    repository._IDENTITIES.clear()
    assert "porch commits as porch <porch@localhost>" in said.all
    assert desk.git("log", "-1", "--format=%an", NAME) == "porch"


@pytest.mark.parametrize("branch", ["porch/v3_add", "porch/v3_add.one", "porch/v3_add--tests"])
def test_r7_a_tree_does_not_commit_onto_a_persons_branch(desk: "Desk", branch: str) -> None:
    from porch.errors import UsageError
    from porch.run.worktrees.free_place import require_free_tree

    desk.git("branch", branch)
    with pytest.raises(UsageError, match="exists already"):
        require_free_tree(find_project(str(desk.root)), "porch/v3_add")


# Leases.


def test_r3_a_second_run_in_one_checkout_is_refused_with_the_way_out(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, GATED, **SCRIPT)
    desk.porch(*words(script, "--here"), code=3)
    said = desk.porch(*words(script, "--here", id_="0002"), code=4)
    assert "the run 0001-x works in" in said.err
    assert "leave out --here" in said.err
    assert not desk.run_dir("0002-x").exists()
    assert not (desk.root / "codev/projects/0002-x").exists()
    desk.porch(*words(script, id_="0002"), code=3)


def test_r3_the_checkout_is_free_when_its_run_was_stopped(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, GATED, **SCRIPT)
    desk.porch(*words(script, "--here"), code=3)
    desk.porch("stop", "1")
    desk.porch(*words(script, "--here", id_="0002"), code=3)
    said = desk.porch("resume", "1", code=4)
    assert "the run 0002-x works in" in said.err


def test_r3_a_complete_run_has_its_checkout_until_it_is_finished(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, **SCRIPT)
    desk.porch(*words(script, "--here"))
    said = desk.porch(*words(script, "--here", id_="0002"), code=4).err
    assert "the run 0001-x is complete, and its files in" in said
    assert "new.py" in said
    assert "leave out --here" in said
    assert "porch finish 0001 --keep" in said
    assert not desk.run_dir("0002-x").exists()
    desk.porch(*words(script, id_="0002"))
    desk.git("add", "-A")
    desk.git("commit", "-qm", "by hand")
    desk.porch(*words(script, "--here", id_="0003"))


@pytest.mark.parametrize(
    "way", [("add", "-A"), ("clean", "-fdq", "--", "new.py", "codev/projects"), ("keep",)]
)
def test_r3_a_complete_run_without_anything_to_finish_blocks_nobody(
    desk: "Desk", way: tuple[str, ...]
) -> None:
    script = committed_protocol(desk, {"id": "work"}, **SCRIPT)
    desk.porch(*words(script, "--here"))
    if way == ("keep",):
        desk.porch("finish", "1", "--keep")
    else:
        desk.git(*way)
        desk.git("commit", "-qm", "by hand", "--allow-empty")
    desk.porch(*words(script, "--here", id_="0002"))


def test_r3_what_a_person_writes_after_a_complete_run_blocks_no_other(desk: "Desk") -> None:
    committed_protocol(desk, {"id": "work"})
    desk.porch("run", "p", "0001", "--title", "x", "--here", "--no-claude")
    desk.write("mine.py", "mine = True\n")
    desk.porch("run", "p", "0002", "--title", "y", "--here", "--no-claude")


def test_r3_a_dead_runner_still_has_its_checkout(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, **SCRIPT)
    desk.call(*words(script, "--here"), code=None, PORCH_CRASH_AT="turn.after-spawn")
    desk.porch(*words(script, "--here", id_="0002"), code=4)
    desk.porch("resume", "1")
    desk.porch("finish", "1", "--keep")
    desk.porch(*words(script, "--here", id_="0002"))


def test_r3_of_runs_that_begin_at_once_one_gets_the_checkout(desk: "Desk") -> None:
    script = committed_protocol(desk, {"id": "work"}, GATED, **SCRIPT)
    started = [desk.start(*words(script, "--here", id_=f"000{n}")) for n in range(1, 5)]
    codes = sorted(each.wait(timeout=90) for each in started)
    assert codes == [3, 4, 4, 4]


@pytest.mark.req("P-159", "P-162")
def test_r3_several_at_once_in_worktrees_of_their_own_all_come_through(desk: "Desk") -> None:
    desk.write(".gitignore", "out/\n")
    build = {"command": "mkdir out && echo $PROJECT_ID > out/$PROJECT_ID"}
    script = committed_protocol(desk, {"id": "work", "checks": {"build": build}}, **SCRIPT)
    started = [desk.start(*words(script, "--worktree", id_=f"000{n}")) for n in range(1, 5)]
    assert [each.wait(timeout=90) for each in started] == [0] * 4
    for number in range(1, 5):
        assert subjects(desk, f"p_000{number}_x") == [f"000{number}-x: work"]
        built = desk.root / "worktrees" / f"p_000{number}_x" / "out"
        assert [path.name for path in built.iterdir()] == [f"000{number}"], "each has its own"
    assert not (desk.root / "out").exists()


# TICK and BUGFIX.


@pytest.mark.req("P-020", "P-025", "P-173")
def test_r2_tick_finishes_alone_with_its_state_in_the_main_checkout(desk: "Desk") -> None:
    desk.write("codev/projects/0073-user-auth/spec.md", "# User auth\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a project")
    run = "tick_0073_add-feature"
    desk.porch("run", "tick", "0073", "--title", "Add feature", "--no-claude")
    assert desk.status(f"codev/executions/{run}")["state"] == "complete"
    assert desk.facts("DecisionAsked", run) == []
    assert not (desk.root / "worktrees" / run / f"codev/executions/{run}/status.yaml").exists()
    files = desk.git("ls-tree", "-r", "--name-only", run).splitlines()
    assert f"codev/executions/{run}/amendment.md" in files
    assert f"codev/executions/{run}/consultation-verify-round-1.md" in files, "R2: reviews too"
    assert "### add-feature" in desk.git("show", f"{run}:codev/projects/0073-user-auth/spec.md")


@pytest.mark.req("P-021", "P-026", "P-178")
def test_bugfix_finishes_alone_with_its_state_in_the_main_checkout(desk: "Desk") -> None:
    desk.porch("run", "bugfix", "142", "--no-claude")
    assert desk.status("codev/executions/bugfix_142")["state"] == "complete"
    assert desk.facts("DecisionAsked", "bugfix_142") == []
    assert "codev/executions/bugfix_142/pr.md" in desk.git(
        "ls-tree", "-r", "--name-only", "bugfix_142"
    )


@pytest.mark.req("P-174")
def test_the_scope_of_a_tick_is_measured_from_its_base_though_work_is_committed(
    desk: "Desk",
) -> None:
    check = {"scope": {"net_lines_below": 300, "max_retries": 0, "retry_delay": 0}}
    desk.protocol("p", {"id": "work"}, {"id": "more", "checks": check}, subject="amendment")
    big = {"write": {"big.txt": "line\n" * 300}, "say": "A tiny change."}
    script = desk.script(agents={"work": [big]})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch(*words(script, "--worktree"), code=3)
    ended = desk.facts("CheckEnded", "p_0001_x")[-1]
    assert (ended["result"], "300 lines added" in ended["report"]) == ("failed", True)


def test_a_run_of_a_bare_repository_is_committed_goes_on_and_is_merged_like_any_other(
    desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = committed_protocol(desk, {"id": "work"}, GATED, {"id": "after"}, **SCRIPT)
    bare = tmp_path / "hall" / "repo.git"
    desk.git("clone", "-q", "--bare", str(desk.root), str(bare))
    (bare / "codev").symlink_to(desk.root / "codev")  # its protocols, seen from the repository
    desk.root = bare
    monkeypatch.chdir(bare)
    desk.porch(*words(script, "--worktree"), code=3)
    place = tmp_path / "hall" / "worktrees" / NAME
    assert subjects(desk)[0] == "0001-x: work"
    (bare / "codev").unlink()
    desk.porch("approve", "1", "go")
    assert "settings changed" not in desk.porch("resume", "1").all
    assert "merged into main" in desk.porch("finish", "1", "--merge").out
    assert desk.git("show", "main:new.py") == "x = 1"
    assert run_words("af", ["cleanup", "1"]) == 0
    assert not place.exists()


def test_a_run_that_cannot_begin_leaves_no_worktree_and_no_branch_whatever_the_reason(
    desk: "Desk",
) -> None:
    script = committed_protocol(desk, WORK)
    desk.write("codev/projects/0001-x", "a file where a directory has to be")
    said = desk.porch(*words(script, "--worktree"), code=6).err
    assert "codev/projects/0001-x" in said
    assert "fix:" in said
    assert desk.git("branch", "--list", NAME) == ""
    assert not (desk.root / "worktrees" / NAME).exists()


def test_a_run_inside_the_worktree_of_another_run_belongs_to_the_project(desk: "Desk") -> None:
    """X15"""
    script = committed_protocol(desk, WORK)
    desk.porch(*words(script, "--worktree"))
    assert desk.git("rev-parse", NAME) != desk.git("rev-parse", "main")
    place = desk.root / "worktrees" / NAME
    more = words(script, "--worktree", id_="0002")
    done = commands.run("porch", more, place, os.environ)
    assert done.returncode == 0, done.stderr
    assert f"This directory is the worktree of {RUN}." in done.stdout
    assert f"starts from the project ({desk.root}) on main" in done.stdout
    started = desk.facts("RunStarted", "0002-x")[0]
    assert (started["into"], started["base_commit"]) == ("main", desk.git("rev-parse", "main"))
    assert started["worktree"] == "worktrees/p_0002_x"


def test_what_a_set_up_command_wrote_is_committed_only_once_it_was_changed(desk: "Desk") -> None:
    """X17"""
    setup = "echo made > same.txt; mkdir out; echo made > out/new.txt; echo made > changed.txt"
    desk.write("codev/config.toml", f"[worktree]\nsetup = ['{setup}']\n")
    work = {"write": {"changed.txt": "by the agent\n"}, "say": "done"}
    script = committed_protocol(desk, WORK, agents={"work": [work]})
    said = desk.porch(*words(script, "--worktree")).out
    files = desk.git("ls-tree", "-r", "--name-only", NAME).splitlines()
    assert "same.txt" not in files
    assert "out/new.txt" not in files
    assert desk.git("show", f"{NAME}:changed.txt") == "by the agent"
    assert "not committed" not in said
    assert (desk.root / "worktrees" / NAME / "same.txt").exists()
    assert "archive" not in desk.git("for-each-ref", "--format=%(refname)")
