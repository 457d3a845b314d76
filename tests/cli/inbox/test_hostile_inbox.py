"""Whatever agents wrote is text in the inbox, and however much of it there is, keys still work."""

import asyncio
import shutil

import pytest
from textual.worker import WorkerFailed

from porch.cli.inbox.app import InboxApp
from porch.cli.inbox.inbox_rows import Inbox, InboxRow, RowPlace
from porch.cli.inbox.opened_row import Block, OpenedRow, RowPage
from porch.cli.inbox.page_lines import render_lines
from tests.cli.conftest import Desk
from tests.cli.inbox.conftest import LAST, SPEC, Person, Sit
from tests.cli.inbox.test_inbox_keys import play

ODD = (
    "[bold]b[/bold] [link=file:///etc]x[/] [/nothing] \x1b[31mred\x1b]8;;http://e\x07y\u202e \x9b2J"
)


def test_no_block_interprets_markup_or_lets_an_escape_sequence_through() -> None:
    for kind in (
        "title",
        "text",
        "good",
        "bad",
        "warn",
        "plain",
        "quote",
        "document",
        "difference",
    ):
        lines = render_lines([Block(kind, ODD)], 200)
        text = "\n".join("".join(segment.text for segment in line) for line in lines)
        assert "[bold]b[/bold]" in text, kind
        assert "red" in text
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(text), kind
        assert not [s for line in lines for s in line if s.style and s.style.link], kind


def test_no_line_of_the_list_or_of_a_dialog_interprets_markup() -> None:
    row = InboxRow(kind="decision", place=RowPlace("p"), id="0001", title=ODD, what=ODD)
    opened = OpenedRow(title=ODD, sentence=ODD, warning=ODD)
    app = InboxApp(ODD, ODD, lambda: Inbox((row,)), lambda _: opened)

    async def look() -> None:
        async with app.run_test(size=(200, 20)) as pilot:
            person = Person(app, pilot)
            seen = await person.until("? 0001  [bold]b[/bold]")
            await person.press("enter")
            seen += await person.until("[link=file:///etc]x[/]")
            assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(seen)

    asyncio.run(look())


def test_a_document_of_two_megabytes_is_shown_from_its_beginning(desk: Desk, sit: Sit) -> None:
    desk.begin(LAST, code=3)
    desk.write(SPEC, "# Spec\n\n" + "many words in a line of a document\n" * 60_000)

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("changed since porch asked. Read the difference.")
        await person.press("d")
        await person.until(SPEC)
        await person.press("o")
        await person.until("What you can do")

    play(sit, scene)


def test_a_run_that_disappears_while_it_is_open_is_said_to_be_gone(desk: Desk, sit: Sit) -> None:
    desk.begin(LAST, code=3)

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("What you can do")
        shutil.rmtree(desk.run_dir())
        await person.until("This run is gone: its directory was deleted.")
        await person.press("a", "y")
        await person.settle()
        await person.press("l", "escape")
        await person.until("there was a run, but its journal is gone")

    play(sit, scene)


def test_pages_that_cannot_be_read_say_why() -> None:
    def fail() -> list[Block]:
        raise FileNotFoundError(2, "No such file or directory", "spec.md")

    row = InboxRow(kind="ready", place=RowPlace("p"), id="0001", title="t", what="w")
    opened = OpenedRow(title="t", sentence="s", pages=(RowPage("Overview", "o", fail),))
    app = InboxApp("porch", "start", lambda: Inbox((row,)), lambda _: opened)

    async def look() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot)
            await person.until("0001")
            await person.press("enter")
            await person.until("This cannot be read: [Errno 2] No such file or directory")
            await person.press("question_mark")
            await person.until("Send back, with a reason")
            await person.press("x", "q")
            await person.until("Ready to merge")
            await person.press("G", "g", "down", "up", "pagedown", "q")

    asyncio.run(look())


def test_what_nobody_foresaw_ends_the_program_and_is_told_to_whoever_started_it() -> None:
    def fail() -> Inbox:
        raise ZeroDivisionError("odd")

    app = InboxApp("porch", "start", fail, lambda _: OpenedRow(title="", sentence=""))

    async def look() -> None:
        async with app.run_test() as pilot:
            await pilot.pause(0.5)

    with pytest.raises(WorkerFailed, match="odd"):
        asyncio.run(look())
    assert app.crash is not None


def test_a_log_begins_at_its_end_and_other_pages_at_their_beginning() -> None:
    lines = "\n".join(f"line {number}" for number in range(300))
    block = [Block("quote", lines)]
    pages = (
        RowPage("Overview", "o", lambda: block),
        RowPage("Log", "l", lambda: block, is_log=True),
    )
    row = InboxRow(kind="ready", place=RowPlace("p"), id="0001", title="t", what="w")
    opened = OpenedRow(title="t", sentence="s", pages=pages)
    app = InboxApp("porch", "start", lambda: Inbox((row,)), lambda _: opened)

    async def look() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot)
            await person.until("0001")
            await person.press("enter")
            await person.until("line 0")
            await person.press("l")
            await person.until("line 299")
            await person.press("k", "k")
            await person.until("line 280")
            await person.press("o")
            await person.until("line 0")

    asyncio.run(look())
