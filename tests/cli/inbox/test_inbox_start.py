"""When the inbox opens, and what happens where it cannot."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.cli.inbox import start
from tests.cli.conftest import Desk, Open, Terminal
from tests.cli.inbox.conftest import GATED, LAST

WITHOUT = """
import sys
sys.modules["textual"] = None
from porch.cli import dispatch
sys.argv = [sys.argv[1], *sys.argv[2:]]
code = getattr(dispatch, sys.argv[0])()
assert not [name for name in sys.modules if name.startswith("textual.")]
raise SystemExit(code)
"""


def test_without_a_terminal_the_help_is_printed_as_before(desk: Desk) -> None:
    done = desk.call(code=2)
    assert done.out.startswith("usage: porch")
    assert "textual" not in done.all


@pytest.mark.parametrize(
    "variables, why",
    [
        ({"TERM": "dumb"}, "the inbox needs a terminal that can draw"),
        ({"TERM": "xterm", "CLAUDECODE": "1"}, "The inbox is for people"),
    ],
)
def test_where_it_cannot_be_drawn_the_plain_list_says_why(
    desk: Desk,
    variables: dict[str, str],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    desk.begin(*GATED, code=3)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    called: list[tuple[str, list[str]]] = []

    def run_words(program: str, words: object) -> int:
        assert isinstance(words, list)
        called.append((program, words))
        return 0

    capsys.readouterr()
    assert start.open_inbox("porch", run_words) == 0
    assert start.open_inbox("af", run_words) == 0
    assert called == [("porch", ["pending"]), ("af", ["status"])]
    assert why in " ".join(capsys.readouterr().out.split())


def test_without_the_package_the_plain_list_names_the_line_that_installs_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "textual", None)
    capsys.readouterr()
    assert start.open_inbox("porch", lambda _program, _words: 0) == 0
    said = capsys.readouterr().out
    assert "The inbox needs a package that is not installed. Install it: " in said
    assert said.rstrip().endswith(" install textual") or "uv pip install" in said


def test_every_command_works_without_the_package(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    for call in (("porch", "pending"), ("af", "status"), ("porch", "--help")):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT, *call],
            cwd=desk.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_on_a_real_terminal_it_opens_is_resized_and_leaves_it_as_it_was(
    desk: Desk, open_: Open, resize: Callable[[Terminal, int, int], None]
) -> None:
    desk.begin(*GATED, code=3)
    terminal = open_(columns=100)
    terminal.until("1 waits for you")
    terminal.until("spec.md is ready")
    resize(terminal, 10, 20)
    terminal.until("This window is too")
    resize(terminal, 24, 80)
    terminal.until("spec.md is ready")
    terminal.type("q")
    assert terminal.leave() == 0
    assert terminal.after == terminal.before
    assert "Traceback" not in terminal.text


def test_a_terminal_that_is_closed_loses_nothing_and_prints_nothing(
    desk: Desk, open_: Open
) -> None:
    desk.begin(*GATED, code=3)
    before = desk.bytes()
    terminal = open_()
    terminal.until("spec.md is ready")
    os.killpg(os.getpgid(terminal.process.pid), signal.SIGHUP)
    assert terminal.leave() in (-signal.SIGHUP, 0)
    assert "Traceback" not in terminal.text
    assert desk.bytes() == before


@pytest.mark.parametrize("program", ["codev", "envoy"])
def test_other_programs_print_their_help_on_a_terminal_too(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from porch.cli import dispatch

    monkeypatch.setattr(sys, "argv", [program])
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert getattr(dispatch, program)() == 2
    assert "usage" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_in_tmux_a_decision_is_opened_and_approved_by_keys(desk: Desk, tmp_path: Path) -> None:
    desk.begin(LAST, code=3)
    tmux = ("tmux", "-S", str(tmp_path / "socket"), "-f", os.devnull)

    def call(*words: str) -> str:
        done = subprocess.run([*tmux, *words], cwd=desk.root, capture_output=True, check=True)
        return done.stdout.decode()

    def shows(text: str) -> bool:
        return text in call("capture-pane", "-p")

    command = f"{sys.executable} -c 'from porch.cli.dispatch import porch; exit(porch())'"
    call("new-session", "-d", "-x", "60", "-y", "20", command)
    try:
        desk.wait_for(lambda: shows("spec.md is ready"))
        call("send-keys", "Enter")
        desk.wait_for(lambda: shows("What you can do"))
        call("send-keys", "a")
        desk.wait_for(lambda: shows("y  Approve"))
        call("send-keys", "y")
        desk.wait_for(lambda: shows("go: approved."))
    finally:
        call("kill-server")
    assert [fact["wish"]["channel"] for fact in desk.facts("WishTaken")] == ["terminal"]
    desk.wait_for(lambda: desk.entered()[-1] == "complete")
