"""Every row of the table of inheritance: replace, append, insert, inherit, and what fails."""

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from porch.dialects.steps.extends import follow_extends
from porch.dialects.steps.file_records import StepProtocol
from porch.errors import DefinitionError, Finding, Place
from porch.text.formats import read_yaml
from porch.text.nodes import Node

if TYPE_CHECKING:
    from tests.dialects.steps.conftest import Merge

SIX = "".join(f"{n}: step {n} of a\n" for n in range(1, 8))


def sources(steps: StepProtocol) -> list[str]:
    return [step.source for step in steps.steps]


def texts(steps: StepProtocol) -> list[str]:
    return [step.text for step in steps.steps]


def only(findings: tuple[Finding, ...]) -> Finding:
    (finding,) = findings
    return finding


@pytest.mark.req("E-001")
def test_a_protocol_replaces_appends_and_inserts_in_what_it_extends(steps: "Merge") -> None:
    found = steps("1: one\n2: two\n3: three", "1: other\n2+: more\n2.1: between").demand()
    assert [(step.number, step.source, step.text) for step in found.steps] == [
        (1, "1", "other"), (2, "2", "two\nmore"), (3, "2.1", "between"), (4, "3", "three"),
    ]  # fmt: skip


@pytest.mark.req("E-011")
def test_6_10_comes_after_6_9_and_before_7(steps: "Merge") -> None:
    found = steps(SIX, '"6.10": ten\n6.9: nine\n6.2: two\n6.1: one').demand()
    assert sources(found)[5:] == ["6", "6.1", "6.2", "6.9", "6.10", "7"]
    assert [step.number for step in found.steps] == list(range(1, 12))


def test_unquoted_6_10_is_not_6_1(steps: "Merge") -> None:
    found = steps("6: six\n6.1: one\n6.10: ten").demand()
    assert sources(found) == ["6", "6.1", "6.10"]


@pytest.mark.parametrize(
    "key", ["1e1", "0x3", "010", "1_0", '"1:30"', "one", "-1", "1.", "~", "on"]
)
def test_only_plain_numbers_are_keys(steps: "Merge", key: str) -> None:
    chain = steps(f"1: one\n{key}: other")
    found = only(chain.findings)
    assert (found.code, str(found.place)) == ("bad-step-key", "protocols/a.yaml:5:3")
    assert chain.steps is None


@pytest.mark.parametrize("key", ["2.0", '"2.0"', '"02"', "0", "0.1", "1.00"])
def test_zeros_in_a_key_are_refused(steps: "Merge", key: str) -> None:
    found = only(steps(f"1: one\n{key}: other").findings)
    assert (found.code, str(found.place)) == ("bad-step-key", "protocols/a.yaml:5:3")
    assert found.fix.startswith("did you mean")


@pytest.mark.parametrize("key", ["9+", "2.1+", "1.1.1+"])
def test_a_missing_target_of_an_append_is_an_error_that_names_the_steps(
    steps: "Merge", key: str
) -> None:
    chain = steps("1: one\n2: two\n2.2: more", f"{key}: behind it")
    found = only(chain.findings)
    assert (found.code, str(found.place)) == ("append-target-missing", "protocols/b.yaml:4:3")
    assert f"b:{key}" in found.message
    assert "1, 2, 2.2" in found.fix
    with pytest.raises(DefinitionError):
        chain.demand()


@pytest.mark.parametrize("key, at", [("9+", 2), ("1.1+", 1)])
def test_lenient_makes_the_missing_target_and_warns(steps: "Merge", key: str, at: int) -> None:
    chain = steps("1: one\n2: two", f"{key}: behind it", f"{key}: and more", lenient=True)
    found = only(chain.findings)
    assert (found.code, found.severity) == ("append-target-missing", "warning")
    made = chain.demand().steps[at]
    assert (made.text, made.operation) == ("behind it\nand more", "insert")


@pytest.mark.req("E-010")
def test_an_append_goes_behind_the_inherited_text(steps: "Merge") -> None:
    found = steps("1: |\n  one\n  \n2: two", "1+: |\n  * more").demand()
    assert texts(found) == ["one\n* more", "two"]
    assert str(found.steps[0].pieces[1]) == "b:1+"


def test_2_1_plus_appends_to_2_1(steps: "Merge") -> None:
    found = steps("2: two\n2.1: sub", "2.1+: more").demand()
    assert texts(found) == ["two", "sub\nmore"]


def test_an_append_may_stand_in_the_file_of_its_target(steps: "Merge") -> None:
    assert texts(steps("2+: more\n2: two").demand()) == ["two\nmore"]


def test_an_append_without_target_in_a_protocol_that_extends_nothing(steps: "Merge") -> None:
    assert only(steps("1: one\n2+: more").findings).code == "append-target-missing"


@pytest.mark.parametrize("lines", [("2: new", "2+: more"), ("2+: more", "2: new")])
def test_replace_comes_before_append_whatever_the_file_says_first(
    steps: "Merge", lines: tuple[str, str]
) -> None:
    assert texts(steps("2: old", "\n".join(lines)).demand()) == ["new\nmore"]


def test_appends_of_several_levels_come_base_first(steps: "Merge") -> None:
    found = steps("2: a", "2+: b", "2+: c", "2+: d").demand()
    assert texts(found) == ["a\nb\nc\nd"]


def test_a_replacement_takes_earlier_appends_with_it(steps: "Merge") -> None:
    assert texts(steps("2: a", "2+: b", "2: c", "2+: d").demand()) == ["c\nd"]


def test_an_append_below_its_target_is_an_error_even_if_a_later_file_makes_one(
    steps: "Merge",
) -> None:
    found = only(steps("1: one", "5+: too early", "5: five").findings)
    assert (found.code, str(found.place)) == ("append-target-missing", "protocols/b.yaml:4:3")


def test_2_2_1_stands_between_2_2_and_2_3(steps: "Merge") -> None:
    found = steps("2: a\n2.2: b\n2.3: c", "2.2.1: d\n2.2.1.1: e").demand()
    assert sources(found) == ["2", "2.2", "2.2.1", "2.2.1.1", "2.3"]


@pytest.mark.req("E-009")
def test_the_same_number_replaces_and_says_so(steps: "Merge") -> None:
    step = steps(SIX, "7: other").demand().steps[6]
    assert (step.text, step.origin, step.operation) == ("other", "b", "replace")
    assert [str(piece) for piece in step.replaces] == ["a:7"]


def test_a_grandchild_addresses_the_numbers_of_its_parent(steps: "Merge") -> None:
    found = steps(SIX, "6.1: inserted", "6.1: again\n6.1.1: deeper").demand()
    assert [(s.source, s.operation) for s in found.steps[5:8]] == [
        ("6", "define"), ("6.1", "replace"), ("6.1.1", "insert"),
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [1, 2])
def test_a_missing_base_is_an_error_with_the_chain(merge: "Merge", depth: int) -> None:
    files = {"a": "name: a\nextends: b\nsteps:\n  5+: x\n", "b": "name: b\nextends: c\n"}
    chain = merge(dict(list(files.items())[:depth]), "a")
    found = only(chain.findings)
    assert found.code == "base-not-found"
    assert ("a -> b", "a -> b -> c")[depth - 1] in found.message
    assert str(found.place) == f"protocols/{'ab'[depth - 1]}.yaml:2:10"


@pytest.mark.parametrize(
    "ways, told",
    [
        ("aa", "a -> a"),
        ("aba", "a -> b -> a"),
        ("abcb", "b -> c -> b"),
        ("abca", "a -> b -> c -> a"),
    ],
)
def test_a_circle_is_an_error_that_shows_the_way_round(
    merge: "Merge", ways: str, told: str
) -> None:
    files = {
        name: f"name: {name}\nextends: {base}\nsteps:\n  1: x\n" for name, base in pairwise(ways)
    }
    found = only(merge(files, "a").findings)
    assert found.code == "extends-cycle"
    assert found.message.endswith(f": {told}")
    assert found.place is not None
    assert found.place.line == 2


INPUTS = "inputs:\n  - {name: n, type: integer, description: which}\n"
OUTPUTS = "outputs:\n  - {value: done, description: it is done}\n"
BASE = f"name: a\ndescription: base\n{INPUTS}{OUTPUTS}steps:\n  1: one\n"


@pytest.mark.req("E-004")
def test_a_protocol_that_extends_nothing_stands_alone(merge: "Merge") -> None:
    chain = merge({"a": f"{BASE}extends: null\n"}, "a")
    assert (chain.demand().origins, len(chain.files)) == (("a",), 1)


@pytest.mark.parametrize("written", ["", "inputs:\n", "inputs: null\n", "inputs: ~\n"])
def test_absent_and_null_inputs_are_inherited(merge: "Merge", written: str) -> None:
    found = merge({"a": BASE, "b": f"name: b\nextends: a\n{written}"}, "b").demand()
    assert [each.name for each in found.inputs] == ["n"]


def test_an_empty_list_of_inputs_means_none(merge: "Merge") -> None:
    assert merge({"a": BASE, "b": "name: b\nextends: a\ninputs: []\n"}, "b").demand().inputs == ()


@pytest.mark.parametrize("written", ["", "outputs:\n", "outputs: null\n", "outputs: []\n"])
def test_absent_null_and_empty_outputs_are_inherited(merge: "Merge", written: str) -> None:
    found = merge({"a": BASE, "b": f"name: b\nextends: a\n{written}"}, "b").demand()
    assert [each.value for each in found.outputs] == ["done"]


def test_lists_are_replaced_whole(merge: "Merge") -> None:
    other = "name: b\nextends: a\ninputs: [{name: m, type: string}]\noutputs: [{value: x}]\n"
    found = merge({"a": BASE, "b": other}, "b").demand()
    assert [each.name for each in found.inputs] == ["m"]
    assert [each.value for each in found.outputs] == ["x"]


@pytest.mark.parametrize("written", ["", "steps:\n", "steps: {}\n", "steps: null\n"])
def test_without_steps_all_are_inherited(merge: "Merge", written: str) -> None:
    found = merge({"a": BASE, "b": f"name: b\nextends: a\n{written}"}, "b").demand()
    assert (found.name, found.description, texts(found)) == ("b", "base", ["one"])


@pytest.mark.parametrize("written", ["", "steps:\n", "steps: {}\n"])
def test_without_steps_and_base_there_is_nothing(merge: "Merge", written: str) -> None:
    found = only(merge({"a": f"name: a\n{written}"}, "a").findings)
    assert found.code == "missing-key"


@pytest.mark.parametrize("value", ["", "null", "~"])
def test_a_step_cannot_be_null(steps: "Merge", value: str) -> None:
    found = only(steps("1: one\n2: two", f"2: {value}").findings)
    assert (found.code, found.place and found.place.line) == ("bad-step", 4)
    assert "null" in found.fix


@pytest.mark.parametrize("value", ["42", "6.10", "true", "0073", "1e3", "2026-01-01", "yes"])
def test_a_step_that_is_no_text_is_taken_as_it_is_written(steps: "Merge", value: str) -> None:
    assert texts(steps(f"1: {value}").demand()) == [value]


@pytest.mark.parametrize(
    "value, code",
    [("[a, b]", "bad-step"), ("{text: a, or: b}", "unknown-key"), ('" "', "bad-step")],
)
def test_lists_maps_and_blanks_are_no_steps(steps: "Merge", value: str, code: str) -> None:
    assert only(steps(f"1: {value}").findings).code == code


def test_steps_as_a_list_are_refused_with_a_hint(merge: "Merge") -> None:
    found = only(merge({"a": "name: a\nsteps:\n  - one\n  - two\n"}, "a").findings)
    assert (found.code, str(found.place)) == ("wrong-type", "protocols/a.yaml:3:3")
    assert "1:" in found.fix


def test_broken_yaml_is_an_error_with_its_line(merge: "Merge") -> None:
    files = {"a": "name: a\nextends: b\n", "b": "name: b\nsteps:\n  1: [\n"}
    found = only(merge(files, "a").findings)
    assert found.code == "yaml-syntax"
    assert found.place is not None
    assert found.place.file == "protocols/b.yaml"


@pytest.mark.parametrize("again", ["2", '"2"', "'2'"])
def test_duplicate_keys_are_an_error_with_both_lines(steps: "Merge", again: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        steps(f"1: one\n2: two\n{again}: other")
    found = only(tuple(refused.value.findings))
    assert (found.code, str(found.place)) == ("duplicate-key", "protocols/a.yaml:6:3")
    assert "line 5" in found.message


def test_findings_of_all_files_are_told_at_once(merge: "Merge") -> None:
    files = {
        "c": "name: c\nextends: b\nsteps: {x: 1}\n",
        "b": "name: b\nextends: a\nstepz: {}\n",
        "a": "name: a\nsteps: {1: [], 2: ok}\n",
    }
    codes = [finding.code for finding in merge(files, "c").findings]
    assert codes == ["bad-step-key", "unknown-key", "bad-step"]


def test_n8_a_hidden_file_that_cannot_be_read_is_told_and_is_no_circle() -> None:
    wrong = Finding("yaml-syntax", "not YAML", Place("packaged/a.yaml", 1, 1))

    def fetch(_: str) -> Node | None:
        raise DefinitionError([wrong])

    root = read_yaml("name: a\nextends: a\nsteps:\n  1: one\n", "protocols/a.yaml")
    assert follow_extends(root, fetch).findings == (wrong,)
