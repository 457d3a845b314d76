"""How lines look on a terminal: fitted to its width, with signs and colours; builtins only.

In a pipe nothing of this happens: a line stays one line, so that programs can read it.
"""

from __future__ import annotations

from porch.show.board import text_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNS = {"good": ("✓", "+", "32"), "bad": ("✗", "x", "31"), "asks": ("?", "?", "33")}
# A line that is only a command stays whole, so that it can be copied.
_COMMANDS = ("porch ", "af ", "envoy ", "codev ", "git ")
# Narrower than this, what follows under the text would leave no room for it.
_NARROW = 72


class TerminalStyle:
    """One terminal: how wide it is, and what it can show."""

    def __init__(self, width: int, colour: bool, unicode: bool = True) -> None:
        self.width = width
        self.colour = colour
        self._unicode = unicode

    def marked(self, head: str, text: str, mark: str) -> str:
        """A line of a log, with the sign of its mark between its head and its text."""
        indent = len(head) + 3 if self.width >= _NARROW else 4
        body = "\n".join(self._lines(text, len(head) + 3, indent))
        return f"{head} {self.signed(body, mark)}"

    def signed(self, text: str, mark: str) -> str:
        """Behind the sign of its mark, and in its colour; as wide where it has none."""
        wide, plain, code = _SIGNS.get(mark, (" ", " ", ""))
        return self._painted(f"{wide if self._unicode else plain} {text}", code)

    def fitted(self, text: str) -> str:
        """Whole texts: each line is broken between words, and goes on under its own beginning."""
        return "\n".join(line for each in text.split("\n") for line in self._fitted(each))

    def _fitted(self, line: str) -> Iterator[str]:
        told = line.lstrip(" ")
        front = len(line) - len(told)
        if front and told.startswith(_COMMANDS):
            yield from self._explained(line, front)
            return
        first = True
        for part in self._lines(told, front, front + 2):
            yield " " * front + part if first else part
            first = False

    def _explained(self, line: str, front: int) -> Iterator[str]:
        """A command, and behind two blanks what it does, which goes on under its own beginning."""
        command, gap, means = line[front:].partition("  ")
        if text_width(line) <= self.width or not means:
            yield line
            return
        head = " " * front + command + gap + " " * (len(means) - len(means.lstrip(" ")))
        if len(head) > self.width // 2:
            yield head.rstrip()
            head = " " * (front + 4)
        used = len(head)
        for number, part in enumerate(self._lines(means.lstrip(" "), used, used)):
            yield part if number else head + part

    def _painted(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if code and self.colour else text

    def _lines(self, text: str, used: int, indent: int) -> Iterator[str]:
        """Broken between words; a word that is longer stays whole, so that it can be copied."""
        line = ""
        for word in text.split(" "):
            if line.strip() and used + text_width(line) + 1 + text_width(word) > self.width:
                yield line
                line, used = " " * indent + word, 0
            else:
                line = f"{line} {word}" if line else word
        yield line
