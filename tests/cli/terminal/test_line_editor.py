"""A line while it is typed: cursor, history, completion."""

import pytest

from porch.cli.terminal.line_editor import LineEditor, LineView
from porch.cli.terminal.typed_request import complete_line, shorten_command

DECISIONS = [
    {
        "name": "spec_approval",
        "options": [{"answer": "approved"}, {"answer": "rejected"}],
    },
    {"name": "blocked:plan", "options": [{"answer": "answered"}, {"answer": "stopped"}]},
]
FILES = ["docs/plan.md", "docs/my spec.md"]


def complete(front: str) -> list[str]:
    return complete_line(front, DECISIONS, FILES)


def typed(*keys: str) -> LineEditor:
    """Single characters are text; longer names are keys, and `enter` takes the line."""
    editor = LineEditor(complete)
    for key in keys:
        for each in [key] if key in KEYS else key:
            if each == "enter":
                editor.take()
            elif each in KEYS:
                editor.press(each)
            else:
                editor.insert(each)
    return editor


KEYS = (
    *("up", "down", "left", "right", "home", "end", "tab", "enter", "page up"),
    *("erase", "delete", "erase word", "erase line"),
)


@pytest.mark.parametrize(
    "keys, text, cursor",
    [
        (("one two", "home", "delete", "right", "left", "end", "left", "erase"), "ne to", 4),
        (("one two", "left", "erase word", "page up"), "one o", 4),
        (("one two", "left", "left", "erase line"), "wo", 0),
        (("abc", "left", "left", "x"), "axbc", 2),
        (("abc", "home", "x", "end", "y"), "xabcy", 5),
        (("abc", "left", "erase"), "ac", 1),
        (("abc", "home", "delete", "erase", "left", "left"), "bc", 0),
        (("abc", "right"), "abc", 3),
        (("one two three", "erase word"), "one two ", 8),
        (("漢字", "left", "x"), "漢x字", 2),
    ],
)
def test_the_cursor_moves_in_the_line(keys: tuple[str, ...], text: str, cursor: int) -> None:
    assert typed(*keys).view == LineView(text, cursor)


@pytest.mark.parametrize(
    "keys, text",
    [
        (("first", "enter", "second", "enter", "up"), "second"),
        (("first", "enter", "second", "enter", "up", "up", "up"), "first"),
        (("first", "enter", "dra", "up", "down", "ft"), "draft"),
        (("same", "enter", "same", "enter", " ", "enter", "up", "up"), "same"),
        (("down",), ""),
    ],
)
def test_up_and_down_go_through_what_was_typed(keys: tuple[str, ...], text: str) -> None:
    assert typed(*keys).view.text == text


@pytest.mark.parametrize(
    "front, text, offers",
    [
        ("app", "approve ", []),
        ("approve ", "approve ", ["spec_approval", "--note", "--override", "--accept-changes"]),
        ("approve s", "approve spec_approval ", []),
        ("approve --o", "approve --override ", []),
        (
            "approve spec_approval --",
            "approve spec_approval --",
            ["--note", "--override", "--accept-changes"],
        ),
        ("answer b", "answer blocked:plan ", []),
        ("answer blocked:plan --option s", "answer blocked:plan --option stopped ", []),
        ("answer x --option re", "answer x --option rejected ", []),
        ("view docs", "view docs/plan.md ", []),
        ("diff ", "diff ", ["docs/plan.md", "'docs/my spec.md'"]),
        ("view docs/plan.md ", "view docs/plan.md ", []),
        ("s", "s", ["skip", "status", "stop"]),
        ("st", "st", ["status", "stop"]),
        ("sta", "status ", []),
        ('reject --reason "spec', 'reject --reason "spec', []),
        ("bogus x", "bogus x", []),
    ],
)
def test_tab_completes_verbs_gates_answers_and_files(
    front: str, text: str, offers: list[str]
) -> None:
    view = typed(front, "tab").view
    assert (view.text, list(view.offers)) == (text, offers)
    assert view.cursor == len(text)


def test_what_stands_behind_the_cursor_stays() -> None:
    assert typed("ap spec", "home", "right", "right", "tab").view.text == "approve spec"


@pytest.mark.parametrize(
    "command, is_only, expected",
    [
        ("porch approve 0001 go", True, "approve"),
        ("porch approve 0001 go --accept-changes", True, "approve --accept-changes"),
        ("porch approve 0001 go", False, "approve go"),
        ('porch reject 0001 go --reason "..."', True, 'reject --reason "..."'),
        ("porch answer 0001 failed:x stopped", True, "answer failed:x stopped"),
        ("porch approve 0001 'a gate'", True, "approve 'a gate'"),
        ("porch retry 0001", True, "retry"),
    ],
)
def test_a_command_is_shown_as_it_is_typed_here(command: str, is_only: bool, expected: str) -> None:
    assert shorten_command(command, is_only) == expected
