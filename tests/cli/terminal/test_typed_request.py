"""What people type at the prompt."""

import pytest

from porch.cli.terminal.typed_request import TypedRequest, parse_typed_line


@pytest.mark.parametrize(
    "line, open_, expected",
    [
        ("approve", ["g"], TypedRequest("approve", "g", "approved")),
        ("a", ["g"], TypedRequest("approve", "g", "approved")),
        ("approve g fine", ["g", "h"], TypedRequest("approve", "g", "approved", "fine")),
        ("reject too vague", ["g"], TypedRequest("reject", "g", "rejected", "too vague")),
        ("reject h no", ["g", "h"], TypedRequest("reject", "h", "rejected", "no")),
        ("answer use postgres", ["q"], TypedRequest("answer", "q", "answered", "use postgres")),
        ("retry", ["f"], TypedRequest("retry", "f", "retry")),
        ("skip not needed", ["f"], TypedRequest("skip", "f", "skip", "not needed")),
        ("override trust me", ["g"], TypedRequest("override", "g", "waived", "trust me")),
        ("abandon", ["f"], TypedRequest("abandon", "f", "stopped")),
        ("stop", [], TypedRequest("stop")),
        ("  Q ", [], TypedRequest("quit")),
        ("?", [], TypedRequest("help")),
    ],
)
def test_a_line_becomes_one_request(line: str, open_: list[str], expected: TypedRequest) -> None:
    assert parse_typed_line(line, open_) == expected


@pytest.mark.parametrize(
    "line, open_, word",
    [
        ("reject", ["g"], "needs"),
        ("skip", ["g"], "needs"),
        ("approve", [], "no decision"),
        ("approve", ["g", "h"], "which"),
        ("aprove", ["g"], "not a command"),
    ],
)
def test_a_line_that_decides_nothing_says_what_is_missing(
    line: str, open_: list[str], word: str
) -> None:
    assert word in parse_typed_line(line, open_).trouble
