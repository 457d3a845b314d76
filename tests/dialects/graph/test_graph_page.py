"""The page about graphs is true: its example compiles, and its tables are those of the reader.

That its example also runs to its end is seen by `tests/house/test_pages.py`.
"""

import re
from pathlib import Path

import pytest

from porch.dialects.graph.compiler import BLOCKS
from porch.dialects.graph.engine_fields import (
    ENGINE_TYPES,
    FAILED_CHILD,
    FILLED_FIELDS,
    GIT_EXITS,
    HUMAN_ANSWER,
    INSTANCE_FIELDS,
    PROMPT_NAMES,
    SHOWN_FIELDS,
)
from porch.dialects.graph.measures import MEASURE_WORDS, NONE, PAIR
from porch.dialects.registry import parse_definition
from porch.model.types import SCALARS
from porch.text import formats
from porch.text.nodes import ListNode, MapNode, Node

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "graph.md").read_text("utf-8")
SMALL = formats.read_tree(
    (ROOT / "tests/corpus/graph/small.graph.yaml").read_text("utf-8"), "s.yaml"
)


def section(heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def rows(heading: str) -> list[str]:
    """The first cells of the tables of a section."""
    return [
        line.split("|")[1].strip() for line in section(heading).splitlines() if "| `" in line[:3]
    ]


def words(heading: str) -> list[str]:
    return [word for cell in rows(heading) for word in re.findall(r"`(\w+)`", cell)]


def example() -> str:
    found = re.search(r"```yaml\n(.*?)```", section("An example"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_compiles_without_a_finding() -> None:
    reading = parse_definition(example(), "report.graph.yaml")
    assert reading.findings == ()
    assert reading.protocol is not None
    assert reading.protocol.name == "report"


def test_t9_the_example_has_a_gate_a_loop_and_children_that_wait_for_each_other() -> None:
    protocol = parse_definition(example(), "report.graph.yaml").protocol
    assert protocol is not None
    assert protocol.gates == ("approve",)
    assert any(edge.charges for edge in protocol.edges)
    spawn = protocol.spawn_of("")
    assert spawn is not None
    assert spawn.after


def test_t9_every_exit_that_the_engine_fills_has_its_row_with_its_fields() -> None:
    told = {
        cells[1].strip(): re.findall(r"`(\w+)`", cells[2])
        for line in section("What porch fills in").splitlines()
        if len(cells := line.split("|")) == 4
    }
    for op, exits in GIT_EXITS.items():
        for name, fields in exits.items():
            assert told[f"`{op}`: `{name}`"] == list(fields), (op, name)
    assert told["an option of a `human` state"] == list(HUMAN_ANSWER)
    settled = [
        line.split("`")[1] for line in section("Children").splitlines() if line.startswith("| `")
    ]
    assert settled == ["merged", "failed", "cancelled"] == told["`settled` of a `spawn` state"]
    assert all(f"`{name}`" in section("Children") for name in (*FAILED_CHILD, "spec"))


def test_every_block_has_its_row() -> None:
    assert words("Blocks") == list(BLOCKS)


def test_every_check_has_its_row_and_says_what_it_takes() -> None:
    told = dict(re.findall(r"^`(\w+)(.*)`$", "\n".join(rows("Checks")), re.MULTILINE))
    assert list(told) == list(MEASURE_WORDS)
    for name, rest in told.items():
        assert (rest == ": {every, by}") == (MEASURE_WORDS[name] == PAIR), name


def test_every_path_of_the_engine_and_the_instance_is_told() -> None:
    paths = section("Paths")
    assert all(f"`engine.{name}`" in paths for name in (*FILLED_FIELDS, *SHOWN_FIELDS))
    assert all(
        f"`engine.{name}`" in paths for name in ("children", "siblings", "update", "<budget>")
    )
    assert all(f"`{name}`" in paths for name in (*INSTANCE_FIELDS, "spec"))
    assert all(f"`{name}`" in paths for name in PROMPT_NAMES)


def test_every_type_that_a_graph_knows_is_told() -> None:
    assert all(f"`{name}`" in section("Types") for name in (*SCALARS, *ENGINE_TYPES))


def keys(node: Node | None) -> set[str]:
    return {entry.key.text for entry in node.entries} if isinstance(node, MapNode) else set()


def block(name: str) -> list[Node]:
    found = SMALL.get(name) if isinstance(SMALL, MapNode) else None
    assert isinstance(found, MapNode)
    return [entry.value for entry in found.entries]


def test_every_word_of_a_state_has_its_row_and_is_read() -> None:
    used = {key for state in block("states") for key in keys(state)}
    inner = {
        *("title", "description", "holds", "reads", "message", "shows", "options"),
        *("approved", "own", "candidate", "gives"),
    }
    assert used - inner == set(words("States"))
    assert all(f"`{word}`" in section("States") for word in inner)


def test_every_word_of_an_edge_has_its_row_and_is_read() -> None:
    edges = [e for n in block("edges") for e in (n.items if isinstance(n, ListNode) else (n,))]
    used = {key for edge in edges for key in keys(edge)}
    assert used <= {*words("Edges"), "spent", "spent_as"}
    assert {*words("Edges"), "spent", "spent_as"} == used


@pytest.mark.parametrize("name", ["epoch", "supervision", "spawn"])
def test_every_word_of_the_small_blocks_is_told(name: str) -> None:
    assert isinstance(SMALL, MapNode)
    row = next(line for line in section("Blocks").splitlines() if line.startswith(f"| `{name}`"))
    assert all(f"`{word}`" in row for word in keys(SMALL.get(name)))


def test_words_without_paths_stand_alone() -> None:
    assert [f"`{name}`" for name, kind in MEASURE_WORDS.items() if kind == NONE] == rows("Checks")[
        :3
    ]
