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
_CLOSING = late_pattern(rb"(?:</)?([^\s<>/]+)")
_LAST_SIGN = late_pattern(rb"([&<])([^&<>;]*)\Z")
_LOOK_BACK = 80
_ESCAPED = {"&": "&amp;", "<": "&lt;"}
# The codes of expat.
_NO_ELEMENT, _INVALID_TOKEN, _MISMATCHED_TAG = 3, 4, 7
_DUPLICATE_ATTRIBUTE, _UNDEFINED_ENTITY = 8, 11


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


def _find_bare_sign(data: bytes, at: int) -> str:
    """The sign of XML in front of an error that people write as text; nothing if it is a tag."""
    found = _LAST_SIGN.search(data[max(0, at - _LOOK_BACK) : at])
    if found and not (found[1] == b"<" and found[2][:1].isalpha()):
        return found[1].decode()
    here = data[at : at + 1].decode(errors="ignore")
    return here if here in _ESCAPED else ""


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
                message, fix = self.explain(problem.code, at)
                self.source.stop("xml-syntax", message, self.place(at), fix)
            self.report_duplicate(attribute[1].decode(), self.place(at))
            return self.data[:at] + b" " * (attribute.end() - at) + self.data[attribute.end() :]
        return None

    def explain(self, code: int, at: int) -> tuple[str, str]:
        """What is wrong, and what most likely made it so."""
        if code == _MISMATCHED_TAG:
            return self.explain_tag(at)
        message, fix = self._messages[code], ""
        if code == _NO_ELEMENT and self._open:
            fix = f"close <{self._open[-1].name}> of line {self._open[-1].place.line}"
        sign = _find_bare_sign(self.data, at) if code in (_INVALID_TOKEN, _UNDEFINED_ENTITY) else ""
        if sign:
            message = f"{message}: a bare '{sign}'" if code == _INVALID_TOKEN else message
            fix = f"write {_ESCAPED[sign]} for the sign {sign} in a text"
        return message, fix

    def explain_tag(self, at: int) -> tuple[str, str]:
        left, closing = self._open[-1], _CLOSING.match(self.data, at)
        name = closing[1].decode(errors="replace") if closing else ""
        if left.children and left.children[-1].name == name:
            before = left.children[-1].place.line
            message = f"</{name}> closes nothing: <{name}> of line {before} has ended already"
            return message, f"remove the / at the end of the tag of line {before}, or </{name}>"
        message = f"</{name}> comes before <{left.name}> of line {left.place.line} is closed"
        return message, f"close it, or write &lt;{left.name}> if it is text"

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
