"""status, pending, log, explain, settings: what people and programs read."""

import json
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.verbs import read_run
from porch.store import chain
from porch.testing import kill_at
from tests.repositories import ACCOUNT

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
    extra = ["positions", "outcomes", "decisions", "journal", "cost", "definition_changed"]
    assert list(quick) == [*STATUS_KEYS, *extra, "driver"]
    assert {key: quick[key] for key in STATUS_KEYS} == asked.status()
    assert quick["positions"][0]["position"] == "write:gate#1"
    assert quick["decisions"][0]["name"] == "ready"
    assert quick["journal"] is True


def test_status_of_all_runs(asked: "Desk") -> None:
    asked.porch("run", "p", "0002", "--title", "other", "--no-claude", code=3)
    quick = asked.porch("status").out
    lines = quick.splitlines()
    assert lines[0].split() == ["ID", "TITLE", "PROTOCOL", "STATE", "WAITING", "FOR"]
    assert [line.split()[0] for line in lines[1:]] == ["0001", "0002"]
    quick_json = asked.porch("status", "--json").json
    for without in ("row.json", "coming_row", "picture.json"):
        for run in ("0001-x", "0002-other"):
            (asked.run_dir(run) / without).unlink()
        assert asked.porch("status").out == quick, without
        assert asked.porch("status", "--json").json == quick_json, without
    assert [row["state"] for row in quick_json["runs"]] == ["write:gate", "write:gate"]


@pytest.mark.parametrize("name", ["row.json", "picture.json"])
def test_a_flipped_bit_in_a_view_of_the_journal_changes_no_answer(asked: "Desk", name: str) -> None:
    """R8: 351 of 1,955 flips gave a wrong answer with exit code 0."""
    commands = (("status",), ("status", "1", "--json"), ("pending", "--json"), ("log", "1"))
    answers = [asked.porch(*words).out for words in commands]
    file = asked.run_dir() / name
    (asked.run_dir() / "coming_row").unlink()
    whole, luck = file.read_bytes(), random.Random(name)
    for _ in range(25):
        place, bit = luck.randrange(len(whole)), luck.randrange(8)
        damaged = bytearray(whole)
        damaged[place] ^= 1 << bit
        file.write_bytes(damaged)
        assert [asked.porch(*words).out for words in commands] == answers, (place, bit)


@pytest.mark.parametrize("word", ["1", "0001", "01", "0001-x", "."])
def test_a_run_is_found_by_id_unpadded_id_directory_name_or_where_one_stands(
    asked: "Desk", word: str
) -> None:
    assert asked.porch("status", word).out.startswith("0001 x (p)")
    assert "waiting for your decision ready" in asked.porch("explain", word).out


def test_an_id_that_fits_several_runs_is_refused_with_the_list(asked: "Desk") -> None:
    asked.porch("run", "p", "01", "--title", "y", "--no-claude", code=3)
    for words in (["status", "1"], ["approve", "1", "ready"], ["log", "1"]):
        said = asked.porch(*words, code=2)
        assert "matches several runs" in said.err
        assert "0001-x, 01-y" in said.err
    assert asked.porch("status", "01").out.startswith("01 y")  # exactly one is called so


def test_nothing_here_yet(desk: "Desk") -> None:
    assert "There are no runs here yet" in desk.porch("status").out
    assert desk.porch("status", "--json").json == {"runs": [], "without_journal": []}
    assert desk.porch("pending").out == "No decision is waiting for you.\n"
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
        for name in ("row.json", "coming_row", "picture.json"):
            (asked.run_dir(run) / name).unlink()
    assert asked.porch("pending", "--json").json == told
    assert asked.porch("pending", "--hook").out == hook


def grow(desk: "Desk", records: int, run: str = "0001-x") -> None:
    """Facts that move nothing, chained as a runner chains them, and not drawn."""
    path = desk.run_dir(run) / "journal.jsonl"
    found, _ = chain.parse_records(path.read_bytes())
    total, lines = found.sum, []
    for seq in range(found.seq + 1, found.seq + records + 1):
        fact = {"is": "StatusEdited", "aside": f"status.edited-{seq}.yaml"}
        line, total = chain.render_record_line(
            seq, total, {"at": "2030-01-01T00:00:00.000Z", "fact": fact, "moves": [], "begun": []}
        )
        lines.append(line)
    with open(path, "ab") as file:
        file.write(b"".join(lines))


def test_a_stale_row_costs_its_own_run_only_and_once(
    asked: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("0002", "0003"):
        asked.porch("run", "p", number, "--title", "other", "--no-claude", code=3)
    told = asked.porch("status").out, asked.porch("pending").out
    grow(asked, 1, "0002-other")
    read: list[str] = []
    whole = read_run.RunReader.read

    def seen(self: read_run.RunReader, name: str) -> read_run.ReadRun:
        read.append(name)
        return whole(self, name)

    monkeypatch.setattr(read_run.RunReader, "read", seen)
    for _ in range(2):
        assert (asked.porch("status").out, asked.porch("pending").out) == told
    assert read == ["0002-other"]


@pytest.mark.parametrize("words", [("approve", "1", "ready"), ("stop", "1")])
def test_lists_show_what_was_recorded_by_who_was_killed_before_drawing_it(
    asked: "Desk", words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody folds the run for that: its row was announced before the record was written."""
    command = [sys.executable, "-c", "from porch.cli.scripts import porch; porch()", *words]
    seq = len(asked.records())
    killed = kill_at("journal.after-sync", command)
    assert killed.returncode == -signal.SIGKILL
    assert len(asked.records()) > seq
    commands = (["status"], ["status", "--json"], ["pending"], ["pending", "--json"])
    with monkeypatch.context() as patch:
        patch.setattr(read_run.RunReader, "read", None)
        quick = [asked.porch(*each).out for each in commands]
    for name in ("row.json", "coming_row", "picture.json"):
        (asked.run_dir() / name).unlink()
    assert [asked.porch(*each).out for each in commands] == quick


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b'{"length":1,"sum":"0","row":{}}'])
def test_a_row_that_is_garbage_changes_nothing_that_is_read(asked: "Desk", data: bytes) -> None:
    commands = (["status"], ["status", "--json"], ["pending"], ["pending", "--json"], ["log", "1"])
    told = [asked.porch(*words).out for words in commands]
    (asked.run_dir() / "row.json").write_bytes(data)
    assert [asked.porch(*words).out for words in commands] == told
    asked.porch("approve", "1", "ready")


def test_a_damaged_run_does_not_hide_the_others(asked: "Desk") -> None:
    asked.porch("run", "p", "0002", "--title", "other", "--no-claude", code=3)
    with open(asked.run_dir() / "journal.jsonl", "ab") as file:
        file.write(b"damage\n")
    said = asked.porch("status", code=5)
    assert "0002" in said.out
    assert "journal" in said.out
    assert [d["id"] for d in asked.porch("pending", "--json", code=5).json["decisions"]] == ["0002"]


def test_log_shows_the_last_lines_and_says_how_to_see_the_rest(asked: "Desk") -> None:
    before = len(asked.records())
    grow(asked, 1000)
    lines = asked.porch("log", "1").out.splitlines()
    assert lines[0] == f"... {before + 800:,} earlier lines; show them: porch log 1 --all"
    assert len(lines) == 201
    assert [int(line.split()[2]) for line in lines[1:]] == [
        record["seq"] for record in asked.records()[-200:]
    ]
    whole = asked.porch("log", "1", "--all").out.splitlines()
    assert whole[-200:] == lines[1:]
    assert len(whole) == before + 1000
    assert asked.porch("log", ".").out.splitlines()[1:] == lines[1:]
    assert asked.porch("log", "1", "--last", "3").out.splitlines()[1:] == lines[-3:]
    assert asked.porch("log", ".", "--all").out.splitlines() == whole


def test_log_for_programs_has_all_records_unless_fewer_are_asked_for(asked: "Desk") -> None:
    grow(asked, 300)
    document = {"run": "0001-x", "records": asked.records()}
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    assert asked.porch("log", "1", "--json").out == text
    assert asked.porch("log", ".", "--json").out == text
    few = asked.porch("log", "1", "--json", "--last", "2").json
    assert few == {"run": "0001-x", "records": asked.records()[-2:]}


def test_log_refuses_numbers_that_are_none_and_two_answers_at_once(asked: "Desk") -> None:
    for words in (["--last", "0"], ["--last", "many"], ["--last", "5", "--all"]):
        assert "--last" in asked.porch("log", "1", *words, code=2).err


@pytest.mark.parametrize("words", [[], ["--all"], ["--json"], ["--last", "5"]])
def test_log_of_a_damaged_journal_is_refused_with_the_line(asked: "Desk", words: list[str]) -> None:
    grow(asked, 300)
    line = len(asked.records()) + 1
    with open(asked.run_dir() / "journal.jsonl", "ab") as file:
        file.write(b"damage\n")
    said = asked.porch("log", "1", *words, code=5)
    assert f"line {line}" in said.err


def test_log_tells_every_record_in_order(asked: "Desk") -> None:
    text = asked.porch("log", "1").out
    numbers = [int(line.split()[2]) for line in text.splitlines()]
    assert numbers == list(range(1, len(asked.records()) + 1))
    assert f"run 0001-x started with protocol p by {ACCOUNT}" in text
    assert "Write it down: the agent ended with PHASE_COMPLETE; next: checks" in text
    assert "written_files passed in 0" in text
    verbose = asked.porch("log", "1", "--verbose").out
    assert "write#1: the agent ended with PHASE_COMPLETE -> write:checks#1" in verbose
    assert asked.porch("log", "1", "--verbose", "--last", "500").out == verbose
    told = asked.porch("log", "1", "--json").json
    assert (told["run"], told["records"]) == ("0001-x", asked.records())


def test_log_follow_goes_on_until_the_run_is_over(asked: "Desk") -> None:
    follower = asked.start("log", "1", "--follow")
    asked.porch("approve", "1", "ready")
    asked.porch("resume", "1", code=3)
    asked.porch("approve", "1", "out")
    out, _ = follower.communicate(timeout=90)
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
    out, _ = watcher.communicate(timeout=90)
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

    return (sys.executable, "-c", "from porch.cli.dispatch import porch; exit(porch())")


def test_explain_says_why_and_what_would_move_it(asked: "Desk") -> None:
    alone, said, effects = asked.porch("explain", "1").out.splitlines()
    assert alone.startswith("Not running since ")
    assert said.startswith("It is at write:gate#1 (came from write:checks.passed):")
    assert "waiting for your decision ready: approved - " in said
    told = asked.porch("explain", "1", "--json").json
    assert told == {"run": "0001-x", "sentences": [alone, said, effects]}
    assert effects.startswith("ready: approved starts publish; rejected goes back")
    asked.porch("approve", "1", "ready")
    assert "an agent must continue the work" in asked.porch("explain", "1").out


@pytest.mark.req("P-145", "P-146", "P-147", "P-148")
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
