"""Blocks of temporary debug lines in a source text: where they begin and end, and what is odd.

It lies in the model beside `markdown` because it is nothing but text in, judgement out: whoever
finds and writes the files stands above, and what it promises is proved with no disk at hand. How
bytes become such a text, and survive it, is said in `source_text`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from porch.text.late_pattern import late_pattern

MARK = "DEBUG-TEMP"
OPEN, CLOSE = f"[{MARK}]", f"[/{MARK}]"
# Longer blocks are no debug output but code without a blank line between.
LONGEST = 40
# Source code; texts that show examples between fences, such as YAML; texts for people.
MarkerStyle = Literal["code", "fenced", "prose"]
_BLANK = " \t\r\f\v\n"
_PAIRED = {
    "/*": "*/",
    "{/*": "*/}",
    "<!--": "-->",
    "<%--": "--%>",
    "{{!--": "--}}",
    "{#": "#}",
    "(*": "*)",
    "{-": "-}",
    "--[[": "]]",
    "/**": "*/",
}
_ALONE = ("//", "///", "#", "##", "--", ";", ";;", "%", "%%", "!", "'", '"', "REM", "rem", "dnl")
_OPENERS = tuple(sorted((*_PAIRED, *_ALONE), key=len, reverse=True))
# In whatever case: only capital letters are removed, but nobody writes the others by chance.
_EITHER = late_pattern(r"\[/?DEBUG-TEMP\]", re.IGNORECASE)
_DEFINES = late_pattern(
    r"(?:(?:export|default|async|static|abstract|final|pub(?:\([^)]*\))?|unsafe|override)\s+)*"
    r"(?:(?:def|class|function\*?|func|fn|fun|impl|interface|struct|enum|trait|namespace)"
    r"\s+[\w$*<(]|(?:public|private|protected|internal)\s)"
)
_LEAVES = late_pattern(r"(?:return|raise|throw|yield|break|continue|goto)\b")
_TEXTS = late_pattern(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\\n]|\\.)*`')
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class DebugBlock(Struct, frozen=True):
    """Lines that go, counted from 0, the end not included; `refusal` says why they must not."""

    begin: int
    end: int
    refusal: str = ""


class LooseMarker(Struct, frozen=True):
    """A marker that begins no block."""

    line: int
    text: str
    reason: str


class JudgedText(Struct, frozen=True):
    """A whole text: what goes, what may not go, what is left, and how often it is only named."""

    blocks: tuple[DebugBlock, ...]
    leftovers: tuple[LooseMarker, ...]
    mentions: int


def judge_markers(text: str, manner: MarkerStyle = "code") -> JudgedText:
    """What is in a fence only shows; in prose so does every comment but those of HTML."""
    lines = split_lines(text)
    shown = set() if manner == "code" else _find_fenced_lines(lines)
    kinds = ["" if at in shown else _marker_kind(line) for at, line in enumerate(lines)]
    if manner == "prose":
        kinds = [
            k if lines[at].strip(_BLANK).startswith("<!--") else "" for at, k in enumerate(kinds)
        ]
    blocks = tuple(_find_blocks(lines, kinds))
    inside = {at for block in blocks for at in range(block.begin, block.end)}
    others = [at for at, line in enumerate(lines) if at not in inside and MARK in line.upper()]
    meant = [] if manner == "prose" else [at for at in others if at not in shown]
    leftovers = [left for at in meant if (left := _find_loose_marker(at, lines[at]))]
    named = sum(len(_EITHER.findall(lines[at])) for at in others) - len(leftovers)
    return JudgedText(blocks, tuple(leftovers), max(named, 0))


def remove_blocks(text: str, blocks: Sequence[DebugBlock]) -> str:
    """The text without these blocks; every other character stays."""
    gone = {at for block in blocks for at in range(block.begin, block.end)}
    return "".join(line for at, line in enumerate(split_lines(text)) if at not in gone)


def split_lines(text: str) -> list[str]:
    """Lines with their newlines: joined again they are the text, and each owns its end."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _marker_kind(line: str) -> str:
    """OPEN or CLOSE for a line that is exactly a comment with a marker; otherwise empty."""
    if MARK not in line:
        return ""
    bare = line.strip(_BLANK)
    for opener in _OPENERS:
        if bare.startswith(opener):
            rest = bare.removeprefix(opener).strip(_BLANK)
            inner = rest.removesuffix(_PAIRED.get(opener, "")).strip(_BLANK)
            is_closed = opener not in _PAIRED or inner != rest
            if is_closed and inner in (OPEN, CLOSE):
                return inner
    return ""


def _find_fenced_lines(lines: Sequence[str]) -> set[int]:
    """The lines of examples, between two fences of Markdown."""
    found: set[int] = set()
    fence = ""
    for at, line in enumerate(lines):
        bare = line.strip(_BLANK)
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
        elif fence:
            found.add(at)
    return found


def _find_blocks(lines: Sequence[str], kinds: Sequence[str]) -> Iterator[DebugBlock]:
    at = 0
    while at < len(lines):
        if kinds[at] == OPEN:
            block = _read_block(lines, kinds, at)
            yield block
            at = block.end
        else:
            at += 1


def _read_block(lines: Sequence[str], kinds: Sequence[str], begin: int) -> DebugBlock:
    end, is_paired = _find_block_end(lines, kinds, begin)
    body = lines[begin + 1 : end - is_paired]
    return DebugBlock(begin, end, _why_refused(lines[begin], body))


def _find_block_end(lines: Sequence[str], kinds: Sequence[str], begin: int) -> tuple[int, bool]:
    """Behind its own end marker; else before the next marker or blank line, or the file's end."""
    marked = next((at for at in range(begin + 1, len(lines)) if kinds[at]), len(lines))
    if marked < len(lines) and kinds[marked] == CLOSE:
        return marked + 1, True
    blank = (at for at in range(begin + 1, marked) if not lines[at].strip(_BLANK))
    return next(blank, marked), False


def _why_refused(marker: str, body: Sequence[str]) -> str:
    """Why removing these lines could remove code; the first reason found."""
    if len(body) > LONGEST:
        return f"the block has {len(body)} lines, more than {LONGEST}"
    margin = _line_margin(marker)
    for line in (line for line in body if line.strip(_BLANK)):
        reason = _why_line_refused(line, margin)
        if reason:
            return f"{reason}: {line.strip(_BLANK)[:60]}"
    return _why_unfinished(body)


def _why_line_refused(line: str, margin: str) -> str:
    bare = line.strip(_BLANK)
    if not _line_margin(line).startswith(margin):
        return "a line is indented less than the marker"
    if _DEFINES.match(bare):
        return "the block defines a function or a type"
    if _line_margin(line) == margin and _LEAVES.match(bare):
        return "the block jumps out of the code around it"
    return ""


def _line_margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _why_unfinished(body: Sequence[str]) -> str:
    """A statement that began before the block, or goes on behind it."""
    waiting: list[str] = []
    for char in _TEXTS.sub("", "".join(body)):
        if char in "([{":
            waiting.append(char)
        elif char in _BRACKETS and (not waiting or waiting.pop() != _BRACKETS[char]):
            return f"the block closes a '{char}' that it did not open"
    if waiting:
        return f"the block leaves a '{waiting[-1]}' open"
    last = next((line.strip(_BLANK) for line in reversed(body) if line.strip(_BLANK)), "")
    if last.endswith((":", "\\", ",", "&&", "||", "=")):
        return f"the last line of the block continues on the next line: {last[:60]}"
    return ""


def _find_loose_marker(at: int, line: str) -> LooseMarker | None:
    """The first marker of this line that somebody seems to have meant."""
    for found in _EITHER.finditer(line):
        reason = _why_meant(line[: found.start()], line[found.end() :], found[0])
        if reason:
            is_known = found[0] in (OPEN, CLOSE)
            why = reason if is_known else "the marker is not in capital letters"
            return LooseMarker(at, line.strip(_BLANK)[:120], why)
    return None


def _why_meant(before: str, after: str, mark: str) -> str:
    front, back = before.rstrip(_BLANK), after.strip(_BLANK)
    if before.count("`") % 2 and "`" in after:
        return ""
    if before[-1:] in ('"', "'"):
        is_name = after.startswith(before[-1])
        return "" if is_name else "the marker is inside text that is printed"
    if front.strip(_BLANK) in ("", "*"):
        return "the marker is not in a comment of its own"
    if not front.endswith(_OPENERS):
        return ""
    if front.strip(_BLANK) not in _OPENERS:
        return "there is code before the marker"
    if mark == CLOSE and not back:
        return "an end marker has no marker before it"
    return "there is more text on the line of the marker" if back else "the comment is not closed"
