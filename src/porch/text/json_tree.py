"""A JSON reader that points: it goes on after a mistake, so that one reading finds them all."""

import re

from porch.errors import Place
from porch.text.late_pattern import late_pattern
from porch.text.nodes import (
    MAX_NUMBER,
    NUMBER,
    SURROGATE,
    Entry,
    ListNode,
    MapNode,
    Node,
    ReadingStopped,
    ScalarNode,
    SourceText,
    require_readable_text,
)

_BLANK = late_pattern(r"[ \t\r\n]*")
_COMMENT = late_pattern(r"//[^\r\n]*|#[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER_LIKE = late_pattern(r"[-+]?\.?[0-9][0-9A-Za-z_.+-]*")
_WORD = late_pattern(r"-?[^\W\d][\w$-]*")
_CHUNK = late_pattern(r'[^"\\\x00-\x1f]*')
_HEX = late_pattern(r"[0-9a-fA-F]{4}")
_LOW_HALF = late_pattern(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_SINGLE_QUOTED = late_pattern(r"'[^'\r\n]*'")
_VALUE_STARTS = late_pattern(r"""["'{\[0-9.+-]|[^\W\d]""")
_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_WORD_FIXES = {
    "True": "write true",
    "False": "write false",
    "None": "write null",
    "undefined": "write null",
    "nan": "JSON has no such number; write null or text",
    "infinity": "JSON has no such number; write null or text",
}


def read_json(text: str, file: str) -> Node:
    source = require_readable_text(text, file)
    try:
        node: Node | None = _JsonReader(source).document()
    except ReadingStopped:
        node = None
    if node is None or source.findings:
        raise source.complaint()
    return node


class _JsonReader:
    def __init__(self, source: SourceText):
        self.source = source
        self.text = source.text
        self.at = 0

    def document(self) -> Node:
        node = self.value(0)
        self.skip()
        if self.at < len(self.text):
            self.wrong("there is more text after the end of the document", self.at, "remove it")
        return node

    def wrong(self, message: str, offset: int, fix: str = "", code: str = "json-syntax") -> None:
        self.source.report(code, message, self.source.place(offset), fix)

    def lost(self, message: str, offset: int, fix: str = "") -> ReadingStopped:
        self.wrong(message, offset, fix)
        return ReadingStopped()

    def skip(self) -> None:
        while True:
            self.at = _match_end(_BLANK, self.text, self.at)
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            fix = "remove it, or write the file as YAML"
            self.wrong("JSON has no comments", self.at, fix, "json-comment")
            self.at = comment.end()

    def next(self) -> str:
        self.skip()
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        match self.next():
            case "{":
                return self.mapping(depth + 1)
            case "[":
                return self.list(depth + 1)
            case '"':
                return self.string()
            case "'":
                return self.single_quoted()
            case _:
                return self.bare()

    def list(self, depth: int) -> ListNode:
        start = self.open(depth)
        items: list[Node] = []
        while self.more(start, "]", first=not items):
            items.append(self.value(depth))
        return ListNode(tuple(items), self.source.place(start))

    def mapping(self, depth: int) -> MapNode:
        start = self.open(depth)
        entries: list[Entry] = []
        first: dict[str, Place] = {}
        while self.more(start, "}", first=not entries):
            key = self.key()
            self.source.check_duplicate(key, first)
            self.colon()
            entries.append(Entry(key, self.value(depth)))
        return MapNode(tuple(entries), self.source.place(start))

    def open(self, depth: int) -> int:
        start = self.at
        self.source.check_depth(depth, self.source.place(start))
        self.at += 1
        return start

    def more(self, start: int, close: str, first: bool) -> bool:
        """Whether another item follows; takes the comma before it or the bracket at the end."""
        end_of_item = self.at
        char = self.next()
        if char == "," and not first:
            comma, self.at = self.at, self.at + 1
            char = self.next()
            if char == close:
                self.wrong("extra comma before the closing bracket", comma, "remove the comma")
        elif not first and _VALUE_STARTS.match(char):
            self.wrong("a comma is missing after this value", end_of_item, "write a comma here")
        if char == close:
            self.at += 1
            return False
        self.refuse_wrong_bracket(start, char, close)
        return True

    def refuse_wrong_bracket(self, start: int, char: str, close: str) -> None:
        opened = self.source.place(start)
        where = f"opened on line {opened.line}, column {opened.column}"
        if not char:
            fix = f"write the missing '{close}'"
            raise self.lost(
                f"the file ends before the '{close}' of a bracket {where}", self.at, fix
            )
        if char in "]}:" or (char != "," and not _VALUE_STARTS.match(char)):
            fix = f"write '{close}' to close the bracket {where}"
            raise self.lost(f"'{char}' is not allowed here", self.at, fix)

    def key(self) -> ScalarNode:
        start, char = self.at, self.next()
        if char == '"':
            return self.string()
        if char == "'":
            return self.single_quoted()
        word = _WORD.match(self.text, self.at) or _NUMBER_LIKE.match(self.text, self.at)
        if word is None:
            raise self.lost("a key is missing here", start, "write a key in double quotes")
        self.wrong(f"the key {word[0]} has no quotes", self.at, f'write "{word[0]}"')
        self.at = word.end()
        return ScalarNode(word[0], self.source.place(word.start()))

    def colon(self) -> None:
        end_of_key = self.at
        if self.next() == ":":
            self.at += 1
        else:
            self.wrong("a colon is missing after this key", end_of_key, "write a colon here")

    def bare(self) -> ScalarNode:
        start = self.at
        number = _NUMBER_LIKE.match(self.text, start)
        if number is not None:
            self.at = number.end()
            return self.number(number[0], start)
        word = _WORD.match(self.text, start)
        if word is not None:
            self.at = word.end()
            return self.word(word[0], start)
        if self.next() not in (",", "]", "}", ""):
            raise self.lost(f"a value cannot start with '{self.next()}'", start)
        self.wrong("a value is missing here", start, "write a value; null if there is none")
        return ScalarNode("null", self.source.place(start), "null")

    def number(self, text: str, start: int) -> ScalarNode:
        if not NUMBER.fullmatch(text):
            self.wrong(f"{text} is not a JSON number", start, f'if it is text, write "{text}"')
        elif len(text) > MAX_NUMBER:
            self.wrong(f"a number with {len(text)} digits is too long", start, "write it as text")
        return ScalarNode(text, self.source.place(start), "number")

    def word(self, text: str, start: int) -> ScalarNode:
        place = self.source.place(start)
        if text in ("true", "false"):
            return ScalarNode(text, place, "bool")
        if text != "null":
            fix = (
                _WORD_FIXES.get(text)
                or _WORD_FIXES.get(text.lower().lstrip("-"))
                or f'write "{text}"'
            )
            self.wrong(f"{text} is not a JSON value", start, fix)
        return ScalarNode("null", place, "null")

    def single_quoted(self) -> ScalarNode:
        start = self.at
        quoted = _SINGLE_QUOTED.match(self.text, start)
        if quoted is None:
            raise self.lost(
                "text in single quotes without the closing quote", start, "use double quotes"
            )
        self.wrong("text in single quotes", start, "use double quotes")
        self.at = quoted.end()
        return ScalarNode(quoted[0][1:-1], self.source.place(start))

    def string(self) -> ScalarNode:
        start = self.at
        self.at += 1
        pieces: list[str] = []
        while True:
            chunk_end = _match_end(_CHUNK, self.text, self.at)
            pieces.append(self.text[self.at : chunk_end])
            self.at = chunk_end
            char = self.text[self.at : self.at + 1]
            if char == '"':
                self.at += 1
                return ScalarNode("".join(pieces), self.source.place(start))
            if char in ("", "\n", "\r"):
                raise self.lost(
                    "the closing quote of this text is missing", start, 'write the closing "'
                )
            pieces.append(self.escape() if char == "\\" else self.control(char))

    def control(self, char: str) -> str:
        written = f"\\u{ord(char):04x}" if char != "\t" else "\\t"
        self.wrong("a control character inside text", self.at, f"write {written}")
        self.at += 1
        return char

    def escape(self) -> str:
        start, letter = self.at, self.text[self.at + 1 : self.at + 2]
        if letter == "u":
            return self.code_point()
        self.at += 2 if letter in _ESCAPES else 1
        if letter not in _ESCAPES:
            self.wrong(f"\\{letter} is not a valid escape", start, "for a backslash write \\\\")
        return _ESCAPES.get(letter, "")

    def code_point(self) -> str:
        start = self.at
        digits = _HEX.match(self.text, start + 2)
        if digits is None:
            self.wrong("\\u needs four hexadecimal digits", start, "write for example \\u00e9")
            self.at += 2
            return ""
        self.at = digits.end()
        char = chr(int(digits[0], 16))
        low = _LOW_HALF.match(self.text, self.at)
        if low is not None and "\ud800" <= char <= "\udbff":
            self.at = low.end()
            return chr(0x10000 + ((ord(char) - 0xD800) << 10) + (int(low[1], 16) - 0xDC00))
        if SURROGATE.match(char):
            message = f"\\u{digits[0]} is half a character (a lone surrogate)"
            self.wrong(message, start, "write both halves, or the character itself")
            return ""
        return char


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
