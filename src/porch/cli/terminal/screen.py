"""What a run looks like on a terminal: what happens scrolls by, where it stands is drawn below."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from porch.cli.terminal.typed_request import decision_hint
from porch.machine.records import JournalRecord, encode_record
from porch.machine.state import RunState, effect_parts
from porch.model.protocol import Protocol
from porch.show.board import list_failure_notes
from porch.show.place_words import PlaceWords
from porch.show.records import timeline
from porch.show.status import names_of
from porch.text.printable import make_printable

_OUTPUT_SHOWN = 4
_STYLES = {timeline.GOOD: "green", timeline.BAD: "red", timeline.ASKS: "yellow"}
_REPORT_SHOWN = 8
_FILES_SHOWN = 30
_WIDEST = 100


class Screen:
    """Prints above and draws below; everything that agents wrote is made harmless on the way."""

    def __init__(self, typed: Callable[[], str]):
        self.console = Console(highlight=False)
        self._typed = typed
        self._state: RunState | None = None
        self._protocol: Protocol | None = None
        self._output: deque[str] = deque(maxlen=_OUTPUT_SHOWN)
        self._since = time.monotonic()

    def follows(self, protocol: Protocol) -> None:
        """Whose words the lines are to use."""
        self._protocol = protocol

    def happened(self, record: JournalRecord, state: RunState) -> None:
        if self._state is None or set(self._state.positions) != set(state.positions):
            self._since = time.monotonic()
            self._output.clear()
        self._state = state
        raw = encode_record(record)
        if not timeline.is_quiet(raw):
            words = PlaceWords(names_of(self._protocol, state) if self._protocol else None)
            style = _STYLES.get(timeline.line_mark(raw), "")
            self._beside(
                _format_time_of_day(record.at),
                timeline.describe_record(raw, words),
                text_style=style,
            )

    def output(self, effect: str, text: str) -> None:
        who = effect_parts(effect)[2]
        lines = [line for line in make_printable(text).expandtabs(4).splitlines() if line.strip()]
        self._output.extend(f"{who}│ {line}" for line in lines)

    def say(self, text: str) -> None:
        """A line of our own; it is not broken up, so that a path in it can be copied."""
        self.console.print(Text(make_printable(text)), soft_wrap=True)

    def note(self, text: str) -> None:
        """Something to know before or while agents work, broken at words."""
        self._beside("·", text)

    def asks(self, decision: Mapping[str, Any], root: str) -> None:
        """One question with everything that a person needs to answer it."""
        name, question = decision["name"], decision["question"]
        asked = question if name in question else f"{name}: {question}"
        self._beside("?", asked, "bold yellow")
        for text in (decision["description"], decision["reason"]):
            if text and text not in asked:
                self._beside("", text)
        for text in decision.get("reviews") or ():
            self._beside("", f"review of {text}")
        for found in decision["findings"]:
            self._beside("", f"{found['by']}: {found['finding']}")
        for name, report in decision["reports"].items():
            self._beside("", f"{name}:")
            for line in make_printable(report).splitlines()[-_REPORT_SHOWN:]:
                self._beside("", f"  {line}")
        for text in list_failure_notes(decision.get("failure") or {}):
            self._beside("", text)
        self._show_lines(decision.get("difference", {}))
        if changed := decision.get("changed"):
            self._beside("", f"changed since {changed['since']}: approve with --accept-changes")
            self._show_lines(changed["difference"])
        for option in decision["options"]:
            if option.get("then"):
                self._beside("", f"{option['answer']}: {option['then']}", text_style="dim")
        self._name_files(decision["artifacts"], decision.get("missing") or (), root)

    def _show_lines(self, difference: Mapping[str, str]) -> None:
        for line in "\n".join(difference.values()).splitlines():
            self._beside("", f"  {line}")

    def _name_files(self, paths: Sequence[str], missing: Sequence[str], root: str) -> None:
        """Some of them; an answer is for all."""
        for path in sorted(paths, key=lambda path: path not in missing)[:_FILES_SHOWN]:
            word = "missing" if path in missing else "read"
            self.say(f"   {word}: {_path_from_here(os.path.join(root, path))}")
        if len(paths) > _FILES_SHOWN:
            self.say(f"   read: {len(paths) - _FILES_SHOWN} more files")

    def _beside(self, front: str, text: str, style: str = "", text_style: str = "") -> None:
        row = Table.grid(padding=(0, 1))
        row.add_column(style=style or "dim", width=max(len(front), 2), no_wrap=True)
        row.add_column(style=style or text_style, overflow="fold")
        row.add_row(Text(front), Text(make_printable(text)))
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
        yield from (_clip_text(f"  {line}", "dim") for line in self._output)
        for decision in state.decisions.values():
            yield _clip_text(
                f"? {decision.name}: {decision_hint(decision.kind, decision.name)}", "bold yellow"
            )
        yield Text(f"porch> {self._typed()}▏", overflow="fold")

    def _where_it_stands(self, state: RunState) -> Text:
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
            line.append(f"  {make_printable(text)}" if text else "", style=style)
        return line


def _clip_text(text: str, style: str) -> Text:
    return Text(text, style=style, overflow="ellipsis", no_wrap=True)


def _format_time_of_day(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


def _plan_title(state: RunState) -> str:
    items = {item.id: item.title for known in state.items.values() for item in known.items}
    standing = next(iter(state.positions.values()))
    return items.get(standing.item, "")


def _path_from_here(path: str) -> str:
    """As one would type it here; from elsewhere the whole path is easier to read."""
    short = os.path.relpath(path)
    return path if short.startswith(os.pardir) else short
