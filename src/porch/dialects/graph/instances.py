"""The tree of instances: where children are born, and how siblings hear of each other's merges."""

from collections.abc import Iterator

from msgspec import Struct

from porch.dialects.graph import engine_fields
from porch.dialects.graph.child_graphs import (
    ChildGraph,
    CompileGraph,
    read_child_graph,
    read_result_type,
)
from porch.dialects.graph.path_types import PathMeanings
from porch.model import protocol as p
from porch.model import types as t
from porch.text.fields import Fields
from porch.text.nodes import Entry, MapNode, Node, ScalarNode


class InstanceBlocks(Struct, frozen=True):
    """The two blocks as they are written, and the graph that children follow; None without."""

    spawn: MapNode | None
    sibling: MapNode | None
    result: t.Record
    child: ChildGraph | None = None


def read_instance_blocks(
    root: MapNode, entries: tuple[Entry, ...], meaning: PathMeanings, compile_graph: CompileGraph
) -> InstanceBlocks:
    """Also what they add to the paths: the merge event, and what children end with."""
    notes = meaning.notes
    spawn = notes.fields(root.get("spawn"), "'spawn'")
    interrupts = notes.fields(root.get("interrupts"), "'interrupts'")
    sibling = interrupts.mapping("sibling") if interrupts else None
    if interrupts:
        interrupts.done()
    _read_merge_event(sibling.node if sibling else None, meaning)
    result = read_result_type(entries, meaning)
    child = read_child_graph(spawn.node, result, meaning, compile_graph) if spawn else None
    if spawn and child:
        _declare_children_state(spawn.node, child, meaning)
    return InstanceBlocks(
        spawn.node if spawn else None, sibling.node if sibling else None, result, child
    )


def _read_merge_event(sibling: MapNode | None, meaning: PathMeanings) -> None:
    if sibling is not None:
        word = meaning.notes.required(sibling, "event", "the interrupt 'sibling'")
        meaning.event = meaning.exit(word) if word else ""
        if not meaning.event:
            meaning.is_result_known = False
            meaning.leave_unsaid("engine.update", "engine.siblings")


def _declare_children_state(spawn: MapNode, child: ChildGraph, meaning: PathMeanings) -> None:
    word = meaning.notes.required(spawn, "state", "'spawn'")
    taken = (*meaning.exits, *engine_fields.PATH_ROOTS, engine_fields.DUE_TARGET)
    if word is None or not meaning.notes.is_free(word, "a state", taken):
        return
    lost = engine_fields.parse_record(engine_fields.FAILED_CHILD)
    failed = t.Record((*lost.fields, t.Field("spec", child.spec)))
    told: dict[str, t.Type] = {
        "merged": child.result,
        "failed": failed,
        "cancelled": t.Scalar("Text"),
    }
    record = t.Record(tuple(t.Field(name, t.ListOf(each)) for name, each in told.items()))
    meaning.exits[word.text] = {"settled": record}
    if not child.is_known:
        meaning.leave_unsaid(f"{word.text}.settled.merged.", f"{word.text}.settled.failed.spec.")
    elif not child.part and not meaning.is_result_known:
        meaning.leave_unsaid(f"{word.text}.settled.merged.")
    meaning.notes.places[word.text] = word.place


def read_interruptible_states(blocks: InstanceBlocks, meaning: PathMeanings) -> list[str]:
    """The states before which an update is taken."""
    node = blocks.sibling.get("before") if blocks.sibling else None
    return [
        word.text
        for word in meaning.notes.words(node, "'before'")
        if _check_state_exists(word, meaning)
    ]


def _check_state_exists(word: ScalarNode, meaning: PathMeanings) -> bool:
    if word.text not in meaning.exits:
        meaning.notes.unknown("the state", word, meaning.exits, "unknown-state")
        return False
    return True


def read_interrupt(blocks: InstanceBlocks, meaning: PathMeanings) -> p.Interrupt | None:
    if blocks.sibling is None:
        return None
    notes, what = meaning.notes, "the interrupt 'sibling'"
    fields = Fields(blocks.sibling, what, notes.findings)
    state = notes.required(fields.node, "state", what)
    on = notes.required(fields.node, "on", what)
    fields.know("state", "on", "event", "before")
    adapted = dict(_read_adapted_states(fields.child("adapted"), meaning))
    fields.done()
    is_known = state is not None and _check_state_exists(state, meaning)
    name = state.text if state and is_known else ""
    return p.Interrupt(name, meaning.exit(on) if on else "", meaning.event, adapted)


def _read_adapted_states(node: Node | None, meaning: PathMeanings) -> Iterator[tuple[str, str]]:
    for entry in meaning.notes.entries(node, "'adapted'"):
        word = meaning.notes.word(entry.value, "'adapted'")
        if word and _check_state_exists(entry.key, meaning) and _check_state_exists(word, meaning):
            yield entry.key.text, word.text
