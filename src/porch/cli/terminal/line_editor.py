"""One line that is being typed: a cursor, the lines before it, and completion; nothing is kept."""

from collections.abc import Callable, Sequence
from itertools import takewhile

from msgspec import Struct

# Of the text in front of the cursor, the words that its last word can become.
Complete = Callable[[str], Sequence[str]]
_MOST_OFFERED = 30


class LineView(Struct, frozen=True):
    """How the line looks now; `offers` are the words that Tab could not choose between."""

    text: str = ""
    cursor: int = 0
    offers: Sequence[str] = ()


class LineEditor:
    """Keys in, a line out. Up and Down go through what was typed at this prompt before."""

    def __init__(self, complete: Complete = lambda _: ()):
        self._complete = complete
        self._text = ""
        self._cursor = 0
        self._offers: Sequence[str] = ()
        self._history: list[str] = []
        self._at = 0  # in the history; behind its end stands the draft
        self._draft = ""

    @property
    def view(self) -> LineView:
        return LineView(self._text, self._cursor, self._offers)

    def insert(self, char: str) -> None:
        self._set(self._text[: self._cursor] + char + self._text[self._cursor :], self._cursor + 1)

    def take(self) -> str:
        """The whole line; the next one begins empty."""
        line = self._text
        if line.strip() and line != (self._history or [""])[-1]:
            self._history.append(line)
        self._at, self._draft = len(self._history), ""
        self._set("")
        return line

    def press(self, key: str) -> None:
        """A key that is no text; of those that mean nothing here, nothing happens."""
        front, behind = self._text[: self._cursor], self._text[self._cursor :]
        match key:
            case "tab":
                self._finish_word(front, behind)
            case "up":
                self._recall(self._at - 1)
            case "down":
                self._recall(self._at + 1)
            case "left":
                self._set(self._text, max(self._cursor - 1, 0))
            case "right":
                self._set(self._text, min(self._cursor + 1, len(self._text)))
            case "home":
                self._set(self._text, 0)
            case "end":
                self._set(self._text)
            case "erase":
                self._set(front[:-1] + behind, max(self._cursor - 1, 0))
            case "delete":
                self._set(front + behind[1:], self._cursor)
            case "erase line":
                self._set(behind, 0)
            case "erase word":
                kept = front.rstrip().rpartition(" ")[0]
                kept += " " if kept else ""
                self._set(kept + behind, len(kept))
            case _:
                return

    def _set(self, text: str, cursor: int | None = None) -> None:
        self._text, self._offers = text, ()
        self._cursor = len(text) if cursor is None else cursor

    def _recall(self, at: int) -> None:
        if not 0 <= at <= len(self._history):
            return
        if self._at == len(self._history):
            self._draft = self._text
        self._at = at
        self._set([*self._history, self._draft][at])

    def _finish_word(self, front: str, behind: str) -> None:
        """As far as all words that fit agree; if that is no further, they are offered."""
        begun = front.rpartition(" ")[2]
        fits = [word for word in self._complete(front) if word.startswith(begun)]
        alike = takewhile(lambda chars: len({*chars}) == 1, zip(*fits, strict=False))
        common = "".join(chars[0] for chars in alike)
        word = f"{common} " if len(fits) == 1 and not behind.startswith(" ") else common
        if fits and word != begun:
            front = front[: len(front) - len(begun)] + word
            self._set(front + behind, len(front))
        else:
            self._offers = fits[:_MOST_OFFERED]
