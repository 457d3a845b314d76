"""Typed reading of mappings: every complaint at its place, and reading goes on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.errors import Finding, Place
from porch.text.fields import Fields, describe_node
from porch.text.formats import MapNode, read_xml, read_yaml
from porch.text.nodes import make_node, plain_value


def fields(text: str) -> Fields:
    node = read_yaml(text, "p.yaml")
    assert isinstance(node, MapNode)
    return Fields(node, "the protocol", [])


def told(found: Fields) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in found.findings]


def test_values_of_the_right_type_are_given_without_complaint() -> None:
    found = fields("""
name: spider
id: 0073
version: 1.10
phased: true
rounds: 3
delay: 0.5
models: [gemini, 4]
one: alone
steps: [{a: 1}, x]
gate: {next: plan}
""")
    assert found.text("name") == "spider"
    assert found.text("id") == "0073"
    assert found.text("version") == "1.10"
    assert found.flag("phased") is True
    assert found.whole("rounds") == 3
    assert found.number("delay") == 0.5
    assert found.number("rounds") == 3.0
    assert found.list_of_text("models") == ("gemini", "4")
    assert found.list_of_text("one") == ("alone",)
    assert [describe_node(node) for node in found.list_of_nodes("steps")] == ["a mapping", "'x'"]
    gate = found.mapping("gate")
    assert gate is not None
    assert gate.required_text("next") == "plan"
    assert gate.what == "'gate' of the protocol"
    gate.done()
    found.done()
    assert found.findings == []


@pytest.mark.parametrize("text", ["{}", "{k: null}", "k:"])
def test_absent_and_null_values_give_the_default(text: str) -> None:
    found = fields(text)
    assert found.text("k", "d") == "d"
    assert found.text("k") == ""
    assert found.flag("k") is False
    assert found.flag("k", True) is True
    assert found.whole("k", 7) == 7
    assert found.number("k", 1.5) == 1.5
    assert found.list_of_text("k", ["a"]) == ("a",)
    assert found.list_of_nodes("k") == ()
    assert found.mapping("k") is None
    assert found.findings == []


def test_wrong_types_are_findings_at_the_value_and_give_the_default() -> None:
    found = fields(
        "text: [a]\nflag: on\nwhole: 1.5\nnumber: x\nlist: [a, {b: 1}]\nnodes: x\nmap: 1\n"
    )
    assert found.text("text", "d") == "d"
    assert found.flag("flag", True) is True
    assert found.whole("whole", 2) == 2
    assert found.number("number", 2.5) == 2.5
    assert found.list_of_text("list") == ("a",)
    assert found.list_of_nodes("nodes") == ()
    assert found.mapping("map") is None
    assert told(found) == [
        ("wrong-type", "'text' must be text, not a list"),
        ("wrong-type", "'flag' must be true or false, not 'on'"),
        ("wrong-type", "'whole' must be a whole number of at least 0, not '1.5'"),
        ("wrong-type", "'number' must be a number of at least 0, not 'x'"),
        ("wrong-type", "'list' must be a list of texts, not a mapping"),
        ("wrong-type", "'nodes' must be a list, not 'x'"),
        ("wrong-type", "'map' must be a mapping, not '1'"),
    ]
    assert [f.place for f in found.findings][:2] == [Place("p.yaml", 1, 7), Place("p.yaml", 2, 7)]
    assert found.findings[4].place == Place("p.yaml", 5, 11)


def test_a_list_is_no_flag_as_the_message_says() -> None:
    found = fields("phased: []")
    found.flag("phased")
    assert told(found) == [("wrong-type", "'phased' must be true or false, not a list")]


@pytest.mark.parametrize("text", ["-1", "0", "0073", "'3'", "true", "[]"])
def test_whole_numbers_below_the_least_and_texts_are_refused(text: str) -> None:
    found = fields(f"n: {text}")
    assert found.whole("n", 9, least=1) == 9
    assert len(found.findings) == 1


@pytest.mark.parametrize("text", ["-0.5", "1e999", "'1'", "false", "{}"])
def test_numbers_below_the_least_endless_ones_and_texts_are_refused(text: str) -> None:
    found = fields(f"n: {text}")
    assert found.number("n", 9.0) == 9.0
    assert len(found.findings) == 1


def test_a_bool_is_no_text_so_that_a_forgotten_quote_is_noticed() -> None:
    found = fields("name: true\nlist: [true, null]")
    assert found.text("name", "d") == "d"
    assert found.list_of_text("list") == ()
    assert [message for _, message in told(found)] == [
        "'name' must be text, not 'true'",
        "'list' must be a list of texts, not 'true'",
        "'list' must be a list of texts, not nothing",
    ]


@pytest.mark.req("F-003")
def test_a_missing_or_empty_required_text_is_a_finding_with_a_place() -> None:
    found = fields("phases: []\ntitle: ' '")
    assert found.required_text("name") == ""
    found.required_text("title")
    assert told(found) == [
        ("missing-key", "'name' of the protocol is missing"),
        ("missing-key", "'title' of the protocol is empty"),
    ]
    assert [f.place for f in found.findings] == [Place("p.yaml", 1, 1), Place("p.yaml", 2, 8)]


def test_a_required_text_of_the_wrong_type_is_one_finding_not_two() -> None:
    found = fields("name: []")
    found.required_text("name")
    assert [code for code, _ in told(found)] == ["wrong-type"]


def test_unknown_keys_are_findings_with_the_nearest_unused_key() -> None:
    found = fields("name: x\nfases: []\nnmae: y\nzzz: 1")
    found.text("name")
    found.child("phases")
    assert found.unknown_keys() == ("fases", "nmae", "zzz")
    found.done()
    assert [(f.code, f.fix) for f in found.findings] == [
        ("unknown-key", "did you mean 'phases'?"),
        ("unknown-key", "remove it"),
        ("unknown-key", "remove it"),
    ]
    assert found.findings[0].place == Place("p.yaml", 2, 1)
    assert found.findings[0].message == "unknown key 'fases' in the protocol"


def test_a_key_without_meaning_here_is_noted_only_where_it_is_written() -> None:
    found = fields("hooks: {}\nname: x")
    found.know("name")
    found.note("hooks", "hooks are not run here")
    found.note("alias", "aliases are not read here")
    found.done()
    assert found.findings == [
        Finding(
            "no-meaning",
            "'hooks': hooks are not run here",
            Place("p.yaml", 1, 1),
            "",
            "note",
        )
    ]


def test_keys_membership_child_and_place_show_what_is_written() -> None:
    found = fields("a: 1\nb: [x]")
    assert found.keys() == ("a", "b")
    assert "a" in found
    assert "c" not in found
    assert found.child("c") is None
    assert found.place("b") == Place("p.yaml", 2, 4)
    assert found.place("c") == Place("p.yaml", 1, 1)


def test_an_element_is_described_by_its_name() -> None:
    assert describe_node(read_xml("<task/>", "a.xml")) == "an element <task>"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_values_without_places_become_nodes_of_the_same_values(value: object) -> None:
    assert repr(plain_value(make_node(value, Place("f")))) == repr(value)
