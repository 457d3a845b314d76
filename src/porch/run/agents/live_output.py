"""What an agent says and does while it works, in whole lines for whoever watches."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from porch.agents import events
from porch.text.printable import make_printable

LONGEST = 2000
TOOL_WIDTH = 160
# However much comes at once, no more is kept.
MOST_LINES = 1000


class LiveOutput:
    """Some agents speak in pieces of words; a line is told when it is whole.

    Lines are kept until `flush`: to look for secrets in many at once costs a tenth of looking at
    each alone.
    """

    def __init__(self, tell_lines: Callable[[Sequence[str]], object]):
        self._tell_lines = tell_lines
        self._begun = ""
        self._lines: list[str] = []

    def tell(self, event: events.Event) -> None:
        # Every message has several events; asking for each kind in turn would cost more than this.
        told = _WAYS.get(type(event))
        if told is not None:
            told(self, event)
        if len(self._lines) >= MOST_LINES:
            self.flush()

    def flush(self) -> None:
        """Tell the lines that are whole."""
        if self._lines:
            lines, self._lines = self._lines, []
            self._tell_lines(lines)

    def finish(self) -> None:
        """Tell everything: nothing comes after it."""
        self.end_line()
        self.flush()

    def say(self, event: events.Said) -> None:
        text = f"{self._begun}{event.text}\n" if event.is_whole else self._begun + event.text
        *lines, self._begun = text.split("\n")
        self._lines.extend(map(make_printable, lines))
        if len(self._begun) > LONGEST:
            self.end_line()

    def end_line(self, _: events.Event | None = None) -> None:
        if self._begun.strip():
            self._lines.append(make_printable(self._begun))
        self._begun = ""

    def tell_trouble(self, event: events.Warned | events.Failed) -> None:
        self._tell_apart(event.text)

    def tell_denial(self, event: events.Denied) -> None:
        self._tell_apart(f"[denied: {_shorten_line(event.text)}]")

    def tell_tool(self, event: events.ToolStarted) -> None:
        self._tell_apart(f"[{_shorten_line(event.name)}]")

    def _tell_apart(self, text: str) -> None:
        self.end_line()
        self._lines.append(make_printable(text))


# Of each kind of event how it is told; the others are not.
_WAYS: Mapping[type, Callable[[LiveOutput, Any], None]] = {
    events.Said: LiveOutput.say,
    events.Warned: LiveOutput.tell_trouble,
    events.Failed: LiveOutput.tell_trouble,
    events.Denied: LiveOutput.tell_denial,
    events.ToolStarted: LiveOutput.tell_tool,
    # The final message was said already; it is read, not shown again.
    events.Final: LiveOutput.end_line,
    events.Done: LiveOutput.end_line,
    events.ToolEnded: LiveOutput.end_line,
    events.Answered: LiveOutput.end_line,
}


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TOOL_WIDTH else f"{line[: TOOL_WIDTH - 1]}…"
