"""What keeps a graph finite: budgets, and epochs that are paid for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porch.dialects.fields import Fields
from porch.dialects.graph import given
from porch.dialects.graph.notes import Notes
from porch.dialects.nodes import Entry, MapNode, Node, Scalar
from porch.model import protocol as p

# `engine.<budget>` must mean the budget and nothing else.
TAKEN = (*given.FILLED, *given.SHOWN, "children", "update", "siblings")


@dataclass(frozen=True, slots=True)
class Epoch:
    """The block `epoch`: every edge back to its state opens a new one and pays for it."""

    state: str
    charge: str
    spent: str
    resets: tuple[str, ...]

    def model(self) -> p.Epoch:
        return p.Epoch(self.state, self.charge, self.resets)


def read_budgets(node: Node | None, notes: Notes) -> dict[str, p.Budget]:
    entries = notes.entries(node, "'budgets'")
    found = [_budget(e, notes) for e in entries if notes.is_free(e.key, "a budget", TAKEN)]
    return {budget.name: budget for budget in found}


def _budget(entry: Entry, notes: Notes) -> p.Budget:
    name, node = entry.key.text, entry.value
    if isinstance(node, Scalar) and node.kind == "number" and node.text.isdigit():
        return p.Budget(name, int(node.text))
    if not isinstance(node, MapNode):
        fix = "write a number, or `{limit: 5, first: 1}`"
        notes.report("bad-budget", f"'{name}' must be a whole number", node.place, fix)
        return p.Budget(name, 0)
    return _counted(name, Fields(node, f"budget '{name}'", notes.findings), notes)


def _counted(name: str, fields: Fields, notes: Notes) -> p.Budget:
    """`first` is what people see before anything is charged, so that much is not left."""
    notes.required(fields.node, "limit", fields.what)
    first, limit = fields.whole("first"), fields.whole("limit")
    fields.done()
    if limit < first:
        message = f"'{name}' begins with {first}, which is over its limit of {limit}"
        notes.report("bad-budget", message, fields.node.place)
    return p.Budget(name, max(0, limit - first), first)


def known_budgets(
    node: Node | None, what: str, known: Mapping[str, p.Budget], notes: Notes
) -> Iterator[str]:
    """Names of budgets, each checked."""
    for word in notes.words(node, what):
        if word.text in known:
            yield word.text
        else:
            notes.unknown("the budget", word, known, "unknown-budget")


def read_epoch(
    node: Node | None, states: Mapping[str, p.State], budgets: Mapping[str, p.Budget], notes: Notes
) -> Epoch | None:
    fields = notes.fields(node, "'epoch'")
    if fields is None:
        return None
    state = notes.required(fields.node, "state", "'epoch'")
    spent = notes.required(fields.node, "spent", "'epoch'")
    fields.know("state", "spent")
    charge = next(known_budgets(fields.child("charge"), "'charge'", budgets, notes), "")
    resets = tuple(known_budgets(fields.child("reset"), "'reset'", budgets, notes))
    fields.done()
    if state is not None and state.text not in states:
        notes.unknown("the state", state, states, "unknown-state")
    return Epoch(state.text if state else "", charge, spent.text if spent else "", resets)
