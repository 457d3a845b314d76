"""XML by expat, with everything refused that can reach outside the file or blow it up."""

from msgspec import Struct, field

from porch.errors import Place
from porch.text.late_pattern import late_pattern
from porch.text.nodes import (
    ElementNode,
    Entry,
    ReadingStopped,
    ScalarNode,
    SourceText,
    require_readable_text,
)

_ATTRIBUTE = late_pattern(rb"\s*([^\s=/>]+)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_DUPLICATE_ATTRIBUTE = 8


def read_xml(text: str, file: str) -> ElementNode:
    source = require_readable_text(text, file)
    try:
        root = _parse_document(source)
    except ReadingStopped:
        root = None
    if root is None or source.findings:
        raise source.complaint()
    return root


def _parse_document(source: SourceText) -> ElementNode | None:
    """Expat ends at a double attribute: blank it and read again, so that all of them are found."""
    whole = source.text.encode()
    data: bytes | None = whole
    while data is not None:
        reader = _XmlReader(source, whole, data)
        data = reader.parse()
    return reader.root


class _OpenElement(Struct):
    """An element whose end tag has not come yet."""

    name: str
    attributes: tuple[Entry, ...]
    place: Place
    children: list[ElementNode] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _XmlReader:
    def __init__(self, source: SourceText, whole: bytes, data: bytes):
        from xml.parsers import expat

        self.source = source
        self.whole = whole
        self.data = data
        self.root: ElementNode | None = None
        self._open: list[_OpenElement] = []
        self._known = (0, 0)
        self._problem = expat.ExpatError
        self._messages = expat.errors.messages
        # The text is decoded already, whatever encoding its first line claims.
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.ordered_attributes = True
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters

    def parse(self) -> bytes | None:
        """Nothing when all is read, else the bytes without the double attribute just reported."""
        try:
            self.parser.Parse(self.data, True)
        except self._problem as problem:
            at = self.parser.ErrorByteIndex
            is_duplicate = problem.code == _DUPLICATE_ATTRIBUTE
            attribute = _ATTRIBUTE.match(self.data, at) if is_duplicate else None
            if attribute is None:
                self.source.stop("xml-syntax", self._messages[problem.code], self.place(at))
            self.report_duplicate(attribute[1].decode(), self.place(at))
            return self.data[:at] + b" " * (attribute.end() - at) + self.data[attribute.end() :]
        return None

    def report_duplicate(self, name: str, place: Place) -> None:
        message = f"the attribute '{name}' is written twice in one tag"
        self.source.report("duplicate-key", message, place, "keep one of the two")

    def place(self, at: int) -> Place:
        """Counts on from the last place asked for, so that a long file is decoded once."""
        byte, character = self._known if self._known[0] <= at else (0, 0)
        # An error can lie inside a character; what is cut off there is the same column.
        character += len(self.whole[byte:at].decode(errors="ignore"))
        self._known = (at, character)
        return self.source.place(character)

    def doctype(self, name: str, system: object, public: object, has_subset: object) -> None:
        # Expat tells of it at its end or at its subset.
        until = self.parser.CurrentByteIndex + 1
        place = self.place(self.data.rfind(b"<!DOCTYPE", 0, until))
        fix = "remove it, and write the text itself where the entity is used"
        self.source.stop("xml-doctype", "DOCTYPE and entities are not supported", place, fix)

    def start(self, name: str, pairs: list[str]) -> None:
        at = self.parser.CurrentByteIndex
        place = self.place(at)
        self.source.check_depth(len(self._open) + 1, place)
        attributes = self.attributes(pairs, at + 1 + len(name.encode()))
        self._open.append(_OpenElement(name, attributes, place))

    def attributes(self, pairs: list[str], at: int) -> tuple[Entry, ...]:
        entries = []
        written = _ATTRIBUTE.finditer(self.data, at)
        for key, value, match in zip(pairs[::2], pairs[1::2], written, strict=False):
            place = self.place(match.start(1))
            entries.append(Entry(ScalarNode(key, place), ScalarNode(value, place)))
        return tuple(entries)

    def end(self, name: str) -> None:
        done = self._open.pop()
        element = ElementNode(
            done.name, done.attributes, tuple(done.children), "".join(done.text), done.place
        )
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element

    def characters(self, text: str) -> None:
        self._open[-1].text.append(text)
