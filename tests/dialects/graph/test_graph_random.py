"""No tree breaks the reader of graphs, and a protocol comes out exactly if nothing is wrong."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from porch.dialects import graph
from porch.dialects.registry import parse_definition
from porch.errors import DefinitionError, Place, errors_in
from porch.model.validate import validate_protocol
from porch.run.definitions import library
from porch.text import formats
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarKind, ScalarNode

FILE = "v3.graph.yaml"
ROOT = formats.read_tree((Path(library.PACKAGED) / "v3" / FILE).read_text("utf-8"), FILE)
HERE = Place(FILE, 1, 1)
quick = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32).map(Random)


def nodes(node: Node) -> Iterator[Node]:
    yield node
    inner = [e.value for e in node.entries] if isinstance(node, MapNode) else []
    for each in node.items if isinstance(node, ListNode) else inner:
        yield from nodes(each)


def keys(node: Node) -> Iterator[str]:
    for each in nodes(node):
        if isinstance(each, MapNode):
            yield from (entry.key.text for entry in each.entries)


ALL = list(nodes(ROOT))
WORDS = sorted({each.text for each in ALL if isinstance(each, ScalarNode)})
KEYS = sorted({*keys(ROOT), "alone", "description", "timeout", "", "x.y", "?", "due", "parent"})
ODD: list[tuple[str, ScalarKind]] = [
    ("", "text"),
    (".", "text"),
    ("instance", "text"),
    ("engine", "text"),
    ("engine.head", "text"),
    ("parent.", "text"),
    ("parent.parent", "text"),
    ("@", "text"),
    ("?", "text"),
    ("a == b", "text"),
    ("parent == 1", "text"),
    ("conflictFile within", "text"),
    ("[", "text"),
    ("Maybe Maybe Text", "text"),
    ("Spec = Spec advisory", "text"),
    ("-1", "number"),
    ("1.5", "number"),
    ("9" * 30, "number"),
    ("true", "bool"),
    ("null", "null"),
]


def anything(dice: Random, depth: int) -> Node:
    """Any tree, made of the words and keys of the real file."""
    kind = dice.randrange(10 if depth else 6)
    if kind < 4:
        return ScalarNode(dice.choice(WORDS), HERE)
    if kind < 6:
        text, of = dice.choice(ODD)
        return ScalarNode(text, HERE, of)
    size = range(dice.randrange(5))
    if kind == 6:
        return ListNode(tuple(anything(dice, depth - 1) for _ in size), HERE)
    named = [Entry(ScalarNode(dice.choice(KEYS), HERE), anything(dice, depth - 1)) for _ in size]
    return MapNode(tuple(named), HERE)


class Hand:
    """Changes the real file in one to three places, wherever the dice say."""

    def __init__(self, dice: Random):
        self.dice = dice
        self.chosen = set(dice.sample(range(len(ALL)), dice.randint(1, 3)))
        self.count = -1

    def over(self, node: Node) -> tuple[Node, ...]:
        """What stands where this node stood: itself, nothing, twice, or another."""
        self.count += 1
        is_chosen = self.count in self.chosen
        copy = self.copied(node)
        if not is_chosen:
            return (copy,)
        other = self.dice.choice([self.dice.choice(ALL), anything(self.dice, 2)])
        return self.dice.choice([(), (copy, copy), (other,), (other,), (copy, other)])

    def copied(self, node: Node) -> Node:
        if isinstance(node, ListNode):
            return ListNode(tuple(n for item in node.items for n in self.over(item)), node.place)
        if isinstance(node, MapNode):
            found = [Entry(self.key(e), n) for e in node.entries for n in self.over(e.value)]
            return MapNode(tuple(found), node.place)
        return node

    def key(self, entry: Entry) -> ScalarNode:
        is_odd = self.count in self.chosen and self.dice.random() < 0.2
        return ScalarNode(self.dice.choice(KEYS), entry.key.place) if is_odd else entry.key


def read(root: Node) -> None:
    reading = graph.read(root)
    found = errors_in(reading.findings)
    assert (reading.protocol is None) == bool(found), found
    assert all(finding.place is not None for finding in found), found
    assert len(set(reading.findings)) == len(reading.findings)
    if reading.protocol is not None:
        assert not errors_in(validate_protocol(reading.protocol, {}))


@quick
@given(seeds)
def test_the_packaged_file_can_be_changed_anywhere_without_a_crash(dice: Random) -> None:
    for root in Hand(dice).over(ROOT):
        read(root)


@quick
@given(seeds)
def test_any_tree_is_read_without_a_crash(dice: Random) -> None:
    read(anything(dice, 5))


@quick
@given(seeds)
def test_any_value_of_any_block_is_read_without_a_crash(dice: Random) -> None:
    assert isinstance(ROOT, MapNode)
    known = [Entry(e.key, anything(dice, 4)) if dice.random() < 0.2 else e for e in ROOT.entries]
    read(MapNode(tuple(known), ROOT.place))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@quick
@given(json_values)
def test_any_document_with_the_name_of_a_graph_is_read_without_a_crash(value: object) -> None:
    try:
        reading = parse_definition(json.dumps(value, ensure_ascii=True), "some.graph.yaml")
    except DefinitionError:
        return
    assert (reading.protocol is None) == bool(errors_in(reading.findings))
