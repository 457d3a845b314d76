"""What the process above a command writes down, in this process: each end and each kind of line."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.agents.command import process
from porch.agents.command.process import LONGEST_TEXT, EventPrinter


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """`main` takes the interrupts of its process, which here is the one of all tests."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def told(capture: pytest.CaptureFixture[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capture.readouterr().out.splitlines()]


def run(place: Path, program: str, session: str = "") -> int:
    asked = (session, str(place / "exit.json"))
    return process.main([*asked, sys.executable, "-c", program])


def test_plain_words_are_told_and_then_final(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(tmp_path, "print('a'); print('b', end='')", session="s-1") == 0
    assert told(capsysbinary) == [
        {"type": "session", "id": "s-1"},
        {"type": "waiting"},
        {"type": "text", "text": "a\n"},
        {"type": "text", "text": "b"},
        {"type": "final", "text": "a\nb"},
    ]


def test_events_pass_as_they_are_and_are_brought_to_an_end(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    line = '{"text": "hi", "type": "text"}'
    assert run(tmp_path, f"print('{line}')") == 0
    assert told(capsysbinary)[1:] == [{"text": "hi", "type": "text"}, {"type": "done"}]


@pytest.mark.parametrize(
    "program, code, kind",
    [("pass", 0, "crashed"), ("raise SystemExit(75)", 75, "rate_limit")],
)
def test_end_that_is_a_failure_is_told(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], program: str, code: int, kind: str
) -> None:
    assert run(tmp_path, program) == code
    assert told(capsysbinary)[-1]["kind"] == kind


def test_crash_is_left_to_the_exit_code(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(tmp_path, "raise SystemExit(3)") == 3
    assert told(capsysbinary) == [{"type": "waiting"}]


def test_command_that_cannot_be_started_is_a_failure(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert process.main(["", "exit.json", "no-such-command-anywhere"]) == 127
    assert told(capsysbinary)[0]["kind"] == "bad_request"


def test_signal_that_killed_the_command_is_sent_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    assert process.report_command_end(EventPrinter(""), -signal.SIGKILL, False) == -signal.SIGKILL
    assert sent == [(os.getpid(), signal.SIGKILL)]


def test_long_line_is_told_in_parts_that_are_never_left_out(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    EventPrinter("").line(b"x" * (2 * LONGEST_TEXT + 1))
    assert [len(each["text"]) for each in told(capsysbinary)] == [LONGEST_TEXT, LONGEST_TEXT, 1]


def test_text_is_written_as_json_writes_it(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    text = "".join(map(chr, range(0x300))) + "\u2028€😀"
    process.print_event("text", text=text)
    wanted = json.dumps({"type": "text", "text": text}, ensure_ascii=False) + "\n"
    assert capsysbinary.readouterr().out.decode() == wanted


def test_command_dies_of_a_broken_pipe_like_any_other(tmp_path: Path) -> None:
    """We ourselves ignore that signal, and what is ignored is inherited."""
    shell = f"(yes; echo $? > '{tmp_path}/code') | head -n 1"
    assert process.main(["", str(tmp_path / "exit.json"), "sh", "-c", shell]) == 0
    assert (tmp_path / "code").read_text() == f"{128 + signal.SIGPIPE}\n"
