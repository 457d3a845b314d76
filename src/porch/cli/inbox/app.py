"""The inbox as a full-screen program: it looks at the runs, opens rows, and does what people say.

Everything that reads or does something runs in threads beside the screen, so a journal that grows
quickly delays news and no key. A look that took long is followed by a longer pause.
"""

import time
from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType

from porch.cli.inbox.inbox_rows import Inbox, InboxRow
from porch.cli.inbox.opened_row import Action, OpenedRow, ShownMovedError, describe_error
from porch.cli.inbox.screens import HelpScreen, ListScreen, OpenedScreen, RowList
from porch.errors import PorchError

_EVERY_S = 1.0
_PAUSE = 4  # times as long as the last look took, so that looking never takes most of a processor
_CSS = """
Screen { background: ansi_default; color: ansi_default; }
#small { display: none; padding: 1; }
.small > * { display: none; }
.small > #small { display: block; }
#head { height: 1; padding: 0 1; }
#empty { padding: 1; display: none; height: 1fr; }
.is-empty #empty { display: block; }
.is-empty #rows { display: none; }
LinesView { height: 1fr; padding: 0 1; background: ansi_default; scrollbar-size-vertical: 1;
    scrollbar-size-horizontal: 0; }
#sentence { padding: 0 1; height: auto; max-height: 3; }
#warning { padding: 0 1; height: auto; max-height: 3; }
#tabs { height: 1; padding: 0 1; }
#said { padding: 0 1; height: auto; max-height: 50%; text-style: bold; }
#keys { height: 1; }
.hidden { display: none; }
ModalScreen { align: center bottom; background: transparent; }
#dialog { width: 100%; height: auto; max-height: 90%; border: round ansi_default;
    padding: 0 1; background: ansi_default; overflow-y: auto; }
#words { height: 6; border: round ansi_default; background: ansi_default; color: ansi_default; }
#words .text-area--cursor { text-style: reverse; }
#words .text-area--cursor-line { background: ansi_default; }
.dialog-keys { margin-top: 1; height: 1; }
"""


class InboxApp(App[None]):
    """One inbox; `start` is what an empty one tells people to type."""

    CSS = _CSS
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "leave", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
    ]

    def __init__(
        self,
        name: str,
        start: str,
        read: Callable[[], Inbox],
        open_row: Callable[[InboxRow], OpenedRow],
    ) -> None:
        super().__init__(ansi_color=True)
        self.crash: Exception | None = None
        self.unread = ""  # what came of an action, if nobody was there any more to be told
        self._read = read
        self._open_row = open_row
        self._start = start
        self._list = ListScreen(name)
        self._next_look = 0.0
        self._is_reading = False
        self._working = ""

    def on_mount(self) -> None:
        self.push_screen(self._list)

    def on_list_screen_ready(self) -> None:
        self.set_interval(_EVERY_S, self._tick)
        self._tick()

    def _tick(self) -> None:
        if self._is_reading or time.monotonic() < self._next_look:
            return
        self._is_reading = True
        opened = self.screen if isinstance(self.screen, OpenedScreen) else None
        self._look(opened)

    @work(thread=True, group="look")
    def _look(self, screen: OpenedScreen | None) -> None:
        began = time.monotonic()
        inbox = self._read()
        news = _find_news(screen.opened) if screen else ""
        self._next_look = time.monotonic() + _PAUSE * (time.monotonic() - began)
        self.call_from_thread(self._show_news, inbox, screen, news)

    def _show_news(self, inbox: Inbox, screen: OpenedScreen | None, news: str) -> None:
        self._is_reading = False
        self._list.show_inbox(inbox, self._start)
        if screen is None or news == screen.news or not screen.is_attached or self._working:
            return
        screen.news = news
        if news and screen.opened.is_live and screen is self.screen:
            self.open_again(screen)
        elif news:
            screen.say(news)

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self._list.say("")
        self._open(event.row, None, key=event.key)

    def open_again(self, screen: OpenedScreen) -> None:
        self._open(screen.row, screen)

    @work(thread=True, exclusive=True, group="open")
    def _open(
        self, row: InboxRow, screen: OpenedScreen | None, said: str = "", key: str = ""
    ) -> None:
        try:
            opened = self._open_row(row)
        except (PorchError, OSError) as error:
            told = describe_error(error) if isinstance(error, PorchError) else str(error)
            self.call_from_thread(self._say, screen or self._list, " ".join((said, told)).strip())
            return
        self.call_from_thread(self._show_row, row, opened, screen, said, key)

    def _show_row(
        self, row: InboxRow, opened: OpenedRow, screen: OpenedScreen | None, said: str, key: str
    ) -> None:
        if screen is None:
            self.push_screen(OpenedScreen(row, opened, key))
        elif screen.is_attached:
            screen.show_opened(opened)
            screen.say(said)

    def _say(self, screen: OpenedScreen | ListScreen, text: str) -> None:
        (screen if screen.is_attached else self._list).say(text)

    def perform(self, screen: OpenedScreen, action: Action, text: str) -> None:
        """One thing at a time; where it takes long, the person may read on or leave."""
        if self._working:
            screen.say(f"{self._working} is still being done.")
            return
        self._working = action.label
        screen.say(f"{action.label} ...")
        self._perform(screen, action, text)

    @work(thread=True, group="perform")
    def _perform(self, screen: OpenedScreen, action: Action, text: str) -> None:
        is_done, again = False, False
        try:
            said, is_done = action.perform(text), True
        except ShownMovedError as error:
            said, again = describe_error(error), True
        except PorchError as error:
            said = describe_error(error)
        except OSError as error:
            said = f"Nothing was done: {error}"
        self.unread = said
        self.call_from_thread(self._tell, screen, said, is_done=is_done, again=again)

    def _tell(self, screen: OpenedScreen, said: str, *, is_done: bool, again: bool) -> None:
        self.unread, self._working, self._next_look = "", "", 0.0
        if again and screen.is_attached:
            self._open(screen.row, screen, said)
        elif is_done and screen is self.screen:
            self.pop_screen()
            self._list.say(said)
        else:
            self._say(screen, said)
        self._tick()

    def action_help(self) -> None:
        self.push_screen(HelpScreen())

    async def action_quit(self) -> None:
        if not self._working:
            self.exit()
            return
        self._list.say(f"{self._working} is still being done. Ctrl-C leaves, and it is completed.")

    def action_leave(self) -> None:
        self.exit()

    def _handle_exception(self, error: Exception) -> None:
        """Whoever started the program says what it was; a screen full of code helps nobody."""
        self.crash = error
        super()._handle_exception(error)

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()


def _find_news(opened: OpenedRow) -> str:
    try:
        return opened.watch()
    except PorchError as error:
        return describe_error(error)
    except OSError as error:
        return f"This run cannot be read any more: {error}"
