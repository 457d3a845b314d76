"""Which lines of a Markdown text speak, and which only show: code, quotes and comments."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from porch.text.late_pattern import late_pattern

LineKind = Literal["text", "blank", "quote", "code", "fence"]

# Stands for each character of inline code, so that offsets stay and nothing is mistaken for blank.
MASK = "\0"

_LINE_END = late_pattern(r"\r\n|\n|\r")
_MARKER = r"(?:[-*+]|[0-9]{1,9}[.)])"
_QUOTE = late_pattern(rf"\s*(?:{_MARKER}[ \t]+)*>")
_FENCE_OPENS = late_pattern(rf"\s*(?:{_MARKER}[ \t]+)*(`{{3,}}(?=[^`]*$)|~{{3,}})(.*)")
_FENCE_CLOSES = late_pattern(r"\s*(`{3,}|~{3,})\s*")
_INDENTED = late_pattern(r" {4}| {0,3}\t")
_TICKS = late_pattern(r"`+")
_HEADING = late_pattern(r" {0,3}(#{1,6})(?=[ \t]|$)")
_BULLET = late_pattern(rf"([ \t]*){_MARKER}(?:[ \t]+|$)")
_BOX = late_pattern(r"\[[ xX]\][ \t]+")
_RULE = late_pattern(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")


class MarkdownLine(Struct, frozen=True):
    """One line: `raw` as written, `text` with HTML comments blanked; both have the same length."""

    number: int
    raw: str
    text: str
    kind: LineKind


class FencedBlock(Struct, frozen=True):
    """A fenced block; `line` is the number of its first line inside."""

    info: str
    text: str
    line: int


class Bullet(Struct, frozen=True):
    indent: int
    text: str


def parse_markdown_lines(text: str) -> tuple[MarkdownLine, ...]:
    raws = _LINE_END.split(text.removeprefix("\ufeff"))
    scanner = _LineScanner(raws)
    return tuple(scanner.line(number, raw) for number, raw in enumerate(raws, 1))


class _LineScanner:
    def __init__(self, raws: Sequence[str]):
        self._fence = ""
        self._in_comment = False
        # At the start and after a blank line, deep indentation means code.
        self._may_be_code = True
        closing = [number for number, raw in enumerate(raws, 1) if "-->" in raw]
        self._last_comment_end = closing[-1] if closing else 0

    def line(self, number: int, raw: str) -> MarkdownLine:
        if self._fence:
            return MarkdownLine(number, raw, raw, self._inside_fence(raw))
        text = self._without_comments(number, raw)
        kind = self._kind(text, raw)
        self._may_be_code = kind == "blank" or (kind == "code" and self._may_be_code)
        return MarkdownLine(number, raw, text, kind)

    def _inside_fence(self, raw: str) -> LineKind:
        closes = _FENCE_CLOSES.fullmatch(raw)
        if closes and closes[1].startswith(self._fence):
            self._fence = ""
            return "fence"
        return "code"

    def _kind(self, text: str, raw: str) -> LineKind:
        if not text.strip():
            return "blank"
        if _QUOTE.match(text):
            return "quote"
        opens = _FENCE_OPENS.match(text)
        if opens:
            self._fence = opens[1]
            return "fence"
        # A blanked comment is no indentation.
        return "code" if self._may_be_code and _INDENTED.match(raw) else "text"

    def _without_comments(self, number: int, raw: str) -> str:
        if not self._in_comment and "<!--" not in raw:
            return raw
        starts = iter(self._comment_starts(number, raw))
        pieces: list[str] = []
        at = 0
        while True:
            if self._in_comment:
                end = raw.find("-->", at)
                if end < 0:
                    return "".join([*pieces, " " * (len(raw) - at)])
                pieces.append(" " * (end + 3 - at))
                at, self._in_comment = end + 3, False
            start = next((found for found in starts if found >= at), None)
            if start is None:
                return "".join([*pieces, raw[at:]])
            pieces.append(raw[at:start])
            at, self._in_comment = start, True

    def _comment_starts(self, number: int, raw: str) -> list[int]:
        """Outside inline code; one that is never closed hides the rest only if it begins a line."""
        line_start = len(raw) - len(raw.lstrip())
        last_end = raw.rfind("-->") if number == self._last_comment_end else len(raw)
        is_closed_later = number <= self._last_comment_end
        return [
            match.start()
            for match in re.finditer("<!--", mask_inline_code(raw))
            if match.start() == line_start or (is_closed_later and match.start() < last_end)
        ]


def mask_inline_code(text: str) -> str:
    """The same text with all inline code covered, backticks included."""
    if "`" not in text:
        return text
    runs = list(_TICKS.finditer(text))
    # Only a run of the same length closes; knowing the last of each length keeps this linear.
    last = {len(run[0]): index for index, run in enumerate(runs)}
    pieces, at, index = [], 0, 0
    while index < len(runs):
        opener, length = runs[index], len(runs[index][0])
        is_escaped = text[opener.start() - 1 : opener.start()] == "\\"
        index += 1
        if is_escaped or last[length] < index:
            continue
        while len(runs[index][0]) != length:
            index += 1
        pieces.append(text[at : opener.start()] + MASK * (runs[index].end() - opener.start()))
        at = runs[index].end()
        index += 1
    return "".join([*pieces, text[at:]])


def fenced_blocks(lines: Iterable[MarkdownLine]) -> tuple[FencedBlock, ...]:
    """All fenced blocks; one that is never closed runs to the end."""
    blocks: list[FencedBlock] = []
    opening: MarkdownLine | None = None
    inside: list[str] = []
    for line in lines:
        if opening is None and line.kind == "fence":
            opening, inside = line, []
        elif opening is not None and line.kind == "fence":
            blocks.append(_make_fenced_block(opening, inside))
            opening = None
        elif opening is not None:
            inside.append(line.raw)
    return (*blocks, _make_fenced_block(opening, inside)) if opening else tuple(blocks)


def _make_fenced_block(opening: MarkdownLine, inside: Sequence[str]) -> FencedBlock:
    opens = _FENCE_OPENS.match(opening.text)
    return FencedBlock(opens[2].strip() if opens else "", "\n".join(inside), opening.number + 1)


def heading_of(line: MarkdownLine) -> tuple[int, str] | None:
    """Level and title of a heading with number signs, closing signs removed."""
    match = _HEADING.match(line.text) if line.kind == "text" else None
    if match is None:
        return None
    title = line.text[match.end() :].strip()
    without = title.rstrip("#")
    # Signs that touch a word belong to it: `# About C#`.
    is_closing = not without or without[-1] in " \t"
    return len(match[1]), without.rstrip() if is_closing else title


def bullet_of(line: MarkdownLine) -> Bullet | None:
    """A list item, numbered or not, without its marker and its check box."""
    match = _BULLET.match(line.text) if line.kind == "text" else None
    if match is None or _RULE.fullmatch(line.text):
        return None
    text = line.text[match.end() :].strip()
    return Bullet(len(match[1].expandtabs(4)), _BOX.sub("", text, count=1) if text else "")
