"""The packaged v3 with one line wrong in any place is refused, whichever line it is."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from porch.dialects import graph
from porch.errors import errors_in
from porch.run.definitions import library
from porch.show import strict_templates as jinja
from porch.text import formats
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode
from tests.torture import choose_some

pytestmark = pytest.mark.torture

FOLDER = Path(library.PACKAGED) / "v3"
FILE = "v3.graph.yaml"
ROOT = formats.read_tree((FOLDER / FILE).read_text("utf-8"), FILE)
WORD = re.compile(r"\w+")
At = tuple[str | int, ...]

# Keys under which paths stand, wherever in the file; of the second kind also everything below.
PATHS = {"when", "unless", "reads", "shows", "allows", "denies", "at", "forget", "specs", "rework"}
PATHS |= {"suite", "on", "event", "rearm", "latched", "unused", "fresh_when_stalled"}
TREES = {"input", "checks", "keep", "diff"}
# Words that stand among paths and are none.
SIGNS = {"within"}


@dataclass(frozen=True, slots=True)
class Mutant:
    name: str
    root: Node

    def __str__(self) -> str:
        return self.name


# Without these lines the file says something else, and says it whole.
ANOTHER_PROTOCOL = {
    "choices/halt/0": "a child that is stuck asks a person itself",
    "edges/children.settled/0": "work goes on without the children that failed",
    "edges/review.MoreTests/0": "the implementer is told of the tests that are missing",
    "edges/rebase.RebaseConflict/0": "nobody is interrupted before there are tests",
    "edges/rebase.RebaseConflict/1": "the implementer hears of every conflict",
}
# Fields that nobody asks for by name: what they are part of is passed on whole.
PASSED_ON = {
    "states/write_tests/exits/InvalidScaffold": "to the planner, as the reason of its revision",
    "states/impl/exits/BlockedDependency": "to the planner",
    "states/impl/exits/SpecAmbiguity": "to the planner",
    "states/rebase/exits/RebaseConflict": "to the planner or the implementer",
    "states/answer/exits/Answered": "to the planner that asked",
    "states/answer/exits/Revised": "to the planner that asked",
    "states/merger/exits/MergeRejected": "to the implementer, as a rejection",
    "states/judge/exits/Rejected": "to the implementer",
    "states/impl/exits/Stuck": "to the parent or a person",
    "states/review/exits/Reject": "to the parent or a person",
    "states/merger/exits/MergeComplete/mergeCommit": "to the siblings, as the event of a merge",
}
# Of these one field leads a way, and cannot be missing.
GUARDED = {
    "states/rebase/exits/RebaseConflict/conflictFile",
    "states/answer/exits/Revised/acceptanceCriteria",
}


def walked(node: Node, at: At = ()) -> Iterator[tuple[At, Node]]:
    yield at, node
    if isinstance(node, MapNode):
        for entry in node.entries:
            yield from walked(entry.value, (*at, entry.key.text))
    elif isinstance(node, ListNode):
        for index, item in enumerate(node.items):
            yield from walked(item, (*at, index))


# Walked once: mutants are made when tests are collected, by every worker.
NODES = tuple(walked(ROOT))
BY_PLACE = dict(NODES)


def changed(node: Node, at: At, change: Callable[[Node], Node | None]) -> Node | None:
    """A copy in which one node is another, or nothing."""
    if not at:
        return change(node)
    first, rest = at[0], at[1:]
    if isinstance(node, MapNode):
        parts = [
            (e.key, changed(e.value, rest, change) if e.key.text == first else e.value)
            for e in node.entries
        ]
        return MapNode(tuple(Entry(k, v) for k, v in parts if v is not None), node.place)
    assert isinstance(node, ListNode)
    items = [changed(n, rest, change) if i == first else n for i, n in enumerate(node.items)]
    return ListNode(tuple(item for item in items if item is not None), node.place)


def mutant(what: str, at: At, change: Callable[[Node], Node | None]) -> Mutant:
    root = changed(ROOT, at, change)
    assert root is not None
    assert root != ROOT, f"{at} is not in the file"
    return Mutant(f"{'/'.join(map(str, at))}{what}", root)


def dropped(at: At) -> Mutant:
    return mutant("", at, lambda _: None)


def replaced(new: Node) -> Callable[[Node], Node]:
    return lambda _: new


def misspelt(at: At, words: "re.Pattern[str]" = WORD, first: int = 0) -> Iterator[Mutant]:
    """One mutant for each word of a text, with a letter more."""
    node = BY_PLACE[at]
    assert isinstance(node, ScalarNode)
    for found in words.finditer(node.text, first):
        if found.group() not in SIGNS:
            text = f"{node.text[: found.end()]}q{node.text[found.end() :]}"
            yield mutant(f": {text}", at, replaced(ScalarNode(text, node.place)))


def below(*front: str, depth: int) -> list[At]:
    """Everything at one depth under a block."""
    found = [at for at, _ in NODES if at[: len(front)] == front]
    return [at for at in found if len(at) == depth]


def edges() -> Iterator[At]:
    """Every edge by itself, and every exit with all of its edges."""
    yield from below("edges", depth=2)
    yield from (at for at in below("edges", depth=3) if isinstance(at[-1], int))
    yield from below("choices", depth=3)


def join_inputs() -> Iterator[At]:
    for at in below("joins", depth=3):
        if at[-1] in ("rearm", "latched"):
            yield at
            yield from below(*map(str, at[:2]), str(at[2]), depth=4)


def exit_fields() -> list[At]:
    return [at for at in below("states", depth=5) if at[2] == "exits"]


def is_path(at: At) -> bool:
    named = [key for key in at if isinstance(key, str)]
    return named[-1] in PATHS or bool(TREES & {*named[1:]})


def path_typos() -> Iterator[Mutant]:
    for at, node in NODES:
        if isinstance(node, ScalarNode) and len(at) > 2 and is_path(at):
            yield from misspelt(at)
        elif isinstance(node, ScalarNode) and " = " in node.text:
            yield from misspelt(at, first=node.text.index(" = "))


def target_typos() -> Iterator[Mutant]:
    """Names of states, choices, budgets, types and roles where somebody means them."""
    keys = {"to", "spent", "spent_as", "charge", "reset", "state", "before", "adapted", "fork"}
    keys |= {"silent", "exhausted", "no_progress", "workspace", "holds", "git", "human", "end"}
    keys |= {"memory"}
    for at, node in NODES:
        named = [key for key in at if isinstance(key, str)]
        if isinstance(node, ScalarNode) and keys & {*named[1:]}:
            yield from misspelt(at)


def key_typos() -> Iterator[Mutant]:
    """Every key that a block knows or that names something elsewhere."""
    for at, node in NODES:
        if isinstance(node, MapNode) and at[:1] != ("types",) and not {"exits", "input"} & {*at}:
            for entry in node.entries:
                yield mutant(f": {entry.key.text}q", at, partial(renamed, one=entry))


def renamed(node: Node, one: Entry) -> Node:
    assert isinstance(node, MapNode)
    new = Entry(ScalarNode(f"{one.key.text}q", one.key.place), one.value)
    return MapNode(tuple(new if e is one else e for e in node.entries), node.place)


def is_edge(at: At, node: Node) -> bool:
    return at[:1] in (("edges",), ("choices",), ("joins",)) and isinstance(node, MapNode)


def guard_mutants() -> Iterator[Mutant]:
    """A guard less, or one more on the last way."""
    for at, node in NODES:
        if not is_edge(at, node) or not isinstance(node, MapNode) or node.get("to") is None:
            continue
        guards = [key for key in ("when", "unless") if node.get(key) is not None]
        yield from (dropped((*at, key)) for key in guards)
        if not guards:
            yield mutant(" guarded", at, guarded)


def guarded(node: Node) -> Node:
    assert isinstance(node, MapNode)
    guard = Entry(ScalarNode("when", node.place), ScalarNode("parent", node.place))
    return MapNode((guard, *node.entries), node.place)


def errors(mutated: Mutant) -> list[str]:
    reading = graph.read(mutated.root)
    found = errors_in(reading.findings)
    assert (reading.protocol is None) == bool(found)
    assert all(finding.place is not None for finding in found)
    return [finding.code for finding in found]


@cache
def known_samples() -> Mapping[str, Any]:
    return graph.read(ROOT).samples


def template_errors(mutated: Mutant) -> list[str]:
    """What is wrong once the templates are rendered; those that get what they got are fine."""
    reading = graph.read(mutated.root)
    if reading.protocol is None:
        return [finding.code for finding in errors_in(reading.findings)]
    found = []
    for state, (*full, minimal) in reading.samples.items():
        text = (FOLDER / reading.prompts[state][0]).read_text("utf-8")
        if known_samples()[state] != (*full, minimal):
            found += [
                f.code
                for each in full
                for f in jinja.check_strict_template(text, state, each, minimal)
            ]
    return found


def each(mutants: Iterator[Mutant] | list[Mutant]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("mutated", choose_some(list(mutants), 8), ids=str)


def test_the_file_as_it_is_has_nothing_to_complain_about() -> None:
    assert graph.read(ROOT).findings == ()


@each([dropped(at) for at in edges() if "/".join(map(str, at)) not in ANOTHER_PROTOCOL])
def test_v3_without_one_edge_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@pytest.mark.parametrize("name", ANOTHER_PROTOCOL)
def test_what_is_another_protocol_is_accepted(name: str) -> None:
    block, key, index = name.split("/")
    assert errors(dropped((block, key, int(index)))) == []


@each([dropped(at) for at in below("budgets", depth=2)])
def test_v3_without_one_budget_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@each([dropped(at) for at in below("states", depth=2)])
def test_v3_without_one_state_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@each([dropped(at) for at in join_inputs()])
def test_v3_without_one_input_of_a_join_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@each(list(guard_mutants()))
def test_v3_with_a_guard_less_or_one_more_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@each(list(path_typos()))
def test_v3_with_a_slip_in_one_path_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@each(list(target_typos()))
def test_v3_with_a_slip_in_one_name_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


@each(list(key_typos()))
def test_v3_with_a_slip_in_one_key_is_refused(mutated: Mutant) -> None:
    assert errors(mutated)


def input_typos() -> Iterator[Mutant]:
    for at, node in NODES:
        if isinstance(node, MapNode) and "input" in at:
            for entry in node.entries:
                yield mutant(f": {entry.key.text}q", at, partial(renamed, one=entry))


def is_passed_on(mutated: Mutant) -> bool:
    return mutated.name.startswith(tuple(PASSED_ON)) and mutated.name not in GUARDED


FIELDLESS = [dropped(at) for at in exit_fields()]


@each([mutated for mutated in FIELDLESS if not is_passed_on(mutated)])
def test_v3_without_one_field_of_an_exit_is_refused(mutated: Mutant) -> None:
    assert template_errors(mutated)


@each([mutated for mutated in FIELDLESS if is_passed_on(mutated)])
def test_what_is_passed_on_whole_can_say_less(mutated: Mutant) -> None:
    assert template_errors(mutated) == []


@each(list(input_typos()))
def test_v3_with_a_slip_in_the_name_of_one_input_is_refused(mutated: Mutant) -> None:
    assert template_errors(mutated)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(FOLDER, tmp_path / "v3")
    return tmp_path / "v3"


def templates() -> list[str]:
    return sorted(path.name for path in (FOLDER / "templates").iterdir())


@pytest.mark.parametrize("name", templates())
def test_v3_without_one_template_is_refused(copied: Path, name: str) -> None:
    (copied / "templates" / name).unlink()
    loaded = library.load_protocol(str(copied / FILE))
    assert loaded.definition is None
    assert [f.code for f in errors_in(loaded.findings)] == ["missing-template"]


@pytest.mark.parametrize("name", templates())
def test_v3_with_a_slip_in_the_name_of_one_template_is_refused(copied: Path, name: str) -> None:
    text = (copied / FILE).read_text("utf-8")
    assert text.count(name) == 1
    (copied / FILE).write_text(text.replace(name, f"q{name}"), "utf-8")
    found = errors_in(library.load_protocol(str(copied / FILE)).findings)
    assert [f.code for f in found] == ["missing-template"]
    assert found[0].place is not None
    assert found[0].place.line == 1 + text[: text.index(name)].count("\n")
