"""What a child is about: only what its plan says of it, and never more than its type allows."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from porch.machine.facts import Payload
from porch.machine.path_values import children_allowance, count_free_instances, walk_fields
from porch.machine.payload_equality import digest_payload
from porch.machine.state import RunState
from porch.model import types as t
from porch.model.protocol import Agent, Children, Protocol
from porch.model.protocol_parts import EVERY_FIELD, part_of_name
from porch.model.typed_answers import check_value

MOST_PROBLEMS = 5
# Names of branches and directories are made of it, with those of its parents in front.
LONGEST_NAME = 100
_NO_NAMES = (" ", "~", "^", ":", "?", "*", "[", "\\", "..", "//", "@{", "--")


def child_part(actor: Children, state: str) -> str:
    """The part that children follow which are spawned in this state."""
    return actor.protocol or part_of_name(state)


def make_child_spec(
    protocol: Protocol, actor: Children, part: str, parent: Payload, planned: Mapping[str, Any]
) -> dict[str, Any]:
    """The spec of a child; what may be null and is not said is null, and nothing is made up."""
    if EVERY_FIELD in actor.inherits:
        return {**parent, **planned}
    fields = _spec_fields(protocol, part)
    handed = {name: parent[name] for name in actor.inherits if name in parent}
    unsaid = {each.name: None for each in fields if t.unwrap_type(each.type, protocol.types)[1]}
    names = {each.name for each in fields}
    said = {k: v for k, v in planned.items() if k != actor.after or k in names}
    return {**unsaid, **handed, **said}


def _spec_fields(protocol: Protocol, part: str) -> tuple[t.Field, ...]:
    spec, _ = t.unwrap_type(t.Ref(protocol.part(part).spec), protocol.types)
    return spec.fields if isinstance(spec, t.Record) else ()


def find_plan_problems(
    protocol: Protocol, state: RunState, instance: str, path: str, payload: Any
) -> list[str]:
    """What is wrong with the children that an answer plans; `path` is its `state.Exit`.

    Each sentence is for the agent that planned them.
    """
    actor = protocol.spawn_of(part_of_name(path))
    if actor is None or not actor.specs.startswith(f"{path}."):
        return []
    specs = list_planned_children(actor, payload)
    most = children_allowance(protocol, state, instance)["most"]
    if len(specs) > most:
        return [f"{len(specs)} children are planned, but only {most} are allowed"]
    new = [each for each in specs if begins_instance(protocol, state, instance, actor, each)]
    if len(new) > (free := count_free_instances(protocol, state, actor)):
        return [_describe_lack_of_room(state, new, free)]
    found = [
        *(() if _checks_names(protocol, path) else find_name_problems(specs, state, instance)),
        *_find_spec_problems(protocol, state, instance, actor, path=path, specs=specs),
        *find_order_problems(actor, specs, state, instance),
    ]
    return found[:MOST_PROBLEMS]


def list_planned_children(actor: Children, payload: Any) -> list[Mapping[str, Any]]:
    """The children in an answer, however deep in it the list of them lies."""
    return list_mappings(walk_fields(payload, actor.specs.split(".")[2:]))


def list_mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in _as_list(value) if isinstance(each, Mapping)]


def _describe_lack_of_room(state: RunState, new: Sequence[Mapping[str, Any]], free: int) -> str:
    """Places of those who live or have merged are for them alone."""
    names = ", ".join(f"'{each.get('id')}'" for each in new)
    count, most = len(state.instances), len(state.instances) + free
    room = f"only {free} more can begin" if free else "no more can begin"
    return (
        f"{names}: the run has {count} of at most {most} instances, so {room}; "
        "give this work to children that are there, or do it without children"
    )


def begins_instance(
    protocol: Protocol,
    state: RunState,
    instance: str,
    actor: Children,
    planned: Mapping[str, Any],
) -> bool:
    """Whether somebody new has to do it; who lives goes on, and what has merged stays."""
    known = state.instances.get(find_latest_child(state, instance, str(planned.get("id", ""))))
    if known is None or not known.outcome:
        return known is None
    part, parent = actor.protocol or part_of_name(actor.specs), state.instances[instance].spec
    said = digest_payload(make_child_spec(protocol, actor, part, parent, planned))
    return not is_merged(known) or known.digest != said


def find_latest_child(state: RunState, parent: str, key: str) -> str:
    """The last instance that does or did what a plan calls by this id; '?' is nobody."""
    for name in reversed([*state.instances]):
        known = state.instances[name]
        if name and known.parent == parent and known.key == key:
            return name
    return "?"


def _checks_names(protocol: Protocol, path: str) -> bool:
    """Whether the graph itself checks the ids, with all its other checks at once."""
    name, _, exit_ = path.rpartition(".")
    actor = protocol.states[name].actor
    exits = actor.exits if isinstance(actor, Agent) else ()
    return any(m.name == "names" for each in exits if each.name == exit_ for m in each.measures)


def find_name_problems(
    specs: list[Mapping[str, Any]], state: RunState | None = None, parent: str = ""
) -> Iterator[str]:
    """Without a check of the graph: a child is known by its id, as are its branch and worktrees."""
    names = [str(each.get("id", "")) for each in specs]
    # What earlier plans have begun is kept by its name, in an archive if not as a branch.
    front = f"{parent}." if parent else ""
    known = state.instances.items() if state else ()
    begun = [name.removeprefix(front) for name, each in known if name and each.parent == parent]
    for name in dict.fromkeys(names):
        if len(name) > LONGEST_NAME:
            yield f"child '{name[:20]}...': an id has at most {LONGEST_NAME} characters"
        elif not _is_usable_name(name):
            yield f"child '{name}': this cannot be the name of a branch"
        for other in dict.fromkeys((*names, *begun)):
            is_around = other not in names and name.startswith(f"{other}/")
            if is_around or other.startswith(f"{name}/"):
                why = "of two branches, one cannot be inside the other"
                yield f"child '{name}' and child '{other}': {why}"
        if names.count(name) > 1:
            yield f"child '{name}' is planned {names.count(name)} times"


def _is_usable_name(name: str) -> bool:
    """Git would refuse some; two dashes are in the names of a member's other worktrees."""
    steps = name.split("/")
    return not (
        not name.isprintable()
        or any(sign in name for sign in _NO_NAMES)
        or name.startswith("-")
        or name.endswith(("-", "."))
        or any(not step or step.startswith(".") or step.endswith(".lock") for step in steps)
    )


def _find_spec_problems(
    protocol: Protocol,
    state: RunState,
    instance: str,
    actor: Children,
    *,
    path: str,
    specs: list[Mapping[str, Any]],
) -> Iterator[str]:
    part, parent = child_part(actor, path), state.instances[instance].spec
    type_ = t.Ref(protocol.part(part).spec)
    for each in specs:
        front = f"child '{each.get('id', '?')}'"
        if EVERY_FIELD not in actor.inherits:
            spec = make_child_spec(protocol, actor, part, parent, each)
            wrong = check_value(spec, type_, protocol.types)
            yield from (f"{front}: {problem}" for problem in wrong)
        for name in actor.from_parent:
            surplus = _find_surplus(each.get(name), parent.get(name))
            yield from (f"{front}: {name} has {one}, which its parent lacks" for one in surplus)


def _find_surplus(said: Any, known: Any) -> Iterator[str]:
    """Elements that the parent does not have; those with an id are known by it."""
    has = [_identity(each) for each in _as_list(known)]
    return (f"'{_identity(each)}'" for each in _as_list(said) if _identity(each) not in has)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _identity(value: Any) -> Any:
    return value["id"] if isinstance(value, Mapping) and "id" in value else value


def find_order_problems(
    actor: Children,
    specs: list[Mapping[str, Any]],
    state: RunState | None = None,
    instance: str = "",
) -> Iterator[str]:
    """Children that wait for somebody who will never come."""
    if not actor.after:
        return
    ways = {str(each.get("id")): list_awaited(actor, each) for each in specs}
    known = state.instances.values() if state else ()
    merged = {each.key for each in known if each.parent == instance and is_merged(each)}
    for key, names in ways.items():
        for name in names:
            if name not in ways and name not in merged:
                there = ", ".join(ways)
                yield f"child '{key}' waits for '{name}', which is not in the plan ({there})"
    if circle := _find_circle(ways):
        yield f"these children wait for each other: {' -> '.join(circle)}"


def is_merged(known: Any) -> bool:
    return bool(known.outcome == "complete")


def list_awaited(actor: Children, planned: Mapping[str, Any]) -> list[str]:
    """The ids of the siblings that a planned child waits for."""
    return [str(each) for each in _as_list(planned.get(actor.after))] if actor.after else []


def _find_circle(ways: Mapping[str, list[str]]) -> list[str]:
    inside = {key: [name for name in names if name in ways] for key, names in ways.items()}
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        # Told in the order in which they would have to begin; each waits for the next.
        return list(reversed(error.args[1]))
    return []
