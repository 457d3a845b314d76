"""What agents write becomes a part of a page only as words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.web.pages.documents import (
    LONGEST,
    cut_document,
    draw_document,
    draw_markdown,
)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "![x](https://example.org/x.png)",
        "<a href='//example.org' style='x' id='said' class='button'>y</a>",
        "[x]: javascript:alert(1)\n\n[x]",
        "<javascript:alert(1)>",
    ],
)
def test_nothing_in_it_can_act(text: str) -> None:
    drawn = str(draw_markdown(text))
    for sign in ("<script", "<img", 'href="javascript', 'href="data', 'href="//', "style=", " id="):
        assert (
            sign
            not in drawn.replace("&lt;script", "")
            .replace("&lt;img", "")
            .replace("&lt;a href", "")
            .partition("style='")[0]
        )


@given(st.text(max_size=200))
def test_any_text_can_be_drawn_and_holds_only_tags_of_the_list(text: str) -> None:
    drawn = str(draw_markdown(text))
    assert "<script" not in drawn.lower()
    assert " on" not in "".join(part.partition(">")[0] for part in drawn.split("<")[1:])


def test_titles_stand_below_those_of_the_page() -> None:
    assert draw_markdown("# a\n\n###### b") == "<h3>a</h3>\n<h6>b</h6>\n"


def test_tables_and_struck_words_are_drawn() -> None:
    drawn = draw_markdown("| a | b |\n|---|---|\n| 1 | ~~2~~ |")
    assert "<td>1</td>" in drawn
    assert "<s>2</s>" in drawn


def test_only_markdown_is_drawn() -> None:
    assert draw_document("a/PLAN.MD", "x") == "<p>x</p>\n"
    assert draw_document("a/plan.py", "x") is None


def test_a_long_text_is_cut_and_the_rest_is_counted() -> None:
    assert cut_document("x" * (LONGEST + 7)) == ("x" * LONGEST, 7)


@pytest.mark.parametrize("front", ["> " * 25, "- " * 25, "> - " * 9, "[//]: # ", "[x]: /"])
def test_nothing_of_a_document_is_hidden(front: str) -> None:
    assert "(evil)" in draw_markdown(f"# Plan\n\n{front}(evil)\n")
