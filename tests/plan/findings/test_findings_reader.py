"""Files of findings: read with places, written for every reader, changed line by line."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from porch.errors import DefinitionError, UsageError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.findings import approach_answers as answers
from porch.plan.findings import (
    approach_list_reader,
    design_manifest,
    findings_edit,
    findings_reader,
)
from porch.plan.findings import approaches as model
from porch.plan.findings.findings_reader import Approach, Findings, SpecialistQuestion

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\n\r #:-|'\"~"), max_size=25)
ASKED = st.lists(st.builds(SpecialistQuestion, TEXTS, TEXTS), max_size=2).map(tuple)
EXTRAS = st.dictionaries(
    st.sampled_from(["rank", "x y", "on", "<"]),
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS | st.lists(TEXTS, max_size=2),
    max_size=2,
)
APPROACHES = st.builds(
    Approach,
    number=st.integers(1, 4),
    variant=st.sampled_from(["", "A", "N", "Y"]),
    description=TEXTS,
    relevant_files=st.lists(TEXTS, max_size=2).map(tuple),
    questions=ASKED,
    answers=ASKED,
    user_requested_changes=TEXTS,
    detail=TEXTS,
    extra=EXTRAS,
)


def without_clashes(found: list[Approach]) -> tuple[Approach, ...]:
    kept: dict[PromptId, Approach] = {}
    for each in found:
        if model.find_number_clash(kept, each.id) is None:
            kept[each.id] = each
    return model.sort_approaches(kept.values())


FINDINGS = st.builds(
    Findings,
    specialist=st.just("web"),
    notes=TEXTS,
    approaches=st.lists(APPROACHES, max_size=4).map(without_clashes),
    extra=EXTRAS,
)


@given(FINDINGS)
def test_what_is_written_is_read(whole: Findings) -> None:
    text = findings_reader.render_findings(whole)
    assert findings_reader.read_findings(text, "findings/web.yaml") == whole
    assert yaml.safe_load(text)["notes"] == whole.notes


@given(FINDINGS, FINDINGS)
def test_a_changed_file_says_what_was_wanted(old: Findings, new: Findings) -> None:
    text = findings_reader.render_findings(old)
    result = findings_edit.render_changed_findings(text, "web.yaml", new)
    assert findings_reader.read_findings(result, "web.yaml") == new
    assert findings_edit.render_changed_findings(result, "web.yaml", new) == result


FILE = """\
# of the wéb team 😀
specialist_name: web
rank: 0073   # ours
notes: yes   # all of it
approaches:
  # about one
  - number: 1
    variant: A
    # the shortest
    description: a
    weight: 1.10
    required_clarifying_questions:
      - question: Why?
        answer: no
      - How?
    # still of 1_A
  # about the other
  - number: 1
    variant: B   # b
    description: |
      b

    user_addressed_questions:
      - {question: When?, answer: 12:30}

  # about three
  - number: 3
    variant: ~
    relevant_files: [a.py]
# the end
after: 1
"""


def test_a_file_that_people_wrote_is_read_as_they_meant_it() -> None:
    assert findings_reader.read_findings(FILE, "p/findings/web.yaml") == Findings(
        "web",
        "yes",
        (
            Approach(
                1,
                "A",
                "a",
                questions=(SpecialistQuestion("Why?", "no"), SpecialistQuestion("How?")),
                extra={"weight": 1.1},
            ),
            Approach(1, "B", "b\n", answers=(SpecialistQuestion("When?", "12:30"),)),
            Approach(3, relevant_files=("a.py",)),
        ),
        {"rank": "0073", "after": 1},
    )


def test_where_a_text_is_wanted_everything_is_text() -> None:
    text = "notes: True\napproaches:\n- {number: 1, description: 1.10, approach_detail: }\n"
    read = findings_reader.read_findings(text, "web.yaml")
    assert read == Findings("web", "true", (Approach(1, description="1.10"),))


def change(new: Findings) -> str:
    return findings_edit.render_changed_findings(FILE, "web.yaml", new)


KNOWN = findings_reader.read_findings(FILE, "web.yaml")


def test_what_is_said_already_is_not_written_again() -> None:
    assert change(KNOWN) == FILE


def test_other_notes_touch_one_line() -> None:
    assert change(model.with_notes(KNOWN, "no\nmore")) == FILE.replace(
        "notes: yes   # all of it\n", "notes: |-\n  no\n  more\n"
    )


def test_a_cleared_approach_takes_its_comments_along_and_no_others() -> None:
    assert change(model.without_approach(KNOWN, PromptId(1, "A"))) == FILE.replace(
        FILE[FILE.index("  # about one") : FILE.index("  # about the other")], ""
    )
    assert change(model.without_approach(KNOWN, PromptId(3))) == FILE.replace(
        FILE[FILE.index("\n  # about three") : FILE.index("# the end")], ""
    )


def test_a_new_approach_goes_to_its_place() -> None:
    result = change(model.with_approach(KNOWN, Approach(2, description="x")))
    at = FILE.index("\n  # about three")
    start, end = FILE[:at], FILE[at:]
    assert result.startswith(start + "  - number: 2\n    variant: null\n    description: x\n")
    assert result.endswith('    approach_detail: ""\n' + end)
    last = change(model.with_approach(KNOWN, Approach(9)))
    assert last.index("relevant_files: [a.py]\n  - number: 9\n") < last.index("# the end\nafter: 1")


def test_a_changed_approach_keeps_the_lines_that_did_not_change() -> None:
    new = replace(KNOWN.approaches[0], description="new", user_requested_changes="more")
    result = change(model.with_approach(KNOWN, new))
    assert result == FILE.replace("    description: a\n", "    description: new\n").replace(
        "      - How?\n", "      - How?\n    user_requested_changes: more\n"
    )


def test_a_gate_leaves_what_nobody_spoke_about() -> None:
    said: dict[str, Any] = {"web_3": {"user_required_changes": "x"}, "web_1_A": {"rejected": True}}
    (new,) = answers.apply_feedback([KNOWN], said).findings
    result = change(new)
    assert findings_reader.read_findings(result, "web.yaml") == new
    for line in ("# of the wéb team 😀", "rank: 0073   # ours", "# about three", "# the end"):
        assert line in result
    assert "1_A" not in result


@pytest.mark.parametrize(
    "text",
    [
        "{specialist_name: web, approaches: [{number: 1}]}\n",
        "approaches: [{number: 1}]\n",
        "approaches:\n- {number: 1}\n",
        "approaches:\n-\n  number: 1\n",
        "approaches:\n- number: 1\n  variant: null",
        "approaches:\n- number: 1\nnotes: |\n  no line end",
        "approaches:\n- number: 1\n  approach_detail: |\n    no line end",
        "notes: x\n",
        "approaches:\n",
        "approaches: []\n# end",
        "notes: x\r\napproaches:\r\n- number: 1\r\n  description: |\r\n    a\r\n    b\r\n",
        "\ufeffapproaches:\n- number: 3\n- number: 1\n",
    ],
)
def test_however_a_file_is_written_the_change_is_what_it_says_afterwards(text: str) -> None:
    known = findings_reader.read_findings(text, "web.yaml")
    for new in (
        model.with_approach(known, Approach(2, detail="d\n")),
        model.with_approach(known, Approach(1, description="e")),
        model.with_notes(known, "n"),
        replace(known, approaches=()),
    ):
        result = findings_edit.render_changed_findings(text, "web.yaml", new)
        assert findings_reader.read_findings(result, "web.yaml") == new


@pytest.mark.parametrize(
    "text, code, line",
    [
        ("notes: [\n", "yaml-syntax", 2),
        ("- a\n", "wrong-type", 1),
        ("notes: [a]\n", "wrong-type", 1),
        ("specialist_name: other\n", "wrong-specialist", 1),
        ("approaches: 1\n", "wrong-type", 1),
        ("approaches:\n- 1\n", "wrong-type", 2),
        ("approaches:\n- description: x\n", "invalid-number", 2),
        ("approaches:\n- number: 0\n", "wrong-type", 2),
        ("approaches:\n- number: 1000000\n", "invalid-number", 2),
        ("approaches:\n- number: 1\n  variant: AB\n", "invalid-variant", 3),
        ("approaches:\n- number: 1\n  variant: b\n", "invalid-variant", 3),
        ("approaches:\n- number: 1\n  user_addressed_questions: [[]]\n", "wrong-type", 3),
        ("approaches:\n- number: 1\n  user_addressed_questions: [{a: b}]\n", "unknown-key", 3),
        ("approaches:\n- number: 1\n- number: 1\n", "duplicate-approach", 3),
        ("approaches:\n- number: 1\n- {number: 1, variant: A}\n", "standalone-exists", 3),
        ("approaches:\n- {number: 1, variant: A}\n- number: 1\n", "variants-exist", 3),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(text: str, code: str, line: int) -> None:
    for act in (
        lambda: findings_reader.read_findings(text, "p/web.yaml"),
        lambda: findings_edit.render_changed_findings(text, "p/web.yaml", Findings("web")),
    ):
        with pytest.raises(DefinitionError) as caught:
            act()
        finding = caught.value.findings[0]
        assert finding.code == code
        assert finding.place is not None
        assert (finding.place.file, finding.place.line) == ("p/web.yaml", line)
        assert finding.place.column


def clean(path: str) -> str:
    if path.startswith("/"):
        raise UsageError(f"{path} is not inside", "stay inside", code="bad-path")
    return path.removeprefix("./")


def test_a_list_is_read_in_the_words_of_the_command() -> None:
    items: list[dict[str, Any]] = [
        {"number": 2, "description": "b", "variant": None},
        {
            "number": 1,
            "variant": "b",
            "description": "a",
            "context": "c",
            "relevant_files": ["./x", "x", "y"],
            "questions": ["Why?", {"question": "How?", "answer": "not yours to say"}],
        },
    ]
    asked = (SpecialistQuestion("Why?"), SpecialistQuestion("How?"))
    assert approach_list_reader.read_approach_list(json.dumps(items), clean) == (
        Approach(1, "B", "a", ("x", "y"), asked, detail="c"),
        Approach(2, description="b"),
    )
    assert approach_list_reader.read_approach_list("[]", clean) == ()


@pytest.mark.parametrize("text", ["", "[", "{}", "1", '["\\ud800"]', "[1,]"])
def test_a_list_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        approach_list_reader.read_approach_list(text, clean)
    assert caught.value.findings[0].code in ("invalid-json", "wrong-type")


def test_every_wrong_item_of_a_list_is_named_by_its_index() -> None:
    items: list[Any] = [
        {"number": 1, "description": "fine"},
        7,
        {"description": "x"},
        {"number": "1", "description": " "},
        {"number": 4, "variant": "AB", "description": "x", "contxt": "y"},
        {"number": 5, "description": "x", "relevant_files": ["/etc", "a"], "questions": [1]},
        {"number": 6, "description": "x", "questions": [{"q": "y"}, ""]},
        {"number": 1, "variant": "A", "description": "x"},
        {"number": 1, "description": "x"},
    ]
    with pytest.raises(DefinitionError) as caught:
        approach_list_reader.read_approach_list(json.dumps(items), clean)
    told = [(found.code, found.message.partition(":")[0]) for found in caught.value.findings]
    assert told == [
        ("wrong-type", "approaches[1]"),
        ("invalid-number", "approaches[2]"),
        ("wrong-type", "approaches[3]"),
        ("missing-key", "approaches[3]"),
        ("invalid-variant", "approaches[4]"),
        ("unknown-key", "approaches[4]"),
        ("bad-path", "approaches[5]"),
        ("wrong-type", "approaches[5]"),
        ("wrong-type", "approaches[6]"),
        ("wrong-type", "approaches[6]"),
        ("standalone-exists", "approaches[7]"),
        ("duplicate-approach", "approaches[8]"),
    ]


@pytest.mark.req("E-059")
def test_a_manifest_lists_pictures_with_what_they_show() -> None:
    text = "designs:\n- screenshot_file_name: a.png\n  description: Login\n  size: 3\n"
    text += "- {screenshot_file_name: sub/b..c.png}\n"
    found = design_manifest.read_manifest(text, "m.yaml")
    assert [astuple(each) for each in found] == [("a.png", "Login"), ("sub/b..c.png", "")]
    assert design_manifest.read_manifest("designs:\n", "m.yaml") == ()


@pytest.mark.parametrize(
    "name", ["../a.png", "/a.png", "a/../../b", "~/a.png", "C:/a", "..\\a", '"a\\0b"', '"a\\nb"']
)
def test_a_picture_outside_the_directory_is_refused(name: str) -> None:
    text = f"designs:\n- screenshot_file_name: {name}\n- 1\n"
    with pytest.raises(DefinitionError) as caught:
        design_manifest.read_manifest(text, "m.yaml")
    assert [found.code for found in caught.value.findings] == ["bad-path", "wrong-type"]
    assert str(caught.value.findings[0].place) == "m.yaml:2:25"


def test_a_manifest_that_is_none_is_refused() -> None:
    with pytest.raises(DefinitionError):
        design_manifest.read_manifest("- a\n", "m.yaml")
