"""Bytes of a source file as a text to judge, and back: whatever is not removed stays as it was.

Most encodings become one character for each byte, so that all of them survive. UTF-16 is decoded:
there a marker is not even found by its bytes. A byte order mark is no part of the first line.
"""

from msgspec import Struct

from porch.plan.cleanup.debug_markers import MARK

_ONE_BYTE = "latin-1"
_ORDER_MARKS = {
    b"\xef\xbb\xbf": _ONE_BYTE,
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}


class DecodedSource(Struct, frozen=True):
    """The text of a file, and how it was written."""

    text: str
    encoding: str = _ONE_BYTE
    order_mark: bytes = b""

    def encode(self, text: str) -> bytes:
        return self.order_mark + text.encode(self.encoding)

    def show(self, text: str) -> str:
        """Judged as single bytes, shown as what they most likely are."""
        if self.encoding != _ONE_BYTE:
            return text
        return text.encode(_ONE_BYTE).decode("utf-8", "replace")


def decode_source(data: bytes) -> DecodedSource | None:
    """The text of these bytes; None if they are binary."""
    mark = next((each for each in _ORDER_MARKS if data.startswith(each)), b"")
    body = data[len(mark) :]
    encoding = _ORDER_MARKS[mark] if mark else _guess_encoding(body)
    if encoding == _ONE_BYTE:
        return None if b"\0" in body else DecodedSource(body.decode(_ONE_BYTE), encoding, mark)
    try:
        return DecodedSource(body.decode(encoding), encoding, mark)
    except UnicodeDecodeError:
        return None


def _guess_encoding(body: bytes) -> str:
    """UTF-16 without a byte order mark is known by the marker in it."""
    capitals = body.upper()
    for encoding in ("utf-16-le", "utf-16-be"):
        # Between two characters, or it is the other order shifted by a byte.
        if capitals.find(MARK.encode(encoding)) % 2 == 0:
            return encoding
    return _ONE_BYTE
