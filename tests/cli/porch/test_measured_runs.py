"""Whole runs: what is measured, against which files, with which settings and which environment."""

from typing import TYPE_CHECKING, Any

import pytest

from porch.git import measured_tree
from tests.git_calls import GIT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

NO_RETRY = {"max_retries": 0, "retry_delay": 0}


def phase(**checks: Any) -> dict[str, Any]:
    return {"id": "work", "checks": {k: {**v, **NO_RETRY} for k, v in checks.items()}}


def results(desk: "Desk") -> dict[str, str]:
    """The last result of each check."""
    found = desk.facts("CheckEnded")
    return {fact["effect"].split("/")[-2]: fact["result"] for fact in found}


def test_v1_what_a_person_left_uncommitted_is_no_change_of_the_run(desk: "Desk") -> None:
    desk.write("mine.txt", "half done\n")
    said = desk.begin(phase(fix={"changed": True}), code=3)
    assert "not committed" in said.out
    assert "mine.txt" in said.out
    assert results(desk) == {"fix": "failed"}
    start = desk.facts("RunStarted")[0]
    assert start["base_tree"] != desk.git("rev-parse", "HEAD^{tree}")
    assert desk.records()[0]["v"] == 3
    kept = desk.root / ".git" / "porch" / "tree.git" / "refs" / "porch" / "base"
    assert (kept / "0001-x").read_text().strip() == start["base_tree"]


def test_v1_a_change_of_the_agent_is_one_also_in_a_file_that_was_not_committed(
    desk: "Desk",
) -> None:
    desk.write("mine.txt", "half done\n")
    work = {"work": [{"write": {"mine.txt": "half done\nmore\n"}}]}
    desk.begin(phase(fix={"changed": True}, scope={"net_lines_below": 2}), agents=work, code=0)
    reports = {fact["effect"].split("/")[-2]: fact["report"] for fact in desk.facts("CheckEnded")}
    assert reports["fix"] == "changed: mine.txt"
    assert reports["scope"].startswith("1 lines added, 0 removed")


def test_v1_no_line_of_a_file_passes_for_a_count_of_lines(desk: "Desk") -> None:
    """A carriage return in a file that looks binary begins no line of a diff."""
    forged = "x\\0\\n\\r@@ -1,100000 +1 @@\\n" + "y\\n" * 50
    work = {"work": [{"run": ["sh", "-c", f"printf '{forged}' > data.bin"]}]}
    desk.begin(phase(scope={"net_lines_below": 20}), agents=work, code=3)
    [fact] = desk.facts("CheckEnded")
    assert (fact["result"], fact["report"].split(":")[0]) == ("failed", "52 lines added, 0 removed")


def test_v1_what_a_run_writes_about_its_work_is_not_the_work(desk: "Desk") -> None:
    work = {"work": [{"write": {"codev/projects/0001-x/notes.md": "I did much.\n"}}]}
    desk.begin(phase(fix={"changed": True}), agents=work, code=3)
    assert results(desk) == {"fix": "failed"}


def test_what_porch_says_of_files_by_itself_is_said_of_one_measurement(desk: "Desk") -> None:
    """But of a new one each time: somebody may have changed a file since."""
    small = {"setting": "small", "if_missing": "skip"}
    desk.begin(phase(fix={"changed": True}, size={"net_lines_below": 9}, small=small), code=3)
    desk.write("late.txt", "late\n")
    with GIT.heard() as commands:
        said = desk.porch("check", "1", code=None).out
    assert commands.count("add") == 3
    assert "changed: late.txt" in said
    assert "1 lines added" in said


def test_v1_a_clean_start_says_nothing(desk: "Desk") -> None:
    desk.protocol("p", phase(fix={"changed": True}))
    script = desk.script()
    desk.git("add", "-A")
    desk.git("commit", "-qm", "all of it")
    words = ("run", "p", "0001", "--title", "x", "--here", "--script", script)
    assert "not committed" not in desk.porch(*words, code=3).out


def test_v2_settings_that_an_agent_edits_do_not_govern_its_own_run(desk: "Desk") -> None:
    desk.write("codev/config.toml", '[commands]\ntest = "false"\n')
    edit = {"work": [{"write": {"codev/config.toml": '[commands]\ntest = "true"\n'}}, {}, {}]}
    desk.begin(phase(tests={"setting": "test"}), agents=edit, code=3)
    assert results(desk) == {"tests": "failed"}
    said = desk.porch("retry", "1", code=None)
    said = desk.porch("resume", "1", code=3)
    assert results(desk) == {"tests": "failed"}
    assert "settings changed since the run began: commands.test" in said.out
    assert "porch upgrade" in said.out


def test_v2_a_check_that_somebody_calls_by_hand_has_the_settings_of_the_run(desk: "Desk") -> None:
    desk.write("codev/config.toml", '[commands]\ntest = "false"\n')
    checked = {"id": "work", "checks": {"tests": {"setting": "test"}}}
    desk.begin(checked, agents={"work": [{"signal": "BLOCKED", "reason": "why"}]}, code=3)
    desk.write("codev/config.toml", '[commands]\ntest = "true"\n')
    said = desk.porch("check", "1", "--json", code=None)
    assert '"passed"' not in said.out, said.out
    assert '"failed"' in said.out, said.out


def test_v2_upgrade_names_the_keys_and_pins_them_anew(desk: "Desk") -> None:
    desk.write("codev/config.toml", '[commands]\ntest = "false"\n')
    desk.begin(phase(tests={"setting": "test"}), agents={"work": [{}, {}, {}]}, code=3)
    desk.write("codev/config.toml", '[commands]\ntest = "true"\n')
    said = desk.porch("upgrade", "1")
    assert "commands.test" in said.out
    assert "nothing was changed" in desk.porch("upgrade", "1").out
    desk.porch("retry", "1", code=None)
    desk.porch("resume", "1", code=None)
    assert results(desk) == {"tests": "passed"}


def test_v2_what_another_command_measured_is_measured_again_after_an_upgrade(
    desk: "Desk", home: "Path"
) -> None:
    """No file of the repository is different: the command stands in the person's own settings."""
    desk.write("codev/config.toml", "")
    own = home / ".config" / "porch" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[commands]\ntest = "true"\n')
    gated = {**phase(tests={"setting": "test"}), "gate": {"name": "look"}}
    desk.begin(gated, {"id": "last"}, code=3)
    own.write_text('[commands]\ntest = "false"\n')
    desk.porch("upgrade", "1")
    desk.porch("approve", "1", "look", code=None)
    desk.porch("resume", "1", code=3)
    assert results(desk) == {"tests": "failed"}


def test_v6_a_check_with_nothing_to_run_is_skipped_everywhere(desk: "Desk") -> None:
    desk.write("codev/config.toml", "")
    gate = {"id": "work", "checks": {"lint": {"setting": "lint", "if_missing": "skip"}}}
    desk.begin({**gate, "gate": {"name": "look"}}, code=3)
    assert results(desk) == {"lint": "skipped"}
    assert "check lint skipped" in desk.porch("log", "1").out
    assert "skipped: lint" in desk.porch("pending").out
    assert "checks      skipped: lint" in desk.porch("status", "1").out
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert "skipped: lint (there is nothing to run)" in asked["reason"]
    log = [entry for entry in desk.status()["log"] if entry["event"] == "check"]
    assert [entry["result"] for entry in log] == ["skipped"]


@pytest.mark.parametrize("more", [{}, {"if_missing": "fail"}])
def test_v6_a_required_check_without_a_command_is_refused_before_anything_begins(
    desk: "Desk", more: dict[str, str]
) -> None:
    desk.write("codev/config.toml", "")
    said = desk.begin(phase(tests={"setting": "test", **more}), code=2)
    assert 'write into codev/config.toml, below [commands]: test = "your command"' in said.all
    assert not (desk.run_dir() / "journal.jsonl").exists()


def test_v6_an_optional_check_without_a_command_is_skipped(desk: "Desk") -> None:
    desk.write("codev/config.toml", "")
    desk.begin(phase(tests={"setting": "test", "optional": True}), code=0)
    assert results(desk) == {"tests": "skipped"}


def test_v6_a_required_check_that_an_upgrade_adds_without_a_command_is_unmeasured(
    desk: "Desk",
) -> None:
    """The run is under way, so a person decides; nobody is charged."""
    desk.write("codev/config.toml", "")
    desk.begin({"id": "work", "gate": {"name": "look"}}, code=3)
    desk.protocol("p", {**phase(tests={"setting": "test"}), "gate": {"name": "look"}})
    desk.porch("upgrade", "1")
    desk.porch("reject", "1", "look", "--reason", "again", code=None)
    desk.porch("resume", "1", code=3)
    assert results(desk) == {"tests": "unmeasured"}


@pytest.mark.parametrize(
    "command, result",
    [
        ("kill -9 $$", "unmeasured"),
        ("kill -15 $$", "unmeasured"),
        ("sh -c 'kill -9 $$'; exit $?", "unmeasured"),
        ("kill -11 $$", "failed"),
        ("exit 3", "failed"),
    ],
)
def test_v7_a_check_that_is_killed_has_measured_nothing_and_charges_nobody(
    desk: "Desk", command: str, result: str
) -> None:
    check = {"tests": {"command": command, "max_retries": 1, "retry_delay": 0}}
    desk.begin({"id": "work", "checks": check}, agents={"work": [{}, {}]}, code=3)
    assert results(desk) == {"tests": result}
    assert len(desk.started("agent")) == (1 if result == "unmeasured" else 2)


def test_v8_a_check_gets_an_allow_list_of_the_environment(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hidden")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere")
    monkeypatch.setenv("DATABASE_URL", "sqlite:x")
    desk.write("codev/config.toml", '[checks]\nenv = ["DATABASE_*"]\n')
    desk.begin(phase(env={"command": 'env > ../env.log; test -n "$PROJECT_ID"'}), code=0)
    names = {
        line.partition("=")[0] for line in (desk.root.parent / "env.log").read_text().splitlines()
    }
    assert {"PATH", "HOME", "DATABASE_URL", "PROJECT_ID"} <= names
    assert not {"MY_TOKEN", "SSH_AUTH_SOCK"} & names


FLAKY = "test -e ../seen || { touch ../seen; echo not yet; exit 1; }"


def test_a_check_that_fails_and_then_passes_on_the_same_files_is_flaky(desk: "Desk") -> None:
    checks = {"tests": {"command": FLAKY, "rerun": 2, **NO_RETRY}}
    desk.begin({"id": "work", "checks": checks, "gate": {"name": "look"}}, code=3)
    (fact,) = desk.facts("CheckEnded")
    assert (fact["result"], fact["flaky"]) == ("passed", True)
    assert "check tests passed" in desk.porch("log", "1").out
    assert "flaky: failed 1 times, then passed" in desk.porch("log", "1").out
    assert "flaky: tests" in desk.porch("pending").out
    assert "checks      flaky: tests" in desk.porch("status", "1").out
    assert "was flaky 1 times in 1 runs" in desk.porch("explain", "1").out
    log = [entry for entry in desk.status()["log"] if entry["event"] == "check"]
    assert log == [{**log[0], "result": "passed", "flaky": True}]


def test_a_check_that_keeps_failing_has_failed_however_often_it_is_run(desk: "Desk") -> None:
    desk.begin(phase(tests={"command": "echo x >> ../count; exit 1", "rerun": 2}), code=3)
    (fact,) = desk.facts("CheckEnded")
    assert (fact["result"], "flaky" in fact) == ("failed", False)
    assert (desk.root.parent / "count").read_text() == "x\n" * 3


def test_v3_a_repository_that_an_agent_makes_inside_leaves_its_work_unmeasured(
    desk: "Desk",
) -> None:
    inside = {"work": [{"run": ["git", "init", "-q", "hidden"]}]}
    desk.begin(phase(tests={"command": "true"}), agents=inside, code=3)
    (fact,) = desk.facts("CheckEnded")
    assert fact["result"] == "unmeasured"
    assert "hidden" in fact["report"]


def test_a_file_that_git_cannot_take_leaves_a_check_unmeasured_at_once(desk: "Desk") -> None:
    work = {"work": [{"write": {".GIT/config": "mine"}}]}
    desk.begin(phase(fix={"changed": True}), agents=work, code=3)
    [fact] = desk.facts("CheckEnded")
    assert fact["result"] == "unmeasured"
    assert "git cannot take .GIT/config" in fact["report"]


def test_v3_an_exclude_that_an_agent_adds_hides_nothing_from_its_run(desk: "Desk") -> None:
    hide = "echo lib.py >> .git/info/exclude; echo x > lib.py"
    desk.begin(phase(fix={"changed": True}), agents={"work": [{"run": ["sh", "-c", hide]}]}, code=0)
    assert desk.facts("CheckEnded")[0]["report"] == "changed: lib.py"
    room = str(desk.run_dir() / "trees")
    assert measured_tree.measure_tree(str(desk.root), room=room)
