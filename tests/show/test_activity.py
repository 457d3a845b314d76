"""The activity of an agent as lines: whole, safe to print, readable in a narrow window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.show import activity
from porch.show.activity import render_activity_lines

KINDS = ("said", "tool", "output", "denied", "warned", "failed", "answer", "final", "used", "note")


def told(*entries: tuple[str, str], width: int = 80) -> list[str]:
    return list(render_activity_lines(entries, width))


def test_a_turn_reads_like_a_story() -> None:
    assert told(
        ("said", "I look at the "),
        ("said", "tests first."),
        ("tool", "Bash: npm test"),
        ("output", "\n".join(f"line {n}" for n in range(1, 9))),
        ("denied", "Edit /etc/passwd"),
        ("said", "Done."),
        ("final", "Done."),
        ("used", "1,234 tokens"),
    ) == [
        "I look at the tests first.",
        "* Bash: npm test",
        "    ... 3 earlier lines",
        "    line 4",
        "    line 5",
        "    line 6",
        "    line 7",
        "    line 8",
        "! denied: Edit /etc/passwd",
        "",
        "Done.",
        "",
        "final message:",
        "  (same text as above)",
        "- 1,234 tokens",
    ]


def test_a_final_message_that_was_not_said_before_is_shown() -> None:
    assert told(("said", "One."), ("final", "Two.\n\nThree.")) == [
        "One.", "", "final message:", "  Two.", "", "  Three.",
    ]  # fmt: skip


def test_long_words_stay_whole_and_lines_keep_their_indent() -> None:
    path = "/a/very/long/path/that/somebody/wants/to/copy"
    text = f"    code stays where it is\nsee {path} there"
    assert told(("said", text), width=24) == [
        "    code stays where it", "is", "see", path, "there",
    ]  # fmt: skip


def test_silence_makes_no_lines() -> None:
    assert told(("output", " \n"), ("tool", "Read x")) == ["* Read x"]
    assert told() == []


def test_one_line_of_output_is_not_called_lines() -> None:
    assert told(("output", "a\nb\nc\nd\ne\nf"))[0] == "    ... 1 earlier line"


def test_a_line_of_output_without_an_end_is_cut() -> None:
    (line,) = told(("output", "x" * 5000))
    assert len(line) < 450
    assert line.endswith("x ...")


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.text(max_size=60))), st.integers(-5, 200))
def test_whatever_an_agent_prints_is_safe_to_show(
    entries: list[tuple[str, str]], width: int
) -> None:
    for line in render_activity_lines(entries, width):
        assert line.isprintable() or not line.replace("\t", "").strip() or _is_wide_space(line)
        assert "\x1b" not in line
        assert "\n" not in line


def _is_wide_space(line: str) -> bool:
    """Spaces of other widths and private characters are no danger to a terminal."""
    import unicodedata

    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in line)


@given(st.text("ab c", max_size=400), st.integers(20, 60))
def test_prose_fits_the_width(text: str, width: int) -> None:
    longest = max((len(word) for word in text.split()), default=0)
    for line in render_activity_lines([("said", text)], width):
        assert len(line) <= max(width, longest)


@pytest.mark.parametrize(
    "counts, text",
    [
        ((1234, 0, 0, 0.0), "1,234 tokens"),
        ((5000, 4000, 100, 0.01234), "5,000 tokens (4,000 from the cache, 100 written), $0.0123"),
    ],
)
def test_usage_names_the_parts_that_are_known(
    counts: tuple[int, int, int, float], text: str
) -> None:
    assert activity.format_usage(*counts) == text
