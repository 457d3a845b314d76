"""What is listed fits the terminal it is shown on, and says good and bad by a sign and a colour."""

import fcntl
import itertools
import os
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest

from porch.show.board import cut_text, lay_out_table, pad_text, text_width
from tests import commands
from tests.cli.conftest import ESCAPES

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

PHASE = {
    "id": "one",
    "name": "The first of all things",
    "prompt": "one.md",
    "checks": {"test": {"command": "echo boom; exit 1", "max_retries": 0}},
    "gate": {"name": "ready", "next": None},
}
TITLE = "日本語のタイトル and e\u0301 and 👍 with many more words than a narrow terminal can show"
LISTINGS = (
    "porch status", "porch status 1", "porch pending", "porch explain 1", "porch log 1",
    "porch log 1 --all", "porch log 1 --turns", "porch protocols list", "porch protocols show p",
    "porch agents list", "porch settings", "af status", "af status 1", "codev doctor",
)  # fmt: skip
WIDTHS = (40, 80, 200)


@pytest.fixture
def failed(desk: "Desk") -> "Desk":
    desk.write("codev/config.toml", "[agent]\nback_off = 0\n")
    desk.protocol("p", PHASE)
    said = desk.porch("run", "p", "--title", TITLE, "--no-claude", "--here", code=3).out
    assert "waiting for your decision: phase 'one' failed: retry, skip or stop?" in said
    return desk


def on_terminal(desk: "Desk", words: str, columns: int, **variables: str) -> str:
    """What a command shows on a terminal of so many columns, with its colours."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **variables}
    program, *rest = words.split()
    with os.fdopen(slave, "wb") as out:
        running = commands.start(program, rest, desk.root, env, out, subprocess.STDOUT, False)
    shown = b""
    with running, os.fdopen(master, "rb", 0) as screen:
        try:
            while piece := screen.read(65536):
                shown += piece
        except OSError:
            pass  # how a terminal says that nobody writes to it any more
    return shown.decode().replace("\r\n", "\n")


def is_copied(line: str) -> bool:
    """A path or a command is one piece, so that it can be copied."""
    told = line.strip()
    return " " not in told or told.startswith(("porch ", "af ", "codev "))


def test_r11_every_listing_fits_terminals_of_40_to_200_columns(failed: "Desk") -> None:
    for words, columns in itertools.product(LISTINGS, WIDTHS):
        lines = ESCAPES.sub("", on_terminal(failed, words, columns)).split("\n")
        assert any(lines), words
        too_wide = [line for line in lines if text_width(line) > columns and not is_copied(line)]
        assert not too_wide, (words, columns)


def test_r11_success_and_failure_have_a_sign_and_a_colour(failed: "Desk") -> None:
    said = on_terminal(failed, "porch log 1", 120)
    assert "\x1b[31m✗ The first of all things: check test failed" in said
    assert "\x1b[33m? 0001" in on_terminal(failed, "porch status", 120)
    assert "\x1b[32m✓" in on_terminal(failed, "codev doctor", 120)
    for words in ("porch log 1", "porch status", "af status", "codev doctor"):
        plain = on_terminal(failed, words, 120, NO_COLOR="1")
        assert "\x1b" not in plain, words
        assert ("✗" if "log" in words else "✓" if "doctor" in words else "? 0001") in plain
        assert "\x1b" not in failed.call(*words.split()[1:], code=None).all


def test_r11_in_a_pipe_the_wait_gives_way_before_the_title(desk: "Desk") -> None:
    desk.protocol("p", {"id": "one", "gate": {"name": "ready", "next": None}})
    desk.porch("run", "p", "TCP/IP support please", "--no-claude", "--here", code=3)
    status = desk.porch("status").out
    assert "TCP/IP support please" in status
    assert "you: ready (not running" in status
    assert max(map(text_width, status.split("\n"))) <= 80


@pytest.mark.parametrize(
    "text, columns",
    [
        ("ascii", 5),
        ("日本語", 6),
        ("👍", 2),
        ("e\u0301", 1),
        ("\uff21\uff22", 4),
        ("각", 2),
        ("\u1100\u1161", 2),
    ],
)
def test_r11_wide_narrow_and_combining_characters_are_counted_as_they_are_shown(
    text: str, columns: int
) -> None:
    assert text_width(text) == columns
    assert text_width(pad_text(text, 9)) == 9
    assert text_width(cut_text(text * 9, 8)) <= 8


def test_r11_a_column_that_may_shrink_to_nothing_is_left_out() -> None:
    rows = [["ID", "LONG ONE", "REST"], ["1", "words words", "tail"]]
    assert lay_out_table(rows, 80, [(1, 0)]) == ["ID  LONG ONE     REST", "1   words words  tail"]
    assert lay_out_table(rows, 12, [(1, 0)]) == ["ID  REST", "1   tail"]
    assert lay_out_table(rows, 14, [(1, 4)]) == ["ID  L...  REST", "1   w...  tail"]
