"""Values for every template before anything runs: full, minimal, and once for each alternative."""

from collections.abc import Mapping
from typing import Any

from porch.dialects.graph.meaning import Meaning
from porch.model import protocol as p
from porch.model import types as t
from porch.model.samples import sample

Values = Mapping[str, Any]
# What a child was told says itself of which kind it is, and no type says what is in it.
TOLD = "instance.revision"
_REVISION = {
    "kind": "rework",
    "payload": {"outcome": "failed", "why": {"kind": "a", "payload": {}}},
}


def samples(protocol: p.Protocol, meaning: Meaning) -> dict[str, tuple[Values, ...]]:
    """By agent state; what the engine adds to every prompt is there too."""
    found: dict[str, tuple[Values, ...]] = {}
    for name, state in protocol.states.items():
        if isinstance(state.actor, p.Agent) and state.actor.ask is not None:
            ask = state.actor.ask
            most = max((len(take.paths) for take in ask.takes), default=1)
            full = [_values(protocol, meaning, ask, True, n) for n in range(max(1, most))]
            found[name] = (*full, _values(protocol, meaning, ask, False, 0))
    return found


def _values(
    protocol: p.Protocol, meaning: Meaning, ask: p.Ask, full: bool, which: int
) -> dict[str, Any]:
    inputs = {take.name: _taken(meaning, take, full, which) for take in ask.takes}
    count = sample(t.Ref("Count"), meaning.types, full)
    return {
        **inputs,
        "memory": {slot: _slot(protocol, meaning, slot) if full else [] for slot in ask.memory},
        "budget": dict.fromkeys(protocol.budgets, count),
        "instance": _instance(meaning, full),
        "where": {"directory": "d", "branch": "b", "commit": "0" * 40},
        "commands": {"build": "make", "test": "make test"} if full else {"build": "", "test": ""},
    }


def _slot(protocol: p.Protocol, meaning: Meaning, slot: str) -> list[Any]:
    """What edges keep in a slot; one value or several make a list either way."""
    keeps = [keep for edge in protocol.edges for keep in edge.keeps if keep.slot == slot]
    values = [_at(meaning, keep.path, True) for keep in keeps]
    return [v for value in values for v in (value if isinstance(value, list) else [value])]


def _instance(meaning: Meaning, full: bool) -> dict[str, Any]:
    node = {"nodeId": "a", "branch": "b"}
    known = {"id": "a", "name": "a", "branch": "b", "node": node, "depth": 1, "revision": None}
    return {**known, "spec": sample(meaning.spec, meaning.types, full), "target": node}


def _taken(meaning: Meaning, take: p.Take, full: bool, which: int) -> Any:
    if take.optional and not full:
        return None
    if take.parts:
        return {part.name: _taken(meaning, part, full, which) for part in take.parts}
    if take.is_file:
        return "the content of a file"
    if len(take.paths) > 1:
        path = take.paths[min(which, len(take.paths) - 1)]
        if path == TOLD:
            return _REVISION
        return {"kind": path.split(".")[1], "payload": _at(meaning, path, full)}
    return _at(meaning, take.paths[0], full)


def _at(meaning: Meaning, path: str, full: bool) -> Any:
    return sample(meaning.type_of(path), meaning.types, full)
