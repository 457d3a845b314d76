"""`porch agents`: who is there, and whether they do what porch relies on."""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.system import process_marks
from tests.real_agents import MODELS, Room
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file, run_command, say, status
from tests.standin.vendors import Vendors

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Said

Put = Callable[[str, str], Path]

# An agent of three dozen lines: it does what the prompt of the test asks, except for its faults.
AGENT = r"""
import json, os, re, subprocess, sys, time
prompt, session, memory, *faults = sys.argv[1:]
text = open(prompt).read()
def found(pattern):
    return re.search(pattern, text)[1]
if "crash" in faults:
    sys.exit(3)
if "sleep" in faults:
    time.sleep(60)
if "auth" in faults:
    print(json.dumps({"type": "failed", "kind": "auth", "text": "no key"}))
    sys.exit()
known = os.path.join(memory, session)
if "remember earlier" in text:
    there = os.path.exists(known) and "forget" not in faults
    print(open(known).read() if there else "unknown")
    sys.exit()
with open(known, "w") as file:
    file.write(found(r"Remember the word (\w+)"))
word = "wrong" if "word" in faults else found(r"content is the word (\w+)")
if "file" not in faults:
    with open(found(r"Write the file (\S+)"), "w") as file:
        file.write(word + "\n")
if "command" not in faults:
    command = found(r"Run the command `([^`]+)`").split()
    print(subprocess.run(command, capture_output=True, text=True).stdout)
if "signal" not in faults:
    signal = found(r"(<signal>.*</signal>)")
    print(f"`{signal}`" if "quote" in faults else signal)
"""

# A `claude` of its own kind: it says what the real one would, and writes what it must not.
CLAUDE = r"""
import json, os, re, subprocess, sys
if "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit()
text = sys.stdin.read()
faults = open(os.path.join(os.environ["HOME"], "faults")).read().split()
memory = os.path.join(os.environ["HOME"], "memory")
session = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else "first"
if "--fork-session" in sys.argv and "fork" not in faults:
    session = "second"
said = ""
if "remember earlier" in text:
    said = open(memory).read()
elif "try\nto write each" in text:
    for path in re.findall(r"^- (\S+)$", text, re.M):
        if os.path.basename(os.path.dirname(path)) in faults:
            open(path, "w").write("test")
else:
    open(memory, "w").write(re.search(r"Remember the word (\w+)", text)[1])
    with open("word.txt", "w") as file:
        file.write(re.search(r"content is the word (\w+)", text)[1])
    command = re.search(r"Run the command `([^`]+)`", text)[1].split()
    said = subprocess.run(command, capture_output=True, text=True).stdout
    said += re.search(r"<signal>.*</signal>", text)[0]
print(json.dumps({"type": "system", "subtype": "init", "session_id": session}))
if "tool" in faults:
    block = [{"type": "tool_use", "name": "Read", "input": {}}]
    print(json.dumps({"type": "assistant", "message": {"content": block}}))
block = [{"type": "text", "text": said}]
print(json.dumps({"type": "assistant", "message": {"content": block}, "session_id": session}))
usage = {"input_tokens": 10, "output_tokens": 5}
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": said,
    "session_id": session, "total_cost_usd": 0.25, "usage": usage, "permission_denials": []}))
"""


class Bench:
    """Somebody who tests agents of their own at a desk; what is left in TMPDIR can be seen."""

    def __init__(self, desk: "Desk", temporary: Path):
        self.desk = desk
        self.temporary = temporary

    def employ(self, *faults: str, session: str = "{session}") -> None:
        script = self.desk.root.parent / "agent.py"
        script.write_text(AGENT)
        memory = self.desk.root.parent / "memory"
        memory.mkdir(exist_ok=True)
        words = [sys.executable, str(script), "{prompt_file}", session, str(memory), *faults]
        self.desk.write("codev/config.toml", f"[agents.mine]\ncommand = {json.dumps(words)}\n")

    def impersonate(self, put: Put, *faults: str) -> None:
        script = self.desk.root.parent / "claude.py"
        script.write_text(CLAUDE)
        (Path(os.environ["HOME"]) / "faults").write_text(" ".join(faults))
        put("claude", f'exec "{sys.executable}" "{script}" "$@"')

    def test(self, name: str = "mine", code: int = 0, *words: str) -> dict[str, Any]:
        told = self.desk.porch("agents", "test", name, "--json", *words, code=code).json
        assert isinstance(told, dict)
        return told

    def left(self) -> list[str]:
        return [name for name in os.listdir(self.temporary) if name.startswith("porch-agents-")]


@pytest.fixture
def bench(desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return Bench(desk, temporary)


def results(told: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["result"] for step in told["steps"]}


GOOD = {
    "turn": "ok",
    "file": "ok",
    "command": "ok",
    "signal": "ok",
    "resume": "ok",
    "fork": "not supported",
    "read-only": "not supported",
}


def test_a_command_of_ones_own_that_obeys_passes_and_leaves_nothing(bench: Bench) -> None:
    bench.employ()
    told = bench.test()
    assert results(told) == GOOD
    assert told["passed"]
    assert told["seconds"] > 0
    assert bench.left() == []


@pytest.mark.parametrize(
    "fault, step, seen",
    [
        ("file", "file", "word.txt is missing"),
        ("word", "file", "'wrong"),
        ("command", "command", "in its final message"),
        ("signal", "signal", "in its final message"),
        ("quote", "signal", "PORCH_TEST_DONE"),
        ("forget", "resume", "did not remember"),
    ],
)
def test_one_step_that_is_disobeyed_fails_and_only_that_one(
    bench: Bench, fault: str, step: str, seen: str
) -> None:
    bench.employ(fault)
    told = bench.test(code=1)
    assert results(told) == {**GOOD, step: "failed"}
    assert seen in next(each["seen"] for each in told["steps"] if each["name"] == step)


def test_x6_a_command_that_nobody_trusts_is_not_tried(bench: Bench) -> None:
    bench.employ()
    path = bench.desk.root / "codev/config.toml"
    path.write_text(path.read_text().replace("agent.py", "other.py"))
    said = bench.desk.porch("agents", "test", "mine", code=2)
    assert "untrusted-settings" in said.all
    assert bench.left() == []


def test_a_command_without_a_session_cannot_resume_and_passes_even_so(bench: Bench) -> None:
    bench.employ(session="none")
    assert results(bench.test()) == {**GOOD, "resume": "not supported"}


def test_after_a_first_turn_that_failed_the_rest_is_not_tried(bench: Bench) -> None:
    bench.employ("crash")
    told = bench.test(code=1)
    assert results(told) == {"turn": "failed", **dict.fromkeys(list(GOOD)[1:], "not tried")}
    assert "exit code 3" in told["steps"][0]["seen"]
    assert list(Path(told["kept"]).rglob("transcript.jsonl"))


def test_a_turn_that_takes_too_long_is_ended(bench: Bench) -> None:
    bench.employ("sleep")
    told = bench.test("mine", 1, "--timeout", "0.5")
    assert told["steps"][0]["seen"].startswith("timeout")


@pytest.mark.parametrize("text", ["0", "-1", "soon", "inf", "nan"])
def test_a_timeout_is_a_number_of_seconds(bench: Bench, text: str) -> None:
    bench.employ()
    bench.desk.porch("agents", "test", "mine", f"--timeout={text}", code=2)


def test_whoever_is_not_logged_in_is_told_what_to_do(bench: Bench) -> None:
    bench.employ("auth")
    said = bench.desk.porch("agents", "test", "mine", code=6)
    assert "error[agent-login]" in said.err
    assert "no key" in said.err
    assert "fix:" in said.err
    assert bench.left() == []


def test_an_agent_that_is_not_installed_is_said_with_its_fix(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = desk.porch("agents", "test", "claude", code=6)
    assert "error[agent-missing]" in said.err
    assert "npm install" in said.err
    assert "tokens" not in said.err


def test_an_agent_that_nobody_knows_is_a_mistake_of_the_caller(desk: "Desk") -> None:
    assert "error[unknown-agent]" in desk.porch("agents", "test", "cloud", code=2).err


def test_the_scripted_agent_has_nothing_to_test(desk: "Desk") -> None:
    assert "fix:" in desk.porch("agents", "test", "scripted", code=2).err


def test_a_person_reads_each_step_and_before_them_that_it_costs(bench: Bench) -> None:
    bench.employ()
    said = bench.desk.porch("agents", "test", "mine")
    assert "use real tokens" in said.err
    lines = said.out.splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == ["ok"] * 4
    assert re.fullmatch(r"mine passed: .* s", lines[-1])


def test_a_person_is_told_where_the_transcripts_of_a_failure_lie(bench: Bench) -> None:
    bench.employ("file")
    said = bench.desk.porch("agents", "test", "mine", code=1)
    place = Path(said.out.strip().rpartition(" in ")[2])
    assert (place / "test_work" / "transcript.jsonl").exists()


def test_a_test_touches_nothing_in_the_repository_of_its_caller(bench: Bench) -> None:
    bench.employ()
    before = sorted((str(path), path.stat().st_mtime_ns) for path in bench.desk.root.rglob("*"))
    bench.test()
    after = sorted((str(path), path.stat().st_mtime_ns) for path in bench.desk.root.rglob("*"))
    assert after == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_test_that_is_interrupted_leaves_no_agent_and_no_files(bench: Bench, number: int) -> None:
    bench.employ("sleep")
    porch = bench.desk.start("agents", "test", "mine", TMPDIR=str(bench.temporary))
    mark = f"porch-test-{porch.pid}:"
    bench.desk.wait_for(lambda: process_marks.list_marked_processes(mark))
    time.sleep(0.2)
    porch.send_signal(number)
    assert porch.wait(90) == 130
    assert process_marks.list_marked_processes(mark) == []
    assert bench.left() == []


HELD = {**GOOD, "fork": "ok", "read-only": "ok"}


def test_an_agent_that_forks_and_is_held_to_permissions_passes_all_steps(
    bench: Bench, command: Put
) -> None:
    bench.impersonate(command)
    told = bench.test("claude")
    assert results(told) == HELD
    assert told["usd"] == 1.0
    assert "it did not try" in told["steps"][-1]["seen"]


def test_an_agent_that_tries_in_vain_and_tells_nothing_is_held_too(
    bench: Bench, command: Put
) -> None:
    bench.impersonate(command, "tool")
    told = bench.test("claude")
    assert results(told) == HELD
    assert "used its tools 1 times" in told["steps"][-1]["seen"]


@pytest.mark.parametrize(
    "fault, step, seen",
    [
        ("repository", "read-only", "repository/forbidden.txt"),
        ("outside", "read-only", "outside/forbidden.txt"),
        ("fork", "fork", "same conversation"),
    ],
)
def test_what_an_agent_is_held_to_must_hold(
    bench: Bench, command: Put, fault: str, step: str, seen: str
) -> None:
    bench.impersonate(command, fault)
    told = bench.test("claude", 1)
    assert results(told) == {**HELD, step: "failed"}
    assert seen in next(each["seen"] for each in told["steps"] if each["name"] == step)


def model(request: Request) -> Step:
    """Does what the test asks, as a model behind the vendor's interface would."""
    text = request.prompt
    if "remember earlier" in text:
        return say(first(r"Remember the word (\w+)", "\n".join(request.users)))
    if request.results:
        signal_ = first(r"(<signal>.+</signal>)", text)
        return say(f"{request.results[-1]}\n\n{signal_}")
    if "test of what you are permitted" in text:
        one, other = re.findall(r"^- (\S+)$", text, re.MULTILINE)
        return edit_file(one, "test").and_then(edit_file(other, "test"))
    word = first(r"content is the word (\w+)", text)
    write = run_command(f"printf {word} > word.txt")
    return write.and_then(run_command(first(r"Run the command `([^`]+)`", text)))


def first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "unknown"


def test_the_real_claude_passes_the_whole_test(
    clean_room: Room, bench: Bench, vendor: Vendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in clean_room.environ.items():
        monkeypatch.setenv(name, value)
    bench.desk.write("codev/config.toml", f'[agents.claude]\nmodel = "{MODELS["claude"]}"\n')
    vendor.default = model
    told = bench.test("claude")
    assert results(told) == HELD, told
    assert "refused" in told["steps"][-1]["seen"]


def test_the_real_claude_without_a_valid_key_is_not_logged_in(
    clean_room: Room, bench: Bench, vendor: Vendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in clean_room.environ.items():
        monkeypatch.setenv(name, value)
    vendor.default = lambda _request: status(401)
    said = bench.desk.porch("agents", "test", "claude", code=6)
    assert "error[agent-login]" in said.err
    assert "ANTHROPIC_API_KEY" in said.err


def listed(said: "Said") -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in said.json["agents"]}


def test_agents_are_listed_with_what_they_are_used_for(
    desk: "Desk", command: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("claude", "echo '9.9.9 (Claude Code)'")
    desk.write(
        "codev/config.toml",
        '[agents.mine]\ncommand = ["true"]\n[agents.gone]\ncommand = ["no-such-word"]\n'
        '[agents.big]\nkind = "claude"\nmodel = "huge"\n'
        '[roles.builder]\nagent = "mine"\n[phases.plan]\nagent = "big"\n'
        '[panel]\nmodels = ["big", "mine"]\n',
    )
    known = listed(desk.porch("agents", "--json"))
    assert list(known) == ["mine", "gone", "big", "claude", "codex", "gemini", "scripted"]
    assert known["claude"]["uses"] == ["default"]
    assert known["claude"]["version"] == "9.9.9"
    assert known["mine"]["uses"] == ["role builder", "panel"]
    assert known["mine"]["installed"]
    assert not known["gone"]["installed"]
    assert known["big"] | {"kind": "claude", "model": "huge", "version": "9.9.9"} == known["big"]
    assert known["big"]["uses"] == ["phase plan", "panel"]


def test_a_person_sees_the_agents_as_a_table(desk: "Desk", command: Put) -> None:
    command("claude", "echo '9.9.9 (Claude Code)'")
    desk.write("codev/config.toml", '[agents.big]\nkind = "claude"\nmodel = "huge"\n')
    rows = [line.split() for line in desk.porch("agents", "list").out.splitlines()]
    assert rows[0] == ["agent", "installed", "model", "used", "for"]
    assert ["big", "(claude)", "9.9.9", "huge", "-"] in rows
    assert ["claude", "9.9.9", "-", "default"] in rows
