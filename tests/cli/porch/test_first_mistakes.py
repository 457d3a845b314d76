"""The ten mistakes of a first day: each message says what to do, and doing exactly that works."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from porch.cli.dispatch import run_words
from porch.run.start_settings import COMMIT_SETTINGS

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open, Said

PHASE = {"id": "one", "signals": {"DONE": "complete"}}
GATED = {**PHASE, "gate": {"name": "note_approval", "next": None}}
# Plays the part of the installer: afterwards the agent is where it was before.
NPM = """#!/bin/sh
test "$*" = "install -g @anthropic-ai/claude-code" && mv {away} {there}
"""


def told(said: "Said") -> str:
    """The message on one line, as a person reads it."""
    return " ".join(said.err.split())


def quoted(text: str, begins: str) -> str:
    """The command between backticks that begins so."""
    found: list[str] = [each for each in re.findall(r"`([^`]+)`", text) if each.startswith(begins)]
    assert found, text
    return found[0]


def do(command: str) -> None:
    """Type exactly this; commands of porch are called in this process."""
    first, *words = shlex.split(command)
    if first in ("porch", "codev"):
        assert run_words(first, words) == 0
    else:
        subprocess.run(["sh", "-c", command], check=True, capture_output=True)


def runs(desk: "Desk") -> list[str]:
    return [row["id"] for row in desk.porch("status", "--json").json["runs"]]


def test_mistake_1_a_wrong_id_is_answered_with_the_near_one(real: "Desk") -> None:
    assert 'to start one: porch run spider "what you want"' in told(real.porch("log", "1", code=2))
    real.protocol("p", GATED)
    real.porch("run", "p", "Greet people", code=3)
    said = told(real.porch("status", "0011", code=2))
    assert "there is no run '0011' fix: did you mean '0001'?" in said
    assert "known runs: 0001-greet-people" in said
    assert "Greet people" in real.porch("status", "0001").out


def test_mistake_1_nobody_is_paid_to_change_a_project_that_is_not_there(real: "Desk") -> None:
    real.write("codev/projects/0073-search/spec.md", "# Search\n")
    real.write("codev/config.toml", '[commands]\ntest = "true"\n[panel]\nmodels = ["claude"]\n')
    said = told(real.porch("run", "tick", "0037", "Two more", "--once", code=2))
    assert "error[no-project]: tick changes an existing project, and there is no project" in said
    assert "did you mean '0073'?" in said
    assert runs(real) == []
    real.porch("run", "tick", "0073", "Two more", "--once", code=None)
    assert runs(real) == ["0073"]


def test_mistake_2_outside_git_one_command_makes_a_place_to_work_in(
    real: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    said = told(real.porch("run", "spider", "Greet people", code=2))
    assert "error[no-repository]: there is no git here" in said
    do(quoted(said, "codev init"))
    # The other refusal was said at once, too.
    assert "error[no-check-command]" in said
    config = empty / "codev" / "config.toml"
    config.write_text(config.read_text().replace('# test = "your command"', 'test = "true"'))
    said = told(real.porch("run", "spider", "Greet people", code=2))
    assert "[commands] test is not committed" in said
    do(COMMIT_SETTINGS)
    assert COMMIT_SETTINGS in said
    real.porch("run", "spider", "Greet people", "--once", code=None)
    assert runs(real) == ["0001"]


def test_mistake_3_without_the_agent_the_line_that_installs_it_is_told(
    real: "Desk", tmp_path: Path
) -> None:
    real.protocol("p", PHASE)
    there, away = tmp_path / "names" / "claude", tmp_path / "away"
    there.rename(away)
    (tmp_path / "names" / "mv").symlink_to(shutil.which("mv", path=os.defpath) or "mv")
    npm = tmp_path / "names" / "npm"
    npm.write_text(NPM.format(away=away, there=there))
    npm.chmod(0o755)
    said = told(real.porch("run", "p", "Greet people", code=6))
    assert "error[agent-missing]: the agent 'claude' is not installed" in said
    assert "agent-login" not in said
    do(quoted(said, "npm"))
    real.porch("run", "p", "Greet people")
    assert runs(real) == ["0001"]


def test_mistake_4_without_a_login_the_variable_is_named(
    real: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    real.protocol("p", PHASE)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    said = told(real.porch("run", "p", "Greet people", code=6))
    assert "error[agent-login]: the agent 'claude' is not logged in" in said
    assert "run `claude` once and log in, or set ANTHROPIC_API_KEY" in said
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    real.porch("run", "p", "Greet people")
    assert runs(real) == ["0001"]


def test_mistake_5_a_dirty_tree_is_said_at_the_start_and_in_the_way_of_a_merge(
    real: "Desk",
) -> None:
    real.protocol("p", PHASE)
    real.git("add", "-A")
    real.git("commit", "-qm", "a protocol")
    (real.root / "codev" / "config.toml").write_text('[commands]\ntest = "true"\n')
    began = real.porch("run", "p", "Greet people", "--worktree").out
    assert "codev/config.toml" in began
    assert "the new worktree begins without" in began
    worktree = real.root / "worktrees" / "p_0001_greet-people"
    (worktree / "greeting.txt").write_text("Hello\n")
    real.git("-C", str(worktree), "add", "-A")
    real.git("-C", str(worktree), "commit", "-qm", "greet")
    said = told(real.porch("finish", "1", "--merge", "--accept-changes", code=None))
    assert "which has changes that are not committed: codev/config.toml" in said
    do(quoted(said, "git "))
    assert "merged into main" in real.porch("finish", "1", "--merge", "--accept-changes").out
    assert (real.root / "greeting.txt").read_text() == "Hello\n"
    real.git("stash", "pop", "-q")
    assert '"true"' in (real.root / "codev" / "config.toml").read_text()


def test_mistake_6_a_mistyped_or_forgotten_protocol_is_noticed(real: "Desk") -> None:
    real.protocol("note", PHASE)
    said = told(real.porch("run", "ntoe", "Greet people", code=2))
    assert "there is no protocol 'ntoe' fix: did you mean 'note'?" in said
    said = told(real.porch("run", code=2))
    assert 'fix: porch run "what you want"' in said
    said = told(real.porch("run", "Greet", code=2))
    assert """there is no protocol 'Greet'""" in said
    assert "if it is your request: porch run --request Greet;" in said
    assert 'a longer request stands in quotes: porch run "what you want"' in said
    assert runs(real) == []
    real.porch("run", "note", "Greet people")
    assert runs(real) == ["0001"]


def test_a_request_without_a_protocol_is_for_the_protocol_of_the_project(real: "Desk") -> None:
    real.protocol("note", PHASE)
    config = real.root / "codev" / "config.toml"
    config.write_text(f'{config.read_text()}\n[run]\nprotocol = "note"\n')
    said = real.porch("run", "Greet people").out
    assert "protocol: note, the default of this project ([run] protocol)" in said
    assert real.facts("RunStarted", "0001-greet-people")[0]["protocol"] == "note"
    assert "Greet people" in real.prompts("0001-greet-people")[0]


def test_the_name_of_a_protocol_is_no_request(desk: "Desk") -> None:
    said = told(desk.porch("run", "spider", "--no-claude", code=2))
    assert 'fix: porch run spider "what you want"' in said
    assert "no-request" in told(desk.porch("run", "bugfix", "--no-claude", code=2))
    said = told(desk.porch("run", "spider", "tick", "--no-claude", code=2))
    assert "'tick' is the name of a protocol" in said
    assert runs(desk) == []
    desk.porch("run", "spider", "--request", "tick", "--no-claude", "--once", code=None)
    assert desk.facts("RunStarted", "0001-tick")[0]["protocol"] == "spider"


def test_a_kickoff_says_where_the_protocol_stands(
    desk: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"spider": "spider", "spidr": "spider", "tick 12 'do it'": "tick 12 'do it'"}
    for words, meant in wrong.items():
        assert run_words("af", ["kickoff", *shlex.split(words), "--no-claude"]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"fix: af kickoff --protocol {meant}" in said
    assert runs(desk) == []


def test_on_a_terminal_a_run_without_a_request_asks_for_it(desk: "Desk", open_: "Open") -> None:
    terminal = open_("run", "--no-claude", "--once")
    terminal.until("What do you want? ")
    terminal.type("Greet people\r")
    terminal.until("needs no specification?")
    terminal.leave()
    assert desk.facts("RunStarted", "0001-greet-people")[0]["protocol"] == "spider"
    terminal = open_("run", "bugfix", "--no-claude")
    terminal.until("What do you want? ")
    terminal.type("\r")
    assert terminal.leave() == 2
    assert "nothing says what this run is to do" in terminal.text


def test_a_request_is_for_the_protocol_of_the_project_also_by_an_option(desk: "Desk") -> None:
    said = desk.porch("run", "--request", "Greet people", "--no-claude", "--once", code=None)
    assert "protocol: spider, the default of this project" in said.all
    assert runs(desk) == ["0001"]


def test_a_dry_run_changes_no_project_that_is_not_there(desk: "Desk") -> None:
    said = desk.porch("run", "tick", "9999", "ghost", "--no-claude", "--once", code=None).all
    assert "there is no project 9999 here, nor any other; this is only a dry run" in said
    desk.write("codev/projects/0073-search/spec.md", "# Search\n")
    said = told(desk.porch("run", "tick", "9998", "ghost", "--no-claude", code=2))
    assert "error[no-project]: tick changes an existing project, and there is no project" in said


def test_mistake_7_without_settings_one_command_writes_them(real: "Desk") -> None:
    real.git("rm", "-q", "codev/config.toml")
    real.git("commit", "-qm", "without settings")
    said = told(real.porch("run", "spider", "Greet people", code=2))
    assert "error[no-check-command]" in said
    assert "error[quorum-unreachable]" not in said, "claude alone is enough"
    fix = re.search(r'fix: (codev init --yes --test "your command")', said)
    assert fix is not None, said
    do(fix[1].replace("your command", "true"))
    said = told(real.porch("run", "spider", "Greet people", code=2))
    assert said.count(f"fix: {COMMIT_SETTINGS}") == 1
    do(COMMIT_SETTINGS)
    real.porch("run", "spider", "Greet people", "--once", code=None)
    assert runs(real) == ["0001"]


def test_mistake_8_a_mistyped_gate_is_answered_with_the_open_one(real: "Desk") -> None:
    real.protocol("p", GATED)
    real.porch("run", "p", "Greet people", code=3)
    said = told(real.porch("approve", "1", "note_aproval", code=2))
    assert "note_aproval is not waiting for an answer" in said
    assert "did you mean 'note_approval'?" in said
    assert "note_approval: approved" in real.porch("approve", "1", "note_approval").out


@pytest.mark.parametrize(
    "words, what",
    [
        ("run p x --agent=", "agent"),
        ("run p x --script=", "script"),
        ("finish 1 --merge --into=", "into"),
        ("approve 1 GATE", "gate"),
        ("reject 1 GATE --reason no", "gate"),
        ("approve 1 --override=", "override"),
    ],
)
def test_a_value_that_is_empty_because_a_variable_was_is_no_choice_and_no_decision(
    real: "Desk", words: str, what: str
) -> None:
    real.protocol("p", GATED)
    real.porch("run", "p", "Greet people", code=3)
    typed = ["" if word == "GATE" else word for word in words.split()]
    assert f"the {what} is empty" in told(real.porch(*typed, code=2))
    assert runs(real) == ["0001"]
    assert real.porch("pending", "--json").json["decisions"]


def test_a_script_that_is_not_there_is_refused_with_a_way_out(real: "Desk") -> None:
    real.protocol("p", GATED)
    said = told(real.porch("run", "p", "x", "--script", "nope.yaml", code=2))
    assert "the script nope.yaml cannot be read: No such file or directory" in said
    assert "fix: name a YAML file" in said


def test_one_mistake_is_told_once(real: "Desk") -> None:
    said = told(real.porch("run", "spider", "x", "--agent", "nope", code=2))
    assert said.count("there is no agent 'nope'") == 1


def test_mistake_9_a_run_that_somebody_drives_is_watched_or_stopped_first(real: "Desk") -> None:
    real.protocol("p", GATED)
    real.start("run", "p", "Greet people", "--wait")
    real.wait_for(lambda: "note_approval" in real.porch("pending", code=None).out)
    said = told(real.porch("resume", "1", code=4))
    assert "see what it asks you: `porch pending 0001-" in said
    assert "run 0001-greet-people is already running (porch run, pid" in said
    assert quoted(said, "porch status").endswith(" --watch")
    do(quoted(said, "porch stop"))
    assert "waiting for your decision: note_approval" in real.porch("resume", "1", code=3).out


def test_without_an_id_the_runs_that_could_be_meant_are_listed(desk: "Desk") -> None:
    gated = {"id": "one", "gate": {"name": "go", "next": None}}
    desk.protocol("p", gated)
    for number in ("0001", "0002", "0003"):
        words = ("--title", "x", "--script", desk.script(), "--worktree")
        desk.porch("run", "p", number, *words, code=3)
    desk.porch("approve", "2")
    for verb in ("resume", "retry"):
        said = told(desk.porch(verb, code=2))
        assert f"say which one to {verb} fix: porch {verb} 0001; porch {verb} 0003" in said


def test_mistake_10_a_branch_that_exists_is_renamed_with_the_line_that_is_told(
    real: "Desk",
) -> None:
    real.protocol("p", PHASE)
    real.git("branch", "p_0001_greet-people")
    said = told(real.porch("run", "p", "Greet people", "--worktree", code=None))
    assert "error[branch-exists]: the branch 'p_0001_greet-people' exists already" in said
    do(said.partition("rename it: ")[2].partition(";")[0])
    real.porch("run", "p", "Greet people", "--worktree")
    assert runs(real) == ["0001"]


KICKOFF: dict[str, tuple[tuple[str, ...], str]] = {
    "wrong id": (("status", "0011"), "there is no run '0011'"),
    "not git": (("kickoff", "Greet people"), "error[no-repository]"),
    "no agent": (("kickoff", "Greet people", "--protocol", "p"), "error[agent-missing]"),
    "no key": (("kickoff", "Greet people", "--protocol", "p"), "error[agent-login]"),
    "wrong protocol": (("kickoff", "Greet people", "--protocol", "pp"), "did you mean"),
    "missing config": (("kickoff", "It crashes", "--protocol", "bugfix"), "[no-check-command]"),
    "branch exists": (("kickoff", "0001", "Greet", "--protocol", "p"), "git branch -m"),
    "gate typo": (("approve", "0001", "note_aproval"), "note_approval"),
    "already running": (("kickoff", "0001", "Again", "--protocol", "p"), "0001-greet-people"),
}


@pytest.mark.parametrize("mistake", KICKOFF)
def test_a_first_mistake_with_af_is_answered_with_what_to_do_and_leaves_nothing_behind(
    real: "Desk",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mistake: str,
) -> None:
    real.protocol("p", GATED)
    if mistake in ("gate typo", "already running", "wrong id"):
        real.porch("run", "p", "0001", "--title", "greet-people", code=3)
    match mistake:
        case "not git":
            (tmp_path / "empty").mkdir()
            monkeypatch.chdir(tmp_path / "empty")
        case "no agent":
            (tmp_path / "names" / "claude").unlink()
        case "no key":
            monkeypatch.delenv("ANTHROPIC_API_KEY")
        case "missing config":
            real.write("codev/config.toml", '[panel]\nmodels = ["claude"]\n')
        case "branch exists":
            real.git("branch", "p_0001_greet")
        case _:
            pass
    trees, before = real.git("worktree", "list"), runs(real)
    words, promised = KICKOFF[mistake]
    capsys.readouterr()
    assert run_words("af", [*words]) not in (0, 70)
    printed = capsys.readouterr()
    said = " ".join((printed.out + printed.err).split())
    assert promised in said
    assert "fix: " in said
    assert (real.git("worktree", "list"), runs(real)) == (trees, before)
