"""Pictures of pages become small, and stay the same pictures."""

import struct
import zlib

import pytest

from tools.png import _list_chunks, _make_chunk, _read_rows, shrink_png

SIGNATURE = b"\x89PNG\r\n\x1a\n"
WIDTH, HEIGHT = 16, 5


def make_png(rows: list[bytes], kind: int) -> bytes:
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, kind, 0, 0, 0)
    body = zlib.compress(b"".join(rows))
    parts = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return SIGNATURE + b"".join(_make_chunk(name, part) for name, part in parts)


def read_small(data: bytes) -> list[bytes]:
    """The colours of all pixels of a picture with a list of colours."""
    parts = dict(_list_chunks(data))
    colours, raw = parts[b"PLTE"], zlib.decompress(parts[b"IDAT"])
    lines = [raw[at + 1 : at + 1 + WIDTH] for at in range(0, len(raw), WIDTH + 1)]
    return [colours[3 * n : 3 * n + 3] for line in lines for n in line]


def filter_row(how: int, row: bytes, above: bytes, parts: int) -> bytes:
    """As the format defines it, written for each byte."""
    made = bytearray([how])
    for at, value in enumerate(row):
        left = row[at - parts] if at >= parts else 0
        up, over = above[at], above[at - parts] if at >= parts else 0
        near = min((left, up, over), key=lambda each: abs(left + up - over - each))
        made.append((value - (0, left, up, (left + up) // 2, near)[how]) & 255)
    return bytes(made)


@pytest.mark.parametrize("kind", [2, 6])
@pytest.mark.parametrize("how", range(5))
def test_a_picture_of_few_colours_is_the_same_after_it(kind: int, how: int) -> None:
    parts = 3 if kind == 2 else 4
    rows = [
        bytes((7 * n * n + 31 * line) % 256 for n in range(WIDTH * parts)) for line in range(HEIGHT)
    ]
    above = [bytes(WIDTH * parts), *rows]
    data = make_png([filter_row(how, row, above[n], parts) for n, row in enumerate(rows)], kind)
    assert _read_rows(data)[2] == rows
    wanted = [row[at : at + 3] for row in rows for at in range(0, len(row), parts)]
    assert read_small(shrink_png(data)) == wanted


def test_what_is_no_picture_of_a_browser_is_refused() -> None:
    with pytest.raises(ValueError, match="no picture"):
        shrink_png(make_png([bytes(WIDTH + 1)] * HEIGHT, 0))
