"""What an agent claims at the end of its turn: signals meant, not those it shows or quotes."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from porch.claims.legal_signal import PLACEHOLDER, LegalSignal
from porch.claims.spoken_words import HAS_INVISIBLE, INVISIBLE, SpokenWords, find_spoken_words
from porch.text.late_pattern import late_pattern

# What a prompt writes where an agent shall say why; repeated, it is no reason.

_MOST_REPORTED = 20
_EXCERPT = 60
_NEARBY = 120
_STRAY = "a signal without this turn's nonce was ignored"

# Invisible characters are matched inside the tag's word so that such a tag is seen, and refused.
# The letters are spelled out: ignoring case would take a long s or a dotless i for them.
_WORD = f"[{INVISIBLE}]*".join(f"[{letter}{letter.upper()}]" for letter in "signal")
_TAG = late_pattern(
    rf"(?<!\\)<[{INVISIBLE}]*(?P<end>/?)[{INVISIBLE}]*{_WORD}(?![\w-])"
    r"(?P<inside>[^<>]*)(?P<closed>>?)"
)
_NAME = late_pattern(r"[A-Za-z][A-Za-z0-9_-]*")
_VALUE = r"[A-Za-z0-9_-]+"
_ATTRIBUTE = late_pattern(rf"""\s+(type|nonce)\s*=\s*(?:"({_VALUE})"|'({_VALUE})'|({_VALUE}))""")
_BODY = late_pattern(rf"\s*({_NAME.pattern})\s*(?::(.*))?", re.DOTALL)
_BARE = late_pattern(r"\s*([A-Z][A-Z0-9_]{2,})[ \t]*(?::(.*))?")
# In the middle of such a sentence a tag is talked about; with a colon behind it, it is explained.
_HEDGED = late_pattern(
    r"\b(?:not|never|cannot|until|unless|if|once|when|would|instead|before|later|yet)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
_SENTENCE_END = late_pattern(r"[.!?;:]\s|\n")
_EXPLAINED = late_pattern(r"[ \t*_]*:")


class Signal(Struct, frozen=True):
    name: str
    reason: str = ""


class SignalReading(Struct, frozen=True):
    signals: tuple[Signal, ...]
    malformed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class SignalChoice(Struct, frozen=True):
    """`exit` is nothing when no legal signal was given; the notes say what was passed over."""

    exit: str | None
    signal: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


class _SignalTag(Struct):
    """A tag on its way: where it and its text begin, and what became of it."""

    start: int
    body: int
    attributes: str
    parent: "_SignalTag | None"
    end: int = -1
    until: int = -1
    has_children: bool = False

    @property
    def is_closed(self) -> bool:
        return self.end >= 0

    @property
    def is_nested(self) -> bool:
        return self.has_children or (self.parent is not None and self.parent.is_closed)


def read_signals(final: str, nonce: str = "") -> SignalReading:
    """With a nonce only tags that carry it count, and no bare name does."""
    words = find_spoken_words(final)
    elements, faults = _find_tags(words.said)
    read = [(element.start, _read_tag(element, words, nonce)) for element in elements]
    signals = [each for _, each in read if isinstance(each, Signal)]
    faults += [(at, each) for at, each in read if isinstance(each, str) and each != _STRAY]
    is_stray = any(each == _STRAY for _, each in read)
    bare = _bare_signal(words)
    if bare and nonce:
        is_stray = True
    elif bare:
        signals.append(bare)
    notes = (_STRAY,) if is_stray else ()
    return SignalReading(tuple(signals), _describe_faults(faults, words.shown), notes)


def _find_tags(said: str) -> tuple[list[_SignalTag], list[tuple[int, str]]]:
    """All opened tags in order, and the faults of those that opened nothing."""
    found: list[_SignalTag] = []
    still_open: list[_SignalTag] = []
    faults: list[tuple[int, str]] = []
    for tag in _TAG.finditer(said):
        fault = _fault_of_tag(tag, bool(still_open))
        if fault:
            faults.append((tag.start(), fault))
        elif tag["end"]:
            element = still_open.pop()
            element.until, element.end = tag.start(), tag.end()
        else:
            parent = still_open[-1] if still_open else None
            if parent:
                parent.has_children = True
            still_open.append(_SignalTag(tag.start(), tag.end(), tag["inside"], parent))
            found.append(still_open[-1])
    return found, faults


def _fault_of_tag(tag: re.Match[str], is_inside: bool) -> str:
    if not tag["closed"]:
        return "cut off"
    if HAS_INVISIBLE.search(tag[0]):
        return "invisible characters"
    if tag["end"] and not is_inside:
        return "closed but never opened"
    return ""


def _read_tag(element: _SignalTag, words: SpokenWords, nonce: str) -> Signal | str:
    """The signal of a tag, or why it is none."""
    attributes = _parse_attributes(element.attributes)
    if not element.is_closed:
        return "never closed"
    if element.is_nested:
        return "one inside another"
    if attributes is not None and attributes.get("nonce", "") != nonce:
        return _STRAY if nonce else "an unknown nonce"
    if _is_mentioned(element, words.said):
        return "only mentioned"
    signal = _parse_signal(element, attributes, words) if attributes is not None else None
    return signal or "it must have a name, at most one reason, and nothing else"


def _parse_attributes(text: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    at = 0
    while match := _ATTRIBUTE.match(text, at):
        if match[1] in found:
            return None
        found[match[1]] = match[2] or match[3] or match[4]
        at = match.end()
    return None if text[at:].strip() else found


def _is_mentioned(element: _SignalTag, said: str) -> bool:
    before = said[max(0, element.start - _NEARBY) : element.start]
    after = said[element.end : element.end + _NEARBY]
    if _EXPLAINED.match(after):
        return True
    if not _HEDGED.search(f"{before} {after}"):
        return False
    sentence = f"{_SENTENCE_END.split(before)[-1]} {_SENTENCE_END.split(after)[0]}"
    return bool(_HEDGED.search(sentence))


def _parse_signal(
    element: _SignalTag, attributes: Mapping[str, str], words: SpokenWords
) -> Signal | None:
    if "type" in attributes:
        reason = words.shown[element.body : element.until]
        name = attributes["type"]
        return Signal(name, _clean_reason(reason)) if _NAME.fullmatch(name) else None
    body = _BODY.fullmatch(words.said, element.body, element.until)
    if body is None:
        return None
    reason = words.shown[body.start(2) : body.end(2)] if body[2] is not None else ""
    return Signal(body[1], _clean_reason(reason))


def _bare_signal(words: SpokenWords) -> Signal | None:
    last = next((line for line in reversed(words.lines) if line.kind != "blank"), None)
    if last is None or last.kind != "text":
        return None
    start = sum(len(line.text) + 1 for line in words.lines[: last.number - 1])
    bare = _BARE.fullmatch(words.said[start : start + len(last.text)].rstrip())
    if bare is None:
        return None
    reason = last.text[bare.start(2) : bare.end(2)] if bare[2] is not None else ""
    return Signal(bare[1], _clean_reason(reason))


def _describe_faults(faults: Sequence[tuple[int, str]], shown: str) -> tuple[str, ...]:
    told = sorted(faults)[:_MOST_REPORTED]
    texts = [f"{fault}: {_one_line(shown[at : at + _EXCERPT])}" for at, fault in told]
    more = len(faults) - len(told)
    return tuple([*texts, f"and {more} more"] if more else texts)


def _clean_reason(text: str) -> str:
    reason = _one_line(text)
    return "" if reason.casefold() == PLACEHOLDER else reason


def _one_line(text: str) -> str:
    return " ".join(text.split())


def choose_signal(reading: SignalReading, legal: Mapping[str, LegalSignal]) -> SignalChoice:
    """The last legal signal; one that lacks the reason it needs is not legal."""
    notes = [*reading.notes, *(f"malformed signal tag ({fault})" for fault in reading.malformed)]
    chosen: tuple[str, Signal] | None = None
    for signal in reading.signals:
        name = _known_name(signal.name, legal)
        if name is None:
            notes.append(f"unknown signal {signal.name} ignored; known here: {', '.join(legal)}")
        elif legal[name].needs_reason and not signal.reason:
            notes.append(f"signal {name} ignored: it needs a reason")
        else:
            chosen = (name, signal)
    if chosen is None:
        return SignalChoice(None, notes=tuple(notes))
    name, signal = chosen
    return SignalChoice(legal[name].exit, name, signal.reason, tuple(notes))


def _known_name(name: str, legal: Mapping[str, LegalSignal]) -> str | None:
    if name in legal:
        return name
    return next((known for known in legal if _fold_name(known) == _fold_name(name)), None)


def _fold_name(name: str) -> str:
    return name.casefold().replace("-", "_")
