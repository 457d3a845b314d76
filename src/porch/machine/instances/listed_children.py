"""Children that a spec itself lists: limited where the spec is taken, before anybody begins.

Nobody can answer for such a list later. So it is refused to whoever writes the spec: to a person
when the run begins, and to an agent that plans a child with such a spec.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from porch.machine.facts import Payload
from porch.machine.instances.child_specs import (
    begins_instance,
    child_part,
    find_name_problems,
    find_order_problems,
    list_mappings,
    list_planned_children,
    make_child_spec,
)
from porch.machine.path_values import count_free_instances, depth_in_part, walk_fields
from porch.machine.state import RunState
from porch.model.protocol import Children, Protocol
from porch.model.protocol_parts import part_of_name

_FROM_SPEC = "instance.spec."


class SpecOfPart(Struct, frozen=True):
    """A spec, the part of the graph that follows it, and how deep it lies in that part."""

    part: str
    spec: Payload
    depth: int = 0


def find_listed_problems(protocol: Protocol, specs: Sequence[SpecOfPart], room: int) -> list[str]:
    """What is wrong with all that these specs list, however deep; so many may begin at most."""
    left, found, begun = list(specs), list[str](), 0
    while left:
        taken = left.pop(0)
        actor = protocol.spawn_of(taken.part)
        listed = _list_children(actor, taken.spec)
        if actor is None or not listed:
            continue
        begun += len(listed)
        if begun > room:
            return [*found, f"more than {room} children are listed, but no more can begin in a run"]
        found += _find_problems(actor, taken, listed)
        left += _list_inner(protocol, actor, taken, listed)
    return found


def find_problems_below_plan(
    protocol: Protocol, state: RunState, instance: str, path: str, payload: Any
) -> list[str]:
    """The same for the specs of children that an answer plans anew; `path` is its `state.Exit`."""
    actor = protocol.spawn_of(part_of_name(path))
    if actor is None or not actor.specs.startswith(f"{path}."):
        return []
    planned = list_planned_children(actor, payload)
    new = [each for each in planned if begins_instance(protocol, state, instance, actor, each)]
    own, part = state.instances[instance], child_part(actor, path)
    depth = depth_in_part(state, instance) + 1 if part == own.part else 0
    made = (make_child_spec(protocol, actor, part, own.spec, each) for each in new)
    room = count_free_instances(protocol, state, actor) - len(new)
    return find_listed_problems(protocol, [SpecOfPart(part, each, depth) for each in made], room)


def _list_children(actor: Children | None, spec: Payload) -> list[Mapping[str, Any]]:
    if actor is None or not actor.specs.startswith(_FROM_SPEC):
        return []
    return list_mappings(walk_fields(spec, actor.specs.split(".")[2:]))


def _find_problems(
    actor: Children, taken: SpecOfPart, listed: list[Mapping[str, Any]]
) -> list[str]:
    most = actor.fan_out if taken.depth < actor.depth else 0
    if len(listed) > most:
        where = actor.specs.removeprefix(_FROM_SPEC)
        return [f"{where}: {len(listed)} children are listed, but only {most} are allowed"]
    return [*find_name_problems(listed), *find_order_problems(actor, listed)]


def _list_inner(
    protocol: Protocol, actor: Children, taken: SpecOfPart, listed: list[Mapping[str, Any]]
) -> list[SpecOfPart]:
    part = actor.protocol or taken.part
    depth = taken.depth + 1 if part == taken.part else 0
    made = (make_child_spec(protocol, actor, part, taken.spec, each) for each in listed)
    return [SpecOfPart(part, spec, depth) for spec in made]
