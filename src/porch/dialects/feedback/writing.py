"""The file that a person finds: every text in it is inert, whoever wrote it.

Empty texts are written as blocks. There a person may type quotes, colons, backslashes and `#`
without a thought; between quotes or behind a colon each of these breaks or loses something.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from porch.dialects.feedback.forms import (
    DONE,
    DONE_HELP,
    Choice,
    Field,
    Flag,
    Form,
    Part,
    Parts,
    Question,
    Questions,
    Text,
)
from porch.dialects.nodes import SURROGATE

_WIDTH = 96
_STEP = "  "
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BELOW = "write on the lines below `|-`, indented"


def template(form: Form, head: Sequence[str]) -> str:
    """The whole file; `head` says what it is about. Half characters do not survive."""
    lines = [line for words in head for line in _comment(words, "")]
    for field in form.fields:
        lines += ["", *_field(field, "")]
    lines += ["", *_comment(DONE_HELP, ""), f"{DONE}: false"]
    return "\n".join(lines) + "\n"


def one_line(text: str) -> str:
    """Words that stay on their line and show what they are: no control gets through."""
    words = " ".join(text.split())
    return "".join(char if char.isprintable() else "\ufffd" for char in words)


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in text.splitlines():
        words = textwrap.wrap(
            one_line(line), _WIDTH, break_long_words=False, break_on_hyphens=False
        )
        yield from (f"{indent}# {part}".rstrip() for part in words or [""])


def _field(field: Field, indent: str) -> Iterator[str]:
    yield from _comment(_help(field), indent)
    key, within = f"{indent}{_word(field.name)}:", indent + _STEP
    match field.kind:
        case Flag():
            yield f"{key} {'true' if field.value else 'false'}"
        case Text():
            yield from _text(key, str(field.value), within)
        case Choice(words):
            yield f"{key} {_word(_said(words, str(field.value)))}"
        case Parts(parts):
            yield key if parts else f"{key} {{}}"
            yield from (line for part in parts for line in _part(part, within))
        case Questions(questions):
            yield key if questions else f"{key} []"
            yield from (line for each in questions for line in _question(each, within))
        case _:
            assert_never(field.kind)


def _part(part: Part, indent: str) -> Iterator[str]:
    yield from _comment(part.help, indent)
    yield f"{indent}{_word(part.name)}:" + ("" if part.fields else " {}")
    yield from (line for field in part.fields for line in _field(field, indent + _STEP))


def _help(field: Field) -> str:
    match field.kind:
        case Flag():
            what = "true or false"
        case Text():
            what = _BELOW
        case Choice(words):
            what = f"one of: {', '.join(words)}"
        case Parts():
            what = "one entry for each; keep all of them"
        case Questions():
            what = f"answer each; {_BELOW}"
        case _:
            assert_never(field.kind)
    return f"{field.help}; {what}" if field.help else what


def _said(words: Mapping[str, str], meaning: str) -> str:
    """The first word with this meaning."""
    return next((word for word, meant in words.items() if meant == meaning), "")


def _question(question: Question, indent: str) -> Iterator[str]:
    within = indent + _STEP
    yield from _text(f"{indent}- question:", question.question, within + _STEP)
    yield from _text(f"{within}answer:", question.answer, within + _STEP)


def _text(key: str, text: str, indent: str) -> Iterator[str]:
    whole = SURROGATE.sub("\ufffd", text)
    lines = whole.split("\n")
    # A block keeps its first indentation and its end for itself, and no control may stand in it.
    if whole == whole.strip() and all(line.isprintable() for line in lines):
        yield f"{key} |-"
        yield from (f"{indent}{line}" if line or not whole else "" for line in lines)
    else:
        yield f"{key} {_quoted(whole)}"


def _word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _quoted(SURROGATE.sub("\ufffd", text))


def _quoted(text: str) -> str:
    return '"' + "".join(_SHORT.get(char) or _escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    return char if char.isprintable() else f"\\U{ord(char):08x}"
