"""A plan that is no XML any more is mended where its prose is to blame, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.dialects.plan_xml.repair import repair_plan_text
from porch.errors import DefinitionError
from porch.text.xml_tree import read_xml
from tests.plans import confirm, phase, plan, task

BROKEN = {
    "a bare ampersand": ("<plan><goal>a & b</goal></plan>", "a &amp; b"),
    "one in an attribute": ("<plan n='a & b'/>", "a &amp; b"),
    "a tag in prose": ("<plan><goal>the <task_x> of</goal></plan>", "the &lt;task_x> of"),
    "a closed tag in prose": (
        "<plan><description>use <b>this</b> and <c></description></plan>",
        "use &lt;b>this&lt;/b> and &lt;c>",
    ),
    "a comparison": (
        "<plan><task id='T1.1'>if a < b or a <= c</task></plan>",
        "a &lt; b or a &lt;=",
    ),
    "a task that closed itself": (
        "<plan><task id='T1.1' />\n<description>x</description></task></plan>",
        "<task id='T1.1'>",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_d2_prose_that_was_never_escaped_is_escaped(what: str) -> None:
    text, then = BROKEN[what]
    with pytest.raises(DefinitionError):
        read_xml(text, "plan.xml")
    mended = repair_plan_text(text)
    assert then in mended
    read_xml(mended, "plan.xml")


FINE = [
    plan(phase("P1", confirm(), task("T1.1", confirm()))),
    "<plan><!-- a & b < c --><goal><![CDATA[a & <b>]]></goal><?x a & b?></plan>",
    "<plan><goal>&amp; &lt; &#10; &#xA;</goal><task id='a'/><task id='b'>x</task></plan>",
]


@pytest.mark.parametrize("text", FINE)
def test_a_plan_that_is_fine_stays_as_it_is(text: str) -> None:
    assert repair_plan_text(text) == text


@given(st.text("<>&/! abtask=\"'-[]", max_size=60))
def test_mending_twice_is_mending_once(text: str) -> None:
    once = repair_plan_text(f"<plan><goal>{text}</goal></plan>")
    assert repair_plan_text(once) == once


def test_mending_looks_at_each_sign_once() -> None:
    for text in ("<goal>" * 30_000, "<task a='1'/>" * 20_000, "&<" * 50_000):
        repair_plan_text(text)
