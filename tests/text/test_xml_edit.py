"""Attributes are changed in place, and nothing else of a file is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.text.nodes import ElementNode, ScalarNode
from porch.text.xml_edit import XmlEdit, edit_xml
from porch.text.xml_tree import read_xml


def elements(root: ElementNode) -> list[ElementNode]:
    return [root, *(each for child in root.children for each in elements(child))]


def change(text: str, name: str, attribute: str, value: str | None) -> str:
    found = next(e for e in elements(read_xml(text, "p.xml")) if e.name == name)
    return edit_xml(text, [XmlEdit(found, attribute, value)])


CASES = [
    ('<a b="1"/>', "b", "2", '<a b="2"/>'),
    ("<a b='1' c=\"x\"/>", "b", "2", "<a b='2' c=\"x\"/>"),
    ('<a  b = "1" >t</a>', "b", "2", '<a  b = "2" >t</a>'),
    ('<a b="1"/>', "c", "2", '<a b="1" c="2"/>'),
    ("<a b='1'\n/>", "c", "it's", "<a b='1' c='it&apos;s'\n/>"),
    ("<a/>", "c", 'a<b&"c"', '<a c="a&lt;b&amp;&quot;c&quot;"/>'),
    ('<a x="0"\n   b="1" y="2"/>', "b", None, '<a x="0" y="2"/>'),
    ("<a/>", "b", None, "<a/>"),
    ("<a>TODO</a>", "", "DONE", "<a>DONE</a>"),
    ("<a>\n  TODO\n</a>", "", "DONE", "<a>\n  DONE\n</a>"),
    ("<a></a>", "", "DONE", "<a>DONE</a>"),
    ('<a b="1" />', "", "DONE", '<a b="1">DONE</a>'),
    ("<a><![CDATA[TODO]]></a>", "", "DONE", "<a>DONE</a>"),
]


@pytest.mark.parametrize("text, attribute, value, then", CASES)
def test_an_edit_touches_what_it_names(
    text: str, attribute: str, value: str | None, then: str
) -> None:
    assert change(text, "a", attribute, value) == then


def test_bytes_around_an_edit_stay_whatever_they_are() -> None:
    text = '\ufeff<?xml version="1.0"?>\r\n<!-- é <x b="1"> -->\r\n<a>\t<b c="1"/>é</a>\r\n<!---->'
    assert change(text, "b", "c", "2") == text.replace('<b c="1"', '<b c="2"')


def test_many_edits_are_made_at_once() -> None:
    text = '<a b="1"><c b="1"/><c/></a>'
    found = elements(read_xml(text, "p.xml"))
    edits = [XmlEdit(each, "b", f"long {n}") for n, each in enumerate(found)]
    assert edit_xml(text, reversed(edits)) == '<a b="long 0"><c b="long 1"/><c b="long 2"/></a>'


VALUES = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), max_size=12)
BLANKS = st.sampled_from(["", " ", "\n", "\r\n", "\t"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    def attribute(name: str) -> str:
        quote = draw(st.sampled_from("'\""))
        value = draw(VALUES).replace("&", "&amp;").replace("<", "&lt;")
        value = value.replace(quote, "&quot;" if quote == '"' else "&apos;")
        return f"{draw(BLANKS) or ' '}{name}{draw(BLANKS)}={quote}{value}{quote}"

    def element(depth: int) -> str:
        names = draw(st.lists(st.sampled_from("bcd"), unique=True, max_size=3))
        attributes = "".join(map(attribute, names))
        inside = "".join(element(depth + 1) for _ in range(draw(st.integers(0, 2 - depth))))
        text = draw(VALUES).replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "")
        comment = draw(st.sampled_from(["", "<!-- <a b='9'> -->", "<![CDATA[<b>]]>"]))
        return f"<a{attributes}{draw(BLANKS)}>{text}{comment}{inside}</a>"

    return draw(st.sampled_from(["", "\ufeff", "<?xml version='1.0'?>\n"])) + element(0)


@given(documents())
def test_writing_nothing_changes_nothing(text: str) -> None:
    assert edit_xml(text, []) == text


@given(documents(), st.data(), VALUES)
def test_one_edit_changes_one_attribute(text: str, data: st.DataObject, value: str) -> None:
    before = elements(read_xml(text, "p.xml"))
    number = data.draw(st.integers(0, len(before) - 1))
    name = data.draw(st.sampled_from("bcde"))
    after = elements(read_xml(edit_xml(text, [XmlEdit(before[number], name, value)]), "p.xml"))
    assert len(before) == len(after)
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        was, now = attributes(old), attributes(new)
        assert (old.name, old.text) == (new.name, new.text)
        if index == number:
            assert now.pop(name) == value
            was.pop(name, None)
        assert was == now


def attributes(element: ElementNode) -> dict[str, str]:
    return {e.key.text: e.value.text for e in element.attributes if isinstance(e.value, ScalarNode)}
