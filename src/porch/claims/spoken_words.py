"""Which words of a message its author says; in doubt a word is shown, for asking again is cheap."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.text.late_pattern import late_pattern
from porch.text.markdown import (
    MASK,
    LineKind,
    MarkdownLine,
    bullet_of,
    heading_of,
    mask_inline_code,
    parse_markdown_lines,
)

INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
INVISIBLE += "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
HAS_INVISIBLE = late_pattern(f"[{INVISIBLE}]")

# A terminal's doing, or a line end for some readers and none for others.
_CONTROL = late_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")
_GUTTER = late_pattern(
    r"\s*(?:[|\u00a6\u2500-\u257f\u258c-\u258f\u23bf\u276f\u203a\u00bb\uff1e]|\$ )"
)
_CHANGED = late_pattern(r" {0,3}[+-](?![\s|:+-])|\S+:[0-9]+[:-]")
_DIFF = late_pattern(r"diff --git |@@ |(?:---|\+\+\+) [ab]/")
_FENCE = late_pattern(r"\s*(?:[-*+][ \t]+)*(`{3,}(?=[^`]*$)|~{3,})[ \t]*(\S?)")
_TAG = late_pattern(r"<(/?)([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)>")
_UNENDED = late_pattern(
    r"<!\[CDATA\[(?:(?!\]\]>)[\s\S])*|^ {0,3}<(?:pre|script|style|textarea)\b[\s\S]*|<!--.*",
    re.IGNORECASE | re.MULTILINE,
)
_LINK = late_pattern(
    r"\[[^\[\]]*\]\([^()]*\)|\[[^\[\]]*\]\[[^\[\]]*\]|^ {0,3}\[[^\[\]\n]+\]:.*", re.MULTILINE
)
_EMPHASIS = frozenset(("b", "strong", "em", "i", "u", "p", "div", "span"))
_OPENS = late_pattern("\\\\.|~~|[\"\u201c\u201e\u00ab\u2039\u2018\u300c\u300e]|(?<!\\w)'")
_CLOSES = {
    '"': late_pattern(r'(?<!\\)"'),
    "'": late_pattern(r"(?<!\\)'(?!\w)"),
    "~~": late_pattern("~~"),
    "\u201c": late_pattern("\u201d"),
    "\u201e": late_pattern("[\u201c\u201d]"),
    "\u00ab": late_pattern("\u00bb"),
    "\u2039": late_pattern("\u203a"),
    "\u2018": late_pattern("\u2019(?!\\w)"),
    "\u300c": late_pattern("\u300d"),
    "\u300e": late_pattern("\u300f"),
}

_Span = tuple[int, int]


class SpokenWords(Struct, frozen=True):
    """`said` has the length of `shown`; all that the author only shows is covered in it."""

    lines: tuple[MarkdownLine, ...]
    shown: str
    said: str


def find_spoken_words(message: str) -> SpokenWords:
    lines = [
        _with_kind(kind, line) for line, kind in _strict_line_kinds(parse_markdown_lines(message))
    ]
    shown = "\n".join(line.text for line in lines)
    said = "\n".join(_mask_shown_text(block) for block in _split_blocks(lines))
    said = _cover_spans(said, _find_elements(said))
    said = _cover_spans(said, (match.span() for match in _UNENDED.finditer(said)))
    return SpokenWords(tuple(_mark_shown_lines(lines, said)), shown, said)


def _with_kind(kind: LineKind, line: MarkdownLine) -> MarkdownLine:
    return line if line.kind == kind else replace(line, kind=kind)


def _strict_line_kinds(lines: Sequence[MarkdownLine]) -> Iterator[tuple[MarkdownLine, LineKind]]:
    """Markdown's kinds, and stricter ones where a reader and Markdown could differ."""
    hides = any(HAS_INVISIBLE.search(line.raw) for line in lines)
    seen = (
        parse_markdown_lines("\n".join(HAS_INVISIBLE.sub("", line.raw) for line in lines))
        if hides
        else lines
    )
    fences = _mark_nested_fences(lines)
    before: LineKind = "blank"
    for line, as_seen, in_fence in zip(lines, seen, fences, strict=True):
        kind = line.kind if line.kind not in ("text", "blank") else as_seen.kind
        if kind == "text":
            kind = "code" if in_fence or _is_output(line.text) else kind
        if kind == "text" and before == "quote" and not (bullet_of(line) or heading_of(line)):
            kind = "quote"  # Markdown takes an unmarked line into the quoted paragraph before it
        before = "blank" if as_seen.text.strip(" \t>") == "" else kind
        yield line, kind


def _is_output(text: str) -> bool:
    return bool(_CONTROL.search(text.strip()) or _GUTTER.match(text) or _CHANGED.match(text))


def _mark_nested_fences(lines: Iterable[MarkdownLine]) -> Iterator[bool]:
    """Whether a line stands in a fence if fences of one kind could be nested, as many write."""
    still_open: list[str] = []
    for line in lines:
        fence = _FENCE.match(line.raw)
        if fence and not still_open:
            still_open.append(fence[1])
        elif fence and fence[1][0] == still_open[0][0]:
            if fence[2]:
                still_open.append(fence[1])
            elif fence[1].startswith(still_open[-1]):
                still_open.pop()
        yield bool(still_open)


def _split_blocks(lines: Iterable[MarkdownLine]) -> Iterator[list[MarkdownLine]]:
    """Paragraphs and other lines: inline code and quotations end where their paragraph does."""
    block: list[MarkdownLine] = []
    for line in lines:
        goes_on = line.kind == "text" and not (bullet_of(line) or heading_of(line))
        if block and not (goes_on and block[-1].kind == "text"):
            yield block
            block = []
        block.append(line)
    yield block


def _mask_shown_text(block: Sequence[MarkdownLine]) -> str:
    texts = [line.text for line in block]
    if block[0].kind != "text":
        return texts[0] if block[0].kind == "blank" else MASK * len(texts[0])
    if any(_DIFF.match(text) for text in texts):
        return MASK * len("\n".join(texts))
    if any("|" in text and "-" in text and not text.strip("|:- \t") for text in texts):
        texts = [MASK * len(text) if "|" in text else text for text in texts]
    text = mask_inline_code("\n".join(texts))
    return _cover_spans(
        text, [*_find_quotations(text), *(match.span() for match in _LINK.finditer(text))]
    )


def _find_quotations(text: str) -> Iterator[_Span]:
    """What stands between quotation marks or is struck out; an apostrophe reaches no next line."""
    hopeless: set[str] = set()
    at = 0
    while opens := _OPENS.search(text, at):
        mark, at = opens[0], opens.end()
        if mark in hopeless or mark not in _CLOSES:
            continue
        closes = _CLOSES[mark].search(text, at)
        if closes is None:
            hopeless.add(mark)
            continue
        inside = text[opens.start() : closes.end()]
        if mark == "'" and "\n" in inside:
            continue
        at = closes.end()
        # Marks around a single word are part of a tag: type="DONE".
        if "<" in inside or "\n" in inside:
            yield opens.start(), at


def _find_elements(said: str) -> Iterator[_Span]:
    """From opening to closing tag of everything but signals and plain emphasis."""
    still_open: dict[str, list[int]] = {}
    for tag in _TAG.finditer(said):
        name = tag[2].lower()
        if name == "signal" or tag[3].endswith("/"):
            continue
        if not tag[1]:
            start = -1 if name in _EMPHASIS and not tag[3].strip() else tag.start()
            still_open.setdefault(name, []).append(start)
        elif still_open.get(name):
            start = still_open[name].pop()
            if start >= 0:
                yield start, tag.end()


def _cover_spans(text: str, spans: Iterable[_Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at:start], MASK * (end - max(start, at))]
            at = end
    return "".join([*pieces, text[at:]])


def _mark_shown_lines(lines: Iterable[MarkdownLine], said: str) -> Iterator[MarkdownLine]:
    """A line that begins inside something shown is shown with it."""
    at = 0
    for line in lines:
        is_inside = at > 0 and said[at - 1] == MASK and line.kind == "text"
        yield _with_kind("code", line) if is_inside else line
        at += len(line.text) + 1
