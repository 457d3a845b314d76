"""Any text as a plan: it is read, or refused in words, with work in proportion to its size."""

import contextlib
import sys
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.dialects.plan_xml.file_statuses import list_settled
from porch.dialects.plan_xml.plan_parts import find_plan_part
from porch.dialects.plan_xml.reader import read_track_plan
from porch.dialects.plan_xml.repair import repair_plan_text
from porch.dialects.registry import parse_definition
from porch.errors import DefinitionError
from porch.text.xml_edit import edit_xml
from porch.text.xml_tree import read_xml
from tests.plans import AI, GAP, confirm, phase, plan, task
from tests.torture import FULL

MANY = 100_000 if FULL else 1_500
fuzz = settings(
    max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck), derandomize=not FULL
)
TOKENS = [
    "<plan>", "</plan>", "<phases>", "<phase id='P1'>", "</phase>", "<task id='T1.1' status='x'>",
    "<task id='T1.2' wave='W1'>", "</task>", "<waves>", "<wave id='W1' depends_on='W1,W2'/>",
    "</waves>", "<execution_mode>wave</execution_mode>", "<metadata>", "</metadata>",
    "<confirm protocol='yield-human-confirm' when='both' status='x'/>",
    "<confirm protocol='yield-ai-confirm' when='after' ai-agent='a'/>", "<dependencies>T1.1, T9",
    "</dependencies>", "<subtasks>", "<subtask id='T1.1.1'/>", "<status>done</status>", "status=",
    "<Track id='t'>", "</Track>", "<TaskGroup id='g'>", "<Hook on='phase:after'>", "<!--", "-->",
    "&", "<", ">", "<![CDATA[", "]]>", "é", "\r\n", "\0", " ", "&amp;", "&#0;", "&#x41;", "<?xml",
    "?>", "<!DOCTYPE a>", "<!ENTITY a 'b'>", "\ufeff", "'", '"', "/>", "xmlns:x='u'", "\ud800",
]  # fmt: skip
GOOD = plan(
    phase(
        "P1",
        confirm(when="both"),
        "<gate_criteria><criterion>all pass</criterion></gate_criteria>",
        task("T1.1", confirm(AI, "both"), confirm(), "<!-- mine -->"),
        task("T1.2", confirm(GAP), needs="T1.1", status="IN_PROGRESS"),
    ),
    phase("P2", task("T2.1", "<subtasks><subtask id='T2.1.1' status='TODO'/></subtasks>")),
)


@st.composite
def broken_plans(draw: st.DrawFn) -> str:
    """A good plan with pieces cut out, doubled, or put elsewhere."""
    text = GOOD
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        piece = draw(st.sampled_from(["", text[start:end] * 2, *TOKENS]))
        text = text[:start] + piece + text[end:]
    return text


PLANS = st.lists(st.sampled_from(TOKENS), max_size=30).map("".join) | broken_plans()


@pytest.mark.torture
@given(PLANS)
@fuzz
def test_any_text_is_a_plan_or_refused_in_words(text: str) -> None:
    with contextlib.suppress(DefinitionError):
        reading = parse_definition(text, "plan.xml")
        assert reading.protocol is not None or reading.findings
    find_plan_part(text.encode("utf-8", "replace"), "T1.1")
    repair_plan_text(text)
    with contextlib.suppress(DefinitionError):
        root = read_xml(text, "plan.xml")
        assert edit_xml(text, []) == text
        for state, payload in list_settled(read_track_plan(root).plan).items():
            assert state
            assert payload["exit"]


def count_calls(text: str) -> int:
    """How many functions are called to read and compile a plan: work that no machine speeds up."""
    calls = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with contextlib.suppress(DefinitionError):
            parse_definition(text, "plan.xml")
            find_plan_part(text.encode(), "T1.1")
            repair_plan_text(text)
    finally:
        sys.setprofile(before)
    return calls


def waves(size: int) -> str:
    inside = "".join(f'<wave id="W{n}" depends_on="W{n - 1}"/>' for n in range(size))
    inside = inside.replace(' depends_on="W-1"', "")
    tasks = (task(f"T1.{n}").replace("<task ", f'<task wave="W{n // 2}" ') for n in range(size))
    text = plan(phase("P1", f"<waves>{inside}</waves>", *tasks))
    return text.replace("</metadata>", "<execution_mode>wave</execution_mode></metadata>")


def attributes(size: int) -> str:
    return " ".join(f'a{n}="x"' for n in range(size))


LONG: dict[str, Callable[[int], str]] = {
    "tasks in a chain": lambda n: plan(
        phase(
            "P1", confirm(AI), *(task(f"T1.{i}", needs=f"T1.{i - 1}" * (i > 0)) for i in range(n))
        )
    ),
    "tasks with confirms": lambda n: plan(
        phase("P1", *(task(f"T1.{i}", confirm(when="both")) for i in range(n)))
    ),
    "phases": lambda n: plan(*(phase(f"P{i}", confirm(), task(f"T{i}.1")) for i in range(n))),
    "one task with many needs": lambda n: plan(
        phase(
            "P1",
            *(task(f"T1.{i}") for i in range(n)),
            task("T2.1", needs=", ".join(f"T1.{i}" for i in range(n))),
        )
    ),
    "waves": waves,
    "the same id": lambda n: plan(phase("P1", *(task("T1.1") for _ in range(n)))),
    "unknown elements": lambda n: plan(phase("P1", task("T1.1", "<odd a='1'/>" * n))),
    "attributes": lambda n: plan(phase("P1", task("T1.1", f"<odd {attributes(n)}/>"))),
    "bare signs": lambda n: plan(phase("P1", task("T1.1", "a & b < c " * n))),
    "open tags": lambda n: "<plan>" * n,
    "comments": lambda n: plan(phase("P1", task("T1.1", "<!-- x -->" * n))),
}


@pytest.mark.parametrize("name", LONG)
def test_work_grows_as_the_plan_does(name: str) -> None:
    """Twice the plan is at most twice the work, and a little; a square would be four times it."""
    make = LONG[name]
    count_calls(make(3))  # what is loaded late is loaded now
    small, large = count_calls(make(100)), count_calls(make(200))
    assert large < 2.4 * small, (small, large)
