"""What keeps a graph finite: budgets, and epochs that are paid for."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from porch.dialects.graph import engine_fields
from porch.dialects.graph.findings import ReadingNotes
from porch.dialects.graph.proofs.idle_budgets import budget_place
from porch.model import protocol as p
from porch.text.fields import Fields
from porch.text.nodes import Entry, MapNode, Node, ScalarNode

# `engine.<budget>` must mean the budget and nothing else.
RESERVED_NAMES = (
    *engine_fields.FILLED_FIELDS,
    *engine_fields.SHOWN_FIELDS,
    "children",
    "update",
    "siblings",
)


class EpochBlock(Struct, frozen=True):
    """The block `epoch`: every edge back to its state opens a new one and pays for it."""

    state: str
    charge: str
    spent: str
    resets: tuple[str, ...]

    def model(self) -> p.Epoch:
        return p.Epoch(self.state, self.charge, self.resets)


def read_budgets(node: Node | None, notes: ReadingNotes) -> dict[str, p.Budget]:
    entries = notes.entries(node, "'budgets'")
    free = [e for e in entries if notes.is_free(e.key, "a budget", RESERVED_NAMES)]
    notes.places |= {budget_place(e.key.text): e.key.place for e in free}
    return {e.key.text: _read_budget(e, notes) for e in free}


def _read_budget(entry: Entry, notes: ReadingNotes) -> p.Budget:
    name, node = entry.key.text, entry.value
    if isinstance(node, ScalarNode) and node.kind == "number" and node.text.isdigit():
        return p.Budget(name, int(node.text))
    if not isinstance(node, MapNode):
        fix = "write a number, or `{limit: 5, first: 1}`"
        notes.report("bad-budget", f"'{name}' must be a whole number", node.place, fix)
        return p.Budget(name, 0)
    return _read_counted_budget(name, Fields(node, f"budget '{name}'", notes.findings), notes)


def _read_counted_budget(name: str, fields: Fields, notes: ReadingNotes) -> p.Budget:
    """`first` is what people see before anything is charged, so that much is not left."""
    notes.required(fields.node, "limit", fields.what)
    first, limit = fields.whole("first"), fields.whole("limit")
    fields.done()
    if limit < first:
        message = f"'{name}' starts at {first}, which is over its limit of {limit}"
        notes.report("bad-budget", message, fields.node.place)
    return p.Budget(name, max(0, limit - first), first)


def read_budget_names(
    node: Node | None, what: str, known: Mapping[str, p.Budget], notes: ReadingNotes
) -> Iterator[str]:
    """Names of budgets, each checked."""
    for word in notes.words(node, what):
        if word.text in known:
            yield word.text
        else:
            notes.unknown("the budget", word, known, "unknown-budget")


def read_epoch(
    node: Node | None,
    states: Mapping[str, p.State],
    budgets: Mapping[str, p.Budget],
    notes: ReadingNotes,
) -> EpochBlock | None:
    fields = notes.fields(node, "'epoch'")
    if fields is None:
        return None
    state = notes.required(fields.node, "state", "'epoch'")
    spent = notes.required(fields.node, "spent", "'epoch'")
    fields.know("state", "spent")
    charge = next(read_budget_names(fields.child("charge"), "'charge'", budgets, notes), "")
    resets = tuple(read_budget_names(fields.child("reset"), "'reset'", budgets, notes))
    fields.done()
    if state is not None and state.text not in states:
        notes.unknown("the state", state, states, "unknown-state")
    return EpochBlock(state.text if state else "", charge, spent.text if spent else "", resets)
