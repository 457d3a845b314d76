"""The file that a person finds: every text in it is inert, whoever wrote it.

Empty texts are written as blocks. There a person may type quotes, colons, backslashes and `#`
without a thought; between quotes or behind a colon each of these breaks or loses something.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from porch.plan.forms.form_fields import (
    DONE,
    DONE_HELP,
    ChoiceKind,
    FlagKind,
    FormField,
    FormPart,
    FormParts,
    FormQuestion,
    GateForm,
    QuestionList,
    TextKind,
)
from porch.text.late_pattern import late_pattern
from porch.text.nodes import SURROGATE

_WIDTH = 96
_STEP = "  "
_PLAIN = late_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BELOW = "texts: write on the lines below `|-`, indented"
LOGS = "<!-- Paste the logs below this line; leave the file as it is if there are none. -->"


def render_form(form: GateForm, head: Sequence[str]) -> str:
    """The whole file; `head` says what it is about. Half characters do not survive."""
    # Said once: below every field it would hide what the field is about.
    lines = [line for words in (*head, _BELOW) for line in _render_comment(words, "")]
    for field in form.fields:
        lines += ["", *_render_field(field, "")]
    lines += ["", *_render_comment(DONE_HELP, ""), f"{DONE}: false"]
    return "\n".join(lines) + "\n"


def join_lines(text: str) -> str:
    """Words that stay on their line and show what they are: no control gets through."""
    words = " ".join(text.split())
    return "".join(char if char.isprintable() else "\ufffd" for char in words)


def _render_comment(text: str, indent: str) -> Iterator[str]:
    for line in text.splitlines():
        words = textwrap.wrap(
            join_lines(line), _WIDTH, break_long_words=False, break_on_hyphens=False
        )
        yield from (f"{indent}# {part}".rstrip() for part in words or [""])


def _render_field(field: FormField, indent: str) -> Iterator[str]:
    yield from _render_comment(_describe_field(field), indent)
    key, within = f"{indent}{_render_word(field.name)}:", indent + _STEP
    match field.kind:
        case FlagKind(required):
            is_open = required and field.value == ""
            yield key if is_open else f"{key} {'true' if field.value else 'false'}"
        case TextKind():
            yield from _render_text(key, str(field.value), within)
        case ChoiceKind(words):
            yield f"{key} {_render_word(_first_word(words, str(field.value)))}"
        case FormParts(parts):
            yield key if parts else f"{key} {{}}"
            yield from (line for part in parts for line in _render_part(part, within))
        case QuestionList(questions):
            yield key if questions else f"{key} []"
            yield from (line for each in questions for line in _render_question(each, within))
        case _:
            assert_never(field.kind)


def _render_part(part: FormPart, indent: str) -> Iterator[str]:
    yield from _render_comment(part.help, indent)
    yield f"{indent}{_render_word(part.name)}:" + ("" if part.fields else " {}")
    yield from (line for field in part.fields for line in _render_field(field, indent + _STEP))


def _describe_field(field: FormField) -> str:
    match field.kind:
        case FlagKind(required):
            what = "write true or false" if required else "true or false"
        case TextKind():
            what = ""
        case ChoiceKind(words):
            what = f"one of: {', '.join(words)}"
        case FormParts():
            what = "keep all of them"
        case QuestionList():
            what = "answer each"
        case _:
            assert_never(field.kind)
    return "; ".join(words for words in (field.help, what) if words)


def _first_word(words: Mapping[str, str], meaning: str) -> str:
    """The first word with this meaning."""
    return next((word for word, meant in words.items() if meant == meaning), "")


def _render_question(question: FormQuestion, indent: str) -> Iterator[str]:
    within = indent + _STEP
    yield from _render_text(f"{indent}- question:", question.question, within + _STEP)
    yield from _render_text(f"{within}answer:", question.answer, within + _STEP)


def _render_text(key: str, text: str, indent: str) -> Iterator[str]:
    whole = SURROGATE.sub("\ufffd", text)
    lines = whole.split("\n")
    # A block keeps its first indentation and its end for itself, and no control may stand in it.
    if whole == whole.strip() and all(line.isprintable() for line in lines):
        yield f"{key} |-"
        yield from (f"{indent}{line}" if line or not whole else "" for line in lines)
    else:
        yield f"{key} {_quote_text(whole)}"


def _render_word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _quote_text(SURROGATE.sub("\ufffd", text))


def _quote_text(text: str) -> str:
    return '"' + "".join(_SHORT.get(char) or _escape_character(char) for char in text) + '"'


def _escape_character(char: str) -> str:
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def render_logs_file() -> str:
    return f"{LOGS}\n"


def extract_logs(text: str) -> str:
    """What was pasted, as text that can be printed on; nothing if only our line is left."""
    whole = (
        text.removeprefix("\ufeff").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )
    lines = whole.split("\n")
    ours = next((n for n, line in enumerate(lines) if line.strip() == LOGS), None)
    if ours is not None:
        del lines[ours]
    logs = "\n".join(lines)
    return logs.strip("\r\n") if logs.strip() else ""
