"""The lines that are drawn again and again below everything that has scrolled by.

A run at work: its phases, who works on what since when, the last tool and the last words of each,
what it cost so far, and the line that is being typed. What was not measured is not shown.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from rich.table import Table
from rich.text import Text

from porch.cli.terminal.line_editor import LineView
from porch.run.agents.live_output import SAID, TOOL, parse_told_line
from porch.show.board import cut_text, text_width
from porch.show.fleet.checklist import CheckRow
from porch.show.fleet.live_status import LiveStatus, Worker

_WORDS_KEPT = 12
_LEAST_WORDS = 3
_MOST_WORKERS = 6
_LEAST_TITLE = 12
# Of each look of a phase its sign, the one for a terminal without such characters, and its style.
_LOOKS: Mapping[str, tuple[str, str, str]] = {
    "done": ("✓", "x", "green"),
    "now": ("▸", ">", "bold cyan"),
    "asked": ("?", "?", "bold yellow"),
    "later": ("·", ".", "dim"),
    "skipped": ("-", "-", "yellow"),
    "failed": ("✗", "!", "red"),
}


class Activity(Struct):
    """What is known of one piece of work since it began: its agent, its last tool and words."""

    began: float
    agent: str = ""
    tool: str = ""
    words: deque[str] = field(default_factory=lambda: deque(maxlen=_WORDS_KEPT))

    def hear(self, line: str) -> None:
        kind, text = parse_told_line(line)
        if kind == TOOL:
            self.tool = text
        elif kind == SAID and text.strip():
            self.words.append(text.strip())


class LiveArea(Struct, frozen=True):
    """One drawing of it, for a terminal of this size."""

    width: int
    height: int
    has_unicode: bool
    now: float

    def draw(
        self,
        status: LiveStatus,
        activities: Mapping[str, Activity],
        asked: Sequence[str],
        more: int,
        line: LineView,
    ) -> list[Text]:
        """The prompt is never cut off: where there is little room, the words of agents give way."""
        front = [Text(self._sign("─", "-") * self.width, style="dim"), *self._draw_run(status)]
        typed = self._draw_line(line)
        behind = [Text(told, style="bold yellow") for told in asked]
        if more:
            told = f"{more} more lines: press Enter"
            behind.append(Text(told, style="reverse"))
        spent = [Text(status.spent, style="dim")] if status.spent else []
        room = self.height - len(front) - len(spent) - len(behind) - len(typed) - 1
        work = list(self._draw_work(status.workers, activities))[: max(room, 0)]
        lines = [*front, *work, *spent, *behind][: max(self.height - len(typed) - 1, 0)]
        return [*(self._clip(each) for each in lines), *typed]

    def _draw_run(self, status: LiveStatus) -> Iterator[Text]:
        number = f"phase {status.number} of {len(status.phases)}" if status.number else ""
        room = self.width - len(number) - 2
        if room < _LEAST_TITLE:
            number, room = "", self.width
        title = cut_text(status.title, room)
        gap = self.width - text_width(title) - len(number)
        yield Text.assemble((title, "bold"), " " * gap, (number, "cyan")) if number else Text(title)
        if track := self._draw_track(status.phases, status.number):
            yield track
        if status.place:
            yield Text(status.place, style="cyan")
        if status.trouble:
            yield Text(status.trouble, style="red")

    def _draw_track(self, phases: Sequence[CheckRow], number: int) -> Text:
        """All phases if they fit; else those around the one in which the run is."""
        first, last = 0, len(phases)
        here = min(max(number - 1, 0), max(last - 1, 0))
        while last - first > 1 and self._measure_track(phases, first, last) > self.width:
            if here - first > last - 1 - here:
                first += 1
            else:
                last -= 1
        track = Text("... " if first else "")
        for phase in phases[first:last]:
            wide, plain, style = _LOOKS[phase.sign]
            track.append(f"{self._sign(wide, plain)} {phase.phase}", style)
            track.append("  ")
        if last < len(phases):
            track.append("...")
        track.rstrip()
        return track

    def _measure_track(self, phases: Sequence[CheckRow], first: int, last: int) -> int:
        cells = sum(text_width(each.phase) + 4 for each in phases[first:last]) - 2
        return cells + 4 * (first > 0) + 5 * (last < len(phases))

    def _draw_work(
        self, workers: Sequence[Worker], activities: Mapping[str, Activity]
    ) -> Iterator[Text]:
        for worker in workers[:_MOST_WORKERS]:
            known = activities.get(worker.effect) or Activity(self.now)
            yield self._draw_worker(worker, known)
            if len(workers) == 1:
                shown = max(self.height // 4 - _LEAST_WORDS, _LEAST_WORDS)
                for words in [*known.words][-shown:]:
                    yield Text(f"  {self._sign('│', '|')} {words}", style="dim")
        if (left := len(workers) - _MOST_WORKERS) > 0:
            yield Text(f"and {left} more at work", style="dim")

    def _draw_worker(self, worker: Worker, known: Activity) -> Text:
        """Who, for how long, and the last tool; before the first one, where that is."""
        who = worker.name if worker.kind != "agent" else known.agent or "an agent"
        elapsed = max(int(self.now - known.began), 0)
        clock = f"{elapsed // 60}:{elapsed % 60:02d}"
        match worker.kind:
            case "timer":
                told = "waiting before the next try"
            case "check":
                told = f"runs check {who}"
            case "review":
                told = f"{who} reviews"
            case _:
                told = f"{who} works"
        line = Text.assemble((f"{clock:>5}", "dim"), "  ", (told, "bold"))
        last = known.tool or (known.words[-1] if known.words else "")
        return line.append(f"  {last}") if last else line

    def _draw_line(self, line: LineView) -> list[Text]:
        """What is typed, in as many lines as it takes; the cursor is drawn, not real."""
        front, behind = line.text[: line.cursor], line.text[line.cursor :]
        typed = Text("porch> ", overflow="fold").append(front)
        if behind:
            typed.append(behind[0], "reverse").append(behind[1:])
        else:
            typed.append(self._sign("▏", "_"))
        offers = [Text("  ".join(line.offers), style="dim", overflow="fold")] if line.offers else []
        return [*self._fold(typed), *(self._clip(each) for each in offers)]

    def _fold(self, text: Text) -> list[Text]:
        cells = max(self.width, 1)
        lines, start, used = [], 0, 0
        for at, char in enumerate(text.plain):
            used += text_width(char)
            if used > cells:
                lines.append(text[start:at])
                start, used = at, text_width(char)
        return [*lines, text[start:]]

    def _clip(self, text: Text) -> Text:
        text.truncate(self.width, overflow="ellipsis" if self.has_unicode else "crop")
        text.no_wrap = True
        return text

    def _sign(self, wide: str, plain: str) -> str:
        return wide if self.has_unicode else plain


def beside(front: str, text: str, style: str = "", text_style: str = "") -> Table:
    """A line with a front column; what does not fit goes on below, beside the front."""
    row = Table.grid(padding=(0, 1))
    row.add_column(style=style or "dim", width=max(len(front), 2), no_wrap=True)
    row.add_column(style=style or text_style, overflow="fold")
    row.add_row(Text(front), Text(text))
    return row
