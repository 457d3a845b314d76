"""Makes the picture of a page small: few colours, each pixel a number in a list of them."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MOST = 256
_APART = 40


def shrink_png(data: bytes) -> bytes:
    """The same picture with at most 256 colours; those of a page are few, apart from edges."""
    width, height, rows = _read_rows(data)
    pixels = [row[at : at + 3] for row in rows for at in range(0, len(row), len(row) // width)]
    near = _choose_colours(pixels)
    colours = list(dict.fromkeys(near.values()))
    number = {colour: at for at, colour in enumerate(colours)}
    lines = (
        b"\0" + bytes(number[near[pixel]] for pixel in pixels[at * width : (at + 1) * width])
        for at in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    body = zlib.compress(b"".join(lines), 9)
    parts = ((b"IHDR", head), (b"PLTE", b"".join(colours)), (b"IDAT", body), (b"IEND", b""))
    return _SIGNATURE + b"".join(_make_chunk(kind, part) for kind, part in parts)


def _choose_colours(pixels: list[bytes]) -> dict[bytes, bytes]:
    """The most frequent colours stay as they are; each other one becomes the nearest of these.

    A small mark has few pixels and still a colour of its own: half of the list is for such ones.
    """
    often = [colour for colour, _ in Counter(pixels).most_common()]
    first = often if len(often) <= _MOST else often[: _MOST // 2]
    apart: dict[tuple[int, ...], bytes] = {}
    for colour in often:
        apart.setdefault(tuple(part // _APART for part in colour), colour)
    kept = list(dict.fromkeys([*first, *apart.values()]))[:_MOST]
    near = {colour: colour for colour in kept}
    for colour in often[len(first) :]:
        near.setdefault(colour, min(kept, key=lambda each: _measure(colour, each)))
    return near


def _measure(one: bytes, other: bytes) -> int:
    return sum((mine - its) ** 2 for mine, its in zip(one, other, strict=True))


def _make_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _read_rows(data: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and the bytes of all rows; each part of a colour has 8 bits."""
    chunks = list(_list_chunks(data))
    width, height, bits, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    if bits != 8 or kind not in (2, 6):
        raise ValueError("this is no picture of a browser")
    parts = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(each for name, each in chunks if name == b"IDAT"))
    length = width * parts + 1
    rows = [bytes(width * parts)]
    for start, end in pairwise(range(0, (height + 1) * length, length)):
        rows.append(_unfilter(raw[start], raw[start + 1 : end], rows[-1], parts))
    return width, height, rows[1:]


def _list_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12


def _unfilter(kind: int, row: bytes, above: bytes, parts: int) -> bytes:
    """A row as it was before the filter that the format allows for each of them."""
    if kind == 0:
        return row
    if kind == 2:
        return bytes((one + two) & 255 for one, two in zip(row, above, strict=True))
    made = bytearray(parts)  # what is left of the first pixel
    corner = bytes(parts) + above
    for at, value in enumerate(row):
        left, up, over = made[at], above[at], corner[at]
        guess = {1: left, 3: (left + up) // 2}.get(kind)
        made.append((value + (_guess_nearest(left, up, over) if guess is None else guess)) & 255)
    return bytes(made[parts:])


def _guess_nearest(left: int, up: int, over: int) -> int:
    whole = left + up - over
    return min((left, up, over), key=lambda each: abs(whole - each))
