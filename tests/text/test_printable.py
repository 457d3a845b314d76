"""What agents print is shown without its power over the terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.text.printable import make_printable


@pytest.mark.parametrize(
    "raw, shown",
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("Grüße, 世界 😀", "Grüße, 世界 😀"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1b(Bset \x1bc", "set "),
        ("a\rb\x08\x00\x7f\x85", "ab"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("tag\U000e0041", "tag"),
        ("line\u2028end", "lineend"),
        ("half \udc80", "half "),
        ("\x1b]never ended", "never ended"),
        ("\x1b\x1b[31m", ""),
    ],
)
def test_printable(raw: str, shown: str) -> None:
    assert make_printable(raw) == shown


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b\x9b\x9d[];m\\\x07"), max_size=60))
def test_nothing_that_moves_a_terminal_is_left(raw: str) -> None:
    shown = make_printable(raw)
    bad = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert bad <= {"\n", "\t"}
    assert make_printable(shown) == shown
    shown.encode()


def test_a_flood_of_unended_sequences_takes_linear_time() -> None:
    assert make_printable("\x1b]" * 200_000) == ""
