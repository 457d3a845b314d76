"""Values for every template before anything runs: full, minimal, and once for each alternative."""

from collections.abc import Mapping
from typing import Any

from porch.dialects.graph.path_types import PathMeanings
from porch.model import protocol as p
from porch.model import types as t
from porch.model.sample_values import build_sample_value

Values = Mapping[str, Any]
# What a child was told says itself of which kind it is, and no type says what is in it.
REVISION_PATH = "instance.revision"
_SAMPLE_REVISION = {
    "kind": "rework",
    "payload": {"outcome": "failed", "why": {"kind": "a", "payload": {}}},
}


def make_template_samples(
    protocol: p.Protocol, meaning: PathMeanings
) -> dict[str, tuple[Values, ...]]:
    """By agent state; what the engine adds to every prompt is there too."""
    found: dict[str, tuple[Values, ...]] = {}
    for name, state in protocol.states.items():
        if isinstance(state.actor, p.Agent) and state.actor.ask is not None:
            ask = state.actor.ask
            most = max((len(take.paths) for take in ask.takes), default=1)
            full = [_sample_values(protocol, meaning, ask, True, n) for n in range(max(1, most))]
            found[name] = (*full, _sample_values(protocol, meaning, ask, False, 0))
    return found


def _sample_values(
    protocol: p.Protocol, meaning: PathMeanings, ask: p.Ask, full: bool, which: int
) -> dict[str, Any]:
    inputs = {take.name: _sample_input(meaning, take, full, which) for take in ask.takes}
    count = build_sample_value(t.Ref("Count"), meaning.types, full)
    return {
        **inputs,
        "memory": {
            slot: _sample_slot(protocol, meaning, slot) if full else [] for slot in ask.memory
        },
        "budget": dict.fromkeys(protocol.budgets, count),
        "instance": _sample_instance(meaning, full),
        "where": {
            "directory": "d",
            "branch": "b",
            "commit": "0" * 40,
            "new_tests_may_pass": full,
            "tests_may_stay": full,
        },
        "commands": {"build": "make", "test": "make test"} if full else {"build": "", "test": ""},
    }


def _sample_slot(protocol: p.Protocol, meaning: PathMeanings, slot: str) -> list[Any]:
    """What edges keep in a slot; one value or several make a list either way."""
    keeps = [keep for edge in protocol.edges for keep in edge.keeps if keep.slot == slot]
    values = [_sample_at_path(meaning, keep.path, True) for keep in keeps]
    return [v for value in values for v in (value if isinstance(value, list) else [value])]


def _sample_instance(meaning: PathMeanings, full: bool) -> dict[str, Any]:
    node = {"nodeId": "a", "branch": "b"}
    known = {"id": "a", "name": "a", "branch": "b", "node": node, "depth": 1, "revision": None}
    return {**known, "spec": build_sample_value(meaning.spec, meaning.types, full), "target": node}


def _sample_input(meaning: PathMeanings, take: p.Take, full: bool, which: int) -> Any:
    if take.optional and not full:
        return None
    if take.parts:
        return {part.name: _sample_input(meaning, part, full, which) for part in take.parts}
    if take.is_file:
        return "the content of a file"
    if len(take.paths) > 1:
        path = take.paths[min(which, len(take.paths) - 1)]
        if path == REVISION_PATH:
            return _SAMPLE_REVISION
        return {"kind": path.split(".")[1], "payload": _sample_at_path(meaning, path, full)}
    return _sample_at_path(meaning, take.paths[0], full)


def _sample_at_path(meaning: PathMeanings, path: str, full: bool) -> Any:
    return build_sample_value(meaning.type_of(path), meaning.types, full)
