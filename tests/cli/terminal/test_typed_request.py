"""What people type at the prompt."""

import pytest

from porch.cli.terminal.typed_request import (
    TypedRequest,
    add_only_decision,
    parse_typed_line,
    use_prompt_words,
)


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


@pytest.mark.parametrize(
    "line, expected",
    [
        ("answer EUR", ["q", "EUR"]),
        ("answer EUR and USD", ["q", "EUR", "and", "USD"]),
        ("answer q EUR", ["q", "EUR"]),
        ("answer q", ["q"]),
        ("answer", ["q"]),
        ("answer --option stopped", ["q", "--option", "stopped"]),
        ("reject too vague", ["--reason=too vague"]),
        ("reject q too vague", ["q", "--reason=too vague"]),
        ("reject q", ["q"]),
        ("reject --reason 'too vague'", ["--reason", "too vague"]),
        ("approve banana", ["banana"]),
    ],
)
def test_where_one_decision_is_open_its_name_may_be_left_out(
    line: str, expected: list[str]
) -> None:
    said = parse_typed_line(line)
    assert add_only_decision(said.verb, said.words, "q", "q".__eq__) == expected


def test_advice_of_commands_is_given_in_the_words_of_the_prompt() -> None:
    told = 'type `porch answer 0001 q "..."`; `porch pending 0001` and `porch pending` show more'
    assert use_prompt_words(told) == 'type `answer q "..."`; `view` and `view` show more'
    assert use_prompt_words("porch reject '1 a' g; porch resume 1") == "reject g; porch resume 1"
