"""What an agent says and does while it works, in whole lines for whoever watches."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from porch.agents import events
from porch.text.printable import make_printable

LONGEST = 2000
TOOL_WIDTH = 160
# However much comes at once, no more is kept.
MOST_LINES = 1000
MOST_CHARACTERS = 1 << 18
SAID, TOOL, DENIED = "said", "tool", "denied"
_DENIED_FRONT = "[denied: "


class LiveOutput:
    """Some agents speak in pieces of words; a line is told when it is whole.

    Lines are kept until `flush`: to look for secrets in many at once costs a tenth of looking at
    each alone.
    """

    def __init__(self, tell_lines: Callable[[Sequence[str]], object]):
        self._tell_lines = tell_lines
        self._begun = ""
        self._lines: list[str] = []
        self._size = 0

    def tell(self, event: events.Event) -> None:
        # Every message has several events; asking for each kind in turn would cost more than this.
        told = _WAYS.get(type(event))
        if told is not None:
            told(self, event)
        if len(self._lines) >= MOST_LINES or self._size >= MOST_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Tell the lines that are whole."""
        if self._lines:
            lines, self._lines, self._size = self._lines, [], 0
            self._tell_lines(lines)

    def finish(self) -> None:
        """Tell everything: nothing comes after it."""
        self.end_line()
        self.flush()

    def say(self, event: events.Said) -> None:
        text = f"{self._begun}{event.text}\n" if event.is_whole else self._begun + event.text
        *lines, self._begun = text.split("\n")
        for line in lines:
            self._keep_line(line)
        if len(self._begun) > LONGEST:
            self.end_line()

    def end_line(self, _: events.Event | None = None) -> None:
        if self._begun.strip():
            self._keep_line(self._begun)
        self._begun = ""

    def _keep_line(self, line: str) -> None:
        self._lines.append(make_printable(line))
        self._size += len(line)

    def tell_trouble(self, event: events.Warned | events.Failed) -> None:
        self._tell_apart(event.text)

    def tell_denial(self, event: events.Denied) -> None:
        self._tell_apart(f"{_DENIED_FRONT}{_shorten_line(event.text)}]")

    def tell_tool(self, event: events.ToolStarted) -> None:
        self._tell_apart(f"[{_shorten_line(event.name)}]")

    def _tell_apart(self, text: str) -> None:
        self.end_line()
        self._keep_line(text)


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


def parse_told_line(line: str) -> tuple[str, str]:
    """What a line that was told is about, for views that show tools apart: its kind and its text.

    An agent can say such a line itself. It then only looks like the use of a tool.
    """
    if not (line.startswith("[") and line.endswith("]")):
        return SAID, line
    if line.startswith(_DENIED_FRONT):
        return DENIED, line[len(_DENIED_FRONT) : -1]
    return TOOL, line[1:-1]
