"""Walkthroughs as agents write them: every word has a field, and none is lost."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.errors import DefinitionError
from porch.plan.prompts import walkthrough_reader as told
from porch.plan.prompts.walkthrough_reader import (
    Walkthrough,
    WalkthroughChange,
    WalkthroughDecision,
    read_walkthrough_text,
    walkthrough_fields,
)

WHOLE = """\
### Iteration 2
**Type**: testing-refinement
**Refinement Context**: the user saw an empty list
after a second login

#### Approach
The list is loaded once more.

It was read from a stale cache.

#### Changes Made
- `src/list.py`: drops the cache
  when the user changes
- `tests/test_list.py`: logs in twice

#### Key Decisions
- No cache at all: it saved three milliseconds
- Read in `__init__: once`: every other place knows too little
"""


def test_the_form_is_read_whole() -> None:
    assert read_walkthrough_text(WHOLE) == Walkthrough(
        type="testing-refinement",
        refinement_reason="the user saw an empty list\nafter a second login",
        approach="The list is loaded once more.\n\nIt was read from a stale cache.",
        changes=(
            WalkthroughChange("src/list.py", "drops the cache\nwhen the user changes"),
            WalkthroughChange("tests/test_list.py", "logs in twice"),
        ),
        decisions=(
            WalkthroughDecision("No cache at all", "it saved three milliseconds"),
            WalkthroughDecision("Read in `__init__: once`", "every other place knows too little"),
        ),
        iteration=2,
    )


@pytest.mark.parametrize(
    "changed",
    [
        WHOLE.replace("#### ", "# ").replace("### ", "###### "),
        WHOLE.replace("\n- ", "\n* "),
        WHOLE.replace("\n- ", "\n1. "),
        WHOLE.replace("\n", "\r\n"),
        "\ufeff" + WHOLE,
        WHOLE.replace("#### Approach", "#### APPROACH:"),
        WHOLE.replace("#### Changes Made", "#### **changes made**"),
        WHOLE.replace("#### Changes Made", "**Changes:**\n"),
        WHOLE.replace("#### Key Decisions", "__Decisions__:"),
        WHOLE.replace("**Type**:", "Type:"),
        WHOLE.replace("**Type**:", "- **Type:**"),
        WHOLE.replace("testing-refinement", "Testing Refinement"),
        WHOLE.replace("testing-refinement", "`testing_refinement`"),
        WHOLE.replace("**Refinement Context**: the", "#### Refinement reason\n\nthe"),
        WHOLE.replace("**Refinement Context**: the", "**Refinement Context**:\n\nthe"),
        WHOLE.replace("- `src/list.py`:", "- **`src/list.py`**:"),
        WHOLE.replace("- `src/list.py`:", "- **src/list.py:**"),
        WHOLE.replace("- `src/list.py`:", "- src/list.py:"),
        WHOLE.replace("- `src/list.py`:", "- `src/list.py` \u2013"),
        WHOLE.replace("- No cache at all:", "- **No cache at all**:"),
        WHOLE.replace("- No cache at all:", "- **No cache at all:**"),
        WHOLE.replace("- No cache at all:", "- No cache at all \u2014"),
        WHOLE.replace("  when the", "when the"),
        WHOLE.replace("  when the", "\twhen the"),
    ],
)
def test_slips_of_the_form_change_nothing(changed: str) -> None:
    assert changed != WHOLE
    assert read_walkthrough_text(changed) == read_walkthrough_text(WHOLE)


@pytest.mark.parametrize(
    "text",
    [
        "I did it.",
        "two\n\nparagraphs: of text\n- and a `list.py`: of things",
        "{curly} things",
        "[1, 2]",
        "```\n{not json}\n```",
        "Type: none of them",
        "**Type**: initial and more",
        "**Note**: see below",
        "# Other\n\n## Title ##",
        "### Iteration two",
        "### Iteration 2: the retry",
        "> #### Approach\n> quoted",
        "    #### Approach",
        "<!-- #### Approach\n**Type**: initial -->\nx",
        "<!-- a --> **Type**: initial",
        "```\n#### Changes Made\n- `a.py`: x\n```",
        "```\n#### Changes Made\n- `a.py`: x",
    ],
)
def test_what_is_no_form_is_the_approach(text: str) -> None:
    assert read_walkthrough_text(text) == Walkthrough(approach=text)


@pytest.mark.parametrize("text", ["", "  \n\t\n", "### Iteration 1\n#### Approach\n"])
def test_nothing_told_is_nothing_read(text: str) -> None:
    assert replace(read_walkthrough_text(text), iteration=None) == Walkthrough()


CHANGES = "#### Changes Made\n"


@pytest.mark.parametrize(
    "line, files, description",
    [
        ("- `Makefile`", ["Makefile"], ""),
        ("- `a.py` (new): text", ["a.py"], "(new): text"),
        ("- `a.py`, `b.py` and `c.py`: text", ["a.py", "b.py", "c.py"], "text"),
        ("- `a.py`: one\n  - deeper `b.py`: two\n\n  still", ["a.py"],
         "one\n- deeper `b.py`: two\n\nstill"),
        ("- `a.py`: one\n```\n# Approach\n\ncode\n```", ["a.py"],
         "one\n```\n# Approach\n\ncode\n```"),
        ("- `a.py`: one\n\n      ```\n      deep\n      ```", ["a.py"], "one\n\n```\ndeep\n```"),
        ("- a/b c: text", [], ""),
        ("- Note: text", [], ""),
        ("- `a()` is gone", [], ""),
        ("- [ ] `a.py`: text", [], ""),
        ("-", [], ""),
        ("| a.py | text |", [], ""),
        ("some words before", [], ""),
    ],
)  # fmt: skip
def test_a_change_needs_a_file(line: str, files: list[str], description: str) -> None:
    found = read_walkthrough_text(CHANGES + line)
    assert [(each.file, each.description) for each in found.changes] == [
        (file, description) for file in files
    ]
    assert found.approach == ("" if files else line)


@pytest.mark.parametrize(
    "line, decision, rationale",
    [
        ("- only this", "only this", ""),
        ("- see http://x/y: there", "see http://x/y", "there"),
        ("- no split in a:b", "no split in a:b", ""),
        ("- ends with:\n  what follows", "ends with", "what follows"),
        ("- **a** and **b:** c", "**a** and **b:** c", ""),
    ],
)
def test_a_decision_ends_at_its_first_colon(line: str, decision: str, rationale: str) -> None:
    line_found = read_walkthrough_text(f"#### Key Decisions\n{line}").decisions
    assert line_found == (WalkthroughDecision(decision, rationale),)


def test_a_decision_without_words_is_kept_as_text() -> None:
    assert read_walkthrough_text("#### Key Decisions\n- : because").approach == "- : because"


def test_what_fits_nowhere_stands_in_the_approach_in_its_order() -> None:
    text = (
        "# Walkthrough\n\n### Iteration 1\n**Type**: initial\n**Type**: review-refinement\n"
        "#### Changes Made\nTwo files:\n- `a.py`: one\n\nand\n\n##### Others\n- `b.py`: two\n"
        "- everything else\n  too\n#### Risks\n- `c.py`: no change\n### Iteration 2\nmore\n"
    )
    found = read_walkthrough_text(text)
    assert [change.file for change in found.changes] == ["a.py", "b.py"]
    assert (found.type, found.iteration) == ("initial", 1)
    assert found.approach == (
        "# Walkthrough\n\n**Type**: review-refinement\n\nTwo files:\n\nand\n\n##### Others\n\n"
        "- everything else\n  too\n\n#### Risks\n- `c.py`: no change\n\n### Iteration 2\nmore"
    )


def test_two_reasons_are_both_kept() -> None:
    text = "**Refinement Context**: one\n\ntext\n**Refinement Context**: two\n"
    found = read_walkthrough_text(text)
    assert (found.refinement_reason, found.approach) == ("one\n\ntwo", "text")


OBJECT: dict[str, Any] = {
    "type": "initial",
    "approach": "by hand",
    "changes": [{"file": "a.py", "description": "new"}],
    "decisions": [{"decision": "one file", "rationale": "it is short"}],
}


@pytest.mark.parametrize(
    "form", ["{}", " \n{} ", "```json\n{}\n```", "~~~\r\n{}\n~~~\n", "```JSON\n{}\n```"]
)
def test_an_object_is_read_as_one(form: str) -> None:
    expected = Walkthrough(
        "initial",
        "",
        "by hand",
        (WalkthroughChange("a.py", "new"),),
        (WalkthroughDecision("one file", "it is short"),),
    )
    assert read_walkthrough_text(form.replace("{}", json.dumps(OBJECT, indent=1))) == expected


@pytest.mark.parametrize(
    "changes, code, place",
    [
        ({"aproach": ""}, "unknown-key", "2:"),
        ({"type": "other"}, "wrong-value", "2:"),
        ({"type": ["initial"]}, "wrong-type", "2:"),
        ({"changes": "a.py"}, "wrong-type", "2:"),
        ({"changes": ["a.py"]}, "wrong-type", "2:"),
        ({"changes": [{"path": "a.py", "file": "a.py"}]}, "unknown-key", "2:"),
        ({"decisions": [{"rationale": "x"}]}, "missing-key", "2:"),
        ({"iteration": 0}, "wrong-type", "2:"),
    ],
)
def test_what_has_no_place_in_an_object_is_a_finding(
    changes: dict[str, Any], code: str, place: str
) -> None:
    text = json.dumps(OBJECT | changes)
    for form in (f"\n{text}", f"```json\n{text}\n```"):
        with pytest.raises(DefinitionError) as caught:
            read_walkthrough_text(form)
        (finding,) = caught.value.findings
        assert finding.code == code
        assert str(finding.place).startswith(f"--walkthrough:{place}")


@pytest.mark.parametrize(
    "text, code",
    [
        ('{"approach": "x"', "json-syntax"),
        ('{"approach": "x", "approach": "y"}', "duplicate-key"),
        ("{}", "missing-key"),
        ('{"type": "initial", "approach": " "}', "missing-key"),
    ],
)
def test_an_object_that_cannot_be_kept_is_refused(text: str, code: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_walkthrough_text(text)
    assert [finding.code for finding in caught.value.findings] == [code]


@pytest.mark.req("E-029")
@pytest.mark.parametrize(
    "text, iteration, stored",
    [
        ("x", 1, "initial"),
        ("x", 2, "review-refinement"),
        ("**Refinement Context**: Review feedback: x\n", 2, "review-refinement"),
        ("**Refinement Context**: Testing feedback: x\n", 3, "testing-refinement"),
        ("**Type**: initial\n", 1, "initial"),
        ("**Type**: review-refinement\n", 2, "review-refinement"),
        ("**Type**: testing-refinement\n", 2, "testing-refinement"),
        ('{"type": "testing-refinement", "approach": "x"}', 2, "testing-refinement"),
    ],
)
def test_each_iteration_has_one_of_three_types(text: str, iteration: int, stored: str) -> None:
    assert walkthrough_fields(read_walkthrough_text(text), iteration)["type"] == stored
    assert told.WALKTHROUGH_TYPES == ("initial", "review-refinement", "testing-refinement")


def test_all_fields_are_there_when_empty() -> None:
    assert walkthrough_fields(Walkthrough(approach="x"), 1) == {
        "iteration": 1,
        "type": "initial",
        "refinement_reason": None,
        "approach": "x",
        "changes": [],
        "decisions": [],
    }


WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMED = WORDS.filter(str.strip)


@given(
    st.builds(
        Walkthrough,
        type=st.sampled_from(told.WALKTHROUGH_TYPES),
        refinement_reason=WORDS,
        approach=NAMED,
        changes=st.lists(st.builds(WalkthroughChange, NAMED, WORDS), max_size=3).map(tuple),
        decisions=st.lists(st.builds(WalkthroughDecision, NAMED, WORDS), max_size=3).map(tuple),
        iteration=st.integers(1, 99),
    )
)
def test_what_was_stored_can_be_given_again(walkthrough: Walkthrough) -> None:
    assert walkthrough.iteration is not None
    fields = walkthrough_fields(walkthrough, walkthrough.iteration)
    assert read_walkthrough_text(json.dumps(fields)) == walkthrough


PIECES = st.sampled_from(
    [
        "# ", "## ", "#### ", "- ", "* ", "1. ", "  ", "    ", "\t", "> ", "```", "~~~", "**", "__",
        "`", ": ", ":", "\u2014 ", ".py", "/", "<!--", "-->", ", ", " and ", "\\", "(", "[ ] ", "2",
        "Approach", "Changes Made", "Key Decisions", "Refinement Context", "Type", "Iteration ",
        "initial", "**Type**: ", "**Refinement Context**: ", "#### Changes Made\n",
        "#### Key Decisions\n", "#### Approach\n", "\n", "\n\n", "\r\n", "\n- `W`: W", "\n- W: W",
        "W ", "W", "W",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_no_word_is_lost_whatever_the_form(pieces: list[str]) -> None:
    text, count = "", 0
    for piece in pieces:
        for part in re.split("(W)", piece):
            text += f"w{count}w" if part == "W" else part
            count += part == "W"
    try:
        found = read_walkthrough_text(text)
    except DefinitionError:
        assert text.lstrip().startswith(("{", "`", "~"))
        return
    told_again = json.dumps(walkthrough_fields(found, 1))
    for number in range(count):
        assert f"w{number}w" in told_again, text


@given(st.text(st.characters(codec="utf-8", exclude_characters="{"), max_size=80))
def test_every_line_of_a_plain_text_is_found_as_it_was(text: str) -> None:
    approach = read_walkthrough_text(text).approach
    for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")):
        assert line.strip() in approach
