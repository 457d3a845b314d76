"""The tree of instances: where children are born, and how siblings hear of each other's merges."""

from collections.abc import Iterator
from dataclasses import dataclass

from porch.dialects.fields import Fields
from porch.dialects.graph import given
from porch.dialects.graph.meaning import Meaning
from porch.dialects.graph.reading import path
from porch.dialects.nodes import MapNode, Node, Scalar
from porch.model import protocol as p
from porch.model import types as t


@dataclass(frozen=True, slots=True)
class Blocks:
    """The two blocks as they are written; nothing where a file does without."""

    spawn: MapNode | None
    sibling: MapNode | None


def read_blocks(root: MapNode, meaning: Meaning) -> Blocks:
    """Also what they add to the paths: the merge event, and what children end with."""
    notes = meaning.notes
    spawn = notes.fields(root.get("spawn"), "'spawn'")
    interrupts = notes.fields(root.get("interrupts"), "'interrupts'")
    sibling = interrupts.mapping("sibling") if interrupts else None
    if interrupts:
        interrupts.done()
    found = Blocks(spawn.node if spawn else None, sibling.node if sibling else None)
    _event(found, meaning)
    _settled(found, meaning)
    return found


def _event(blocks: Blocks, meaning: Meaning) -> None:
    if blocks.sibling is not None:
        word = meaning.notes.required(blocks.sibling, "event", "the interrupt 'sibling'")
        meaning.event = meaning.exit(word) if word else ""


def _settled(blocks: Blocks, meaning: Meaning) -> None:
    word = meaning.notes.required(blocks.spawn, "state", "'spawn'") if blocks.spawn else None
    taken = (*meaning.exits, *given.ROOTS, given.DUE)
    if word is None or not meaning.notes.is_free(word, "a state", taken):
        return
    event: t.Type = t.Ref("Why")
    if meaning.event:
        state, exit_ = meaning.event.split(".")
        event = meaning.exits[state][exit_]
    lost = given.record({"id": "Text", "why": "Why"})
    failed = t.Record((*lost.fields, t.Field("spec", meaning.spec)))
    told = {"merged": event, "failed": failed, "cancelled": t.Scalar("Text")}
    record = t.Record(tuple(t.Field(name, t.ListOf(each)) for name, each in told.items()))
    meaning.exits[word.text] = {"settled": record}
    meaning.notes.places[word.text] = word.place


def read_spawn(blocks: Blocks, meaning: Meaning) -> Iterator[p.State]:
    if blocks.spawn is None:
        return
    notes = meaning.notes
    fields = Fields(blocks.spawn, "'spawn'", notes.findings)
    specs = notes.required(blocks.spawn, "specs", "'spawn'")
    if specs and path(fields, "specs", meaning):
        # Children are told apart by it, and their branches called so.
        meaning.path(specs, text=f"{specs.text}.id")
    actor = p.Children(
        "",
        path(fields, "specs", meaning),
        path(fields, "rework", meaning),
        fields.whole("depth", 2),
        fields.whole("fan_out", 5),
        fields.whole("instances", 25),
        _suite(fields, meaning),
    )
    name = fields.text("state")
    fields.done()
    yield p.State(name, name, actor, name)


def _suite(fields: Fields, meaning: Meaning) -> str:
    """A field of the spec by name."""
    word = meaning.notes.word(fields.child("suite"), "'suite'")
    spec, _ = t.bare(meaning.spec, meaning.types)
    known = [each.name for each in spec.fields] if isinstance(spec, t.Record) else []
    if word is not None and word.text not in known:
        meaning.notes.unknown("the field", word, known, "unknown-path")
    return word.text if word else ""


def interruptible(blocks: Blocks, meaning: Meaning) -> list[str]:
    """The states before which an update is taken."""
    node = blocks.sibling.get("before") if blocks.sibling else None
    return [word.text for word in meaning.notes.words(node, "'before'") if _is_state(word, meaning)]


def _is_state(word: Scalar, meaning: Meaning) -> bool:
    if word.text not in meaning.exits:
        meaning.notes.unknown("the state", word, meaning.exits, "unknown-state")
        return False
    return True


def read_interrupt(blocks: Blocks, meaning: Meaning) -> p.Interrupt | None:
    if blocks.sibling is None:
        return None
    notes, what = meaning.notes, "the interrupt 'sibling'"
    fields = Fields(blocks.sibling, what, notes.findings)
    state = notes.required(fields.node, "state", what)
    on = notes.required(fields.node, "on", what)
    fields.know("state", "on", "event", "before")
    adapted = dict(_adapted(fields.child("adapted"), meaning))
    fields.done()
    is_known = state is not None and _is_state(state, meaning)
    name = state.text if state and is_known else ""
    return p.Interrupt(name, meaning.exit(on) if on else "", meaning.event, adapted)


def _adapted(node: Node | None, meaning: Meaning) -> Iterator[tuple[str, str]]:
    for entry in meaning.notes.entries(node, "'adapted'"):
        word = meaning.notes.word(entry.value, "'adapted'")
        if word and _is_state(entry.key, meaning) and _is_state(word, meaning):
            yield entry.key.text, word.text
