"""The prompt of a run on a real terminal: reading, completing, and what happens to terminals."""

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import PORCH, Terminal
from tests.cli.terminal.test_repl import GATED, PUBLISH, begin

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open

LONG = "# The title\n\n" + "".join(f"Line {number} of **many**.\n\n" for number in range(60))


def test_everything_can_be_read_at_a_gate_and_is_completed(desk: "Desk", open_: "Open") -> None:
    write = [{"write": {"{project_dir}/text.md": LONG, "src/page.py": "x = 1\n"}}]
    terminal = open_(*begin(desk, GATED, PUBLISH, agents={"write": write}), rows=30, columns=100)
    terminal.until("read: codev/projects/0001-x/text.md")
    terminal.until("porch> ")
    terminal.type("vi\tcode\t")
    terminal.until("porch> view codev/projects/0001-x/text.md")
    terminal.type("\r")
    terminal.until("The title\n")
    terminal.until("Line 3 of many.")
    terminal.until("more lines: press Enter")
    terminal.type("\r")
    terminal.until("Line 14 of many.")
    terminal.type("diff src/page.py\r")
    terminal.until("src/page.py (new, +1 -0 lines)")
    terminal.until("+x = 1")
    terminal.type("diff nothing\r")
    terminal.until("there is no file nothing here")
    terminal.type("log\r")
    terminal.until("waiting for your approval: ready")
    terminal.type("cost\r")
    terminal.until("write")
    terminal.until("all ")
    terminal.type("\x1b[A\x1b[A\t")
    terminal.until("porch> log")
    terminal.type("\x15s\t")
    terminal.until("skip  status  stop")
    terminal.type("\x15status\r")
    terminal.until("updated")
    terminal.type("\x03")
    assert terminal.leave() == 130
    assert terminal.after == terminal.before


@pytest.mark.parametrize("how", [(), ("--plain",)])
def test_a_closed_window_loses_nothing_of_the_run(
    desk: "Desk", open_: "Open", how: tuple[str, ...]
) -> None:
    busy = {"run": ["true"], "hang": True}
    terminal = open_(*begin(desk, PUBLISH, agents={"publish": [busy]}), *how)
    terminal.until("true")
    terminal.hang_up()
    assert terminal.process.wait(timeout=60) == 130
    assert desk.facts("EffectStopped")
    assert "error" not in desk.porch("status", "1").all
    assert "porch resume 0001" in desk.porch("pending").out


def test_a_closed_window_at_a_gate_loses_no_question(desk: "Desk", open_: "Open") -> None:
    terminal = open_(*begin(desk, GATED, PUBLISH))
    terminal.until("to read: view")
    terminal.until("porch> ")
    terminal.hang_up()
    assert terminal.process.wait(timeout=60) == 130
    assert "ready" in desk.porch("pending").out
    assert "rror" not in desk.porch("status", "1").all


def test_the_shell_gets_its_terminal_back_while_the_run_is_suspended(desk: "Desk") -> None:
    words = shlex.join([*PORCH, *begin(desk, PUBLISH, agents={"publish": [{"hang": True}]})])
    shell = ("bash", "--norc", "-c", f"set -m; {words}; echo the shell is back; read ok; fg")
    terminal = Terminal(shell, desk.root)
    try:
        terminal.until("scripted works")
        terminal.type("\x1a")
        terminal.until("the shell is back")
        assert terminal.after == terminal.before
        assert terminal.raw.rindex(b"\x1b[?25h") > terminal.raw.rindex(b"\x1b[?25l")
        terminal.type("ok\r")
        terminal.until("scripted works")
        terminal.type("bogus\r")
        terminal.until("'bogus' is not a command")
        terminal.type("\x03")
        assert terminal.leave() == 130
        assert terminal.after == terminal.before
    finally:
        terminal.close()


def test_where_no_shell_could_continue_the_run_it_is_not_suspended(
    desk: "Desk", open_: "Open"
) -> None:
    terminal = open_(*begin(desk, PUBLISH, agents={"publish": [{"hang": True}]}))
    terminal.until("scripted works")
    terminal.type("\x1abogus\r")
    terminal.until("'bogus' is not a command")
    terminal.type("\x03")
    assert terminal.leave() == 130


@pytest.mark.parametrize("size", [(5, 20), (40, 200)])
def test_a_window_may_change_its_size_while_somebody_types(
    desk: "Desk", open_: "Open", size: tuple[int, int]
) -> None:
    terminal = open_(*begin(desk, GATED, PUBLISH))
    terminal.until("to read: view")
    terminal.until("porch> ")
    terminal.type("rej")
    terminal.until("porch> rej")
    terminal.resize(*size)
    terminal.type("e")
    terminal.until("porch> reje")
    terminal.type("\x15approve\r")
    assert terminal.leave() == 0
