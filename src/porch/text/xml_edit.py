"""Changing attributes of an XML file in place: every byte that is not asked for stays as it is."""

from collections.abc import Iterable

from msgspec import Struct

from porch.text.late_pattern import late_pattern
from porch.text.nodes import ElementNode, SourceText

_ATTRIBUTE = late_pattern(r"([^\s=/>]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_START_TAG = late_pattern(r"<[^\s/>]+(?:\s+[^\s=/>]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*(/?)>")
_BOM = "\ufeff"


class XmlEdit(Struct, frozen=True):
    """A new value for an attribute of an element; None removes it, no name means its text."""

    element: ElementNode
    attribute: str
    value: str | None


class _Replacement(Struct, frozen=True, order=True):
    start: int
    end: int
    text: str


def edit_xml(text: str, edits: Iterable[XmlEdit]) -> str:
    """The text with these edits; `text` is what the elements were read from."""
    bom = _BOM if text.startswith(_BOM) else ""
    source = SourceText(text, "")
    known = sorted(_find_replacement(source, edit) for edit in edits)
    parts, at = [bom], 0
    for each in known:
        parts += [source.text[at : each.start], each.text]
        at = each.end
    return "".join((*parts, source.text[at:]))


def _find_replacement(source: SourceText, edit: XmlEdit) -> _Replacement:
    if not edit.attribute:
        return _replace_text(source, edit.element, edit.value or "")
    for entry in edit.element.attributes:
        if entry.key.text == edit.attribute:
            return _replace_attribute(source, source.offset(entry.key.place), edit.value)
    return _add_attribute(source, edit)


def _replace_attribute(source: SourceText, at: int, value: str | None) -> _Replacement:
    written = next(_ATTRIBUTE.finditer(source.text, at))
    if value is None:
        front = source.text[:at]
        return _Replacement(len(front.rstrip()), written.end(), "")
    start, end = written.span(2)
    return _Replacement(start + 1, end - 1, _escape_value(value, source.text[start]))


def _add_attribute(source: SourceText, edit: XmlEdit) -> _Replacement:
    """Behind the last one that is there, in its quotes."""
    element, at = edit.element, source.offset(edit.element.place) + 1 + len(edit.element.name)
    if edit.value is None:
        return _Replacement(at, at, "")
    quote = '"'
    if element.attributes:
        last = next(
            _ATTRIBUTE.finditer(source.text, source.offset(element.attributes[-1].key.place))
        )
        at, quote = last.end(), last[2][0]
    told = f" {edit.attribute}={quote}{_escape_value(edit.value, quote)}{quote}"
    return _Replacement(at, at, told)


def _replace_text(source: SourceText, element: ElementNode, value: str) -> _Replacement:
    """Of an element that holds nothing but text; blanks around it stay."""
    opening = next(_START_TAG.finditer(source.text, source.offset(element.place)))
    escaped = _escape_value(value, "")
    if opening[1]:
        tag = source.text[opening.start() : opening.start(1)].rstrip()
        return _Replacement(opening.start(), opening.end(), f"{tag}>{escaped}</{element.name}>")
    old = source.text[opening.end() : source.text.index(f"</{element.name}", opening.end())]
    front = len(old) - len(old.lstrip())
    start = opening.end() + (front if old.strip() else 0)
    return _Replacement(start, start + len(old.strip()), escaped)


def _escape_value(value: str, quote: str) -> str:
    escaped = value.replace("&", "&amp;").replace("<", "&lt;")
    named = {'"': "&quot;", "'": "&apos;"}
    return escaped.replace(quote, named[quote]) if quote else escaped
