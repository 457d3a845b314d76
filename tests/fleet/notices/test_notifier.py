"""Every notice once, beside the run, whatever its channels do."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.fleet.notices import channels
from porch.fleet.notices.due_notices import Notice, due_notices
from porch.fleet.notices.notifier import FILE, Notifier, read_sent_keys
from porch.machine.state import Decision, Run, RunState
from porch.run.settings import Settings
from tests.listener import Listener

GATE = Decision("plan:gate#1", "gate", "plan_approval", "2026-01-02T03:04:05Z")
WAITING = RunState(run=Run(name="0007-x", id="0007", title="x"), decisions={GATE.position: GATE})
NOTICE = Notice("k", "gate", "0007", "plan_approval", "0007 x: waiting for your approval")


def keep_in(sent: list[str]) -> channels.Send:
    def send(notice: Notice) -> str:
        sent.append(notice.key)
        return ""

    return send


@pytest.fixture
def listener(request: pytest.FixtureRequest) -> Iterator[Listener]:
    made = Listener(getattr(request, "param", 200))
    yield made
    made.close()


def test_each_open_decision_is_due_once_and_names_no_contents() -> None:
    [notice] = due_notices(WAITING)
    assert notice == Notice(
        "plan:gate#1",
        "gate",
        "0007",
        "plan_approval",
        "0007 x: waiting for your approval: plan_approval",
    )


@pytest.mark.req("P-153")
def test_a_decision_that_has_waited_too_long_is_due_once_more() -> None:
    stale = replace(WAITING, marks={GATE.position: {"fired/plan_approval": True}})
    assert [each.event for each in due_notices(stale)] == ["gate", "stale"]
    assert "still waiting for your approval" in due_notices(stale)[1].text


@pytest.mark.req("P-017", "P-118")
@pytest.mark.parametrize(
    "outcome, text", [("complete", "0007 x is complete"), ("failed", "0007 x is ended: failed")]
)
def test_the_end_of_a_run_is_due(outcome: str, text: str) -> None:
    ended = replace(WAITING, decisions={}, outcome=outcome)
    assert [(each.event, each.text) for each in due_notices(ended)] == [(outcome, text)]


def test_what_was_sent_is_not_sent_again_by_this_drive_or_the_next(tmp_path: Path) -> None:
    sent: list[str] = []
    for _ in range(2):
        notifier = Notifier(str(tmp_path), {"a": keep_in(sent)}, print)
        notifier.look(WAITING)
        notifier.look(WAITING)
        notifier.close()
    assert sent == [GATE.position]
    assert read_sent_keys(str(tmp_path)) == {GATE.position}


def test_what_was_not_sent_before_a_crash_is_sent_by_the_next_drive(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"key": "other"}\n{"key": "plan:ga')
    sent: list[str] = []
    notifier = Notifier(str(tmp_path), {"a": keep_in(sent)}, print)
    notifier.look(WAITING)
    notifier.close()
    assert sent == [GATE.position]


def test_a_channel_that_fails_is_told_and_the_others_are_used(tmp_path: Path) -> None:
    told: list[str] = []
    sent: list[str] = []
    ways = {"bad": lambda _: "no", "good": keep_in(sent)}
    notifier = Notifier(str(tmp_path), ways, told.append)
    notifier.look(WAITING)
    notifier.close()
    assert told == ["the notice could not be sent by bad: no"]
    assert sent == [GATE.position]


@pytest.mark.req("P-170")
def test_a_webhook_gets_a_body_that_slack_understands(listener: Listener) -> None:
    known = Settings(notify_webhook="$HOOK")
    ways = channels.open_channels(known, {"HOOK": listener.url})
    assert channels.send_notice(ways, NOTICE) == []
    assert listener.bodies == [
        {"text": NOTICE.text, "event": "gate", "run": "0007", "decision": "plan_approval"}
    ]


@pytest.mark.parametrize("listener", [500], indirect=True)
def test_a_server_that_refuses_is_told_without_its_address(listener: Listener) -> None:
    [fault] = channels.send_notice(
        channels.open_channels(Settings(notify_webhook=listener.url), {}), NOTICE
    )
    assert "the server answered 500" in str(fault)
    assert "secret-part" not in str(fault)


@pytest.mark.parametrize(
    "address, why",
    [
        ("$HOOK", "$HOOK is not set to an http or https address"),
        ("file:///etc/passwd", "file:///etc/passwd is not set to an http or https address"),
        ("http://127.0.0.1:1/secret-part", "no connection"),
        ("http://127.0.0.1:1/secret-part\n x", "no connection: InvalidURL"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(address: str, why: str) -> None:
    [fault] = channels.send_notice(
        channels.open_channels(Settings(notify_webhook=address), {}), NOTICE
    )
    assert why in str(fault)
    assert "secret-part" not in str(fault)


def test_a_server_that_does_not_speak_http_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/secret-part"
        thread = threading.Thread(target=_answer_garbage, args=(server,))
        thread.start()
        opened = channels.open_channels(Settings(notify_webhook=url), {})
        [fault] = channels.send_notice(opened, NOTICE)
        thread.join()
    assert "no connection: BadStatusLine" in str(fault)


def _answer_garbage(server: socket.socket) -> None:
    caller, _ = server.accept()
    with caller:
        caller.recv(65536)
        caller.sendall(b"garbage\r\n\r\n")


def test_a_command_gets_the_notice_in_variables_and_no_shell_reads_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = f"import os; open({str(out)!r}, 'w').write(os.environ['PORCH_NOTICE'])"
    known = Settings(notify_command=(sys.executable, "-c", code))
    odd = replace(NOTICE, text="$(touch x); `id`")
    assert channels.send_notice(channels.open_channels(known, {"PATH": ""}), odd) == []
    assert out.read_text() == "$(touch x); `id`"


@pytest.mark.parametrize(
    "words, why",
    [
        ((sys.executable, "-c", "import sys; sys.exit('no')"), "ended with 1: no"),
        (("/no/such/command",), "cannot be started"),
    ],
)
def test_a_command_that_fails_is_told(words: tuple[str, ...], why: str) -> None:
    [fault] = channels.send_notice(
        channels.open_channels(Settings(notify_command=words), {}), NOTICE
    )
    assert why in str(fault)


def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "TIMEOUT_S", 0.2)
    known = Settings(notify_command=(sys.executable, "-c", "import time; time.sleep(60)"))
    [fault] = channels.send_notice(channels.open_channels(known, {}), NOTICE)
    assert "did not end within" in str(fault)


def test_what_a_command_that_hangs_has_started_is_ended_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "TIMEOUT_S", 1.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    # As long as anybody of them lives, the pipe has a writer.
    known = Settings(notify_command=("/bin/sh", "-c", f"exec 3>{pipe}; echo >&3; sleep 60; true"))
    assert channels.send_notice(channels.open_channels(known, {"PATH": os.defpath}), NOTICE)
    os.set_blocking(reader, True)
    assert os.read(reader, 9) == b"\n"
    assert os.read(reader, 9) == b"", "all of them have ended"
    os.close(reader)


def test_the_desktop_gets_the_text_as_one_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    fake = tmp_path / "notify-send"
    fake.write_text(f'#!/bin/sh\nprintf "%s" "$4" > {out}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    known = Settings(notify_desktop=True)
    assert channels.send_notice(channels.open_channels(known, {}), NOTICE) == []
    assert out.read_text() == NOTICE.text


def test_without_a_desktop_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    [fault] = channels.send_notice(
        channels.open_channels(Settings(notify_desktop=True), {}), NOTICE
    )
    assert "neither notify-send nor osascript is installed" in str(fault)
