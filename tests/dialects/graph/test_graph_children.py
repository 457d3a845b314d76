"""Children are typed: by the graph that they follow, and by what its ends give."""

import pytest

from porch.dialects.registry import parse_definition
from porch.dialects.result import ProtocolReading
from porch.errors import DefinitionError, Finding, Place
from porch.model import types as t
from porch.text import formats

FILE = "top.graph.yaml"
LEAF = """\
document: {name: leaf}
spec: Item
types: {Item: {id: Text, file: FilePath, note: Maybe Text}}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
states:
  work: {role: r, template: t, exits: {Done: {size: Int, of: Item}, Skip: {size: Int, of: Item}}}
  done: {end: complete, gives: Done}
  lost: {end: failed, shows: [Skip]}
edges:
  work.Done: {to: done}
  work.Skip: {to: lost}
"""
TOP = """\
document: {name: top}
spec: Job
types:
  Job: {id: Text, file: FilePath, size: Int}
  Part: {id: Text, file: FilePath}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
spawn: {state: kids, specs: Split.parts, protocol: leaf}
states:
  split: {role: r, template: t, exits: {Split: {parts: "[Part]"}}}
  join:
    role: r
    template: t
    input: {sizes: kids.settled.merged.size, all: kids.settled}
    exits: {Ok: {}}
  done: {end: complete}
  lost: {end: failed}
edges:
  split.Split: {to: kids}
  kids.settled: {to: join}
  join.Ok: {to: done}
"""


def read(text: str, **others: str) -> ProtocolReading:
    def fetch(name: str) -> formats.Node | None:
        known = {"leaf": LEAF, **others}
        return formats.read_tree(known[name], f"{name}.graph.yaml") if name in known else None

    return parse_definition(text, FILE, fetch)


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def told(text: str, **others: str) -> list[tuple[str, str]]:
    """For each finding its code, and what begins the line that it points at."""
    return [(each.code, pointed(text, each)) for each in read(text, **others).findings]


def pointed(text: str, finding: Finding) -> str:
    assert finding.place is not None
    assert finding.place.file == FILE
    return text.splitlines()[finding.place.line - 1].split(":")[0].strip()


def settled(text: str, **others: str) -> dict[str, list[str]]:
    """The names in the records of `settled`, as the first sample of `join` has them."""
    reading = read(text, **others)
    assert reading.protocol is not None, [str(each) for each in reading.findings]
    whole = reading.samples["join"][0]["all"]
    return {name: sorted(whole[name][0]) for name in ("merged", "failed")}


def test_t3_what_settled_holds_follows_from_the_end_of_the_other_graph() -> None:
    assert told(TOP) == []
    assert settled(TOP)["merged"] == ["id", "of", "size"]
    assert settled(TOP)["failed"] == ["id", "spec", "why"]
    wrong = changed(TOP, ("merged.size", "merged.sise"))
    assert told(wrong) == [("unknown-path", "input")]


def test_t3_the_spec_of_a_lost_child_is_of_its_own_graph() -> None:
    assert told(changed(TOP, ("merged.size", "failed.spec.note"))) == []
    assert told(changed(TOP, ("merged.size", "failed.spec.size"))) == [("unknown-path", "input")]


def test_t3_an_end_that_gives_nothing_says_only_which_child_it_was() -> None:
    mute = changed(LEAF, (", gives: Done", ""), ("shows: [Skip]", "shows: [Skip, Done]"))
    assert settled(changed(TOP, ("merged.size", "merged.id")), leaf=mute)["merged"] == ["id"]
    assert told(TOP, leaf=mute) == [("unknown-path", "input")]


def test_t3_a_result_with_an_id_of_its_own_keeps_it() -> None:
    own = changed(LEAF, ("Done: {size: Int, of: Item}", "Done: {id: Text, size: Int}"))
    assert settled(TOP, leaf=own)["merged"] == ["id", "size"]


SELF = changed(
    TOP,
    (", protocol: leaf", ", inherit: [size]"),
    ("  done: {end: complete}", "  done: {end: complete, gives: join.Ok}"),
    ("exits: {Ok: {}}", "exits: {Ok: {size: Int}}"),
)


def test_t3_children_of_the_same_graph_are_typed_by_its_ends() -> None:
    assert told(SELF) == []
    assert settled(SELF)["merged"] == ["id", "size"]


def test_t3_a_way_to_complete_without_what_is_given_is_refused() -> None:
    short = changed(
        SELF, ("split.Split: {to: kids}", "split.Split: [{when: parts, to: kids}, {to: done}]")
    )
    assert told(short) == [("unsupplied", "split.Split")]
    silent = changed(
        SELF,
        ("  lost: {end", "  early: {end: complete}\n  lost: {end"),
        ("split.Split: {to: kids}", "split.Split: [{when: parts, to: kids}, {to: early}]"),
    )
    assert told(silent) == [("unsupplied", "early")]


def test_t3_ways_that_only_the_root_goes_are_no_ways_of_a_child() -> None:
    for guard in (
        "{when: instance.target, to: kids}, {to: done}",
        "{unless: parent, to: done}, {to: kids}",
        "{unless: instance.target, to: done}, {when: parent, to: kids}, {to: kids}",
    ):
        rooted = changed(SELF, ("split.Split: {to: kids}", f"split.Split: [{guard}]"))
        assert told(rooted) == [], guard


def test_t3_a_graph_that_can_complete_without_its_result_is_no_graph_for_children() -> None:
    short = changed(LEAF, ("work.Skip: {to: lost}", "work.Skip: {to: done}"))
    assert read(short).protocol is not None
    assert told(TOP, leaf=short) == [("bad-child", "spawn")]


def test_t3_ends_give_the_same_record_and_only_good_ones_give() -> None:
    other = changed(
        LEAF,
        ("Skip: {size: Int, of: Item}", "Skip: {size: Int}"),
        (
            "lost: {end: failed, shows: [Skip]}",
            "late: {end: complete, gives: Skip}\n  lost: {end: failed}",
        ),
        ("work.Skip: {to: lost}", "work.Skip: {to: late}"),
    )
    assert [each.code for each in read(other).findings] == ["wrong-type"]
    same = changed(other, ("Skip: {size: Int}", "Skip: {size: Int, of: Item}"))
    assert read(same).findings == ()
    failed = changed(LEAF, ("shows: [Skip]", "shows: [Skip], gives: Skip"))
    assert [each.code for each in read(failed).findings] == ["wrong-value"]


INTERRUPTS = """\
interrupts:
  sibling: {state: up, on: join.Ok, event: join.Ok, before: [join]}
states:
"""
UPDATES = """\
edges:
  up.clean: {to: due}
  up.conflict: {to: lost}
  up.refused: {to: lost}
"""


def test_with_interrupts_a_child_gives_its_event() -> None:
    text = changed(
        SELF,
        ("states:\n", INTERRUPTS),
        ("  done: {end", "  up: {git: update}\n  done: {end"),
        ("edges:\n", UPDATES),
    )
    assert told(text) == [("wrong-value", "done")]
    assert settled(changed(text, (", gives: join.Ok", "")))["merged"] == ["size"]


@pytest.mark.parametrize(
    "old, new",
    [
        ("Part: {id: Text, file: FilePath}", "Part: {id: Text, file: Int}"),
        ("Part: {id: Text, file: FilePath}", "Part: {id: Text}"),
        ("Part: {id: Text, file: FilePath}", "Part: {id: Text, file: Maybe FilePath}"),
        ("Part: {id: Text, file: FilePath}", "Part: {id: Text, file: FilePath, more: Text}"),
        ("Part: {id: Text, file: FilePath}", "Part: {id: Text, file: FilePath, after: Text}"),
        ("Part: {id: Text, file: FilePath}", "Part: {id: Int, file: FilePath}"),
        ('parts: "[Part]"', "parts: Part"),
    ],
)
def test_t8_a_plan_of_another_type_is_refused(old: str, new: str) -> None:
    assert set(told(changed(TOP, (old, new)))) == {("wrong-type", "spawn")}


@pytest.mark.parametrize("of", ["[Text]", "Maybe [Text]"])
def test_t11_a_planned_child_may_name_siblings(of: str) -> None:
    text = changed(
        TOP,
        ("Part: {id: Text, file: FilePath}", f'Part: {{id: Text, file: FilePath, after: "{of}"}}'),
    )
    assert told(text) == []
    protocol = read(text).protocol
    assert protocol is not None
    actor = protocol.spawn_of("")
    assert actor is not None
    assert actor.after == "after"


@pytest.mark.parametrize(
    "words, code",
    [
        ("inherit: [file]", ""),
        ("inherit: [size]", "unknown-path"),
        ("inherit: [note]", "unknown-path"),
        ("from_parent: [file]", "wrong-type"),
        ("suite: file", ""),
        ("suite: id", "wrong-type"),
        ("suite: size", "unknown-path"),
        ("rework: split.Split.parts", "wrong-type"),
    ],
)
def test_t8_what_parent_and_child_share_is_checked_in_both(words: str, code: str) -> None:
    text = changed(TOP, ("protocol: leaf", f"protocol: leaf, {words}"))
    assert told(text) == ([(code, "spawn")] if code else [])


def test_t8_an_inherited_field_must_fit_the_childs() -> None:
    own = changed(
        TOP,
        ("Job: {id: Text, file: FilePath", "Job: {id: Text, file: Int"),
        ("protocol: leaf", "protocol: leaf, inherit: [file]"),
    )
    assert told(own) == [("wrong-type", "spawn")]


def test_a_graph_that_is_not_there_or_none_or_wrong_is_told_where_it_is_named() -> None:
    unknown = told(changed(TOP, ("protocol: leaf", "protocol: lief, inherit: [x], suite: y")))
    # What its children would tell is not known, so nothing is said of paths into it.
    assert unknown == [("unknown-child", "spawn")]
    assert told(TOP, leaf="- a\n") == [("bad-child", "spawn")]
    assert told(TOP, leaf=changed(LEAF, ("to: done", "to: dune"))) == [("bad-child", "spawn")]
    plain = formats.read_tree('{"name": "x", "phases": []}', "x.json")
    found = parse_definition(TOP, FILE, lambda _: plain).findings
    assert "'leaf': it is not a graph" in [each.message for each in found]


def test_a_file_that_is_no_tree_is_told_where_it_is_named() -> None:
    def fetch(_: str) -> formats.Node:
        raise DefinitionError(
            [Finding("unreadable", "cannot read: gone", Place("leaf.graph.yaml"))]
        )

    found = parse_definition(TOP, FILE, fetch).findings
    assert "'leaf': cannot read: gone at leaf.graph.yaml" in [each.message for each in found]


def test_graphs_that_spawn_each_other_have_no_end() -> None:
    own = told(changed(TOP, ("protocol: leaf", "protocol: top")))
    assert ("bad-child", "spawn") in own
    back = changed(TOP, ("name: top", "name: leaf"), ("protocol: leaf", "protocol: top"))
    found = read(TOP, leaf=back, top=TOP).findings
    assert any(
        "spawn each other without an end: top -> leaf -> top" in each.message for each in found
    )


def reading_leaf(given: str) -> str:
    """A leaf that works only below a parent, and reads something of it."""
    work = "  work: {role: r, template: t, exits"
    first = "  first: {role: r, template: t, exits: {Go: {}}}\n"
    return changed(
        LEAF,
        (work, first + work.replace("exits", f"input: {given}, exits")),
        ("edges:\n", "edges:\n  first.Go: [{when: parent, to: work}, {to: lost}]\n"),
    )


@pytest.mark.parametrize(
    "given, is_fine",
    [
        ("{x?: parent.Done}", True),
        ("{x: parent.Done}", False),
        ("{x: parent.instance.branch}", True),
        ("{x: parent.instance.spec}", False),
        ("{x?: parent.instance.spec}", True),
    ],
)
def test_another_graph_reads_of_its_parent_only_what_any_parent_has(
    given: str, is_fine: bool
) -> None:
    assert read(reading_leaf(given)).findings == ()
    codes = [code for code, _ in told(TOP, leaf=reading_leaf(given))]
    assert codes == ([] if is_fine else ["bad-child"])


def test_a_parent_whose_spec_fits_may_be_read() -> None:
    own = "Job: {id: Text, file: FilePath, size: Int}"
    top = changed(TOP, (own, "Job: {id: Text, file: FilePath}"))
    assert told(top, leaf=reading_leaf("{x: parent.instance.spec.file}")) == []


def test_types_of_the_other_graph_do_not_get_in_the_way_of_ones_own() -> None:
    same = changed(TOP, ("Part: {id", "Item: {id"), ('"[Part]"', '"[Item]"'))
    protocol = read(same).protocol
    assert protocol is not None
    assert protocol.types["leaf+Item"] != protocol.types["Item"]
    assert protocol.part("leaf").spec == "leaf+Item"
    record = protocol.types["leaf+Item"]
    assert isinstance(record, t.Record)
