"""What a run looks like on a terminal: what happens scrolls by, where it stands is drawn below."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from porch.machine.records import Record, encode
from porch.machine.state import State, effect_parts
from porch.surfaces.cli.words import hint
from porch.views import timeline
from porch.views.text import printable

_OUTPUT_SHOWN = 4
_REPORT_SHOWN = 8
_WIDEST = 100


class Screen:
    """Prints above and draws below; everything that agents wrote is made harmless on the way."""

    def __init__(self, typed: Callable[[], str]):
        self.console = Console(highlight=False)
        self._typed = typed
        self._state: State | None = None
        self._output: deque[str] = deque(maxlen=_OUTPUT_SHOWN)
        self._since = time.monotonic()

    def happened(self, record: Record, state: State) -> None:
        if self._state is None or set(self._state.positions) != set(state.positions):
            self._since = time.monotonic()
            self._output.clear()
        self._state = state
        raw = encode(record)
        if not timeline.is_quiet(raw):
            self._beside(_time_of_day(record.at), timeline.sentence(raw))

    def output(self, effect: str, text: str) -> None:
        who = effect_parts(effect)[2]
        lines = [line for line in printable(text).expandtabs(4).splitlines() if line.strip()]
        self._output.extend(f"{who}│ {line}" for line in lines)

    def say(self, text: str) -> None:
        """A line of our own; it is not broken up, so that a path in it can be copied."""
        self.console.print(Text(printable(text)), soft_wrap=True)

    def note(self, text: str) -> None:
        """Something to know before or while agents work, broken at words."""
        self._beside("·", text)

    def asks(self, decision: Mapping[str, Any], root: str) -> None:
        """One question with everything that a person needs to answer it."""
        name, question = decision["name"], decision["question"]
        asked = question if name in question else f"{name}: {question}"
        self._beside("?", asked, "bold yellow")
        for text in (decision["description"], decision["reason"]):
            if text:
                self._beside("", text)
        for found in decision["findings"]:
            self._beside("", f"{found['by']}: {found['finding']}")
        for name, report in decision["reports"].items():
            self._beside("", f"{name} failed:")
            for line in printable(report).splitlines()[-_REPORT_SHOWN:]:
                self._beside("", f"  {line}")
        for path in decision["artifacts"]:
            self.say(f"   read: {root}/{path}")

    def _beside(self, front: str, text: str, style: str = "") -> None:
        row = Table.grid(padding=(0, 1))
        row.add_column(style=style or "dim", width=max(len(front), 2), no_wrap=True)
        row.add_column(style=style, overflow="fold")
        row.add_row(Text(front), Text(printable(text)))
        self.console.print(row)

    def picture(self) -> Group:
        return Group(*self._parts())

    def _parts(self) -> Iterator[RenderableType]:
        state = self._state
        if state is None:
            yield Text("starting ...", style="dim")
            return
        # One column less than there is: a full line would wrap where the window gets narrower.
        yield Text("─" * min(self.console.width - 1, _WIDEST), style="dim")
        yield self._where_it_stands(state)
        yield from (_clipped(f"  {line}", "dim") for line in self._output)
        for decision in state.decisions.values():
            yield _clipped(f"? {decision.name}: {hint(decision.kind)}", "bold yellow")
        yield Text(f"porch> {self._typed()}▏", overflow="fold")

    def _where_it_stands(self, state: State) -> Text:
        standing = next(iter(state.positions.values()), None)
        elapsed = int(time.monotonic() - self._since)
        clock = f"{elapsed // 60}:{elapsed % 60:02d}"
        parts = [
            (state.run.name, "bold"),
            (standing.label if standing else state.outcome, "cyan"),
            (_plan_title(state) if standing and standing.item else "", ""),
        ]
        line = Text(clock, style="dim", no_wrap=True, overflow="ellipsis")
        for text, style in parts:
            line.append(f"  {printable(text)}" if text else "", style=style)
        return line


def _clipped(text: str, style: str) -> Text:
    return Text(text, style=style, overflow="ellipsis", no_wrap=True)


def _time_of_day(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


def _plan_title(state: State) -> str:
    items = {item.id: item.title for known in state.items.values() for item in known.items}
    standing = next(iter(state.positions.values()))
    return items.get(standing.item, "")
