"""What people type at the prompt."""

import pytest

from porch.cli.terminal.typed_request import TypedRequest, parse_typed_line


@pytest.mark.parametrize(
    "line, expected",
    [
        ("approve", TypedRequest("approve")),
        ("approve g --note 'all fine'", TypedRequest("approve", ("g", "--note", "all fine"))),
        ('reject g --reason "too vague"', TypedRequest("reject", ("g", "--reason", "too vague"))),
        ("answer q use postgres", TypedRequest("answer", ("q", "use", "postgres"))),
        ("Retry", TypedRequest("retry")),
        ("skip --reason known", TypedRequest("skip", ("--reason", "known"))),
        ("porch approve 0001 g", TypedRequest("approve", ("0001", "g"), names_run=True)),
        ("stop", TypedRequest("stop")),
        ("  Q ", TypedRequest("quit")),
        ("?", TypedRequest("help")),
        ("", TypedRequest("")),
    ],
)
def test_a_line_becomes_the_words_of_a_command(line: str, expected: TypedRequest) -> None:
    assert parse_typed_line(line) == expected


@pytest.mark.parametrize(
    "line, word",
    [
        ("aprove", "not a command"),
        ("approv\N{CYRILLIC SMALL LETTER IE} g", "not a command"),
        ("override trust me", "not a command"),
        ("abandon", "not a command"),
        ("a", "'a' is not a command; type the whole word: approve or answer"),
        ("R", "type the whole word: reject or retry"),
        ("app g", "type the whole word: approve"),
        ("porch stop", "not a command"),
        ("answer q don't", "quotation mark is not closed"),
        ("stop the work", "takes no other words"),
    ],
)
def test_a_line_that_is_no_command_says_so(line: str, word: str) -> None:
    assert word in parse_typed_line(line).trouble
