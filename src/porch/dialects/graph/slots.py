"""The memory of roles: what edges keep must be read by somebody, what is read must be kept."""

from collections.abc import Iterator, Mapping

from porch.dialects.graph.meaning import Lost, Meaning
from porch.dialects.nodes import Entry, MapNode, Scalar
from porch.model import protocol as p


def check_slots(
    protocol: p.Protocol, entries: tuple[Entry, ...], meaning: Meaning, kept: Mapping[str, Scalar]
) -> None:
    for name, word in meaning.slots.items():
        if name not in kept:
            meaning.notes.unknown("the slot", word, kept, "unknown-path")
    for name, word in kept.items():
        if name not in meaning.slots:
            message = f"nobody reads the slot '{name}'"
            fix = "list it under 'memory' of a state, or do not keep it"
            meaning.notes.report("dead-field", message, word.place, fix)
    for word in _stalled(entries, meaning):
        _check_stalled(protocol, word, meaning)


def _stalled(entries: tuple[Entry, ...], meaning: Meaning) -> Iterator[Scalar]:
    for entry in entries:
        node = entry.value.get("fresh_when_stalled") if isinstance(entry.value, MapNode) else None
        yield from meaning.notes.words(node, "'fresh_when_stalled'")


def _check_stalled(protocol: p.Protocol, word: Scalar, meaning: Meaning) -> None:
    """`slot.field`, where the slot gathers records that have that list."""
    slot, _, name = word.text.partition(".")
    keeps = [k.path for edge in protocol.edges for k in edge.keeps if k.slot == slot and k.append]
    if not keeps or slot not in meaning.slots:
        message = f"'{word.text}': no slot '{slot}' is gathered with `+` and read"
        meaning.notes.report("unknown-path", message, word.place)
    for path in keeps:
        try:
            meaning.type_of(f"{path}.{name}")
        except Lost:
            message = f"'{word.text}': what is kept in '{slot}' has no field '{name}'"
            meaning.notes.report("unknown-path", message, word.place)
