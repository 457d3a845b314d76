"""One key that answers a question on a terminal."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from porch.cli.terminal.one_key import read_one_key


class _Viewer(io.StringIO):
    """Types an answer when the question is shown."""

    def __init__(self, keyboard: int, answer: str):
        super().__init__()
        self._keyboard = keyboard
        self._answer = answer

    def flush(self) -> None:
        os.write(self._keyboard, self._answer.encode())


@contextmanager
def _sit_down(monkeypatch: pytest.MonkeyPatch, answer: str) -> Iterator[int]:
    """A terminal; what is written to the number that comes back is typed on it."""
    keyboard, terminal = os.openpty()
    with open(terminal, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stdout", _Viewer(keyboard, answer))
        yield keyboard
        monkeypatch.undo()
    os.close(keyboard)


def test_what_was_typed_before_the_question_answers_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _sit_down(monkeypatch, "xR") as keyboard:
        os.write(keyboard, b"a")
        assert os.read(keyboard, 1) == b"a"  # its echo: it has arrived
        assert read_one_key("a or r? ", "ar") == "r"


def test_what_is_typed_behind_the_key_stays_for_the_next_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _sit_down(monkeypatch, "rshorter, please\n"):
        assert read_one_key("a or r? ", "ar") == "r"
        assert sys.stdin.readline() == "shorter, please\n"
