"""Where things stand in a feedback file, to the character: what a tree of values forgets."""

import re
from collections.abc import Iterator
from typing import Any

import yaml
from msgspec import Struct, field

from porch.plan.forms.form_fields import DONE, FALSE, MAX_BYTES, NOTHING, TRUE
from porch.text.late_pattern import late_pattern

BOM = "\ufeff"
LineColumn = tuple[int, int]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DONE_LINE = late_pattern(
    rf"""^(["']?){DONE}\1[ \t]*:(?:[ \t]+"""
    r"""(["']?)(?P<word>[^\s"'#](?:[^"'\r\n#]*[^\s"'#])?)\2)?[ \t]*(?:[ \t]\#.*)?\r?$""",
    re.MULTILINE,
)
DONE_KEY = late_pattern(rf"""^["']?{DONE}["']?[ \t]*:[ \t]*(.*?)[ \t]*\r?$""", re.MULTILINE)
_COMMENT = late_pattern(r"[ \t]+#")


class FormMarks(Struct):
    """`done` are spans of values that say true, `odd` of those that say neither true nor false.

    Keys of the others are line and column: `plain` are the unquoted values as typed; `cut` those of
    them that a comment follows.
    """

    done: list[tuple[int, int]] = field(default_factory=list)
    odd: list[tuple[int, int]] = field(default_factory=list)
    has_done: bool = False
    plain: dict[LineColumn, str] = field(default_factory=dict)
    cut: set[LineColumn] = field(default_factory=set)


def find_marks(text: str) -> FormMarks:
    """For a text without its BOM. What is no YAML has only the lines that look like `done`."""
    if not is_too_large(text):
        try:
            return _find_marks_in_events(text)
        except (yaml.YAMLError, ValueError, OverflowError):
            # What follows the fault cannot be told apart from what a person wrote as text.
            pass
    lines = list(_DONE_LINE.finditer(text))
    return FormMarks(
        done=[match.span("word") for match in lines if is_true_word(match["word"] or "")],
        odd=[match.span("word") for match in lines if is_odd_word(match["word"] or "")],
        has_done=bool(lines),
    )


def is_too_large(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES


def is_true_word(text: str) -> bool:
    return text.strip().lower() in TRUE


def is_odd_word(text: str) -> bool:
    """Neither true nor false, and not nothing either."""
    return text.strip().lower() not in TRUE | FALSE | NOTHING


def _find_marks_in_events(text: str) -> FormMarks:
    found = FormMarks()
    for event, key in _iterate_scalars(text):
        start, end = event.start_mark.index, event.end_mark.index
        if key == DONE and is_true_word(event.value):
            found.done.append(_find_word(text, start, end, event.value.strip()))
        elif key == DONE and is_odd_word(event.value) and event.style not in ("|", ">"):
            found.odd.append((start, end))
        found.has_done = found.has_done or key == DONE
        if event.style in (None, ""):
            at = (event.start_mark.line + 1, event.start_mark.column + 1)
            found.plain[at] = event.value
            if _COMMENT.match(text, end):
                found.cut.add(at)
    return found


def _iterate_scalars(text: str) -> Iterator[tuple[Any, str]]:
    """Every single value or key; values of the outermost mapping with their key."""
    depth, is_mapping = 0, False
    key: str | None = None
    for event in yaml.parse(text, Loader=_LOADER):
        if depth == 0:
            is_mapping, key = isinstance(event, yaml.MappingStartEvent), None
        is_top = depth == 1 and is_mapping
        if isinstance(event, yaml.ScalarEvent):
            yield event, (is_top and key) or ""
        if is_top and isinstance(event, yaml.NodeEvent):
            # Keys and values take turns; a key that is no text has no name.
            key = getattr(event, "value", "") if key is None else None
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)


def _find_word(text: str, start: int, end: int, word: str) -> tuple[int, int]:
    """The word itself, so that quotes and comments around it stay; all where it is escaped."""
    at = text.rfind(word, start, end)
    return (at, at + len(word)) if at >= 0 else (start, end)
