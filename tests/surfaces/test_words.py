"""What people type at the prompt."""

import pytest

from porch.surfaces.cli.words import Typed, typed


@pytest.mark.parametrize(
    "line, open_, expected",
    [
        ("approve", ["g"], Typed("approve", "g", "approved")),
        ("a", ["g"], Typed("approve", "g", "approved")),
        ("approve g fine", ["g", "h"], Typed("approve", "g", "approved", "fine")),
        ("reject too vague", ["g"], Typed("reject", "g", "rejected", "too vague")),
        ("reject h no", ["g", "h"], Typed("reject", "h", "rejected", "no")),
        ("answer use postgres", ["q"], Typed("answer", "q", "answered", "use postgres")),
        ("retry", ["f"], Typed("retry", "f", "retry")),
        ("skip not needed", ["f"], Typed("skip", "f", "skip", "not needed")),
        ("override trust me", ["g"], Typed("override", "g", "waived", "trust me")),
        ("abandon", ["f"], Typed("abandon", "f", "stopped")),
        ("stop", [], Typed("stop")),
        ("  Q ", [], Typed("quit")),
        ("?", [], Typed("help")),
    ],
)
def test_a_line_becomes_one_request(line: str, open_: list[str], expected: Typed) -> None:
    assert typed(line, open_) == expected


@pytest.mark.parametrize(
    "line, open_, word",
    [
        ("reject", ["g"], "why"),
        ("skip", ["g"], "why"),
        ("approve", [], "nothing"),
        ("approve", ["g", "h"], "which"),
        ("aprove", ["g"], "not a command"),
    ],
)
def test_a_line_that_decides_nothing_says_what_is_missing(
    line: str, open_: list[str], word: str
) -> None:
    assert word in typed(line, open_).trouble
