"""The editor's schema of graphs knows exactly the keys that the reader knows."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from porch.dialects.graph.schema import BLOCKS, SCHEMA, STATES
from porch.run.definitions import library
from porch.store.where import find_project
from porch.text import formats
from porch.text.fields import Fields
from porch.text.nodes import ListNode, MapNode, Node, ScalarNode

ROOT = Path(__file__).parents[3]
V3 = ROOT / "src" / "porch" / "protocols" / "v3" / "v3.graph.yaml"
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
Known = dict[str, set[str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Known:
    """The keys for which the reader asked while it read v3, by what it called their mapping."""
    found: Known = {}
    done = Fields.done

    def noted(fields: Fields) -> None:
        found.setdefault(fields.what, set()).update(fields._known)
        done(fields)

    monkeypatch.setattr(Fields, "done", noted)
    library.load_protocol(str(V3), find_project(str(ROOT))).demand()
    return found


def plain(node: Node) -> Any:
    """As editors see it: `version: "3.0"` is a text, `limit: 5` a number."""
    if isinstance(node, MapNode):
        return {entry.key.text: plain(entry.value) for entry in node.entries}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    assert isinstance(node, ScalarNode)
    return node.text if node.kind == "text" else json.loads(node.text)


def keys_of(asked: Known, front: str) -> set[str]:
    return {key for what, keys in asked.items() if what.startswith(front) for key in keys}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_packaged_graph_and_the_example_of_the_page_fit() -> None:
    page = (ROOT / "docs" / "reference" / "graph.md").read_text()
    example = re.search(r"```yaml\n(document.*?)```", page, re.DOTALL)
    assert example is not None
    for text in (V3.read_text(), example[1]):
        assert list(VALIDATOR.iter_errors(plain(formats.read_tree(text, "x.graph.yaml")))) == []


def test_every_key_of_the_reader_stands_in_the_schema_and_no_other(asked: Known) -> None:
    states = {key for keys in STATES.values() for key in keys}
    assert keys_of(asked, "state '") == states
    edge = set(SCHEMA["$defs"]["edge"]["properties"])
    assert keys_of(asked, "an edge of") == edge
    assert keys_of(asked, "join '") == edge | {"rearm", "latched"}
    for block in ("document", "epoch", "spawn", "supervision"):
        assert asked[f"'{block}'"] == set(BLOCKS[block]["properties"])
    sibling = BLOCKS["interrupts"]["properties"]["sibling"]["properties"]
    assert keys_of(asked, "the interrupt") == set(sibling)


@pytest.mark.parametrize(
    "change",
    [
        {"sates": {}},
        {"states": {"a": {"role": "r"}}},
        {"states": {"a": {"git": "commit"}}},
        {"states": {"a": {"end": "over"}}},
        {"states": {"a": {"human": "gate", "options": {"x": {}}}}},
        {"edges": {"a.B": {"too": "c"}}},
        {"budgets": {"rounds": "three"}},
    ],
)
def test_what_is_plainly_wrong_does_not_fit(change: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"document": {"name": "g"}, "states": {"e": {"end": "complete"}}}
    assert VALIDATOR.is_valid(whole)
    assert not VALIDATOR.is_valid({**whole, **change})
