"""Plans as people write them, and the phases a person would find in them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from porch.dialects.plan_headings import PlanPhase, PlanReading, read_plan
from porch.errors import Place

PLAN = """\
# Plan: users

## {parent}

### Phase 1: Database
- Create users table
- Add indexes
  - nested, not told

### Phase 2: Endpoints
* POST /users
* GET /users/:id

## Risks
- none
"""


def ids(reading: PlanReading) -> list[str]:
    return [phase.id for phase in reading.phases]


def codes(reading: PlanReading) -> list[str]:
    return [finding.code for finding in reading.findings]


@pytest.mark.req("P-121")
@pytest.mark.req("P-125")
@pytest.mark.req("P-127")
@pytest.mark.parametrize("parent", ["Implementation Phases", "Steps to take"])
def test_numbered_headings_under_any_parent_are_phases(parent: str) -> None:
    reading = read_plan(PLAN.format(parent=parent), "plan.md")
    assert reading == PlanReading(
        "headings",
        (
            PlanPhase(
                "phase_1",
                "Database",
                "Create users table, Add indexes",
                "- Create users table\n- Add indexes\n  - nested, not told",
            ),
            PlanPhase(
                "phase_2",
                "Endpoints",
                "POST /users, GET /users/:id",
                "* POST /users\n* GET /users/:id",
            ),
        ),
        (),
    )


@pytest.mark.req("P-122")
def test_the_short_parent_heading_is_accepted_too() -> None:
    assert ids(read_plan(PLAN.format(parent="Phases"), "plan.md")) == ["phase_1", "phase_2"]


@pytest.mark.req("P-124")
def test_phases_are_ordered_by_number_and_may_start_at_zero() -> None:
    text = "## Phase 10: last\n## Phase 2: middle\n## Phase 0: first\n"
    reading = read_plan(text, "p.md")
    assert ids(reading) == ["phase_0", "phase_2", "phase_10"]
    assert reading.findings == ()


@pytest.mark.parametrize(
    "heading, title",
    [
        ("## Phase 1: A b", "A b"),
        ("### phase 1 - A b", "A b"),
        ("### PHASE 1. A b", "A b"),
        ("### Phase 1 \u2013 A b", "A b"),
        ("### Phase 1 \u2014 A b ###", "A b"),
        ("### Phase 1- A b", "A b"),
        ("### **Phase 1: A b**", "A b"),
        ("### **Phase 1:** A b", "A b"),
        ("### __Phase 1: A b__", "A b"),
        ("### Phase 01:A b", "A b"),
        ("###\tPhase\t1 :\tA b", "A b"),
        ("   ### Phase 1: Use `x`", "Use `x`"),
        ("### Phase 1:", "Phase 1"),
    ],
)
def test_phase_headings_are_known_in_all_their_spellings(heading: str, title: str) -> None:
    reading = read_plan(f"# Plan\r\n\r\n{heading}\r\n\r\nDo it.\r\n", "p.md")
    assert reading.reading == "headings"
    assert reading.phases == (PlanPhase("phase_1", title, "Do it.", "Do it."),)


@pytest.mark.parametrize(
    "text",
    [
        "# Phase 1: too high",
        "##### Phase 1: too deep",
        "Phase 1: no heading",
        "### Phase One: no number",
        "### Phase 1.5.2.1: no number",
        "### Phase 1-2: a range",
        "### Phases 1: another word",
        "### Phase 1",
        "```\n### Phase 1: in code\n```",
        "~~~\n### Phase 1: in code, never closed",
        "<!--\n### Phase 1: in a comment\n-->",
        "> ### Phase 1: quoted",
        "    ### Phase 1: indented code",
    ],
)
def test_what_only_looks_like_a_phase_is_none(text: str) -> None:
    assert read_plan(text, "p.md").reading == "single"


def test_r16_phases_between_two_and_phases_one_level_deeper_are_read_too() -> None:
    text = (
        "### Phase 2: b\ntwo\n### Phase 1: a\none\n### Phase 1.5: between\nhalf\n"
        "### Phase 1.10: late\n#### Phase 3: c\nthree\n"
    )
    reading = read_plan(text, "p.md")
    assert ids(reading) == ["phase_1", "phase_1.5", "phase_1.10", "phase_2", "phase_3"]
    assert [phase.text for phase in reading.phases] == ["one", "half", "", "two", "three"]
    assert reading.findings == ()
    assert ids(read_plan("#### Phase 1: a\n#### Phase 2: b\n", "p.md")) == ["phase_1", "phase_2"]


def test_r16_a_deeper_heading_with_the_number_of_a_phase_is_told_and_is_no_phase() -> None:
    reading = read_plan("### Phase 1: a\none\n#### Phase 1: first half\nmore\n", "p.md")
    (phase,) = reading.phases
    assert phase.text == "one\n#### Phase 1: first half\nmore"
    (finding,) = reading.findings
    assert (finding.code, finding.severity) == ("plan-depth", "warning")


@pytest.mark.req("P-123")
def test_the_text_of_a_phase_ends_where_the_next_part_begins() -> None:
    text = """\
## Phase 1: one
intro of one
#### Details
kept
```
## not a heading
```
## Phase 2: two
### Phase 3: three
three text
#### inside three
### Other
not three
"""
    one, two, three = read_plan(text, "p.md").phases
    assert one.text == "intro of one\n#### Details\nkept\n```\n## not a heading\n```"
    assert one.description == "intro of one"
    assert (two.text, two.description) == ("", "")
    assert three.text == "three text\n#### inside three"


@pytest.mark.parametrize(
    "rest, kept",
    [
        ("a\n\nRisks\n-----\nb", "a"),
        ("a\n\nRisks\n=====\nb", "a"),
        ("a\n---\nb", "a\n---\nb"),
        ("- a\n---\nb", "- a\n---\nb"),
        ("a\n\n---\nb", "a\n\n---\nb"),
    ],
)
def test_underlined_headings_end_a_phase_and_rules_do_not(rest: str, kept: str) -> None:
    (phase,) = read_plan(f"## Phase 1: x\nfirst\n{rest}", "p.md").phases
    assert phase.text == f"first\n{kept}"


def test_a_heading_right_below_another_may_be_underlined() -> None:
    reading = read_plan("## Intro\nThe plan\n===\n", "p.md")
    assert reading.phases[0].title == "The plan"


def test_phases_under_several_parents_are_all_taken_and_doubles_are_said() -> None:
    text = (
        "## Backend\n### Phase 1: a\n### Phase 2: b\n## Frontend\n### Phase 1: c\n### Phase 1: d\n"
    )
    reading = read_plan(text, "p.md")
    assert [(phase.id, phase.title) for phase in reading.phases] == [
        ("phase_1", "a"),
        ("phase_1_2", "c"),
        ("phase_1_3", "d"),
        ("phase_2", "b"),
    ]
    assert codes(reading) == ["plan-duplicate", "plan-duplicate"]
    assert reading.findings[0].place == Place("p.md", 5, 1)
    assert reading.findings[0].severity == "warning"


@pytest.mark.parametrize(
    "body, description",
    [
        ("First line\nof it.\n\nSecond.", "First line of it."),
        ("1. one\n2. two", "one, two"),
        ("- [ ] one\n- [x] two\n  more of two", "one, two"),
        ("Intro.\n\n  - one\n  - two\n      - deep", "one, two"),
        ("```\n- code\n```\nText.", "Text."),
        ("> quoted", ""),
    ],
)
def test_the_description_is_the_bullets_or_the_first_paragraph(body: str, description: str) -> None:
    assert read_plan(f"## Phase 1: x\n{body}\n", "p.md").phases[0].description == description


@pytest.mark.req("P-128")
@pytest.mark.parametrize(
    "text, title",
    [
        ("# The **plan**\n\nDo all of it.\n", "The plan"),
        ("\ufeffThe plan\n========\n\nDo all of it.\n", "The plan"),
        ("## Not a title\n\nDo all of it.\n", "Whole plan"),
        ("Do all of it.", "Whole plan"),
    ],
)
def test_a_plan_without_phases_is_one_phase_and_says_so(text: str, title: str) -> None:
    reading = read_plan(text, "p.md")
    assert reading.reading == "single"
    (phase,) = reading.phases
    assert (phase.id, phase.title) == ("phase_1", title)
    assert phase.description == "Do all of it."
    assert phase.text == text.removeprefix("\ufeff").strip("\n")
    (note,) = reading.findings
    assert (note.code, note.severity) == ("single-phase", "note")


def test_an_empty_plan_is_one_empty_phase() -> None:
    assert read_plan("", "p.md").phases == (PlanPhase("phase_1", "Whole plan", "", ""),)


JSON_PLAN = """\
# Plan

```bash
echo '"phases": no'
```

{fence}
{{"phases": [
  {{"id": "schema", "title": "Database", "description": "Tables"}},
  {{"id": "api", "title": "Endpoints"}},
  {{"id": "phase_3", "title": "Views"}},
  {{"id": 4, "title": "Docs"}}
]}}
{close}

## Phase 1: database
- users
## api
- POST
## Phase 3: The pages
- form
"""


@pytest.mark.parametrize("fence", ["```json", "```", "~~~", "~~~JSON", "````json"])
def test_a_json_block_of_phases_wins_and_each_phase_keeps_its_text(fence: str) -> None:
    text = JSON_PLAN.format(fence=fence, close=fence.lower().removesuffix("json"))
    reading = read_plan(text, "p.md")
    assert reading == PlanReading(
        "json",
        (
            PlanPhase("schema", "Database", "Tables", "- users"),
            PlanPhase("api", "Endpoints", "POST", "- POST"),
            PlanPhase("phase_3", "Views", "form", "- form"),
            PlanPhase("4", "Docs", "", "Docs"),
        ),
        (),
    )


def test_any_of_the_blocks_may_hold_the_phases() -> None:
    text = '```json\n{"a": 1}\n```\n```json\n{"phases": [{"id": "x", "title": "X"}]}\n```\n'
    assert ids(read_plan(text, "p.md")) == ["x"]


def test_invalid_json_in_a_block_of_phases_is_a_warning_and_headings_are_read() -> None:
    text = '## Phase 1: x\n\n```json\n{"phases": [\n  {"id": "a", "title": "A",}\n]}\n```\n'
    reading = read_plan(text, "p.md")
    assert reading.reading == "headings"
    (finding,) = reading.findings
    assert (finding.code, finding.severity) == ("plan-json", "warning")
    assert finding.place == Place("p.md", 5, 27)


def test_a_block_of_phases_over_the_size_limit_is_a_warning_at_its_first_line() -> None:
    text = '```json\n{"phases": [' + " " * (1 << 20) + "]}\n```"
    reading = read_plan(text, "p.md")
    assert codes(reading) == ["plan-json", "single-phase"]
    assert reading.findings[0].place == Place("p.md", 2, 0)


@pytest.mark.parametrize(
    "block",
    [
        '{"phases": []}',
        '{"phases": {"id": "a", "title": "b"}}',
        '{"phases": [{"id": "a", "name": "b"}, 1]}',
        '{"phases": [{"id": "", "title": "b"}]}',
        '[{"phases": 1}]',
    ],
)
def test_a_block_with_other_phases_is_noted_and_not_taken(block: str) -> None:
    reading = read_plan(f"## Phase 1: x\n```json\n{block}\n```\n", "p.md")
    assert (reading.reading, codes(reading)) == ("headings", ["plan-json"])
    assert reading.findings[0].severity == "note"


def test_items_without_id_and_title_are_left_out_with_a_warning() -> None:
    reading = read_plan('```\n{"phases": [{"id": "a", "title": "A"},\n 7]}\n```', "p.md")
    assert ids(reading) == ["a"]
    assert reading.findings[0].place == Place("p.md", 3, 1)


def test_ids_that_are_not_safe_become_safe_and_doubles_unique() -> None:
    items = ["ok-1.a", "a/../b", "..", "é", "ok-1.a", "x" * 80]
    listed = ", ".join(f'{{"id": "{item}", "title": "T"}}' for item in items)
    reading = read_plan(f'```json\n{{"phases": [{listed}]}}\n```', "p.md")
    assert ids(reading) == ["ok-1.a", "a_.._b", "phase_3", "phase_4", "ok-1.a_2", "x" * 64]
    assert codes(reading) == ["plan-id"] * 3 + ["plan-duplicate", "plan-id"]


def test_a_made_up_unique_id_never_meets_a_written_one() -> None:
    items = ["a", "a_2", "a", "a"]
    listed = ", ".join(f'{{"id": "{item}", "title": "T"}}' for item in items)
    reading = read_plan(f'```json\n{{"phases": [{listed}]}}\n```', "p.md")
    assert ids(reading) == ["a", "a_2", "a_3", "a_4"]


BLOCKS = [
    "```json\n",
    "```\n",
    "~~~\n",
    '{"phases": [{"id": "a", "title": "b"}]}\n',
    '{"phases": [',
]
PROSE = [
    "## Phase 1: a\n",
    "### Phase 2 - b\n",
    "# T\n",
    "===\n",
    "---\n",
    "- x\n",
    "  - y\n",
    "t\n",
]
ODDITIES = ["<!--", "-->", "\r\n", "\t", "\ufeff", "> q\n", "\n", "\ud800", '"id": ', "}\n", "]\n"]
PIECES = st.sampled_from([*BLOCKS, *PROSE, *ODDITIES])


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
@example("## Phase \u0661: a\n")
@example("## Phase 999999: a\n")
def test_any_plan_gives_at_least_one_phase_with_unique_safe_ids(text: str) -> None:
    reading = read_plan(text, "p.md")
    assert reading.phases
    assert len(set(ids(reading))) == len(reading.phases)
    assert all(phase.title for phase in reading.phases)
    assert all(set(id_) <= SAFE and id_.strip(".") for id_ in ids(reading))


SAFE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def test_a_plan_of_many_thousand_phases_is_read_in_linear_time() -> None:
    reading = read_plan("## Phase 1: a\ntext\n" * 30_000, "p.md")
    assert len(reading.phases) == 30_000
