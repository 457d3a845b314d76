"""What an agent claims at the end of its turn: signals meant, not those it shows or quotes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porch.model.markdown import MASK, Line, lines_of, masked

_MOST_REPORTED = 20
_EXCERPT = 60

# Invisible characters are matched inside the tag's word so that such a tag is seen, and refused.
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_WORD = f"[{_INVISIBLE}]*".join("signal")
_TAG = re.compile(
    f"<[{_INVISIBLE}]*(?P<end>/?)[{_INVISIBLE}]*{_WORD}(?![\\w-])(?P<inside>[^<>]*)(?P<closed>>?)",
    re.IGNORECASE,
)
_HAS_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_NAME = r"[A-Za-z][A-Za-z0-9_-]*"
_TYPE = re.compile(rf"""\s+type\s*=\s*(?:"({_NAME})"|'({_NAME})'|({_NAME}))\s*""")
_BODY = re.compile(rf"\s*({_NAME})\s*(?::(.*))?", re.DOTALL)
_BARE = re.compile(r"\s*([A-Z][A-Z0-9_]{2,})[ \t]*(?::(.*))?")


@dataclass(frozen=True, slots=True)
class Signal:
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    signals: tuple[Signal, ...]
    malformed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LegalSignal:
    exit: str
    needs_reason: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """`exit` is nothing when no legal signal was given; the notes say what was passed over."""

    exit: str | None
    signal: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Element:
    """A tag on its way: where it and its text begin, and what became of it."""

    start: int
    body: int
    attributes: str
    parent: "_Element | None"
    end: int = -1
    until: int = -1
    has_children: bool = False

    @property
    def is_closed(self) -> bool:
        return self.end >= 0


def read_signals(message: str) -> Reading:
    lines = lines_of(message)
    shown = "\n".join(line.text for line in lines)
    spoken = "\n".join(_spoken(line) for line in lines)
    elements, malformed = _elements(spoken)
    signals: list[Signal] = []
    for element in elements:
        signal = _signal(element, spoken, shown)
        if signal is None:
            malformed.append((element.start, _fault(element)))
        else:
            signals.append(signal)
    bare = _bare_signal(lines)
    return Reading((*signals, *([bare] if bare else [])), _reported(malformed, shown))


def _spoken(line: Line) -> str:
    return masked(line.text) if line.kind in ("text", "blank") else MASK * len(line.text)


def _elements(spoken: str) -> tuple[list[_Element], list[tuple[int, str]]]:
    """All opened tags in order, and the faults of those that opened nothing."""
    found: list[_Element] = []
    still_open: list[_Element] = []
    faults: list[tuple[int, str]] = []
    for tag in _TAG.finditer(spoken):
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
            still_open.append(_Element(tag.start(), tag.end(), tag["inside"], parent))
            found.append(still_open[-1])
    return found, faults


def _fault_of_tag(tag: re.Match[str], is_inside: bool) -> str:
    if not tag["closed"]:
        return "cut off"
    if _HAS_INVISIBLE.search(tag[0]):
        return "invisible characters"
    if tag["end"] and not is_inside:
        return "closed but never opened"
    return ""


def _signal(element: _Element, spoken: str, shown: str) -> Signal | None:
    is_nested = element.parent is not None and element.parent.is_closed
    if not element.is_closed or element.has_children or is_nested:
        return None
    if element.attributes.strip():
        typed = _TYPE.fullmatch(element.attributes)
        reason = shown[element.body : element.until]
        return Signal(typed[1] or typed[2] or typed[3], _one_line(reason)) if typed else None
    body = _BODY.fullmatch(spoken, element.body, element.until)
    if body is None:
        return None
    reason = shown[body.start(2) : body.end(2)] if body[2] is not None else ""
    return Signal(body[1], _one_line(reason))


def _fault(element: _Element) -> str:
    if not element.is_closed:
        return "never closed"
    if element.has_children or (element.parent is not None and element.parent.is_closed):
        return "one inside another"
    return "no name, or more than a name and a reason"


def _bare_signal(lines: Sequence[Line]) -> Signal | None:
    last = next((line for line in reversed(lines) if line.kind != "blank"), None)
    if last is None or last.kind != "text":
        return None
    bare = _BARE.fullmatch(masked(last.text).rstrip())
    if bare is None:
        return None
    reason = last.text[bare.start(2) : bare.end(2)] if bare[2] is not None else ""
    return Signal(bare[1], _one_line(reason))


def _reported(faults: Sequence[tuple[int, str]], shown: str) -> tuple[str, ...]:
    told = sorted(faults)[:_MOST_REPORTED]
    texts = [f"{fault}: {_one_line(shown[at : at + _EXCERPT])}" for at, fault in told]
    more = len(faults) - len(told)
    return tuple([*texts, f"and {more} more"] if more else texts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def choose(reading: Reading, legal: Mapping[str, LegalSignal]) -> Choice:
    """The last legal signal; one that lacks the reason it needs is not legal."""
    notes = [f"malformed signal tag ({fault})" for fault in reading.malformed]
    chosen: tuple[str, Signal] | None = None
    for signal in reading.signals:
        name = _known_name(signal.name, legal)
        if name is None:
            notes.append(f"unknown signal {signal.name} ignored")
        elif legal[name].needs_reason and not signal.reason:
            notes.append(f"signal {name} ignored: it needs a reason")
        else:
            chosen = (name, signal)
    if chosen is None:
        return Choice(None, notes=tuple(notes))
    name, signal = chosen
    return Choice(legal[name].exit, name, signal.reason, tuple(notes))


def _known_name(name: str, legal: Mapping[str, LegalSignal]) -> str | None:
    if name in legal:
        return name
    return next((known for known in legal if _folded(known) == _folded(name)), None)


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")
