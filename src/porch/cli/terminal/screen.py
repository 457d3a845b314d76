"""What a run looks like on a terminal: what happens scrolls by, where it stands is drawn below."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

from porch.cli.terminal.line_editor import LineView
from porch.cli.terminal.live_area import Activity, LiveArea, beside
from porch.cli.terminal.question import render_question, uncut
from porch.cli.terminal.typed_request import decision_hint
from porch.machine.records import JournalRecord, RawRecord, encode_record
from porch.machine.state import RunState, effect_parts
from porch.model.protocol import Protocol
from porch.run.agents.live_output import DENIED, parse_told_line
from porch.show.fleet.live_status import LiveStatus, describe_live_status
from porch.show.place_words import PlaceWords
from porch.show.records import timeline
from porch.show.status import names_of
from porch.text.printable import make_printable

_STYLES = {timeline.GOOD: "green", timeline.BAD: "red", timeline.ASKS: "yellow"}
# What stays free of a page: the lines that are drawn below it.
_KEPT_FREE = 8
_LEAST_PAGE = 5


class Screen:
    """Prints above and draws below; everything that agents wrote is made harmless on the way.

    `find_agent` tells by whom an effect is worked on; empty as long as nobody knows.
    """

    def __init__(
        self,
        line: Callable[[], LineView],
        find_agent: Callable[[str], str] = lambda _: "",
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.console = console or Console(highlight=False)
        self._line = line
        self._find_agent = find_agent
        self._clock = clock
        self._protocol: Protocol | None = None
        self._state: RunState | None = None
        self._status = LiveStatus("")
        self._activities: dict[str, Activity] = {}
        self._pages: deque[list[Segment]] = deque()

    @property
    def width(self) -> int:
        """One column less than there is: a full line would wrap where the window gets narrower."""
        return max(self.console.width - 1, 1)

    @property
    def spent(self) -> str:
        """What the run cost so far, in words."""
        return self._status.spent

    def follows(self, protocol: Protocol) -> None:
        """Whose words the lines are to use."""
        self._protocol = protocol

    def happened(
        self,
        record: JournalRecord,
        state: RunState,
        allowed_usd: float = 0,
        *,
        is_scripted: bool = False,
    ) -> None:
        self._state = state
        for hand in record.begun:
            self._activities[hand.effect] = Activity(self._clock())
        for effect in self._activities.keys() - state.in_hand.keys():
            del self._activities[effect]
        if self._protocol is not None:
            self._status = describe_live_status(
                self._protocol, state, allowed_usd, is_scripted=is_scripted
            )
        raw = encode_record(record)
        if not timeline.is_quiet(raw):
            self.console.print(self.render_record(raw))

    def render_record(self, raw: RawRecord) -> RenderableType:
        state, protocol = self._state, self._protocol
        words = PlaceWords(names_of(protocol, state) if protocol and state else None)
        style = _STYLES.get(timeline.line_mark(raw), "")
        told = make_printable(timeline.describe_record(raw, words))
        return beside(_format_time_of_day(raw["at"]), told, text_style=style)

    def output(self, effect: str, text: str) -> None:
        """A line of an agent; what it was refused stays to be read, all else is only its latest."""
        known = self._activities.setdefault(effect, Activity(self._clock()))
        for line in make_printable(text).expandtabs(4).splitlines():
            kind, told = parse_told_line(line)
            if kind == DENIED:
                who = self._name_agent(effect, known) or "the agent"
                self.console.print(beside("!", f"{who} was refused: {told}", "bold red", "red"))
            else:
                known.hear(line)

    def _name_agent(self, effect: str, known: Activity) -> str:
        known.agent = known.agent or make_printable(self._find_agent(effect))
        return known.agent

    def say(self, text: str) -> None:
        """A line of our own; it is not broken up, so that a path in it can be copied."""
        self.console.print(uncut(text), soft_wrap=True)

    def note(self, text: str) -> None:
        """Something to know before or while agents work, broken at words."""
        self.console.print(beside("·", make_printable(text)))

    def render_question(
        self, decision: Mapping[str, Any], root: str, is_only: bool = True
    ) -> RenderableType:
        return Group(*render_question(decision, root, self.width, is_only))

    def show(self, *parts: RenderableType) -> None:
        """As much as fits the window; the rest is kept until somebody asks for it."""
        options = self.console.options.update(width=self.width, height=None)
        # A path that is longer than the window must not be cut, so nothing is cropped.
        segments = self.console.render(Group(*parts), options)
        self._pages = deque(map(_without_padding, Segment.split_lines(segments)))
        self.turn_page()

    def show_all(self, *parts: RenderableType) -> None:
        """The same without stopping: what is asked has to stand right above the prompt."""
        self.show(*parts)
        self._print_lines(len(self._pages))

    def turn_page(self) -> None:
        """The next lines of what was shown last; nothing if all of it was."""
        page = max(self.console.height - _KEPT_FREE, _LEAST_PAGE)
        # A page of two lines would be a nuisance.
        count = len(self._pages) if len(self._pages) <= page + 2 else page
        self._print_lines(count)

    def _print_lines(self, count: int) -> None:
        lines = [self._pages.popleft() for _ in range(count)]
        if lines:
            self.console.print(_Lines(lines), soft_wrap=True, end="")

    def picture(self) -> Group:
        state = self._state
        if state is None:
            return Group(Text("starting ...", style="dim"))
        # Drawn by a thread of its own: what begins meanwhile is in the next drawing.
        for effect, known in list(self._activities.items()):
            if effect_parts(effect)[1] == "agent":
                self._name_agent(effect, known)
        area = LiveArea(
            self.width,
            self.console.height,
            (self.console.encoding or "").lower().startswith("utf"),
            self._clock(),
        )
        asked = [
            f"? {each.name}: {decision_hint(each.kind, each.name)}"
            for each in state.decisions.values()
        ]
        lines = area.draw(self._status, self._activities, asked, len(self._pages), self._line())
        return Group(*lines)


class _Lines:
    """Lines that were rendered before."""

    def __init__(self, lines: Iterable[list[Segment]]):
        self._lines = lines

    def __rich_console__(self, *_: object) -> Iterable[Segment]:
        for line in self._lines:
            yield from line
            yield Segment.line()


def _without_padding(line: list[Segment]) -> list[Segment]:
    """Blanks up to the edge would wrap where the window gets narrower."""
    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(), line[-1].style)] if line else []


def _format_time_of_day(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")
