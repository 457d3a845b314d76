"""Settings that start programs wait for a person: at the start, later, and during a turn."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words
from porch.run.grants import GrantWatch, read_grants
from porch.run.settings import load_settings, user_directory
from porch.testing import kill_python_at
from tests.cli.conftest import PLACE
from tests.trust import trust_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open

BASE = "[agent]\nback_off = 0.01\n"
ASKING = BASE + '[worktree]\nsetup = ["echo ready > made.log"]\n[checks]\nenv = ["TOKEN"]\n'
PHASE = {"id": "one", "gate": {"name": "ok", "next": None}}
CHECK = {"checks": {"token": {"command": 'test "$TOKEN" = secret', "max_retries": 0}}}
OTHER = ("run", "p", "0002", "--title", "y", "--script", "script.yaml")
START = ("run", "p", "0001", "--title", "x", "--script", "script.yaml")


def configure(desk: "Desk", text: str) -> None:
    """As somebody else writes and commits it: nobody trusts it."""
    (desk.root / "codev/config.toml").write_text(text)
    desk.commit_settings()


def digest_of(desk: "Desk") -> str:
    """Empty if nothing asks."""
    requests = load_settings(str(desk.root)).requests
    return requests[0].digest if requests else ""


def prepare(desk: "Desk", *phases: dict[str, Any], text: str = ASKING, **parts: Any) -> str:
    desk.protocol("p", *(phases or (PHASE,)))
    desk.script(**parts)
    configure(desk, text)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "settings")
    return digest_of(desk)


def test_a_run_is_refused_before_anything_is_made(desk: "Desk") -> None:
    """X2, X4."""
    digest = prepare(desk)
    said = desk.porch(*START, "--json", code=2)
    first, second = said.json["error"]["findings"]
    assert {first["code"], second["code"]} == {"untrusted-settings"}
    assert "worktree.setup" in first["message"]
    assert (first["file"], first["line"]) == ("codev/config.toml", 4)
    assert f"porch trust {digest}" in second["fix"]
    assert not (desk.root / "worktrees").exists()
    assert not (desk.root / ".git/porch/runs").exists()
    assert desk.git("branch", "--list") == "* main"


def test_trust_is_shown_granted_listed_and_revoked(desk: "Desk") -> None:
    digest = prepare(desk)
    said = desk.porch("trust", code=3)
    assert 'worktree.setup = ["echo ready > made.log"]  (codev/config.toml:4)' in said.out
    assert 'checks.env = ["TOKEN"]  (codev/config.toml:6)' in said.out
    assert f"porch trust {digest}" in said.out
    (request,) = desk.porch("trust", "--json", code=3).json["requests"]
    assert (request["digest"], request["trusted"]) == (digest, False)
    desk.porch(*START, code=2)
    granted = desk.porch("trust", digest, "--json").json
    assert granted["requests"][0]["trusted"]
    assert "are trusted" in desk.porch("trust").out
    (grant,) = desk.porch("trust", "--list", "--json").json["grants"]
    assert grant["digest"] == digest
    desk.porch(*START, code=3)
    assert (desk.root / PLACE / "made.log").exists()
    desk.porch("trust", "--revoke", digest)
    desk.porch("trust", "--revoke", digest, code=2)
    desk.porch("resume", "1", code=2)


def test_only_a_digest_that_settings_here_have_can_be_granted(desk: "Desk") -> None:
    digest = prepare(desk)
    assert digest in desk.porch("trust", "0" * 32, code=2).all
    configure(desk, BASE)
    assert "need no trust" in desk.porch("trust").out
    desk.porch("trust", digest, code=2)


def test_another_value_is_asked_about_again(desk: "Desk") -> None:
    desk.porch("trust", prepare(desk))
    configure(desk, ASKING.replace("echo ready", "echo more"))
    desk.porch(*START, code=2)
    configure(desk, f"# a comment\n{ASKING}")
    desk.porch(*START, code=3)


def test_a_digest_on_the_command_line_counts_for_this_run_alone(desk: "Desk") -> None:
    check = {"id": "two", **CHECK}
    first = {**PHASE, "gate": {"name": "ok", "next": "two"}}
    digest = prepare(desk, first, check)
    desk.porch(*START, "--trust", digest, code=3)
    assert read_grants(user_directory(os.environ)).digests == set()
    assert (desk.root / PLACE / "made.log").exists()
    # Later commands of this run go on, also where the worktree is made again.
    desk.git("worktree", "remove", "--force", PLACE)
    desk.porch("resume", "1", code=3)
    assert (desk.root / PLACE / "made.log").exists()
    desk.porch("approve", "1", "ok")
    desk.call("resume", "1", TOKEN="secret")
    assert desk.entered()[-1] == "complete"
    words = ("run", "p", "0002", "--title", "y", "--script", "script.yaml")
    desk.porch(*words, code=2)


def test_a_run_goes_on_with_a_digest_where_its_settings_were_changed(desk: "Desk") -> None:
    prepare(desk, text=BASE + '[worktree]\nsetup = ["true"]\n')
    trust_settings(desk.root)
    desk.porch(*START, code=3)
    configure(desk, ASKING)
    digest = digest_of(desk)
    desk.porch("resume", "1", code=2)
    assert desk.facts("SettingsPinned") == []
    desk.porch("resume", "1", "--trust", digest, code=3)
    (pinned,) = desk.facts("SettingsPinned")
    assert pinned["trust"] == [digest]
    assert f"a person trusts settings for this run: {digest}" in desk.porch("log", "1").out
    desk.porch("resume", "1", code=3)
    assert len(desk.facts("SettingsPinned")) == 1


def test_an_upgrade_takes_no_settings_that_nobody_trusts(desk: "Desk") -> None:
    prepare(desk, text=BASE)
    desk.porch(*START, code=3)
    configure(desk, ASKING)
    desk.porch("upgrade", "1", code=2)
    desk.porch("trust", digest_of(desk))
    desk.porch("upgrade", "1")


def test_a_merge_prepares_no_checkout_with_settings_that_nobody_trusts(
    desk: "Desk", home: Path
) -> None:
    """X6: the set-up commands of now run before the checks on the merged files."""
    agents = {"one": [{"write": {"new.txt": "new\n"}}]}
    prepare(desk, {"id": "one"}, text=BASE + '[commands]\ntest = "true"\n', agents=agents)
    desk.porch(*START)
    own = home / ".config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[worktree]\nsetup = ["touch {home}/started"]\n')
    head = desk.git("rev-parse", "main")
    assert "untrusted-settings" in desk.porch("finish", "1", "--merge", code=2).all
    assert desk.git("rev-parse", "main") == head
    desk.porch("trust", digest_of(desk))
    desk.porch("finish", "1", "--merge")
    assert (home / "started").exists()


def test_settings_are_shown_as_they_are_written(desk: "Desk") -> None:
    prepare(desk)
    rows = {row["key"]: row for row in desk.porch("settings", "--json").json["settings"]}
    assert rows["checks.env"]["value"] == '["TOKEN"]'


def test_an_agent_cannot_trust_anything(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    digest = prepare(desk)
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in (("trust",), ("trust", digest), ("trust", "--list"), (*START, "--trust", digest)):
        assert "not-a-person" in desk.porch(*words, code=2).all
    dry = ("run", "p", "0001", "--title", "x", "--no-claude", "--trust", digest)
    for call in (dry, ("resume", "1", "--trust", digest)):
        assert "not-a-person" in desk.porch(*call, code=2).all
    assert run_words("af", ["kickoff", "0001", "--protocol", "p", "--trust", digest]) == 2
    assert not (desk.root / "worktrees").exists()
    desk.porch("trust", digest, "--as-person")
    (grant,) = desk.porch("trust", "--list", "--json", "--as-person").json["grants"]
    assert grant["by"].endswith("(--as-person)")


def test_a_terminal_is_asked_once_and_the_run_begins(desk: "Desk", open_: "Open") -> None:
    prepare(desk)
    terminal = open_(*START)
    terminal.until("worktree.setup")
    terminal.until("Trust them? [y/N]")
    terminal.type("n\n")
    assert terminal.leave() == 2
    assert not (desk.root / "worktrees").exists()
    terminal = open_(*START)
    terminal.until("Trust them? [y/N]")
    terminal.type("y\n")
    terminal.until("ok")
    terminal.type("quit\r")
    terminal.leave()
    assert read_grants(user_directory(os.environ)).digests == {digest_of(desk)}
    assert (desk.root / PLACE / "made.log").exists()


def test_a_yes_at_a_terminal_counts_for_the_run_also_while_another_agent_works(
    desk: "Desk", open_: "Open"
) -> None:
    digest = prepare(desk)
    watch = GrantWatch(user_directory(os.environ), "0009-other")
    terminal = open_(*START)
    terminal.until("Trust them? [y/N]")
    terminal.type("y\n")
    terminal.until("ok")
    terminal.type("quit\r")
    terminal.leave()
    assert (desk.root / PLACE / "made.log").exists()
    watch.close()
    assert read_grants(user_directory(os.environ)).explain(digest)


def test_while_another_agent_works_a_yes_counts_for_the_command_that_asked(
    desk: "Desk", open_: "Open"
) -> None:
    prepare(desk, text=BASE)
    desk.porch(*START, code=3)
    configure(desk, ASKING)
    digest = digest_of(desk)
    watch = GrantWatch(user_directory(os.environ), "0009-other")
    terminal = open_("trust")
    terminal.until("Trust them? [y/N]")
    terminal.type("y\n")
    terminal.until("note: a grant for it appeared")
    assert terminal.leave() == 0
    desk.porch("upgrade", "1", code=2)
    terminal = open_("upgrade", "1")
    terminal.until("Trust them? [y/N]")
    terminal.type("y\n")
    assert terminal.leave() == 0
    watch.close()
    assert read_grants(user_directory(os.environ)).explain(digest)


def test_trust_on_a_terminal_takes_only_a_yes(desk: "Desk", open_: "Open") -> None:
    prepare(desk)
    for answer, code in (("\n", 1), ("what\n", 1), ("y\n", 0)):
        terminal = open_("trust")
        terminal.until("Trust them? [y/N]")
        terminal.type(answer)
        assert terminal.leave() == code


def test_a_notice_command_that_nobody_trusts_is_not_started(desk: "Desk", home: Path) -> None:
    """X6: an agent writes a person's own settings; the run goes on without the command."""
    prepare(desk, {"id": "one"}, PHASE | {"id": "two"}, text=BASE)
    desk.porch(*START, "--hands-off")
    own = home / ".config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[notify]\ncommand = ["touch", "{home}/started"]\n')
    said = desk.porch("done", "1", code=None)
    assert "[notify] command is not run" in said.all
    said = desk.porch("resume", "1", code=2)
    assert "notify.command" in said.all
    assert not (home / "started").exists()


def grants_in_turn(desk: "Desk", home: Path, digest: str) -> dict[str, Any]:
    line = "\\t".join((digest, "2026-01-01T00:00:00Z", "ann", "codev/config.toml", ""))
    write = f"mkdir -p {home}/.config/porch; umask 077; printf '{line}\\n'"
    return {"run": [["sh", "-c", f"{write} >> {home}/.config/porch/trust"]]}


def test_a_grant_that_appears_during_a_turn_does_not_count(desk: "Desk", home: Path) -> None:
    """X6."""
    digest = prepare(desk)
    configure(desk, BASE)
    desk.script(agents={"one": [grants_in_turn(desk, home, digest)]})
    desk.porch(*START, code=3)
    configure(desk, ASKING)
    said = desk.porch("trust", code=3).all
    assert "appeared while an agent or a check of 0001-x ran" in said
    assert "does not count" in desk.porch("trust", "--list").out
    desk.porch("resume", "1", code=2)
    desk.porch("trust", digest)
    desk.porch("resume", "1", code=3)


def test_no_run_begins_with_a_grant_that_appeared_while_another_one_works(desk: "Desk") -> None:
    """X6."""
    digest = prepare(desk)
    watch = GrantWatch(user_directory(os.environ), "0009-other")
    said = desk.porch("trust", digest).out
    assert "a check of 0009-other works, so it does not count before that has ended" in said
    refused = desk.porch(*START, code=2).all
    assert f"and you repeat it; for one run: --trust {digest}" in refused
    desk.porch(*START, "--trust", digest, code=3)
    watch.close()
    desk.porch(*OTHER, code=2)
    desk.porch("trust", digest)
    desk.porch(*OTHER, code=3)


def grants_in_check(desk: "Desk", home: Path, digest: str) -> None:
    """The agent writes the test that a check runs."""
    ((_, _, shell),) = grants_in_turn(desk, home, digest)["run"]
    check = {"checks": {"own": {"command": "sh tests/own.sh", "max_retries": 0}}}
    desk.protocol("p", {"id": "one", **check}, {**PHASE, "id": "two"})
    desk.script(agents={"one": [{"write": {"tests/own.sh": f"{shell}\n"}}]})


def test_a_grant_that_a_test_of_the_agent_writes_does_not_count(desk: "Desk", home: Path) -> None:
    """X6."""
    digest = prepare(desk)
    configure(desk, BASE)
    grants_in_check(desk, home, digest)
    desk.porch(*START, code=3)
    configure(desk, ASKING)
    assert "appeared while an agent or a check of 0001-x ran" in desk.porch("trust", code=3).all
    desk.porch("resume", "1", code=2)


def test_a_grant_of_a_check_whose_driver_was_killed_does_not_count(
    desk: "Desk", home: Path
) -> None:
    """X6."""
    digest = prepare(desk)
    configure(desk, BASE)
    grants_in_check(desk, home, digest)
    desk.call(*START, code=None, PORCH_CRASH_AT="check.after-end")
    configure(desk, ASKING)
    desk.porch("resume", "1", code=2)
    assert read_grants(user_directory(os.environ)).digests == set()


def test_a_grant_of_a_set_up_command_at_the_merge_does_not_count(desk: "Desk", home: Path) -> None:
    """X6: the command is trusted, and the script that it calls comes from the agent."""
    setup = '[worktree]\nsetup = ["sh prepare.sh"]\n[commands]\ntest = "true"\n'
    desk.write("prepare.sh", "true\n")
    digest = prepare(desk)
    ((_, _, shell),) = grants_in_turn(desk, home, digest)["run"]
    agents = {"one": [{"write": {"prepare.sh": f"{shell}\n"}}]}
    prepare(desk, {"id": "one"}, text=BASE + setup, agents=agents)
    trust_settings(desk.root)
    desk.porch(*START)
    desk.porch("finish", "1", "--merge")
    assert digest not in read_grants(user_directory(os.environ)).digests
    assert digest in desk.porch("trust", "--list").out


def test_a_grant_of_a_turn_whose_driver_was_killed_does_not_count_either(
    desk: "Desk", home: Path
) -> None:
    """X6."""
    digest = prepare(desk)
    configure(desk, BASE)
    desk.script(agents={"one": [grants_in_turn(desk, home, digest)]})
    kill_python_at(
        "turn.after-end",
        "import sys; from porch.cli.dispatch import porch; sys.argv[1:] = "
        f"{json.dumps(START)}; porch()",
        str(desk.root),
    )
    configure(desk, ASKING)
    desk.porch(*OTHER, code=2)
    said = desk.porch("resume", "1", code=2)
    assert "appeared while an agent or a check of 0001-x ran" in said.all
    assert read_grants(user_directory(os.environ)).digests == set()


def test_the_doctor_says_what_is_not_trusted(
    desk: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(desk)
    capsys.readouterr()
    assert run_words("codev", ["doctor", "--json"]) == 6
    lines = json.loads(capsys.readouterr().out)["lines"]
    (line,) = [each for each in lines if "nobody has trusted" in each["what"]]
    assert "worktree.setup, checks.env" in line["what"]
    assert line["stops"]
    assert "porch trust" in line["fix"]
