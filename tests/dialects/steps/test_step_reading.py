"""One file of steps: its schema, and every slip with its place."""

from typing import TYPE_CHECKING

import pytest

from porch.model.parameters import Parameter

if TYPE_CHECKING:
    from tests.dialects.steps.conftest import Merge

HEAD = "name: a\n"
STEPS = "steps:\n  1: one\n"


@pytest.mark.req("E-003", "E-005", "E-007")
def test_all_keys_of_the_schema_are_read(merge: "Merge") -> None:
    text = """\
name: a
description: what it is for
extends: null
inputs:
  - name: n
    type: integer
    optional: false
    description: which
  - {name: refs, type: array, optional: true}
outputs:
  - value: "{ success: true }"
    description: it worked
steps:
  1: one
"""
    found = merge({"a": text}, "a").demand()
    assert found.description == "what it is for"
    assert found.inputs == (
        Parameter("n", "integer", False, "which"),
        Parameter("refs", "array", True),
    )
    assert [(o.value, o.description) for o in found.outputs] == [("{ success: true }", "it worked")]


@pytest.mark.req("E-008")
def test_the_text_of_a_step_is_kept_whole(merge: "Merge") -> None:
    body = (
        "A `line` \u00e9\n* a bullet\n    * deeper\n\n```\ncode  \n\n  more\n```\n\n1. one\n2. two"
    )
    indented = "".join(f"    {line}\n" if line else "\n" for line in body.split("\n"))
    found = merge({"a": f"name: a\nsteps:\n  1: |\n{indented}"}, "a").demand()
    assert found.steps[0].text == body


@pytest.mark.parametrize(
    "text, code, place",
    [
        ("[]\n", "wrong-type", "1:1"),
        (f"name: b\n{STEPS}", "name-differs", "1:7"),
        (STEPS, "missing-key", "1:1"),
        (f"{HEAD}extend: b\n{STEPS}", "unknown-key", "2:1"),
        (f"{HEAD}extends: ../b\n{STEPS}", "invalid-name", "2:10"),
        (f"{HEAD}extends: [b]\n{STEPS}", "wrong-type", "2:10"),
        (f"{HEAD}inputs: n\n{STEPS}", "wrong-type", "2:9"),
        (f"{HEAD}inputs: [n]\n{STEPS}", "wrong-type", "2:10"),
        (f"{HEAD}inputs: [{{name: n}}]\n{STEPS}", "missing-key", "2:10"),
        (f"{HEAD}inputs: [{{name: n, type: text}}]\n{STEPS}", "unknown-input-type", "2:26"),
        (f"{HEAD}inputs: [{{name: n, type: intger}}]\n{STEPS}", "unknown-input-type", "2:26"),
        (f"{HEAD}inputs: [{{name: n m, type: array}}]\n{STEPS}", "bad-input-name", "2:17"),
        (f"{HEAD}inputs: [{{name: n, type: array, optional: 1}}]\n{STEPS}", "wrong-type", "2:43"),
        (f"{HEAD}inputs: [{{name: n, type: array, default: 1}}]\n{STEPS}", "unknown-key", "2:33"),
        (f"{HEAD}outputs: [x]\n{STEPS}", "wrong-type", "2:11"),
        (f"{HEAD}outputs: [{{value: {{a: b}}}}]\n{STEPS}", "wrong-type", "2:19"),
        (f"{HEAD}outputs: [{{description: x}}]\n{STEPS}", "missing-key", "2:11"),
        (f"{HEAD}outputs: [{{value: x, about: file}}]\n{STEPS}", "wrong-value", "2:29"),
        (f"{HEAD}steps: text\n", "wrong-type", "2:8"),
        (f"{HEAD}steps: {{1: {{id: x}}}}\n", "missing-key", "2:12"),
        (f"{HEAD}steps: {{1: {{id: X y, text: one}}}}\n", "bad-step-id", "2:17"),
        (f"{HEAD}steps: {{1: one, 1+: {{id: x, text: two}}}}\n", "bad-step-id", "2:26"),
    ],
)
def test_a_slip_is_one_finding_at_its_place(
    merge: "Merge", text: str, code: str, place: str
) -> None:
    chain = merge({"a": text, "b": f"name: b\n{STEPS}"}, "a")
    found = [(finding.code, str(finding.place)) for finding in chain.findings]
    assert found == [(code, f"protocols/a.yaml:{place}")]
    assert chain.steps is None


@pytest.mark.parametrize(
    "line, meant", [("stepz: {}", "steps"), ("inputs: [{name: n, type: strnig}]", "string")]
)
def test_a_slip_of_the_pen_is_told_what_was_meant(merge: "Merge", line: str, meant: str) -> None:
    files = {"a": f"name: a\nextends: b\n{line}\n", "b": f"name: b\n{STEPS}"}
    assert [f.fix for f in merge(files, "a").findings] == [f"did you mean '{meant}'?"]


def test_an_input_is_declared_once(merge: "Merge") -> None:
    twice = "inputs: [{name: n, type: array}, {name: n, type: string}]\n"
    (found,) = merge({"a": f"{HEAD}{twice}{STEPS}"}, "a").findings
    assert (found.code, str(found.place)) == ("duplicate-input", "protocols/a.yaml:2:34")


def test_the_name_of_a_base_file_must_be_its_own(merge: "Merge") -> None:
    files = {"a": "name: a\nextends: b\n", "b": f"name: c\n{STEPS}"}
    (found,) = merge(files, "a").findings
    assert (found.code, str(found.place)) == ("name-differs", "protocols/b.yaml:1:7")


def test_a_base_that_is_no_mapping_is_a_finding(merge: "Merge") -> None:
    (found,) = merge({"a": "name: a\nextends: b\n", "b": "- x\n"}, "a").findings
    assert (found.code, str(found.place)) == ("wrong-type", "protocols/b.yaml:1:1")


def test_ids_survive_insertion_and_replacement(merge: "Merge") -> None:
    files = {
        "a": "name: a\nsteps: {1: one, 2: {id: fix, text: two}}\n",
        "b": "name: b\nextends: a\nsteps: {1.1: new, 2: {id: mend, text: other}}\n",
        "c": "name: c\nextends: b\nsteps: {2: third, 2+: more}\n",
    }
    found = merge(files, "c").demand()
    assert [step.ids for step in found.steps] == [(), (), ("fix", "mend")]
    assert found.called("fix") is found.called("mend") is found.steps[2]


@pytest.mark.parametrize("upper", ["1: {id: fix, text: x}", "1.1: {id: fix, text: x}"])
def test_an_id_names_one_step(merge: "Merge", upper: str) -> None:
    files = {
        "a": "name: a\nsteps: {1: one, 2: {id: fix, text: two}}\n",
        "b": f"name: b\nextends: a\nsteps:\n  {upper}\n",
    }
    (found,) = merge(files, "b").findings
    assert found.code == "duplicate-step-id"
    assert "protocols/a.yaml:2" in found.message
    assert found.place is not None
    assert (found.place.file, found.place.line) == ("protocols/b.yaml", 4)
