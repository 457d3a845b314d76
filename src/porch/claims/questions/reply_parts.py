"""The parts of a reply: which words of it answer which question.

A strict label (`q1: A`, `q1=A`, and the same in Chinese) begins an answer wherever it stands at
the beginning of a line or behind a comma. So does a row of a Markdown table, or a key of a JSON
object, that is all of the reply. A loose label (`Q1 A`, `1. A`) could also be the beginning of a
text. It counts only where every line of the reply begins with one; `reply_reader` asks for more.
"""
# ruff: noqa: RUF001 - the wide forms are what people type

import json
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from porch.claims.questions.letter_forms import lone_letter, strip_emphasis
from porch.text.late_pattern import late_pattern

_LINE_END = late_pattern(r"\r\n|\n|\r")
_BLANKS = " \t\u3000\u00a0\ufeff"
_BULLET = r"(?:[-*•+] |#{1,6} )?"
_WORD = r"(?:[qQｑＱ]|[Qq]uestion|QUESTION|问题|問題)"
_DIGITS = "([0-9０-９]+)"
_STRICT = (
    rf"(?:\*\*|__|[\"'`“‘「＂])?{_WORD} ?{_DIGITS}"
    r" ?(?:\*\*|__|[\"'`”’」＂])? ?(?:[:：=＝)）、]|[.．](?![0-9０-９]))(?:\*\*|__)?"
)
_LOOSE = (
    rf"(?:\*\*|__)?(?:{_WORD} ?{_DIGITS}(?:\*\*|__)?[ \t\u3000]"
    rf"|{_DIGITS} ?[.．:：=＝)）、](?![0-9０-９])(?:\*\*|__)?)"
)
_LABEL = late_pattern(_BULLET + _STRICT)
_LOOSE_LABEL = late_pattern(_BULLET + _LOOSE)
# Where the next answer may begin on the same line; what is quoted holds no label.
_GAP = r"(?P<gap>[,，;；、][ \t\u3000]*|(?<![ \t\u3000])[ \t\u3000]+)"
_QUOTED = r"\"[^\"]*\"?|“[^”]*”?|「[^」]*」?|«[^»]*»?|`[^`]*`?"
_NEXT = late_pattern(rf"{_GAP}(?={_STRICT})|{_QUOTED}")
_NEXT_LOOSE = late_pattern(rf"{_GAP}(?={_LOOSE})|{_QUOTED}")
_KEY = late_pattern(rf"({_WORD} ?)?{_DIGITS}[:：.．)）、]?")
_LABEL_BEGINS = frozenset("qQｑＱ问問-*•+#_\"'`“‘「＂")
# A label is short; behind so many characters nobody looks for one.
_LABEL_WITHIN = 80
_HYPHENS = late_pattern(r"[-－]{6,}")
_FENCE = late_pattern(r"(?:`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = late_pattern(r"(?:`{3,}|~{3,})")
_CELL_END = late_pattern(r"(?<!\\)\|")
_RULE = late_pattern(r"\s*:?-+:?\s*")
_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF10, 0xFF1A)}


class ReplyPart(Struct, frozen=True):
    """The lines of one answer; those in front of the first label belong to nobody."""

    id: str
    is_quoted: bool = False
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Of an answer that is quoted as a whole, the marks of the quote are no part of it."""
        quoted = line.lstrip(_BLANKS)
        is_mark = self.is_quoted and quoted.startswith(">")
        self.lines.append(quoted[1:].removeprefix(" ") if is_mark else line)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


class SplitReply(Struct, frozen=True):
    """The answers of a reply by question, and the text that stands in none of them."""

    outside: str
    parts: Sequence[ReplyPart] = ()
    is_loose: bool = False


def split_reply(reply: str) -> SplitReply:
    """Its answers by strict labels if it has any; else by loose ones, or the bare text."""
    if reply.lstrip().startswith(("{", "|")):
        return _split_pairs(reply.strip())
    outside, *parts = _split_lines(reply)
    if not parts and (loose := list(_split_loose_lines(outside.lines))):
        return SplitReply(outside.text, loose, is_loose=True)
    return SplitReply(outside.text, parts)


def _split_lines(reply: str) -> list[ReplyPart]:
    """What stands in front, then one part for each strict label."""
    parts = [ReplyPart("")]
    fence, lines = "", _LINE_END.split(reply)
    ends = _find_terminators(lines)
    for at, line in enumerate(lines):
        if not fence and at in ends:
            continue
        first, *more = [line] if fence else _split_line(line, _NEXT)
        for text in (first, *more):
            label = None if fence else split_label(text)
            if label is not None:
                parts.append(ReplyPart(label[0], line.lstrip(_BLANKS).startswith(">")))
            parts[-1].add(label[1] if label else text)
        fence = _next_fence(fence, parts[-1].lines[-1])
    return parts


def _split_line(line: str, next_: Any) -> Iterator[str]:
    """A line by the answers on it; a mere blank parts them only behind a lone letter."""
    begin = 0
    for found in next_.finditer(line):
        before = line[begin : found.start()]
        if found["gap"] and (found["gap"].strip(_BLANKS) or _is_lettered(before)):
            yield before
            begin = found.end()
    yield line[begin:]


def _is_lettered(text: str) -> bool:
    label = split_label(text) or _split_loose_label(text)
    return bool(label and lone_letter(label[1]))


def split_label(line: str) -> tuple[str, str] | None:
    """`q1` and what stands behind the colon, if this line begins an answer."""
    text = line.lstrip(f"{_BLANKS}>")
    found = _LABEL.match(text[:_LABEL_WITHIN]) if text[:1] in _LABEL_BEGINS else None
    return (_id_of(found[1]), text[found.end() :].strip(_BLANKS)) if found else None


def _split_loose_lines(lines: Sequence[str]) -> Iterator[ReplyPart]:
    """One part for each loose label; none at all if a line does not begin with one."""
    told = [line for line in lines if line.strip(_BLANKS)]
    if all(map(_split_loose_label, told)):
        texts = (each for line in told for each in _split_line(line, _NEXT_LOOSE))
        for id_, text in filter(None, map(_split_loose_label, texts)):
            yield ReplyPart(id_, lines=[text])


def _split_loose_label(line: str) -> tuple[str, str] | None:
    text = line.lstrip(_BLANKS)
    found = _LOOSE_LABEL.match(text[:_LABEL_WITHIN])
    return (_id_of(found[1] or found[2]), text[found.end() :].strip(_BLANKS)) if found else None


def _id_of(digits: str) -> str:
    return f"q{digits.translate(_WIDE).lstrip('0') or '0'}"


def _find_terminators(lines: Sequence[str]) -> set[int]:
    """Six hyphens end an answer only where a label or nothing follows; else they are text."""
    found, is_last = set(), True
    for at in range(len(lines) - 1, -1, -1):
        text = lines[at].strip()
        if not text:
            continue
        if is_last and _HYPHENS.fullmatch(text):
            found.add(at)
        is_last = split_label(lines[at]) is not None
    return found


def _next_fence(fence: str, line: str) -> str:
    """The fence in which the next line stands, if it stands in one."""
    text = line.lstrip(f"{_BLANKS}>").rstrip()
    if not fence:
        opens = _FENCE.match(text)
        return opens[0] if opens else ""
    closes = _FENCE_END.fullmatch(text)
    return "" if closes and closes[0].startswith(fence) else fence


def _split_pairs(reply: str) -> SplitReply:
    """Of a table or an object that is not only questions and answers, nothing is taken apart."""
    pairs = _read_json(reply) if reply.startswith("{") else _read_table(reply)
    keys = [_KEY.fullmatch(key) for key, text in pairs if text is not None]
    if len(keys) < len(pairs) or not all(keys):
        return SplitReply(reply)
    parts = [
        ReplyPart(_id_of(key[2]), lines=[text or ""])
        for key, (_, text) in zip(keys, pairs, strict=True)
        if key
    ]
    # A key that is only a number is a loose label.
    is_loose = not parts or not all(key and key[1] for key in keys)
    return SplitReply(reply * is_loose, parts, is_loose)


def _read_json(reply: str) -> list[tuple[str, str | None]]:
    """The keys of an object and what stands behind them, if that is a text."""
    try:
        told: Any = json.loads(
            reply, object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str
        )
    except (ValueError, RecursionError):
        return []
    if len(told) == 1 and told[0][0] == "answers" and isinstance(told[0][1], tuple):
        told = told[0][1]
    return [(key, _join_value(value)) for key, value in told]


def _join_value(value: Any) -> str | None:
    """A text, or the texts of a list one below the other; nothing of any other value."""
    parts = value if isinstance(value, list) else [value]
    return "\n".join(parts) if all(isinstance(each, str) for each in parts) else None


def _read_table(reply: str) -> list[tuple[str, str | None]]:
    """The rows of a table of two columns, or the two rows of one with the labels at its head."""
    lines = [line.strip(_BLANKS) for line in _LINE_END.split(reply) if line.strip(_BLANKS)]
    rows = [_split_cells(line) for line in lines]
    if len(rows) > 1 and all(map(_RULE.fullmatch, rows[1])):
        head, *body = rows[0], *rows[2:]
        if len(body) == 1 and len(head) == len(body[0]) and all(map(_KEY.fullmatch, head)):
            return list(zip(head, body[0], strict=True))
        rows = rows[2:] if not _KEY.fullmatch(head[0]) else [head, *body]
    return [(row[0], row[1] if len(row) == 2 else None) for row in rows]


def _split_cells(line: str) -> list[str]:
    cells = _CELL_END.split(line.removeprefix("|").removesuffix("|"))
    return [strip_emphasis(cell.strip().replace("\\|", "|")) for cell in cells]
