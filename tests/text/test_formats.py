"""Reading definition files: what was written stays as written, and every complaint points."""

import json
import math
import sys
from collections.abc import Sequence

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from porch.errors import DefinitionError, Finding, Place
from porch.text.formats import (
    ElementNode,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    plain_value,
    read_json,
    read_tree,
    read_xml,
    read_yaml,
)


def findings_of(text: str, file: str = "a.json") -> list[Finding]:
    with pytest.raises(DefinitionError) as caught:
        read_tree(text, file)
    return list(caught.value.findings)


def marks(text: str, file: str = "a.json") -> list[tuple[str, int, int]]:
    found = []
    for finding in findings_of(text, file):
        assert finding.place is not None
        found.append((finding.code, finding.place.line, finding.place.column))
    return found


def scalar_at(node: Node | None) -> ScalarNode:
    assert isinstance(node, ScalarNode)
    return node


def mapping(text: str, file: str) -> MapNode:
    node = read_tree(text, file)
    assert isinstance(node, MapNode)
    return node


@pytest.mark.parametrize("file", ["x.json", "X.JSON", "dir.yaml/x.json"])
def test_the_ending_of_the_name_chooses_json(file: str) -> None:
    assert plain_value(read_tree('{"a":\t[1]}', file)) == {"a": [1]}


@pytest.mark.parametrize("file", ["x.yaml", "x.yml", "x.graph.yaml"])
def test_the_ending_of_the_name_chooses_yaml(file: str) -> None:
    assert plain_value(read_tree("a: [1]", file)) == {"a": [1]}


def test_the_ending_of_the_name_chooses_xml() -> None:
    assert isinstance(read_tree("<a/>", "plan.xml"), ElementNode)


def test_an_unknown_ending_is_refused_with_the_known_ones() -> None:
    (finding,) = findings_of("a = 1", "x.toml")
    assert finding.code == "unknown-format"
    assert ".yaml" in finding.fix


@pytest.mark.parametrize("file", ["x.json", "x.yaml", "x.xml"])
@pytest.mark.parametrize("text", ["", " \r\n\t", "\ufeff"])
def test_an_empty_file_is_said_to_be_empty(text: str, file: str) -> None:
    assert findings_of(text, file)[0].code == "empty-file"


@pytest.mark.parametrize("file", ["x.json", "x.yaml", "x.xml"])
def test_a_file_over_a_mebibyte_is_refused(file: str) -> None:
    assert findings_of(" " * (1 << 20) + "1", file)[0].code == "too-large"


@pytest.mark.parametrize("file", ["x.json", "x.yaml", "x.xml"])
def test_half_characters_are_refused_where_they_stand(file: str) -> None:
    assert marks("<a>\n \ud800\udfff", file) == [("not-text", 2, 2), ("not-text", 2, 3)]


@pytest.mark.parametrize(
    "file, opening, closing",
    [
        ("x.json", "[", "]"),
        ("x.json", '{"a":', "}"),
        ("x.yaml", "[", "]"),
        ("x.xml", "<a>", "</a>"),
    ],
)
def test_sixty_four_levels_are_read_and_one_more_is_refused(
    file: str, opening: str, closing: str
) -> None:
    inside = "1"
    read_tree(opening * 64 + inside + closing * 64, file)
    column = 64 * len(opening) + 1
    assert marks(opening * 65 + inside + closing * 65, file) == [("too-deep", 1, column)]


@pytest.mark.parametrize(
    "file, opening",
    [("x.json", "["), ("x.json", '{"a":'), ("x.yaml", "["), ("x.yaml", "- "), ("x.xml", "<a>")],
)
def test_a_hundred_thousand_levels_are_a_finding_and_no_crash(file: str, opening: str) -> None:
    assert [code for code, _, _ in marks(opening * 100_000, file)] == ["too-deep"]


# JSON


def test_json_values_keep_their_text_kind_and_place() -> None:
    node = mapping(
        '\ufeff{\n\t"n": 6.10, "t": "é\\n",\r\n "b": true, "z": null, "l": [false]}', "a.json"
    )
    assert node.place == Place("a.json", 1, 1)
    assert node.get("n") == ScalarNode("6.10", Place("a.json", 2, 7), "number")
    assert node.get("t") == ScalarNode("é\n", Place("a.json", 2, 18), "text")
    assert node.get("b") == ScalarNode("true", Place("a.json", 3, 7), "bool")
    assert node.get("z") == ScalarNode("null", Place("a.json", 3, 18), "null")
    falsehood = ScalarNode("false", Place("a.json", 3, 30), "bool")
    assert node.get("l") == ListNode((falsehood,), Place("a.json", 3, 29))
    assert node.entries[1].key == ScalarNode("t", Place("a.json", 2, 13))
    assert node.get("absent") is None


def test_json_columns_count_characters_and_lines_any_line_end() -> None:
    assert marks('{"😀é":\r\n"x",\r"x"\n}') == [("json-syntax", 3, 4), ("json-syntax", 4, 1)]


def test_json_escapes_are_resolved() -> None:
    text = r'"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\uD83D\uDE00"'
    assert plain_value(read_json(text, "a.json")) == '"\\/\b\f\n\r\té😀😀'


JSON_MISTAKES = [
    ("[1,]", [("json-syntax", 1, 3)]),
    ('{"a": 1 , }', [("json-syntax", 1, 9)]),
    ("[1 2]", [("json-syntax", 1, 3)]),
    ('{"a": 1\n "b": 2}', [("json-syntax", 1, 8)]),
    ("[1,,2]", [("json-syntax", 1, 4)]),
    ("[,1]", [("json-syntax", 1, 2)]),
    ('{"a" 1}', [("json-syntax", 1, 5)]),
    ('{"a":}', [("json-syntax", 1, 6)]),
    ('{"a"}', [("json-syntax", 1, 5), ("json-syntax", 1, 5)]),
    ("{a: 1, 'b': 2, 3: 4}", [("json-syntax", 1, n) for n in (2, 8, 16)]),
    ('{,"a": 1}', [("json-syntax", 1, 2)]),
    ("['a']", [("json-syntax", 1, 2)]),
    ("['a\n]", [("json-syntax", 1, 2)]),
    ('["a\n"]', [("json-syntax", 1, 2)]),
    ('["a', [("json-syntax", 1, 2)]),
    ('["a\\', [("json-syntax", 1, 4), ("json-syntax", 1, 2)]),
    ('["\\x", "\\u12"]', [("json-syntax", 1, 3), ("json-syntax", 1, 9)]),
    ('["\\ud800", "\\udc00", "\\ud800\\u0041"]', [("json-syntax", 1, n) for n in (3, 13, 23)]),
    ('["a\tb\x01"]', [("json-syntax", 1, 4), ("json-syntax", 1, 6)]),
    ("[NaN, Infinity, -Infinity]", [("json-syntax", 1, n) for n in (2, 7, 17)]),
    ("[True, None, maybe]", [("json-syntax", 1, n) for n in (2, 8, 14)]),
    ("[0073, +1, .5, 1., 0x1f]", [("json-syntax", 1, n) for n in (2, 8, 12, 16, 20)]),
    ("[-]", [("json-syntax", 1, 2)]),
    ("[1}", [("json-syntax", 1, 3)]),
    ('{"a": 1, "a": ]', [("duplicate-key", 1, 10), ("json-syntax", 1, 15), ("json-syntax", 1, 15)]),
    ("[@]", [("json-syntax", 1, 2)]),
    ('{"a": @}', [("json-syntax", 1, 7)]),
    ("[1:2]", [("json-syntax", 1, 3)]),
    ("[1, [2", [("json-syntax", 1, 7)]),
    ("1 2", [("json-syntax", 1, 3)]),
    ("// only", [("json-comment", 1, 1), ("json-syntax", 1, 8)]),
    ("[1,// a\n2 /* b */]# c", [("json-comment", *at) for at in ((1, 4), (2, 3), (2, 11))]),
    ("[1] /* open", [("json-comment", 1, 5)]),
    ("[" + "1" * 401 + "]", [("json-syntax", 1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", JSON_MISTAKES, ids=[t[0][:20] for t in JSON_MISTAKES])
def test_json_mistakes_are_all_found_at_their_place(
    text: str, expected: list[tuple[str, int, int]]
) -> None:
    assert sorted(marks(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text, fix",
    [
        ("[0073]", 'if it is text, write "0073"'),
        ("[True]", "write true"),
        ("[-Infinity]", "JSON has no such number; write null or text"),
        ("[on]", 'write "on"'),
        ("[1,]", "remove the comma"),
        ("// x\n1", "remove it, or write the file as YAML"),
        ('["a\tb"]', "write \\t"),
        ('["a\x01b"]', "write \\u0001"),
    ],
)
def test_json_complaints_say_what_to_write_instead(text: str, fix: str) -> None:
    assert findings_of(text)[0].fix == fix


def test_json_numbers_up_to_four_hundred_digits_are_read() -> None:
    assert plain_value(read_json("1" * 400, "a.json")) == int("1" * 400)


def test_json_duplicates_of_every_level_are_all_found_in_file_order() -> None:
    text = '{"a": 1,\n "b": {"x": 1, "x": 2},\n "a": 2, "a": 3}'
    assert marks(text) == [("duplicate-key", n, c) for n, c in ((2, 16), (3, 2), (3, 10))]
    assert "line 1" in findings_of(text)[1].message


def test_findings_are_limited_so_that_garbage_costs_little() -> None:
    assert len(findings_of("[" + "1 " * 1000)) == 100


# YAML


def test_yaml_scalars_stay_as_written_and_nothing_is_guessed() -> None:
    text = """\
id: 0073
step: 6.10
minus: -1.5e3
on: yes
off: no
quoted: "1"
single: 'true'
block: |
  12
hex: 0x1f
sexagesimal: 1:30
day: 2024-01-01
plus: +1
infinite: .inf
long: %s
""" % ("1" * 401)
    node = mapping(text, "a.yaml")
    kinds = {e.key.text: (scalar_at(e.value).text, scalar_at(e.value).kind) for e in node.entries}
    assert kinds.pop("step") == ("6.10", "number")
    assert kinds.pop("minus") == ("-1.5e3", "number")
    assert {kind for _, kind in kinds.values()} == {"text"}
    assert kinds["id"] == ("0073", "text")
    assert kinds["on"] == ("yes", "text")
    assert kinds["block"] == ("12\n", "text")


@pytest.mark.parametrize("text", ["null", "Null", "NULL", "~", ""])
def test_yaml_nulls_are_null(text: str) -> None:
    assert scalar_at(mapping(f"a: {text}", "a.yaml").get("a")).kind == "null"


@pytest.mark.parametrize("text", ["true", "True", "TRUE"])
def test_yaml_truths_are_bools_with_one_spelling(text: str) -> None:
    value = scalar_at(mapping(f"a: {text}", "a.yaml").get("a"))
    assert (value.text, value.kind) == ("true", "bool")
    assert plain_value(value) is True
    falsehood = {"true": "false", "True": "False", "TRUE": "FALSE"}[text]
    assert plain_value(read_yaml(falsehood, "a.yaml")) is False


def test_yaml_keys_are_names_and_6_1_is_not_6_10() -> None:
    node = mapping("6.1: a\n6.10: b\non: c\nTrue: d\n~: e", "a.yaml")
    assert [entry.key.text for entry in node.entries] == ["6.1", "6.10", "on", "True", "~"]
    assert {entry.key.kind for entry in node.entries} == {"text"}


def test_yaml_places_count_characters() -> None:
    node = mapping("\ufeffa:\n  - é: x\n    b: [😀, y]\n", "a.yaml")
    items = node.get("a")
    assert isinstance(items, ListNode)
    assert items.place == Place("a.yaml", 2, 3)
    first = items.items[0]
    assert isinstance(first, MapNode)
    assert scalar_at(first.get("é")).place == Place("a.yaml", 2, 8)
    second = first.get("b")
    assert isinstance(second, ListNode)
    assert second.items[1].place == Place("a.yaml", 3, 12)


YAML_MISTAKES = [
    ("a: &x 1\nb: *x\n", [("yaml-alias", 1, 4), ("yaml-alias", 2, 4)]),
    (
        "a: !!str 1\nb: !foo [x]\nc: ! y",
        [("yaml-tag", 1, 4), ("yaml-tag", 2, 4), ("yaml-tag", 3, 4)],
    ),
    ("a: 1\n<<: {b: 2}\n", [("yaml-merge", 2, 1)]),
    ("a: 1\n---\nb: 2\n", [("yaml-documents", 2, 1)]),
    ("? [a]\n: 1\n? {b: 1}\n: 2\n", [("yaml-key", 1, 3), ("yaml-key", 3, 3)]),
    ("a: &x 1\n*x : 2", [("yaml-alias", 1, 4), ("yaml-alias", 2, 1)]),
    ("a: 1\na: 2\nb: {c: 1, 'c': 2}", [("duplicate-key", 2, 1), ("duplicate-key", 3, 11)]),
    ("a: 1\nb: [1", [("yaml-syntax", 2, 6)]),
    ("a: 1\n\tb: 2", [("yaml-syntax", 2, 1)]),
    ("a: b: c", [("yaml-syntax", 1, 5)]),
    ("a: 1\na: 2\nb: ]", [("duplicate-key", 2, 1), ("yaml-syntax", 3, 4)]),
    ("a: \x07\n\x00", [("not-text", 1, 4), ("not-text", 2, 1)]),
    ("# nothing\n", [("empty-file", 0, 0)]),
]


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize("text, expected", YAML_MISTAKES, ids=[t[0] for t in YAML_MISTAKES])
def test_yaml_mistakes_are_all_found_at_their_place(
    text: str,
    expected: list[tuple[str, int, int]],
    loader: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if loader == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    found = marks(text, "a.yaml")
    assert [code for code, _, _ in found] == [code for code, _, _ in expected]
    # The two scanners point at either end of a broken flow collection.
    exact = [mark for mark in expected if mark[0] != "yaml-syntax"]
    assert [mark for mark in found if mark[0] != "yaml-syntax"] == exact


def test_yaml_syntax_problems_have_a_line_and_a_column() -> None:
    assert marks("a: 1\nb: c: d", "a.yaml") == [("yaml-syntax", 2, 5)]


@pytest.mark.parametrize("escape", [r"\UFFFFFFFF", r"\U00110000", r"\ud800"])
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_yaml_escapes_that_are_no_characters_are_findings(
    escape: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loader == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    ((code, line, _),) = marks(f'a: 1\nb: "{escape}"', "a.yaml")
    assert code in ("yaml-syntax", "not-text")
    assert line == 2


def test_a_quoted_merge_key_is_an_ordinary_name() -> None:
    assert plain_value(read_yaml('"<<": 1', "a.yaml")) == {"<<": 1}


# XML


def test_xml_elements_keep_names_attributes_children_text_and_places() -> None:
    text = """\
<?xml version="1.0" encoding="latin-1"?>
<plan é="ü" b='&lt;'>
  <t:task
    id="T1"/>x<![CDATA[<y>]]>
</plan>"""
    root = read_xml(text, "plan.xml")
    assert root.name == "plan"
    assert root.place == Place("plan.xml", 2, 1)
    assert [(e.key.text, scalar_at(e.value).text) for e in root.attributes] == [
        ("é", "ü"),
        ("b", "<"),
    ]
    assert [e.key.place.column for e in root.attributes] == [7, 13]
    assert root.get("b") == ScalarNode("<", Place("plan.xml", 2, 13))
    assert root.get("c") is None
    (task,) = root.named("t:task")
    assert task.place == Place("plan.xml", 3, 3)
    assert task.attributes[0].key.place == Place("plan.xml", 4, 5)
    assert root.named("other") == ()
    assert root.text.split() == ["x<y>"]


def test_xml_elements_have_a_plain_form() -> None:
    assert plain_value(read_xml("<a b='1'><c>x</c></a>", "a.xml")) == {
        "name": "a",
        "attributes": {"b": "1"},
        "children": [{"name": "c", "attributes": {}, "children": [], "text": "x"}],
        "text": "",
    }


XML_MISTAKES = [
    ("<a>\n <b></a>", [("xml-syntax", 2, 7)]),
    ("<a>é&x;</a>", [("xml-syntax", 1, 5)]),
    ("<a/>\n<b/>", [("xml-syntax", 2, 1)]),
    ("<a><b/>", [("xml-syntax", 1, 8)]),
    ("<a>\x01</a>", [("xml-syntax", 1, 4)]),
    ("x", [("xml-syntax", 1, 1)]),
    ("<!DOCTYPE a SYSTEM 'x'>\n<a/>", [("xml-doctype", 1, 1)]),
    ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', [("xml-doctype", 1, 1)]),
    (
        '<a x="1"\n x="é" x=\'2\'>\n<b y="1" z="" y="2"/></a>',
        [("duplicate-key", 2, 2), ("duplicate-key", 2, 8), ("duplicate-key", 3, 15)],
    ),
    ('<a é="1" é="2"><b></a>', [("duplicate-key", 1, 10), ("xml-syntax", 1, 21)]),
]


@pytest.mark.parametrize("text, expected", XML_MISTAKES, ids=[t[0] for t in XML_MISTAKES])
def test_xml_mistakes_are_found_at_their_place(
    text: str, expected: list[tuple[str, int, int]]
) -> None:
    assert marks(text, "a.xml") == expected


def test_no_format_is_imported_before_a_file_of_it_is_read() -> None:
    import subprocess

    script = (
        "import sys, porch.text.formats; print('yaml' in sys.modules, 'pyexpat' in sys.modules)"
    )
    path = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=path, check=True
    )
    assert done.stdout.split() == ["False", "False"]


# Properties

WORDS = """
{ } [ ] : , " ' \\ \\u \\ud800 \\UFFFFFFFF a 1 - 0 . // /* # &a *a ! << --- | > % <a /> </a>
<!DOCTYPE <![CDATA[ ]]> = &lt; &#0; é 😀 true null NaN <? @ `
"""
BLANKS = [*"\n \t\r\ufeff\x00\x85\u2028\ud800", "? ", "- ", "<a b='1'"]
PIECES = st.sampled_from([*WORDS.split(), *BLANKS])
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@settings(deadline=None)
@given(text=TEXTS, file=st.sampled_from(["a.json", "a.yaml", "a.xml"]))
@example(text="%YAML 99999999999999999999.1\n--- a", file="a.yaml")
@example(text="a: 'b", file="a.yaml")
@example(text="\ufeff\ufeff", file="a.yaml")
def test_any_text_gives_a_tree_or_findings_with_places(loader: str, text: str, file: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if loader == "SafeLoader":
            patch.delattr(yaml, "CSafeLoader", raising=False)
        findings: Sequence[Finding | None] = [None]
        try:
            plain_value(read_tree(text, file))
        except DefinitionError as error:
            findings = error.findings
    assert findings
    assert all(found is None or (found.place and found.place.file == file) for found in findings)


CHARACTERS = st.text(st.characters(exclude_categories=["Cs"]))
JSON_VALUES: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | CHARACTERS,
    lambda inner: st.lists(inner) | st.dictionaries(CHARACTERS, inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_valid_json_gives_the_value_that_python_reads(
    value: object, ascii_only: bool, indent: int | str | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert plain_value(read_json(text, "a.json")) == json.loads(text)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_python_refuses_as_json_is_refused_here_and_the_reverse(text: str) -> None:
    def twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    def constant(name: str) -> float:
        raise ValueError(name)

    try:
        value = json.loads(text, object_pairs_hook=twice, parse_constant=constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, AssertionError):
        # A byte order mark and nothing else is the only thing read more kindly here.
        if not text.startswith("\ufeff"):
            assert findings_of(text)
    else:
        assert plain_value(read_json(text, "a.json")) == value


def test_a_number_too_large_for_a_float_is_infinite_and_no_crash() -> None:
    assert plain_value(read_json("1e999", "a.json")) == math.inf


def test_t9_an_alias_is_refused_with_the_reason() -> None:
    for finding in findings_of("a: &x 1\nb: *x\n", "g.graph.yaml"):
        assert finding.message.endswith(
            "is not supported, because a finding must point at one line"
        )
