"""What a path of a protocol means now: remembered exits, the instance, its parent, the engine."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from porch.machine.facts import Payload
from porch.machine.state import ROOT, RunState, Standing
from porch.model.memory_paths import memory_key
from porch.model.protocol import Agent, Children, Protocol, Take

PARENT = "parent."
REVISION_PATH = "instance.revision"


def look_up_path(protocol: Protocol, state: RunState, standing: Standing, path: str) -> Any:
    """The value under a path as one position sees it; None where there is nothing."""
    instance = standing.instance
    while path.startswith(PARENT) or path == "parent":
        if not instance:
            return None
        instance = state.instances[instance].parent
        if path == "parent":
            return node_payload(state, instance)
        path = path.removeprefix(PARENT)
    if path.startswith("instance."):
        return walk_fields(instance_payload(state, instance), path.split(".")[1:])
    if path.startswith("engine."):
        _, name, *fields = path.split(".")
        return walk_fields(engine_value(protocol, state, instance, name), fields)
    key = memory_key(path)
    for scope in ((instance, standing.item), (instance, "")):
        payload = state.memory.get(scope, {}).get(key)
        if payload is not None:
            return walk_fields(payload, path.split(".")[2:])
    return None


def is_named_by_engine(protocol: Protocol, path: str) -> bool:
    """Whether the fields of a remembered exit are words of the engine.

    What an agent of a graph answers, and what a child hands on, has the fields that the author of
    the graph chose. They may be called like ours and mean something else.
    """
    source, _, exit_ = path.rpartition(".")
    kind = protocol.states.get(source)
    match kind.actor if kind and protocol.spec else None:
        case Agent(exits=exits):
            return all(each.name != exit_ for each in exits)
        case Children():
            return False
        case _:
            return True


def walk_fields(value: Any, fields: Iterable[str]) -> Any:
    """Into a payload; a list is gone through element by element, a number picks from a pair."""
    for field in fields:
        if value is None:
            return None
        if isinstance(value, (list, tuple)):
            value = list(_each_field(value, field))
        elif isinstance(value, Mapping):
            value = value.get(field)
        else:
            return None
    return value


def _each_field(values: Iterable[Any], field: str) -> Iterator[Any]:
    for value in values:
        if isinstance(value, Mapping):
            inside = value.get(field)
        elif field.isdigit() and isinstance(value, (list, tuple)) and int(field) < len(value):
            inside = value[int(field)]
        else:
            inside = None
        if isinstance(inside, (list, tuple)):
            yield from inside
        elif inside is not None:
            yield inside


def node_payload(state: RunState, instance: str) -> Payload:
    """An instance as protocols call it."""
    known = state.instances.get(instance, ROOT)
    return {"nodeId": known.key, "branch": known.branch}


def instance_payload(state: RunState, instance: str) -> Payload:
    """What `instance.` leads to."""
    known = state.instances.get(instance, ROOT)
    parent = {"nodeId": known.target, "branch": known.target} if known.target else None
    if instance and parent is not None:
        parent = {**parent, "nodeId": state.instances[known.parent].key}
    return {
        "id": known.key,
        "name": instance,
        "spec": known.spec,
        "branch": known.branch,
        "target": parent,
        "node": node_payload(state, instance),
        "depth": instance_depth(instance),
        "revision": known.revision,
    }


def instance_depth(instance: str) -> int:
    return instance.count(".") + 1 if instance else 0


def engine_value(protocol: Protocol, state: RunState, instance: str, name: str) -> Any:
    """What only the engine knows: counts, limits, what siblings did, an update that is due."""
    match name:
        case "children":
            return children_allowance(protocol, state, instance)
        case "siblings":
            return _merged_siblings(state, instance)
        case "update":
            return state.memory.get((instance, ""), {}).get("engine.update")
        case _:
            known = protocol.budgets_of(state.instances.get(instance, ROOT).part).get(name)
            return budget_figures(protocol, state, instance, known) if known else None


def budgets_payload(protocol: Protocol, state: RunState, instance: str) -> Payload:
    """The figures of all budgets of an instance, by the names that its own graph gives them."""
    known = protocol.budgets_of(state.instances.get(instance, ROOT).part)
    return {n: budget_figures(protocol, state, instance, each) for n, each in known.items()}


def budget_figures(protocol: Protocol, state: RunState, instance: str, name: str) -> dict[str, int]:
    """A count as people read it: with `first` 1 an attempt is under way before any charge."""
    known = protocol.budgets[name]
    spent = state.spent.get(f"{instance}/{name}" if instance else name, 0)
    limit, count = known.limit + known.first, spent + known.first
    return {"count": count, "spent": spent, "limit": limit, "left": max(0, limit - count)}


def children_allowance(protocol: Protocol, state: RunState, instance: str) -> dict[str, Any]:
    spawn = protocol.spawn_of(state.instances.get(instance, ROOT).part)
    if spawn is None:
        return {"allowed": False, "most": 0}
    # A plan that names a child again which lives or has merged begins nobody.
    own = [k for n, k in state.instances.items() if n and k.parent == instance]
    same = {k.key for k in own if k.outcome in ("", "complete")}
    room = count_free_instances(protocol, state, spawn) + len(same)
    most = min(spawn.fan_out, room) if depth_in_part(state, instance) < spawn.depth else 0
    return {"allowed": most > 0, "most": most}


def count_free_instances(protocol: Protocol, state: RunState, spawn: Children) -> int:
    """How many instances may still begin in this run, wherever in the tree."""
    first = protocol.spawn_of("") or spawn
    return max(0, min(first.instances, spawn.instances) - len(state.instances))


def depth_in_part(state: RunState, instance: str) -> int:
    """How deep an instance lies below the one with which its own graph began."""
    depth, known = 0, state.instances.get(instance, ROOT)
    while instance and state.instances[known.parent].part == known.part:
        depth, instance, known = depth + 1, known.parent, state.instances[known.parent]
    return depth


def _merged_siblings(state: RunState, instance: str) -> list[Payload]:
    """What the others under the same parent have merged so far."""
    parent = state.instances[instance].parent if instance else None
    others = [
        known
        for name, known in state.instances.items()
        if name and name != instance and known.parent == parent and known.merged
    ]
    return [known.merged for known in others]


def input_value(protocol: Protocol, state: RunState, standing: Standing, take: Take) -> Any:
    """One field of an input, before files are read; of several paths the latest remembered."""
    if take.parts:
        parts = {part.name: input_value(protocol, state, standing, part) for part in take.parts}
        needed = [part.name for part in take.parts if not part.optional]
        return None if any(parts[name] is None for name in needed) else parts
    if len(take.paths) == 1:
        return look_up_path(protocol, state, standing, take.paths[0])
    path = latest_path(protocol, state, standing, take.paths)
    if path is None:
        return None
    found = look_up_path(protocol, state, standing, path)
    # What an instance was told says itself of which kind it is.
    return found if path == REVISION_PATH else {"kind": path.split(".")[1], "payload": found}


def latest_path(
    protocol: Protocol, state: RunState, standing: Standing, paths: Iterable[str]
) -> str | None:
    """The path whose exit was remembered last; memory is kept in that order."""
    order = {key: n for n, key in enumerate(state.memory.get((standing.instance, ""), {}))}
    known = [path for path in paths if look_up_path(protocol, state, standing, path) is not None]
    # What an instance was born with is older than anything it did.
    return max(known, key=lambda path: order.get(memory_key(path), -1), default=None)


def is_inside(instance: str, other: str) -> bool:
    """Whether an instance is another or lives below it; everybody lives below the root."""
    return not other or instance == other or instance.startswith(f"{other}.")


def is_within(file: str, places: Iterable[Any]) -> bool:
    """Whether a file is one of the places or lies under one of them."""
    flat = [p for each in places for p in (each if isinstance(each, (list, tuple)) else [each])]
    return any(file == place or file.startswith(f"{place.rstrip('/')}/") for place in flat if place)
