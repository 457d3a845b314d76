"""How people write the letter of an option: alone, with a delimiter and more behind it, in a list.

Letters, digits and punctuation are taken in both widths. Every pattern looks at a text once, and
the long ones are anchored, so the work grows with the text and not with its square.
"""
# ruff: noqa: RUF001 - the wide forms are what people type

from typing import NamedTuple

from porch.claims.questions.option_labels import QUOTES
from porch.text.late_pattern import late_pattern

_LETTER = "([A-Za-zＡ-Ｚａ-ｚ])"
_BOLD = r"(?:\*\*|__)?"
# Longer than anything that is only a letter, a number or a quoted letter.
_SHORT = 40
_LONE = late_pattern(rf"[(（\[【]?\s?{_BOLD}{_LETTER}\s?[)）\]】.．。,，、;；:：!！]?{_BOLD}")
_LONE_NUMBER = late_pattern(r"[#＃(（]?([0-9０-９]+)[)）.．。,，、]?")
# A full stop or colon must be followed by a blank, because of `e.g. x` and `c:\files`.
_WITH_REST = late_pattern(
    rf"[(（\[【]?{_BOLD}{_LETTER}{_BOLD}(?:([)）\]】]){_BOLD}|[.．:：]{_BOLD}(?=\s)|[。：、,，;；]{_BOLD}"
    r"|(?= ?[\r\n])|[ \t][-–—](?=[ \t]))"
)
# `A 内存` and `A内存`: whether the letter is one has to be told from the words behind it.
_BARE = late_pattern(rf"{_BOLD}{_LETTER}{_BOLD}(?:([ \t\u3000]+)|(?=[^\x00-\x7f]))")
_ESCAPE = late_pattern(r"[Tt][Ee][Xx][Tt] ?[:：]")
_PAIRS = {"“": "”", "‘": "’", "„": "“", "«": "»", "‹": "›", "「": "」", "『": "』"}
_SEPARATORS = late_pattern(r"[,，、;；&+/\r\n]")
_BULLET = late_pattern(r"\A[-*•] ")
_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


# Marks that nobody sees or types on purpose; joiners stay, because some scripts need them.
_INVISIBLE = dict.fromkeys(
    (
        0xAD,
        0xFE0F,
        0xFEFF,
        0x200B,
        0x200E,
        0x200F,
        0x2060,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
)


class LetterWithRest(NamedTuple):
    """A letter and what was said behind it; `is_marked` if nothing but a letter can be meant."""

    letter: str
    rest: str
    is_marked: bool


def drop_invisible(text: str) -> str:
    """Without the marks that copying brings along."""
    return text.translate(_INVISIBLE)


def lone_letter(text: str) -> str:
    """The letter, if the text is nothing else; in upper case and plain width."""
    bare = strip_emphasis(_BULLET.sub("", text)) if len(text) <= _SHORT else ""
    found = _LONE.fullmatch(bare)
    return _plain_letter(found[1]) if found else ""


def lone_number(text: str) -> str:
    """The digits, if the text is nothing else; they need not fit into a number."""
    found = _LONE_NUMBER.fullmatch(strip_emphasis(text))
    return found[1].translate(_WIDE) if found else ""


def letter_with_rest(text: str) -> LetterWithRest | None:
    """`A) because`, `A. because`, `A, because`; `A plan` and `e.g. this` are something else."""
    found = _WITH_REST.match(text)
    rest = text[found.end() :].strip() if found else ""
    if found is None or not rest:
        return None
    is_line = text[found.end() : found.end() + 2].lstrip(" ")[:1] in ("\r", "\n")
    return LetterWithRest(_plain_letter(found[1]), rest, bool(found[2]) or is_line)


def bare_letter(text: str) -> LetterWithRest | None:
    """`A plan`: a letter and words, or only words; `is_marked` if a blank is between them."""
    found = _BARE.match(text)
    rest = text[found.end() :].strip() if found else ""
    return LetterWithRest(_plain_letter(found[1]), rest, bool(found[2])) if found and rest else None


def _plain_letter(letter: str) -> str:
    return letter.translate(_WIDE).upper()


def strip_emphasis(text: str) -> str:
    """Without the bold, italic or code marks around all of it."""
    for mark in ("**", "__", "`", "*", "_"):
        inner = text[len(mark) : -len(mark)]
        if text.startswith(mark) and text.endswith(mark) and inner.strip() and mark not in inner:
            return inner.strip()
    return text


def quoted_text(text: str) -> str:
    """What stands between the quotes around all of it; nothing if it is not quoted as a whole."""
    if len(text) < 3 or text[0] not in QUOTES:
        return ""
    closing = _PAIRS.get(text[0], text[0])
    inner = text[1:-1]
    is_whole = text[-1] == closing and text[0] not in inner and closing not in inner
    return inner.strip() if is_whole else ""


def escaped_text(text: str) -> str:
    """What stands behind `text:`, with which anything at all can be said."""
    found = _ESCAPE.match(text)
    return text[found.end() :].strip() if found else ""


def split_list(text: str) -> list[str]:
    """The parts of a list; blanks separate only where every part is a letter."""
    parts = [_BULLET.sub("", each.strip()) for each in _SEPARATORS.split(text)]
    parts = [each for each in parts if each] or [text]
    words = text.split() if len(parts) == 1 and len(text) <= _SHORT * 2 else []
    return words if words and all(map(lone_letter, words)) else parts
