"""status, pending, log, explain, settings: what people and programs read."""

import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

WRITE: dict[str, Any] = {
    "id": "write",
    "name": "Write it down",
    "artifact": "text.md",
    "gate": {"name": "ready", "next": "publish"},
}
PUBLISH: dict[str, Any] = {"id": "publish", "gate": {"name": "out", "next": None}}
STATUS_KEYS = [
    "id", "title", "protocol", "state", "current_phase", "worktree", "gates", "phases",
    "plan_phases", "iteration", "started_at", "last_updated", "log",
]  # fmt: skip


@pytest.fixture
def asked(desk: "Desk") -> "Desk":
    desk.begin(WRITE, PUBLISH, top={"config": {"max_gate_wait": 3600}}, code=3)
    return desk


@pytest.mark.req("P-085", "P-183", "P-191", "F-011")
def test_status_of_one_run_for_people(asked: "Desk") -> None:
    text = asked.porch("status", "1").out
    assert text.startswith("0001 x (p)\n  state       write:gate#1\n  phase       Write it down\n")
    assert "waits for   you: ready" in text
    assert "porch approve 0001 ready" in text
    file = (asked.root / "codev/projects/0001-x/status.yaml").read_text()
    assert file.count("status: pending") == 1  # the gate to come does not cry wolf
    gates = asked.status()["gates"]
    assert gates["ready"]["requested_at"]
    assert gates["out"] == {"status": "waiting"}


def test_status_of_one_run_for_programs(asked: "Desk") -> None:
    """The keys of the file, and some more; the same from the picture and from the journal."""
    quick = asked.porch("status", "1", "--json").json
    (asked.run_dir() / "picture.json").unlink()
    slow = asked.porch("status", "1", "--json").json
    assert quick == slow
    extra = ["positions", "decisions", "journal", "cost", "definition_changed"]
    assert list(quick) == [*STATUS_KEYS, *extra]
    assert {key: quick[key] for key in STATUS_KEYS} == asked.status()
    assert quick["positions"][0]["position"] == "write:gate#1"
    assert quick["decisions"][0]["name"] == "ready"
    assert quick["journal"] is True


def test_status_of_all_runs(asked: "Desk") -> None:
    asked.porch("run", "p", "0002", "--title", "other", "--no-claude", code=3)
    quick = asked.porch("status").out
    lines = quick.splitlines()
    assert lines[0].split() == ["ID", "TITLE", "PROTOCOL", "STATE", "WAITS", "FOR"]
    assert [line.split()[0] for line in lines[1:]] == ["0001", "0002"]
    quick_json = asked.porch("status", "--json").json
    for run in ("0001-x", "0002-other"):
        (asked.run_dir(run) / "picture.json").unlink()
    assert asked.porch("status").out == quick
    assert asked.porch("status", "--json").json == quick_json
    assert [row["state"] for row in quick_json["runs"]] == ["write:gate", "write:gate"]


@pytest.mark.parametrize("word", ["1", "0001", "01", "0001-x", "."])
def test_a_run_is_found_by_id_unpadded_id_directory_name_or_where_one_stands(
    asked: "Desk", word: str
) -> None:
    assert asked.porch("status", word).out.startswith("0001 x (p)")
    assert "a person must decide ready" in asked.porch("explain", word).out


def test_an_id_that_fits_several_runs_is_refused_with_the_list(asked: "Desk") -> None:
    asked.porch("run", "p", "01", "--title", "y", "--no-claude", code=3)
    for words in (["status", "1"], ["approve", "1", "ready"], ["log", "1"]):
        said = asked.porch(*words, code=2)
        assert "fits several runs" in said.err
        assert "0001-x, 01-y" in said.err
    assert asked.porch("status", "01").out.startswith("01 y")  # exactly one is called so


def test_nothing_here_yet(desk: "Desk") -> None:
    assert "No runs here yet" in desk.porch("status").out
    assert desk.porch("status", "--json").json == {"runs": [], "without_journal": []}
    assert desk.porch("pending").out == "Nothing waits for a decision.\n"
    assert desk.porch("pending", "--json").json == {"decisions": []}
    assert desk.porch("pending", "--hook").out == ""


def test_pending_is_oldest_first_and_says_how_to_answer(asked: "Desk") -> None:
    asked.porch("run", "p", "0000", "--title", "later", "--no-claude", code=3)
    told = asked.porch("pending", "--json").json
    assert list(told) == ["decisions"]
    assert [d["run"] for d in told["decisions"]] == ["0001-x", "0000-later"]
    decision = told["decisions"][0]
    assert set(decision) >= {
        "run", "position", "kind", "name", "asked_at", "by", "question", "options", "artifacts",
        "digest", "deadline",
    }  # fmt: skip
    assert decision["deadline"] > decision["asked_at"]
    commands = [option["command"] for option in decision["options"]]
    assert "porch approve 0001 ready" in commands
    hook = asked.porch("pending", "--hook").out
    assert hook == "Gate pending: 0001 ready\nGate pending: 0000 ready\n"
    for run in ("0001-x", "0000-later"):
        (asked.run_dir(run) / "picture.json").unlink()
    assert asked.porch("pending", "--json").json == told
    assert asked.porch("pending", "--hook").out == hook


def test_log_tells_every_record_in_order(asked: "Desk") -> None:
    text = asked.porch("log", "1").out
    numbers = [int(line.split()[2]) for line in text.splitlines()]
    assert numbers == list(range(1, len(asked.records()) + 1))
    assert "run 0001-x of p began by ann" in text
    assert "write#1: the agent said PHASE_COMPLETE -> write:gate#1" in text
    told = asked.porch("log", "1", "--json").json
    assert (told["run"], told["records"]) == ("0001-x", asked.records())


def test_log_follow_goes_on_until_the_run_is_over(asked: "Desk") -> None:
    follower = asked.start("log", "1", "--follow")
    asked.porch("approve", "1", "ready")
    asked.porch("resume", "1", code=3)
    asked.porch("approve", "1", "out")
    out, _ = follower.communicate(timeout=30)
    assert follower.returncode == 0
    assert out == asked.porch("log", "1").out


def test_log_follow_as_json_is_a_record_a_line(asked: "Desk") -> None:
    asked.porch("approve", "1", "ready")
    asked.porch("resume", "1", code=3)
    asked.porch("approve", "1", "out")
    said = asked.porch("log", "1", "--follow", "--json")
    assert [json.loads(line) for line in said.out.splitlines()] == asked.records()


@pytest.mark.parametrize(
    "words", [["status", "--watch"], ["status", "1", "--watch"], ["log", "1", "--follow"]]
)
def test_watching_ends_with_ctrl_c_and_130(asked: "Desk", words: list[str]) -> None:
    watcher = asked.start(*words)
    assert watcher.stdout is not None
    first = watcher.stdout.readline()
    assert first.split()[0] in ("ID", "0001", asked.records()[0]["at"][:10])
    time.sleep(0.2)
    watcher.send_signal(signal.SIGINT)
    out, _ = watcher.communicate(timeout=20)
    assert watcher.returncode == 130
    assert "Traceback" not in out


def test_status_watch_shows_what_changes(asked: "Desk") -> None:
    watcher = asked.start("status", "--watch")
    assert watcher.stdout is not None
    asked.porch("approve", "1", "ready")
    asked.porch("resume", "1", code=3)
    for line in watcher.stdout:
        if "publish:gate" in line:
            break
    assert watcher.poll() is None


def test_a_reader_that_has_had_enough_is_no_error(asked: "Desk") -> None:
    for words in ("log 1", "status 1 --json", "protocols schema"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {words} | head -c 1 >/dev/null; exit 0', "sh", *_porch()],
            cwd=asked.root, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stderr == ""


def _porch() -> tuple[str, ...]:
    import sys

    return (sys.executable, "-c", "from porch.surfaces.cli.dispatch import porch; exit(porch())")


def test_explain_says_why_and_what_would_move_it(asked: "Desk") -> None:
    said = asked.porch("explain", "1").out
    assert said.startswith("It stands at write:gate#1, entered because of write.PHASE_COMPLETE;")
    assert "a person must decide ready: approved - " in said
    told = asked.porch("explain", "1", "--json").json
    assert told == {"run": "0001-x", "sentences": [said.rstrip("\n")]}
    asked.porch("approve", "1", "ready")
    assert "an agent works on it" in asked.porch("explain", "1").out


def test_settings_say_where_each_comes_from(desk: "Desk") -> None:
    own = desk.root.parent / "home/.config/porch"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[timeouts]\ncheck = 7\nidle = 9\n")
    desk.write("codev/config.toml", "[timeouts]\n\ncheck = 8\n")
    text = desk.porch("settings").out
    assert "timeouts.check                 8  (codev/config.toml:3)" in text
    assert f"9  ({own}/config.toml:3)" in text
    assert "timeouts.claude_timeout        600  (default)" in text
    rows = desk.porch("settings", "--json").json["settings"]
    found = {row["key"]: (row["value"], row["from"]) for row in rows}
    assert found["timeouts.check"] == ("8", "codev/config.toml:3")
    seeds = ("claude_timeout", "consultation_timeout", "gate_poll_interval", "max_gate_wait")
    assert [found[f"timeouts.{key}"][0] for key in seeds] == ["600", "300", "30", "86400"]


@pytest.mark.parametrize(
    "words",
    [
        ["status", "--bogus"], ["pending", "--bogus"], ["log", "1", "--bogus"], ["nonsense"], [],
        ["protocols", "nonsense"], ["plan"], ["status", "1", "2"], ["run"], ["lint"],
    ],
)  # fmt: skip
def test_unknown_words_and_flags_do_nothing(desk: "Desk", words: list[str]) -> None:
    desk.porch(*words, code=2)
    assert not (desk.root / ".git/porch").exists()


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["approve", "1", "g", "--help"]])
def test_help_does_nothing_else(desk: "Desk", words: list[str]) -> None:
    assert desk.porch(*words).out.startswith("usage: porch")
    assert not (desk.root / ".git/porch").exists()


@pytest.mark.req("P-001")
def test_the_version_is_printed(desk: "Desk") -> None:
    import porch

    assert desk.porch("--version").out == f"porch {porch.__version__}\n"
