"""Bytes become a text to judge and come back unchanged, whatever their encoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.plan.cleanup.debug_markers import judge_markers
from porch.plan.cleanup.source_text import decode_source

# In pieces, so that this file holds no marker that somebody seems to have meant.
OPEN = "[" + "DEBUG-TEMP]"
TEXT = f"# {OPEN}\r\nprint('\u010a\u0a0a')\r\n\r\nend\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe" + TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.lower().encode("utf-16-be"),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.encode(),
    ],
)
def test_n10_a_marker_on_the_first_line_is_found_in_every_encoding(data: bytes) -> None:
    source = decode_source(data)
    assert source is not None
    judged = judge_markers(source.text)
    found = [block.begin for block in judged.blocks] + [each.line for each in judged.leftovers]
    assert found == [0]
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    "data", [b"a\0b", b"\xef\xbb\xbfa\0", b"\xff\xfea", b"\xff\xfe\0\xd8", b"\0" * 40]
)
def test_what_is_no_text_is_binary(data: bytes) -> None:
    assert decode_source(data) is None


@given(st.binary(max_size=80))
def test_whatever_is_a_text_comes_back_byte_for_byte(data: bytes) -> None:
    source = decode_source(data)
    assert source is None or source.encode(source.text) == data
