"""The tree of instances: where children are born, and how siblings hear of each other's merges."""

from collections.abc import Iterator

from msgspec import Struct

from porch.dialects.graph import engine_fields
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.word_lists import read_path
from porch.model import protocol as p
from porch.model import types as t
from porch.text.fields import Fields
from porch.text.nodes import MapNode, Node, ScalarNode


class InstanceBlocks(Struct, frozen=True):
    """The two blocks as they are written; nothing where a file does without."""

    spawn: MapNode | None
    sibling: MapNode | None


def read_instance_blocks(root: MapNode, meaning: PathMeanings) -> InstanceBlocks:
    """Also what they add to the paths: the merge event, and what children end with."""
    notes = meaning.notes
    spawn = notes.fields(root.get("spawn"), "'spawn'")
    interrupts = notes.fields(root.get("interrupts"), "'interrupts'")
    sibling = interrupts.mapping("sibling") if interrupts else None
    if interrupts:
        interrupts.done()
    found = InstanceBlocks(spawn.node if spawn else None, sibling.node if sibling else None)
    _read_merge_event(found, meaning)
    _declare_children_state(found, meaning)
    return found


def _read_merge_event(blocks: InstanceBlocks, meaning: PathMeanings) -> None:
    if blocks.sibling is not None:
        word = meaning.notes.required(blocks.sibling, "event", "the interrupt 'sibling'")
        meaning.event = meaning.exit(word) if word else ""


def _declare_children_state(blocks: InstanceBlocks, meaning: PathMeanings) -> None:
    word = meaning.notes.required(blocks.spawn, "state", "'spawn'") if blocks.spawn else None
    taken = (*meaning.exits, *engine_fields.PATH_ROOTS, engine_fields.DUE_TARGET)
    if word is None or not meaning.notes.is_free(word, "a state", taken):
        return
    event: t.Type = t.Ref("Why")
    if meaning.event:
        state, exit_ = meaning.event.split(".")
        event = meaning.exits[state][exit_]
    lost = engine_fields.parse_record({"id": "Text", "why": "Why"})
    failed = t.Record((*lost.fields, t.Field("spec", meaning.spec)))
    told = {"merged": event, "failed": failed, "cancelled": t.Scalar("Text")}
    record = t.Record(tuple(t.Field(name, t.ListOf(each)) for name, each in told.items()))
    meaning.exits[word.text] = {"settled": record}
    meaning.notes.places[word.text] = word.place


def read_spawn(blocks: InstanceBlocks, meaning: PathMeanings) -> Iterator[p.State]:
    if blocks.spawn is None:
        return
    notes = meaning.notes
    fields = Fields(blocks.spawn, "'spawn'", notes.findings)
    specs = notes.required(blocks.spawn, "specs", "'spawn'")
    if specs and read_path(fields, "specs", meaning):
        # Children are told apart by it, and their branches called so.
        meaning.path(specs, text=f"{specs.text}.id")
    actor = p.Children(
        "",
        read_path(fields, "specs", meaning),
        read_path(fields, "rework", meaning),
        fields.whole("depth", 2),
        fields.whole("fan_out", 5),
        fields.whole("instances", 25),
        _read_suite(fields, meaning),
    )
    name = fields.text("state")
    fields.done()
    yield p.State(name, name, actor, name)


def _read_suite(fields: Fields, meaning: PathMeanings) -> str:
    """A field of the spec by name."""
    word = meaning.notes.word(fields.child("suite"), "'suite'")
    spec, _ = t.unwrap_type(meaning.spec, meaning.types)
    known = [each.name for each in spec.fields] if isinstance(spec, t.Record) else []
    if word is not None and word.text not in known:
        meaning.notes.unknown("the field", word, known, "unknown-path")
    return word.text if word else ""


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
