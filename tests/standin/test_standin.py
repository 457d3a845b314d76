"""The real command lines take the stand-in for their vendors, in good and in bad weather."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents import MODELS, Room, Told
from tests.standin.steps import (
    answer,
    drop,
    edit_file,
    hang,
    refusal,
    run_command,
    say,
    status,
)
from tests.standin.vendors import Vendors
from tests.torture import only_in_full

FORM = {
    "type": "object",
    "properties": {"exit": {"type": "string", "enum": ["Good"]}},
    "required": ["exit"],
    "additionalProperties": False,
}


def _result(told: Told) -> dict[str, Any]:
    """The last line of claude and of gemini says how the turn came out."""
    assert told.events[-1]["type"] == "result", told
    return told.events[-1]


def _codex_messages(told: Told) -> list[str]:
    items = [event["item"] for event in told.events if event["type"] == "item.completed"]
    return [item["text"] for item in items if item["type"] == "agent_message"]


def _gemini_text(told: Told) -> str:
    events = told.events
    ends = [n for n, event in enumerate(events) if event["type"] == "tool_result"]
    later = events[ends[-1] :] if ends else events
    return "".join(event["content"] for event in later if event.get("role") == "assistant")


@dataclass(frozen=True, slots=True)
class Habits:
    """How one command line is asked, and where it puts what we look for."""

    words: tuple[str, ...]
    resume: tuple[str, ...]
    session: str
    final: Callable[[Told], str]
    tokens_in: Callable[[Told], int]
    # The last word of codex says that the prompt is on standard input.
    last: tuple[str, ...] = ()


HABITS = {
    "claude": Habits(
        words=(
            *("claude", "-p", "--output-format", "stream-json", "--verbose"),
            *("--model", MODELS["claude"], "--setting-sources", "", "--strict-mcp-config"),
            *("--permission-mode", "acceptEdits", "--allowedTools", "Bash"),
        ),
        resume=("--resume",),
        session="session_id",
        final=lambda told: str(_result(told)["result"]),
        tokens_in=lambda told: int(_result(told)["usage"]["input_tokens"]),
    ),
    "codex": Habits(
        words=(
            *("codex", "exec", "--json", "--skip-git-repo-check"),
            "--dangerously-bypass-approvals-and-sandbox",
        ),
        resume=("resume",),
        session="thread_id",
        final=lambda told: _codex_messages(told)[-1],
        tokens_in=lambda told: int(told.events[-1]["usage"]["input_tokens"]),
        last=("-",),
    ),
    "gemini": Habits(
        words=(
            *("gemini", "-o", "stream-json", "-m", MODELS["gemini"]),
            *("--skip-trust", "--approval-mode", "yolo"),
        ),
        resume=("--resume",),
        session="session_id",
        final=_gemini_text,
        tokens_in=lambda told: int(_result(told)["stats"]["input_tokens"]),
    ),
}
# A start of gemini takes seconds of CPU, and its own tests start it against the stand-in, too.
_SLOW = pytest.param("gemini", marks=[pytest.mark.torture, only_in_full])
each = pytest.mark.parametrize(
    "name", [_SLOW if name == "gemini" else pytest.param(name) for name in HABITS]
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@dataclass(frozen=True, slots=True)
class Desk:
    """A room, a workspace in it, and a prompt to one of the three."""

    room: Room
    workspace: Path

    def ask(self, name: str, prompt: str, *more: str) -> Told:
        words = (*HABITS[name].words, *more, *HABITS[name].last)
        return self.room.run(*words, cwd=self.workspace, stdin=prompt)


@pytest.fixture
def desk(clean_room: Room, workspace: Path) -> Desk:
    return Desk(clean_room, workspace)


@each
def test_a_turn_is_finished_and_a_later_one_goes_on(name: str, desk: Desk, vendor: Vendors) -> None:
    habits = HABITS[name]
    vendor.script("begin", say("the first answer").usage(1234, 10), say("the second answer"))

    first = desk.ask(name, "please begin")
    session = next(event[habits.session] for event in first.events if habits.session in event)
    second = desk.ask(name, "and now", *habits.resume, session)

    assert (first.code, habits.final(first), habits.tokens_in(first)) == (
        0,
        "the first answer",
        1234,
    )
    assert (second.code, habits.final(second)) == (0, "the second answer")
    last = vendor.asked("begin")[-1]
    assert [said.strip() for said in last.users] == ["please begin", "and now"]
    assert last.model == MODELS[name]
    assert len(last.system) > 1000


@each
def test_files_are_really_written_and_commands_really_run(
    name: str, desk: Desk, vendor: Vendors
) -> None:
    made = desk.workspace / "made.txt"
    routes = run_command("cat /proc/net/route > routes.txt")
    both = run_command("cat made.txt; pwd > where.txt").and_then(routes)
    vendor.script("work", edit_file(made, "one\ntwo\n").saying("I write."), both, say("done"))

    told = desk.ask(name, "please work")

    assert (told.code, HABITS[name].final(told)) == (0, "done")
    assert made.read_text() == "one\ntwo\n"
    assert (desk.workspace / "where.txt").read_text().strip() == str(desk.workspace)
    asked = vendor.asked("work")
    assert [len(request.results) for request in asked] == [0, 1, 3]
    assert "two" in asked[-1].results[1]
    # The first line is a heading: there is no way out of a sealed room.
    ways_out = (desk.workspace / "routes.txt").read_text().splitlines()[1:]
    assert not (desk.room.sealed and ways_out)


ERRORS: dict[str, Callable[[Told, int], bool]] = {
    "claude": lambda told, code: told.code == 1 and _result(told)["api_error_status"] == code,
    "codex": lambda told, _: told.code == 1 and told.events[-1]["type"] == "turn.failed",
    "gemini": lambda told, code: told.code == code % 256 and _result(told)["status"] == "error",
}
# Codex has words of its own for an error of the vendor's server.
WORDS = {("codex", 500): "high demand"}


@each
@pytest.mark.parametrize("code", [401, 429, 500])
def test_an_error_of_the_vendor_is_told(name: str, code: int, desk: Desk, vendor: Vendors) -> None:
    vendor.script("fail", status(code, f"no, {code}", retry_after="7"))

    told = desk.ask(name, "please fail")

    assert ERRORS[name](told, code), told
    assert WORDS.get((name, code), str(code)) in told.stdout
    assert len(vendor.asked("fail")) == 1


REFUSALS: dict[str, Callable[[Told], bool]] = {
    "claude": lambda told: told.code == 1 and _result(told)["stop_reason"] == "refusal",
    "codex": lambda told: told.code == 0 and not _codex_messages(told),
    "gemini": lambda told: told.code == 0 and not _gemini_text(told),
}


@each
def test_a_refusal_is_no_answer(name: str, desk: Desk, vendor: Vendors) -> None:
    vendor.script("evil", refusal())
    told = desk.ask(name, "something evil")
    assert REFUSALS[name](told), told


CUTS: dict[str, Callable[[Told], bool]] = {
    "claude": lambda told: _result(told)["is_error"] and "ECONNRESET" in _result(told)["result"],
    "codex": lambda told: "stream disconnected" in told.events[-1]["error"]["message"],
    "gemini": lambda told: _result(told)["status"] == "error",
}


@each
def test_a_stream_that_is_cut_is_an_error(name: str, desk: Desk, vendor: Vendors) -> None:
    vendor.script("cut", drop("middle", "a text that is long enough to be cut in two halves"))
    told = desk.ask(name, "please cut")
    assert told.code != 0
    assert CUTS[name](told), told


@each
def test_a_vendor_that_falls_silent_keeps_an_agent_waiting(
    name: str, desk: Desk, vendor: Vendors
) -> None:
    vendor.script("hang", hang("middle"))
    running = desk.room.start(
        *HABITS[name].words, *HABITS[name].last, cwd=desk.workspace, stdin="hang"
    )
    vendor.wait(1, "hang")
    time.sleep(0.5)

    assert running.process.pid in desk.room.left()
    told = running.kill()
    assert desk.room.is_empty()
    assert told.code == -9
    assert not {"result", "turn.completed"} & {event["type"] for event in told.events}


def test_claude_is_held_to_a_form_by_a_tool(desk: Desk, vendor: Vendors) -> None:
    vendor.script("form", answer({"exit": "Good"}))
    told = desk.ask("claude", "fill in the form", "--json-schema", json.dumps(FORM))
    assert _result(told)["structured_output"] == {"exit": "Good"}
    assert vendor.requests[0].schema == FORM


def test_codex_asks_its_vendor_for_the_form(desk: Desk, vendor: Vendors) -> None:
    form = desk.workspace / "form.json"
    form.write_text(json.dumps(FORM))
    vendor.script("form", answer({"exit": "Good"}))
    told = desk.ask("codex", "fill in the form", "--output-schema", str(form))
    assert json.loads(_codex_messages(told)[-1]) == {"exit": "Good"}
    assert vendor.requests[0].schema == FORM
