"""Which words of a message are its author's: covered or not, offsets stay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.claims.spoken_words import find_spoken_words
from porch.text.markdown import MASK


def said(text: str) -> str:
    return find_spoken_words(text).said.replace(MASK, "#")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a\n\nb", "a\n\nb"),
        ("> a\nb\n\nc", "###\n#\n\nc"),
        ("> a\n>\nb", "###\n#\nb"),
        ("> a\n- b", "###\n- b"),
        ("a `b` c", "a ### c"),
        ("a `b\nc` d", "a ##### d"),
        ("- a `b\n- c` d", "- a `b\n- c` d"),
        ('say "<b" x', "say #### x"),
        ('say "b" x', 'say "b" x'),
        ("'<a\nb' c", "'<a\nb' c"),
        ("it's <a isn't", "it's <a isn't"),
        ("a </b> <c/> <c /> d", "a </b> <c/> <c /> d"),
        ("<b>x</b> <b id=1>x</b>", "<b>x</b> #############"),
        ("<a><a>x</a>y", "<a>########y"),
        ("<a>x</a>y</a>", "########y</a>"),
        ("<a><c>x</c></a>y", "###############y"),
        ("[a](b) [c][d] [e]", "###### ###### [e]"),
        ("a|b\n-|-\nc|d\ne", "###\n###\n###\ne"),
        ("x\n@@ -1 +1 @@\n y", "#\n###########\n##"),
        ("x\n-a\n+b\n--\nd", "x\n##\n##\n--\nd"),
        ("```a\n```b\nx\n```\ny\n```\nz", "####\n####\n#\n###\n#\n###\n#"),
        ("````\n```\n````\ny", "####\n###\n####\ny"),
        ("```\n~~~\n```\ny", "###\n###\n###\ny"),
        ("<![CDATA[a]]>b", "##########]]>b"),
        ("a\x0bb", "###"),
        ("a\x0b", "a\x0b"),
    ],
)
def test_what_is_shown_is_covered(text: str, expected: str) -> None:
    # The line ends that are covered differ with what covers them.
    assert said(text).replace("\n", "#") == expected.replace("\n", "#")


def test_a_line_that_begins_inside_something_shown_is_shown() -> None:
    kinds = [line.kind for line in find_spoken_words("<pre>\na\n</pre>\n\nb").lines]
    assert kinds == ["text", "code", "code", "blank", "text"]


PIECES = ["`", '"', "'", "~~", "<a>", "</a>", "<pre>", "> ", "\n", "\r", "|", "-", "[a](", ")"]
PIECES += ["```", "\u200b", "\u201c", "<!--", "-->", "word ", "\\", "@@ ", "<![CDATA[", "]]>"]


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_covering_changes_no_offset_and_no_word(text: str) -> None:
    words = find_spoken_words(text)
    assert words.shown == "\n".join(line.text for line in words.lines)
    assert len(words.said) == len(words.shown)
    assert all(a in (b, MASK) for a, b in zip(words.said, words.shown, strict=True))
