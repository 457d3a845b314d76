"""The screens of the inbox: the list, an opened row, and the questions before something is done."""

from collections.abc import Sequence
from typing import ClassVar, Protocol, cast

from msgspec import Struct
from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static, TextArea
from textual.worker import get_current_worker

from porch.cli.inbox.inbox_rows import SECTIONS, SIGNS, Inbox, InboxRow, lay_out_rows
from porch.cli.inbox.opened_row import Action, Block, OpenedRow, describe_error
from porch.cli.inbox.page_lines import render_lines, render_texts
from porch.errors import PorchError
from porch.show.board import text_width
from porch.text.printable import make_printable

LEAST = Size(40, 10)
_STYLES = {
    "decision": "bold yellow",
    "trouble": "bold red",
    "alone": "bold red",
    "paused": "bold",
    "working": "bold cyan",
    "queued": "bold",
    "ready": "bold green",
}
Key = tuple[str, str]
_KEPT = 2  # help, and the way back
LIST_KEYS: tuple[Key, ...] = (("Enter", "Open"), ("j k", "Move"), ("?", "Help"), ("q", "Quit"))


def fit_keys(keys: Sequence[Key], width: int) -> Text:
    """The keys in one line; what does not fit is left out whole, but never the last two."""
    shown = list(keys)
    while len(shown) > _KEPT and _measure_keys(shown) > width:
        del shown[-_KEPT - 1]
    line = Text(no_wrap=True, overflow="ellipsis")
    for key, word in shown:
        line.append(f" {key} ", "bold reverse").append(f" {word}  ")
    return line


def _measure_keys(keys: Sequence[Key]) -> int:
    return sum(text_width(f" {key}  {word}  ") for key, word in keys)


class _SizedScreen(Screen[None]):
    """Says that there is no room where there is none, instead of cutting everything."""

    def on_resize(self, event: events.Resize) -> None:
        is_small = event.size.width < LEAST.width or event.size.height < LEAST.height
        self.set_class(is_small, "small")
        told = f"This window is too small: {event.size.width}x{event.size.height}. "
        told += f"The inbox needs {LEAST.width}x{LEAST.height}. q quits."
        self.query_one("#small", Static).update(Text(told))


class LinesView(ScrollView, can_focus=True):
    """Lines that were rendered elsewhere; drawing costs only those that are seen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("space", "page_down", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
        Binding("left", "screen.next_page(-1)", show=False),
        Binding("right", "screen.next_page", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[Strip] = []

    def show_lines(self, lines: list[Strip]) -> None:
        self._lines = lines
        self.virtual_size = Size(max((each.cell_length for each in lines), default=0), len(lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        strip = self._lines[at] if at < len(self._lines) else Strip.blank(self.size.width)
        left = self.scroll_offset.x
        return strip.crop_extend(left, left + self.size.width, self.rich_style)


class RowList(LinesView):
    """The rows under the titles of their sections; after a refresh the same row is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "choose(1)", show=False),
        Binding("k,up", "choose(-1)", show=False),
        Binding("pagedown,space", "choose(10)", show=False),
        Binding("pageup", "choose(-10)", show=False),
        Binding("g,home", "choose(-100000)", show=False),
        Binding("G,end", "choose(100000)", show=False),
        Binding("enter", "open", show=False),
        Binding("m", "merge", show=False),
    ]

    class Opened(Message):
        """Somebody wants to see this row, and perhaps to be asked what a key of it does."""

        def __init__(self, row: InboxRow, key: str = "") -> None:
            super().__init__()
            self.row = row
            self.key = key

    def __init__(self) -> None:
        super().__init__(id="rows")
        self._inbox = Inbox()
        self._at = 0  # which row is chosen, and then where it is drawn
        self._places: list[int] = []

    def on_resize(self) -> None:
        self._draw()

    def show_inbox(self, inbox: Inbox) -> None:
        """The same row stays chosen while it is there; else whatever has come to its place."""
        chosen = self._inbox.rows[self._at].place if self._inbox.rows else None
        places = [row.place for row in inbox.rows]
        if chosen in places:
            self._at = places.index(chosen)
        self._inbox, self._at = inbox, max(min(self._at, len(places) - 1), 0)
        self._draw()

    def action_choose(self, step: int) -> None:
        self._at = max(min(self._at + step, len(self._inbox.rows) - 1), 0)
        self._draw()

    def action_open(self) -> None:
        if self._inbox.rows:
            self.post_message(self.Opened(self._inbox.rows[self._at]))

    def action_merge(self) -> None:
        row = self._inbox.rows[self._at] if self._inbox.rows else None
        if row is not None and row.kind == "ready":
            self.post_message(self.Opened(row, "m"))
        else:
            cast("ListScreen", self.screen).say(
                "m merges a row of Ready to merge. Choose one first."
            )

    def on_click(self, event: events.Click) -> None:
        at = event.y + self.scroll_offset.y
        if at in self._places:
            self._at = self._places.index(at)
            self._draw()
            self.action_open()

    def _draw(self) -> None:
        width = max(self.size.width - 1, 1)
        lines, self._places = [], []
        told = lay_out_rows(self._inbox.rows, width)
        for title, kinds in SECTIONS:
            rows = self._inbox.section(kinds)
            if rows:
                lines.append(Text(f"{title} ({len(rows)})", style="bold"))
            for row in rows:
                number = len(self._places)
                self._places.append(len(lines))
                lines.append(_paint_line(row, told[number], is_chosen=number == self._at))
        self.show_lines([Strip(each) for each in render_texts(lines, width)])
        if self._places:
            at = self._places[self._at]
            # With the title of its section, for the first row of one.
            top = at - 1 if at - 1 not in self._places else at
            if top < self.scroll_offset.y:
                self.scroll_to(y=top, animate=False)
            elif at >= self.scroll_offset.y + self.size.height:
                self.scroll_to(y=at - self.size.height + 1, animate=False)


def _paint_line(row: InboxRow, line: str, *, is_chosen: bool) -> Text:
    told = Text(make_printable(line), no_wrap=True, overflow="ellipsis")
    told.stylize(_STYLES[row.kind], 0, len(SIGNS[row.kind]))
    if is_chosen:
        told.stylize("reverse")
    return told


class ListScreen(_SizedScreen):
    """The list. It is filled by the program, which looks at the runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "app.help", show=False),
        Binding("q", "app.quit", show=False),
    ]

    class Ready(Message):
        """It is there, and can be filled."""

    def __init__(self, heading: str) -> None:
        super().__init__(classes="is-empty")
        self._heading = make_printable(heading)

    def compose(self) -> ComposeResult:
        yield Static(id="small")
        yield Static(Text(self._heading), id="head")
        yield Static(Text("Reading the runs ..."), id="empty")
        yield RowList()
        yield Static(id="said")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self.post_message(self.Ready())

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.query_one("#keys", Static).update(fit_keys(LIST_KEYS, event.size.width))

    def show_inbox(self, inbox: Inbox, start: str) -> None:
        head = Text(f"{self._heading}  ·  {inbox.sentence()}", style="bold", no_wrap=True)
        head.overflow = "ellipsis"
        self.query_one("#head", Static).update(head)
        empty = f"Nothing waits for you, nothing works, and nothing is ready to merge.\n\n{start}"
        self.query_one("#empty", Static).update(Text(empty))
        self.set_class(not inbox.rows, "is-empty")
        self.query_one(RowList).show_inbox(inbox)

    def on_key(self) -> None:
        """What came of an action stays until the next key."""
        self.say("")

    def say(self, text: str) -> None:
        """What came of the last action."""
        said = self.query_one("#said", Static)
        said.update(Text(make_printable(text), overflow="fold"))
        said.set_class(not text, "hidden")


class OpenedScreen(_SizedScreen):
    """An opened row: its pages, and the keys of what can be done. The program does it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_page", show=False),
        Binding("shift+tab", "next_page(-1)", show=False),
        Binding("u", "reload", show=False),
        Binding("question_mark", "app.help", show=False),
        Binding("q,escape", "app.back", show=False),
    ]

    def __init__(self, row: InboxRow, opened: OpenedRow, first_key: str = "") -> None:
        super().__init__()
        self._first_key = first_key
        self.row = row
        self.opened = opened
        self.news = ""  # what is different since, and was said once
        self._page = opened.first_page
        self._blocks: dict[int, Sequence[Block]] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="small")
        yield Static(id="head")
        yield Static(id="sentence")
        yield Static(id="warning")
        yield Static(id="tabs")
        yield LinesView(id="page")
        yield Static(id="said", classes="hidden")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.query_one(LinesView).focus()
        self._press(self._first_key)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._draw()

    def show_opened(self, opened: OpenedRow) -> None:
        """The same row as it is now; where it is only news of a run, on the same page."""
        if not opened.is_live:
            self._page = opened.first_page
        self.opened, self._blocks, self.news = opened, {}, ""
        self._page = min(self._page, max(len(opened.pages) - 1, 0))
        self._draw(keeps_place=opened.is_live)

    def say(self, text: str) -> None:
        said = self.query_one("#said", Static)
        said.update(Text(make_printable(text), overflow="fold"))
        said.set_class(not text, "hidden")

    def action_next_page(self, step: int = 1) -> None:
        if self.opened.pages:
            self._page = (self._page + step) % len(self.opened.pages)
            self._draw()

    def action_reload(self) -> None:
        self._program.open_again(self)

    def on_key(self, event: events.Key) -> None:
        for number, page in enumerate(self.opened.pages):
            if event.key == page.key:
                event.stop()
                self._page = number
                self._draw()
                return
        if self._press(event.key):
            event.stop()

    def _press(self, key: str) -> bool:
        action = next((each for each in self.opened.actions if each.key == key), None)
        if action is not None:
            self._ask(action)
        return action is not None

    def _ask(self, action: Action) -> None:
        def confirmed(answer: Confirmed | None) -> None:
            if answer is not None:
                self._program.perform(self, action, answer.text)

        self.app.push_screen(ConfirmScreen(action), confirmed)

    @property
    def _program(self) -> "Program":
        return cast("Program", self.app)

    def _draw(self, *, keeps_place: bool = False) -> None:
        width = self.size.width
        head = Text(make_printable(self.opened.title), "bold", no_wrap=True, overflow="ellipsis")
        self.query_one("#head", Static).update(head)
        sentence = Text(make_printable(self.opened.sentence), overflow="fold")
        self.query_one("#sentence", Static).update(sentence)
        warning = self.query_one("#warning", Static)
        warning.update(Text(make_printable(self.opened.warning), "yellow", overflow="fold"))
        warning.set_class(not self.opened.warning, "hidden")
        self.query_one("#tabs", Static).update(self._tabs())
        self.query_one("#keys", Static).update(fit_keys(self._keys(), width))
        if self.opened.pages:
            self._load_page(self._page, width - 3, keeps_place)

    def _tabs(self) -> Text:
        line = Text(no_wrap=True, overflow="ellipsis")
        for number, page in enumerate(self.opened.pages):
            line.append(f" {page.name} ", "reverse" if number == self._page else "").append(" ")
        return line

    def _keys(self) -> list[Key]:
        actions = [(action.key, action.label) for action in self.opened.actions]
        return [*actions, ("Tab", "Page"), ("?", "Help"), ("Esc", "Back")]

    @work(thread=True, exclusive=True, group="page")
    def _load_page(self, number: int, width: int, keeps_place: bool) -> None:
        """Beside the screen: to compare the files of a run, or to render a long one, takes time."""
        worker, opened = get_current_worker(), self.opened
        try:
            blocks = self._blocks.get(number) or opened.pages[number].load()
        except PorchError as error:
            blocks = [Block("bad", describe_error(error))]
        except OSError as error:
            blocks = [Block("bad", f"This cannot be read: {error}")]
        lines = [Strip(line) for line in render_lines(blocks, max(width, 1))]
        if not worker.is_cancelled and opened is self.opened:
            self._blocks[number] = blocks
            is_log = opened.pages[number].is_log
            self.app.call_from_thread(self._show_lines, lines, is_log, keeps_place)

    def _show_lines(self, lines: list[Strip], is_log: bool, keeps_place: bool) -> None:
        view = self.query_one(LinesView)
        view.show_lines(lines)
        if is_log:
            view.scroll_end(animate=False)
        elif not keeps_place:
            view.scroll_home(animate=False)


class Program(Protocol):
    """What a screen asks of the program."""

    def perform(self, screen: OpenedScreen, action: Action, text: str) -> None: ...

    def open_again(self, screen: OpenedScreen) -> None: ...


HELP: tuple[Key, ...] = (
    ("j k, arrows", "move, scroll"),
    ("Enter", "open the row; in a field: give the words"),
    ("Tab", "the next page; Shift-Tab the one before"),
    ("o d f l c", "overview, document, difference, log, cost"),
    ("a", "Approve, or Answer"),
    ("s", "Send back, with a reason"),
    ("1 to 9", "the other answers, as they are listed"),
    ("p r", "Pause, Resume"),
    ("m s p K", "of work that is ready: Merge, Squash, Pull request, Keep"),
    ("u", "read it again"),
    ("Esc", "back; leave a question as it is"),
    ("q", "back; in the list: quit"),
)


class HelpScreen(ModalScreen[None]):
    """All keys."""

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            for key, meaning in HELP:
                line = Text(f"{key:<12}", "bold", overflow="fold")
                yield Static(line.append(meaning, "not bold"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss()


class Confirmed(Struct, frozen=True):
    """What a person said before something is done."""

    text: str = ""


class ConfirmScreen(ModalScreen[Confirmed | None]):
    """The question, and where words are needed a field for them. Esc leaves everything as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("y", "confirm", show=False),
        Binding("enter", "ask_again", show=False),
        Binding("n", "leave", show=False),
    ]

    def __init__(self, action: Action) -> None:
        super().__init__()
        self._action = action

    def compose(self) -> ComposeResult:
        action = self._action
        head = action.question or f"{action.label}: {action.effect}"
        with Vertical(id="dialog"):
            yield Static(Text(make_printable(head), overflow="fold"), id="question")
            if action.takes_text:
                yield Static(Text(f"{action.text_label}:"))
                yield WordsField()
                keys: tuple[Key, ...] = (
                    ("Enter", action.label),
                    ("Ctrl-J", "New line"),
                    ("Esc", "Back"),
                )
            else:
                keys = (("y", action.label), ("n", "Back"))
            yield Static(id="trouble", classes="hidden")
            yield Static(fit_keys(keys, 60), classes="dialog-keys")

    def on_mount(self) -> None:
        if self._action.takes_text:
            self.query_one(WordsField).focus()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_confirm(self) -> None:
        """Where words are asked for, `y` is one of their letters."""
        if not self._action.takes_text:
            self.dismiss(Confirmed())

    def on_words_field_given(self, event: "WordsField.Given") -> None:
        text = event.text.strip()
        if text or not self._action.needs_text:
            self.dismiss(Confirmed(text))
            return
        self._say("Nothing was written. Write it, or press Esc.")

    def action_ask_again(self) -> None:
        self._say("Press y or n.")

    def _say(self, text: str) -> None:
        trouble = self.query_one("#trouble", Static)
        trouble.update(Text(text))
        trouble.remove_class("hidden")


class WordsField(TextArea):
    """Enter gives the text, Ctrl-J begins a new line; what is pasted keeps its lines."""

    class Given(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="words", show_line_numbers=False, soft_wrap=True, tab_behavior="focus")

    async def _on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "ctrl+j"):
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                self.post_message(self.Given(self.text))
            else:
                self.insert("\n")
            return
        await super()._on_key(event)
