"""Whole lines reach whoever watches, many at a time, and without secrets."""

from collections.abc import Sequence

from porch.agents import events
from porch.run.agents.live_output import (
    DENIED,
    LONGEST,
    MOST_CHARACTERS,
    MOST_LINES,
    SAID,
    TOOL,
    LiveOutput,
    parse_told_line,
)


def _heard() -> tuple[LiveOutput, list[list[str]]]:
    told: list[list[str]] = []

    def hear(lines: Sequence[str]) -> None:
        told.append(list(lines))

    return LiveOutput(hear), told


def test_lines_are_told_together_when_they_are_flushed() -> None:
    voice, told = _heard()
    for event in (
        events.Said("one\ntwo, "),
        events.Used(0, 1),
        events.Said("three\nfo"),
        events.Said("ur"),
        events.ToolStarted("Bash:  make\n test"),
        events.Denied("to  go"),
        events.Warned("careful\x1b[2J"),
        events.Said("all", is_whole=True),
        events.Final("all"),
    ):
        voice.tell(event)
    assert told == []
    voice.flush()
    voice.flush()
    expected = ["one", "two, three", "four", "[Bash: make test]", "[denied: to go]", "careful"]
    assert told == [[*expected, "all"]]


def test_what_was_not_ended_is_told_at_the_end() -> None:
    voice, told = _heard()
    voice.tell(events.Said("half a line"))
    voice.flush()
    assert told == []
    voice.finish()
    assert told == [["half a line"]]


def test_no_more_than_a_bounded_number_of_lines_waits() -> None:
    voice, told = _heard()
    for _ in range(MOST_LINES):
        voice.tell(events.Said("line\n"))
    assert [len(lines) for lines in told] == [MOST_LINES]


def test_no_more_than_a_bounded_amount_of_text_waits() -> None:
    voice, told = _heard()
    for _ in range(9):
        voice.tell(events.Said("x" * (MOST_CHARACTERS // 4) + "\n"))
    assert [len(lines) for lines in told] == [4, 4]


def test_a_line_without_an_end_does_not_grow_for_ever() -> None:
    voice, told = _heard()
    voice.tell(events.Said("x" * (LONGEST + 1)))
    voice.flush()
    assert told == [["x" * (LONGEST + 1)]]


def test_a_line_says_whether_it_is_a_tool_a_refusal_or_words() -> None:
    voice, told = _heard()
    voice.tell(events.ToolStarted("Bash(make [all])"))
    voice.tell(events.Denied("Bash(rm\n-rf /)"))
    voice.tell(events.Said("[x] done, I think\n"))
    voice.flush()
    assert [parse_told_line(line) for line in told[0]] == [
        (TOOL, "Bash(make [all])"),
        (DENIED, "Bash(rm -rf /)"),
        (SAID, "[x] done, I think"),
    ]
