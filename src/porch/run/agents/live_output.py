"""What an agent says and does while it works, in whole lines for whoever watches."""

from collections.abc import Callable

from porch.agents import events
from porch.text.printable import make_printable

LONGEST = 2000
TOOL_WIDTH = 160


class LiveOutput:
    """Some agents speak in pieces of words; a line is told when it is whole."""

    def __init__(self, tell: Callable[[str], object]):
        self._tell = tell
        self._begun = ""

    def tell(self, event: events.Event) -> None:
        if type(event) is events.Used:
            # Every message has one; asking for everything else first would cost more than all this.
            return
        match event:
            case events.Said(text=text, is_whole=is_whole):
                self._say(f"{text}\n" if is_whole else text)
            case events.Warned(text=text) | events.Failed(text=text):
                self._apart(text)
            case events.Denied(text=text):
                self._apart(f"[denied: {_shorten_line(text)}]")
            case events.ToolStarted(name=name):
                self._apart(f"[{_shorten_line(name)}]")
            case events.Final() | events.Done() | events.ToolEnded() | events.Answered():
                # The final message was said already; it is read, not shown again.
                self.finish()
            case _:
                return

    def finish(self) -> None:
        if self._begun.strip():
            self._tell(make_printable(self._begun))
        self._begun = ""

    def _say(self, text: str) -> None:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._tell(make_printable(line))
        if len(self._begun) > LONGEST:
            self.finish()

    def _apart(self, text: str) -> None:
        self.finish()
        self._tell(make_printable(text))


def _shorten_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TOOL_WIDTH else f"{line[: TOOL_WIDTH - 1]}…"
