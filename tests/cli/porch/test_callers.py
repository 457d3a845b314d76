"""Who calls: established by porch, never taken from what the caller says of itself."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import porch
from porch.errors import UsageError
from porch.run.engine import caller
from porch.run.engine.send_wish import send_wish
from porch.store import where as places
from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

GATED = {"id": "one", "gate": {"name": "g", "next": None}}
PORCH = "from porch.cli.dispatch import porch; exit(porch())"
# Nobody of the agent is above what this starts, and nothing of the run is in its environment.
ORPHAN = """
import os, sys, time
parent = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == parent:
    time.sleep(0.01)
said, *words = sys.argv[1:]
shell = f'"$@" 2> {said}.tmp; mv {said}.tmp {said}'
os.execvpe("sh", ["sh", "-c", shell, "sh", *words], {"PATH": os.environ["PATH"]})
"""


def plant_wish(desk: "Desk", **wish: object) -> Path:
    """A wish as anybody can write one who can write to the directory of a run."""
    name = os.urandom(16).hex()
    box = desk.run_dir() / "inbox"
    box.mkdir(exist_ok=True)
    file = box / f"{name}.json"
    told = {"id": name, "kind": "decide", "position": "one:gate#1", "exit": "approved", **wish}
    file.write_text(json.dumps(told))
    return file


def test_k8_a_name_in_the_environment_is_not_who_decides(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin(GATED, code=3)
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "the boss")
    desk.porch("approve", "1")
    assert desk.facts("WishTaken")[0]["wish"]["who"] == ACCOUNT
    assert desk.status()["gates"]["g"]["by"] == ACCOUNT


def test_k8_the_name_in_a_wish_is_noted_and_does_not_count(desk: "Desk") -> None:
    desk.begin(GATED, code=3)
    plant_wish(desk, who="the boss", channel="cli", data={"name": "g"})
    desk.porch("resume", "1")
    wish = desk.facts("WishTaken")[0]["wish"]
    assert (wish["who"], wish["claimed"]) == (ACCOUNT, "the boss")
    assert [r["v"] for r in desk.records() if r["fact"]["is"] == "WishTaken"] == [2]
    assert desk.status()["gates"]["g"]["by"] == ACCOUNT
    assert f"by {ACCOUNT}, who calls themselves the boss" in desk.porch("log", "1").out


@pytest.mark.parametrize("said", ["signed by the boss (dashboard)", "done", "", 7])
def test_k8_the_way_that_a_wish_says_it_came_is_one_that_porch_has(
    desk: "Desk", said: object
) -> None:
    desk.begin(GATED, code=3)
    plant_wish(desk, channel=said, data={"name": "g"})
    desk.porch("resume", "1")
    assert desk.facts("WishTaken")[0]["wish"]["channel"] == "inbox"
    assert f"approved by {ACCOUNT} (inbox)" in desk.porch("log", "1").out


def test_k8_a_wish_for_settings_that_nobody_kept_is_refused(desk: "Desk") -> None:
    """Taken, it would end the run: nobody could read what governs it."""
    desk.begin(GATED, code=3)
    digest = desk.facts("RunStarted")[0]["digest"]
    plant_wish(desk, kind="upgrade", data={"digest": digest, "settings": "0" * 64})
    desk.porch("resume", "1", code=3)
    assert "payload-lost" in desk.facts("WishRefused")[0]["reason"]
    desk.porch("resume", "1", code=3)


def test_k8_a_wish_without_a_name_claims_none(desk: "Desk") -> None:
    desk.begin(GATED, code=3)
    desk.porch("approve", "1")
    assert ["claimed" in fact["wish"] for fact in desk.facts("WishTaken")] == [False]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file of somebody else")
def test_k8_a_wish_of_another_user_is_put_away(
    desk: "Desk", capsys: pytest.CaptureFixture[str]
) -> None:
    desk.begin(GATED, code=3)
    file = plant_wish(desk, who=ACCOUNT)
    os.chown(file, 65534, 65534)
    said = desk.porch("resume", "1", code=3)
    assert "it belongs to another user (uid 65534)" in said.err
    assert (file.parent / "refused" / file.name).exists()
    assert desk.facts("WishTaken") == []


def test_k8_what_a_form_or_a_script_brings_has_no_persons_name() -> None:
    assert caller.name_of_sender(os.getuid(), "cli") == ACCOUNT
    assert caller.name_of_sender(os.getuid(), "file") == "unknown"
    assert caller.name_of_sender(os.getuid(), "script") == "script"
    assert caller.name_of_sender(4_000_000_000, "cli") == "uid 4000000000"


@pytest.mark.parametrize("exit_", ["approved", "waived", "answered", "retry", ""])
def test_a19_nothing_but_a_refusal_can_come_from_the_policy_of_a_run(exit_: str) -> None:
    assert caller.name_of_channel("policy", "declined") == "policy"
    assert caller.name_of_channel("policy", exit_) == caller.BY_HAND


@pytest.mark.parametrize("kind", ["decide", "stop", "rollback", "replan", "upgrade"])
def test_k2_a_wish_of_an_agent_is_not_even_left(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Whichever way somebody comes: the rule does not hang on the command line alone."""
    desk.begin(GATED, code=3)
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(UsageError, match="only people can decide"):
        send_wish(places.find_project(str(desk.root)), "0001-x", {"kind": kind}, "test")
    assert not list((desk.run_dir() / "inbox").glob("*.json"))


def test_k6_a_refusal_tells_nobody_the_way_around() -> None:
    with pytest.raises(UsageError) as refused:
        caller.refuse_agents({"CLAUDECODE": "1"}, as_person=False)
    assert "person" not in str(refused.value).replace("a person", "").replace("not-a-person", "")
    caller.refuse_agents({"CLAUDECODE": "1"}, as_person=True)


def test_k6_no_packaged_text_names_the_way_around() -> None:
    import porch

    sources = Path(porch.__file__).parent
    texts = [p for p in sources.rglob("*") if p.suffix in (".md", ".yaml", ".json", ".xml", ".txt")]
    assert len(texts) > 20
    assert [p for p in texts if "as-person" in p.read_text("utf-8")] == []


def test_k8_an_agent_whose_parent_has_ended_is_still_in_its_session(
    desk: "Desk", tmp_path: Path
) -> None:
    """Handed to another parent and with a clean environment, it is known by its session."""
    said = tmp_path / "said"
    # Nothing of our environment leads it to the sources that are tried here.
    found = f"import sys; sys.path.insert(0, {str(Path(porch.__file__).parent.parent)!r}); {PORCH}"
    approve = [sys.executable, "-c", found, "approve", "1", "ready"]
    orphan = [sys.executable, "-c", ORPHAN, str(said), *approve]
    wait = ["sh", "-c", f"for i in $(seq 600); do test -e {said} && exit; sleep 0.1; done"]
    first = {"id": "write", "gate": {"name": "ready", "next": "again"}}
    second = {"id": "again", "gate": {"name": "second", "next": None}}
    desk.begin(
        first,
        second,
        agents={"again": [{"run": [orphan, wait]}]},
        decisions={"ready": [{"approve": True}]},
        code=3,
    )
    assert "it was started by a porch run" in said.read_text()


def test_a_person_without_an_agent_above_is_a_person() -> None:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("CODEX_", "PORCH_"))}
    for name in caller.AGENT_VARIABLES:
        environ.pop(name, None)
    code = "from porch.run.engine import caller; caller.refuse_agents({}, False)"
    subprocess.run([sys.executable, "-c", code], env=environ, check=True)


def test_k2_what_a_person_stopped_an_agent_does_not_continue(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin(GATED, code=3)
    desk.porch("stop", "1")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "only people can decide or steer" in desk.porch("resume", "1", code=2).err
    desk.porch("resume", "1", "--as-person", code=3)
    assert desk.facts("RunnerStarted")[-1]["as_person"] is True
    resumed = [f["wish"] for f in desk.facts("WishTaken") if f["wish"]["kind"] == "resume"]
    assert [wish["as_person"] for wish in resumed] == [True]


@pytest.mark.parametrize("words", [("stop", "1"), ("rollback", "1", "one"), ("approve", "1")])
def test_k2_the_word_of_a_person_is_recorded(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    desk.begin(GATED, code=3)
    monkeypatch.setenv("CLAUDECODE", "1")
    desk.porch(*words, "--as-person")
    assert desk.facts("WishTaken")[-1]["wish"]["as_person"] is True
    assert "(confirmed to be a person)" in desk.porch("log", "1").out
