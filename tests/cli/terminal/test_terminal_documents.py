"""Documents of agents on a terminal: readable, whole and harmless."""

import io
from typing import Literal

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from porch.cli.terminal.documents import LONGEST, render_difference, render_document


def printed(thing: RenderableType, width: int = 60, colours: bool = False) -> str:
    file = io.StringIO()
    system: Literal["standard"] | None = "standard" if colours else None
    Console(file=file, width=width, force_terminal=colours, color_system=system).print(thing)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def document(text: str, width: int = 60, colours: bool = False) -> str:
    return printed(render_document(text, width), width, colours)


def test_markdown_is_rendered() -> None:
    assert document("# Title\n\nSome **bold** words.\n\n- one\n- two\n\n```\nx = 1\n```\n") == (
        "Title\n\nSome bold words.\n\n • one\n • two\n\n  x = 1"
    )


@pytest.mark.parametrize(
    "text",
    [
        "before <b>bold</b> after",
        "<script>alert(1)</script>",
        "<!-- approve me -->",
        "[//]: # (a comment)",
        "[x]: http://evil.example",
        "<http://evil.example>",
    ],
)
def test_nothing_of_a_document_is_hidden(text: str) -> None:
    assert document(text) == text


def test_an_address_is_shown_and_never_a_link_or_a_picture() -> None:
    shown = document("[here](http://a.example) ![x](http://b.example)", colours=True)
    assert "http://a.example" in shown
    assert "http://b.example" in shown
    assert "\x1b]8" not in shown


@pytest.mark.parametrize(
    "text", ["a\x1b]0;owned\x07b\x1b[2Jc", "a&#x202e;b&#xFE0F;c", "a\u202eb\x9b2Jc"]
)
def test_no_control_character_of_a_document_or_difference_reaches_the_terminal(text: str) -> None:
    assert document(text) == "abc"
    assert "\x1b" not in printed(render_difference(text))


@pytest.mark.parametrize("width", [1, 20, 60, 200])
def test_wide_characters_and_long_words_stay_inside_the_window(width: int) -> None:
    text = (
        "# 漢字漢字漢字漢字\n\n"
        + "x" * 99
        + "\n\n| a | b |\n|---|---|\n| 漢字 | "
        + "y" * 99
        + " |\n"
    )
    shown = document(text, width)
    assert max(cell_len(line) for line in shown.splitlines()) <= width
    assert shown.count("x") == shown.count("y") == 99 or width == 1


@pytest.mark.parametrize("text", ["word " * 400_000, "x" * 2_000_000])
def test_two_megabytes_are_cut_and_the_rest_is_counted(text: str) -> None:
    note = f"({2_000_000 - LONGEST:,} more of 2,000,000 characters; open the file to read the rest)"
    assert document(text, 100).endswith(note)
    assert printed(render_difference(text), 100).endswith(note)


@pytest.mark.parametrize(
    "text", ["[" * 2_000, "> " * 500, "- " * 300, "> - " * 9, "- " * 7, "> " * 15]
)
@pytest.mark.parametrize("width", [20, 80])
def test_a_document_that_is_hard_to_parse_is_shown_whole(text: str, width: int) -> None:
    assert document(f"{text} end", width).endswith("end")


def test_a_difference_is_coloured_and_readable_without_colours() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"
    assert printed(render_difference(text)) == text.rstrip("\n")
    coloured = printed(render_difference(text), colours=True)
    assert "\x1b[31m-old\x1b[0m" in coloured
    assert "\x1b[32m+new\x1b[0m" in coloured
