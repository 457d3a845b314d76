"""Which lines of a Markdown text speak and which only show."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.text.markdown import (
    MASK,
    Bullet,
    FencedBlock,
    bullet_of,
    fenced_blocks,
    heading_of,
    mask_inline_code,
    parse_markdown_lines,
)


def kinds(text: str) -> list[str]:
    return [line.kind for line in parse_markdown_lines(text)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a\n\nb", ["text", "blank", "text"]),
        ("\ufeffa\r\nb\rc\u2028d", ["text", "text", "text"]),
        ("```\na\n```\nb", ["fence", "code", "fence", "text"]),
        ("~~~ json\n```\n~~~~\nb", ["fence", "code", "fence", "text"]),
        ("````\n```\n````", ["fence", "code", "fence"]),
        ("```\na", ["fence", "code"]),
        ("```\na\n``` no", ["fence", "code", "code"]),
        ("- ```\n  a\n  ```\nb", ["fence", "code", "fence", "text"]),
        ("1.   ~~~\n  a", ["fence", "code"]),
        ("``` a`b\nc", ["text", "text"]),
        ("> a\n  > b\n- > c\nd", ["quote", "quote", "quote", "text"]),
        ("a\n    b\n\n    c\n\n\td\ne", ["text", "text", "blank", "code", "blank", "code", "text"]),
        ("    a", ["code"]),
        ("<!-- a\n```\n--> b\nc", ["blank", "blank", "text", "text"]),
        ("<!-- a", ["blank"]),
        ("    <!-- a\n-->", ["blank", "blank"]),
    ],
)
def test_lines_are_told_apart(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a <!-- b --> c", "a            c"),
        ("<!--x--><!--y-->z", "                z"),
        ("a `<!--` b --> c", "a `<!--` b --> c"),
        ("a <!-- b", "a <!-- b"),
        ("a --> b <!-- c", "a --> b <!-- c"),
        ("a <!-- b\n-->", "a       "),
        ("a <!-- b <!-- c --> d", "a                   d"),
    ],
)
def test_comments_are_blanked_and_columns_stay(text: str, expected: str) -> None:
    first = parse_markdown_lines(text)[0]
    assert first.text == expected
    assert first.raw == text.partition("\n")[0]


def test_a_comment_that_opens_inside_a_line_and_never_closes_is_ordinary_text() -> None:
    assert [line.text for line in parse_markdown_lines("a --> b\nc <!-- d\ne")][1:] == [
        "c <!-- d",
        "e",
    ]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a `b` c", "a ### c"),
        ("`` a`b `` c", "######### c"),
        ("a ` b", "a ` b"),
        ("a `` b ` c ` d", "a `` b ##### d"),
        ("\\`a` b`", "\\`a####"),
        ("``a` b``", "########"),
        ("plain", "plain"),
    ],
)
def test_inline_code_is_covered(text: str, expected: str) -> None:
    assert mask_inline_code(text).replace(MASK, "#") == expected


def test_fenced_blocks_carry_info_text_and_first_line() -> None:
    text = "```json x\n1\n\n2\n```\n```\n```\n    indented\n~~~\nopen"
    assert fenced_blocks(parse_markdown_lines(text)) == (
        FencedBlock("json x", "1\n\n2", 2),
        FencedBlock("", "", 7),
        FencedBlock("", "open", 10),
    )


@pytest.mark.parametrize(
    "text, expected",
    [
        ("# A", (1, "A")),
        ("   ### A b ##", (3, "A b")),
        ("## About C#", (2, "About C#")),
        ("##", (2, "")),
        ("## ##", (2, "")),
        ("#a", None),
        ("####### a", None),
        ("a", None),
        ("> # a", None),
    ],
)
def test_headings_have_a_level_and_a_title(text: str, expected: tuple[int, str] | None) -> None:
    assert heading_of(parse_markdown_lines(text)[0]) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("- a", Bullet(0, "a")),
        ("  * a ", Bullet(2, "a")),
        ("12) a", Bullet(0, "a")),
        ("1. [ ] a", Bullet(0, "a")),
        ("- [x] a", Bullet(0, "a")),
        ("+", Bullet(0, "")),
        ("-a", None),
        ("- - -", None),
        ("***", None),
        ("a", None),
        ("> - a", None),
    ],
)
def test_bullets_lose_their_marker_and_box(text: str, expected: Bullet | None) -> None:
    assert bullet_of(parse_markdown_lines(text)[0]) == expected


PIECES = st.sampled_from(
    ["`", "```", "~~~", "<!--", "-->", ">", "#", "- ", "    ", "\n", "\r", "a"]
)


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_text_is_scanned_without_losing_a_character(text: str) -> None:
    lines = parse_markdown_lines(text)
    raw = "\n".join(line.raw for line in lines)
    assert raw == text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    assert all(
        len(line.text) == len(line.raw) == len(mask_inline_code(line.text)) for line in lines
    )
    for line in lines:
        heading_of(line)
        bullet_of(line)
    fenced_blocks(lines)


@pytest.mark.parametrize(
    "text",
    [
        "".join("`" * n + " " for n in range(1, 1400)) + "` `` " * 200_000,
        "<!-- " * 400_000,
        "x <!-- " * 300_000 + "-->",
        "- " * 1_000_000,
        "# " + " " * 2_000_000 + "x",
        "`" * 2_000_000,
    ],
    ids=["ticks", "comments", "closed", "bullets", "heading", "run"],
)
def test_two_megabytes_of_spite_are_scanned_in_linear_time(text: str) -> None:
    (line,) = parse_markdown_lines(text)
    mask_inline_code(line.text)
    heading_of(line)
    bullet_of(line)
