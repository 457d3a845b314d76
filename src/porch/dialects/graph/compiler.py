"""A graph file into one protocol: blocks in the order in which they need each other."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from porch.dialects.graph import engine_fields
from porch.dialects.graph.child_graphs import CompileGraph
from porch.dialects.graph.declared_types import read_types
from porch.dialects.graph.edges import EdgeReader, read_choices
from porch.dialects.graph.findings import ReadingNotes
from porch.dialects.graph.instances import (
    read_instance_blocks,
    read_interrupt,
    read_interruptible_states,
)
from porch.dialects.graph.limits import read_budgets, read_epoch
from porch.dialects.graph.path_types import PathMeanings, UnknownPath
from porch.dialects.graph.spawn import read_spawn
from porch.dialects.graph.states import read_exits, read_state, read_unused_fields
from porch.model import protocol as p
from porch.model import types as t
from porch.model.validate import TYPED
from porch.text.nodes import Entry, MapNode, ScalarNode

BLOCKS = (
    "document", "spec", "types", "budgets", "epoch", "supervision", "spawn", "interrupts",
    "states", "joins", "choices", "edges",
)  # fmt: skip


class GraphCompiler:
    """Holds what the blocks of one file know of each other."""

    def __init__(self, root: MapNode, notes: ReadingNotes, compile_graph: CompileGraph):
        self.root = root
        self.notes = notes
        self.entries = notes.entries(root.get("states"), "'states'")
        types = read_types(root.get("types"), notes)
        self.budgets = read_budgets(root.get("budgets"), notes)
        self.meaning = PathMeanings(notes, types, self._spec(types), tuple(self.budgets))
        if not self.meaning.is_spec_known:
            self.meaning.leave_unsaid("instance.spec.")
        read_exits(self.entries, self.meaning)
        self.blocks = read_instance_blocks(root, self.entries, self.meaning, compile_graph)
        self.joins = [entry for entry in self._entries("joins") if self._is_join(entry)]
        self.unused: Mapping[str, ScalarNode] = read_unused_fields(self.entries, self.meaning)

    def protocol(self) -> p.Protocol:
        states = {state.name: state for state in self._states()}
        epoch = read_epoch(self.root.get("epoch"), states, self.budgets, self.notes)
        edges = EdgeReader(self.meaning, states, self.budgets, epoch)
        edges.choices = read_choices(self.root.get("choices"), edges)
        written = [edge for entry in self._entries("edges") for edge in edges.read(entry)]
        joined = [edge for entry in self.joins for edge in self._joined(entry, edges)]
        compiled = p.Protocol(
            name="",
            initial=p.Target(next(iter(states), "")),
            states=states,
            edges=(*written, *joined),
            budgets=self.budgets,
            types=self.meaning.types,
            spec=self.meaning.spec.name if isinstance(self.meaning.spec, t.Ref) else "",
            interrupt=read_interrupt(self.blocks, self.meaning),
            epoch=epoch.model() if epoch else None,
        )
        compiled = self._supervised(self._titled(compiled), edges)
        check_memory_slots(compiled, self.entries, self.meaning, edges.kept)
        self._complete(states)
        return compiled

    def _entries(self, block: str) -> tuple[Entry, ...]:
        return self.notes.entries(self.root.get(block), f"'{block}'")

    def _complete(self, states: Mapping[str, p.State]) -> None:
        if not states:
            fix = "write at least one; a run begins with the first"
            self.notes.report("missing-key", "there are no states", self.root.place, fix)
        for entry in self.root.entries:
            if entry.key.text not in BLOCKS:
                self.notes.unknown("the block", entry.key, BLOCKS, "unknown-key")

    def _titled(self, compiled: p.Protocol) -> p.Protocol:
        fields = self.notes.fields(self.root.get("document"), "'document'")
        if fields is None:
            fix = "write `document: {name: ...}`"
            self.notes.report("missing-key", "'document' is missing", self.root.place, fix)
            return compiled
        name = self.notes.required(fields.node, "name", "'document'")
        version, about = fields.text("version"), fields.text("description")
        subject = fields.text("subject", "spec")
        fields.know("name")
        fields.done()
        if name is None or not self.notes.is_free(name, "a protocol", ()):
            return compiled
        return replace(
            compiled, name=name.text, version=version, description=about, subject=subject
        )

    def _spec(self, types: Mapping[str, t.Type]) -> t.Type:
        word = self.notes.required(self.root, "spec", "a graph")
        if word is None:
            return t.Ref("")
        if not isinstance(types.get(word.text), t.Record):
            records = [name for name, type_ in types.items() if isinstance(type_, t.Record)]
            self.notes.unknown("the record type", word, records, "unknown-type")
        return t.Ref(word.text)

    def _is_join(self, entry: Entry) -> bool:
        taken = (*self.meaning.exits, *engine_fields.PATH_ROOTS, engine_fields.DUE_TARGET)
        if not self.notes.is_free(entry.key, "a join", taken):
            return False
        self.meaning.exits[entry.key.text] = {"ready": t.Record(())}
        for name in (entry.key.text, f"{entry.key.text}.ready"):
            self.notes.places[name] = entry.key.place
        return True

    def _states(self) -> Iterator[p.State]:
        before = read_interruptible_states(self.blocks, self.meaning)
        for entry in self.entries:
            state = read_state(entry, self.meaning)
            if state is not None:
                yield replace(state, is_interruptible=state.name in before)
        yield from read_spawn(self.blocks, self.meaning)
        yield from (self._join(entry) for entry in self.joins)

    def _join(self, entry: Entry) -> p.State:
        name = entry.key.text
        waits = tuple(path for key in ("rearm", "latched") for path in self._waits(entry, key))
        if not waits:
            fix = "list exits under 'rearm' or 'latched'"
            self.notes.report("empty-list", f"'{name}' waits for nothing", entry.key.place, fix)
        return p.State(name, name, p.Join(), name, waits_for=waits)

    def _waits(self, entry: Entry, key: str) -> Iterator[str]:
        node = entry.value.get(key) if isinstance(entry.value, MapNode) else None
        words = self.notes.words(node, f"'{key}' of join '{entry.key.text}'")
        return (path for word in words if (path := self.meaning.exit(word)))

    def _joined(self, entry: Entry, edges: EdgeReader) -> Iterator[p.Edge]:
        """What re-arms each round is forgotten on the way out, what is latched is not."""
        fields = self.notes.fields(entry.value, f"join '{entry.key.text}'")
        if fields is None:
            return
        again = tuple(self._waits(entry, "rearm"))
        for edge in edges.one(entry.key.text, "ready", fields):
            yield replace(edge, forgets=(*edge.forgets, *again))
        fields.know("rearm", "latched")
        fields.done()

    def _supervised(self, compiled: p.Protocol, edges: EdgeReader) -> p.Protocol:
        """The ways of what the engine says for agents that are silent, fail or idle."""
        node = self.root.get("supervision")
        fields = self.notes.fields(node or MapNode((), self.root.place), "'supervision'")
        if fields is None:
            return compiled
        silence, nudges = fields.number("silence", 60), fields.whole("nudges", 3)
        fields.know(*TYPED)
        fields.done()
        agents = [s.name for s in compiled.states.values() if isinstance(s.actor, p.Agent)]
        more = [
            edge
            for exit_ in TYPED if agents
            for word in [self.notes.required(fields.node, exit_, "'supervision'")] if word
            for name in agents if not any(compiled.edges_of(name, exit_))
            for edge in edges.ways(p.Edge(name, exit_, ()), [word], None)
        ]  # fmt: skip
        words = {exit_: fields.place(exit_) for exit_ in TYPED}
        for edge in more:
            self.notes.places.setdefault(f"{edge.state}.{edge.exit}", words[edge.exit])
        found = (*compiled.edges, *more)
        return replace(compiled, edges=found, silence_s=silence, nudges=nudges)


def check_memory_slots(
    protocol: p.Protocol,
    entries: tuple[Entry, ...],
    meaning: PathMeanings,
    kept: Mapping[str, ScalarNode],
) -> None:
    for name, word in meaning.slots.items():
        if name not in kept:
            meaning.notes.unknown("the slot", word, kept, "unknown-path")
    for name, word in kept.items():
        if name not in meaning.slots:
            message = f"no state reads the slot '{name}'"
            fix = "list it under 'memory' of a state, or do not keep it"
            meaning.notes.report("dead-field", message, word.place, fix)
    for word in _read_stalled_paths(entries, meaning):
        _check_stalled_path(protocol, word, meaning)


def _read_stalled_paths(entries: tuple[Entry, ...], meaning: PathMeanings) -> Iterator[ScalarNode]:
    for entry in entries:
        node = entry.value.get("fresh_when_stalled") if isinstance(entry.value, MapNode) else None
        yield from meaning.notes.words(node, "'fresh_when_stalled'")


def _check_stalled_path(protocol: p.Protocol, word: ScalarNode, meaning: PathMeanings) -> None:
    """`slot.field`, where the slot gathers records that have that list."""
    slot, _, name = word.text.partition(".")
    keeps = [k.path for edge in protocol.edges for k in edge.keeps if k.slot == slot and k.append]
    if not keeps or slot not in meaning.slots:
        message = f"'{word.text}': there is no slot '{slot}' that is collected with `+` and read"
        meaning.notes.report("unknown-path", message, word.place)
    for path in keeps:
        try:
            found, _ = t.unwrap_type(meaning.type_of(f"{path}.{name}"), meaning.types)
        except UnknownPath:
            message = f"'{word.text}': the values in '{slot}' have no field '{name}'"
            meaning.notes.report("unknown-path", message, word.place)
            continue
        if not isinstance(found, t.ListOf):
            message = f"'{word.text}' is {t.format_type(found)}; only a list can become shorter"
            meaning.notes.report("wrong-type", message, word.place)
