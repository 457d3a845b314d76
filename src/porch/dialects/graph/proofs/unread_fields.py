"""A proof about data: whatever an agent or a person is asked to say reaches somebody."""

from collections.abc import Iterator, Mapping

from porch.dialects.graph.declared_types import exit_fields
from porch.dialects.graph.path_types import PathMeanings
from porch.dialects.graph.proofs.missing_inputs import measured_paths
from porch.errors import Finding, Place
from porch.model import protocol as p
from porch.model.read_paths import list_read_keys
from porch.text.nodes import ScalarNode


def find_unread_fields(
    protocol: p.Protocol, meaning: PathMeanings, unused: Mapping[str, ScalarNode]
) -> Iterator[Finding]:
    used = set(_list_used_paths(protocol))
    for state, exits in meaning.declared.items():
        for exit_, field in exit_fields(exits):
            path = f"{state}.{exit_.name}.{field.name}"
            is_used = any(_covers_path(each, path) for each in used)
            if not is_used and path not in unused:
                message = f"nothing uses '{field.name}' of exit '{exit_.name}' of '{state}'"
                fix = "use it, or list it under 'unused'"
                place = exit_.places.get(field.name, exit_.place)
                yield Finding("dead-field", message, place, fix)
            elif is_used and path in unused:
                message = f"'{field.name}' of '{exit_.name}' is listed as unused, but it is used"
                yield Finding("not-unused", message, unused[path].place, "remove it", "warning")


def find_unread_texts(protocol: p.Protocol, places: Mapping[str, Place]) -> Iterator[Finding]:
    """A text that a person has to type, where no agent and no git state reads it.

    One whose way leads to an end reaches nobody by intent: there is nobody left to work with it.
    """
    read = set(list_read_keys(protocol))
    for name, state in protocol.states.items():
        options = state.actor.options if isinstance(state.actor, p.Human) else ()
        for option in options:
            path = f"{name}.{option.exit}"
            if option.needs_text and path not in read and not _only_ends(protocol, name, option):
                message = f"a person must type a text for '{option.exit}' of '{name}', and no state"
                fix = f"read '{path}' in an 'input', or remove `text: true`"
                yield Finding("unread-text", f"{message} reads it", places.get(f"{path}.text"), fix)


def _only_ends(protocol: p.Protocol, state: str, option: p.Option) -> bool:
    edges = protocol.edges_of(state, option.exit)
    targets = [target.state for edge in edges for target in (*edge.targets, *edge.spent)]
    return all(_is_end(protocol, name) for name in targets)


def _is_end(protocol: p.Protocol, state: str) -> bool:
    known = protocol.states.get(state)
    return known is not None and isinstance(known.actor, p.End)


def _covers_path(used: str, path: str) -> bool:
    while used.startswith("parent."):
        used = used.removeprefix("parent.")
    return path == used or path.startswith(f"{used}.") or used.startswith(f"{path}.")


def _list_used_paths(protocol: p.Protocol) -> Iterator[str]:
    for state in protocol.states.values():
        yield from _list_paths_used_by(state)
    for edge in protocol.edges:
        yield from (guard.path for guard in edge.guards)
        yield from (path for g in edge.guards if g.test in p.FILE_TESTS for path in g.value.split())
        yield from (keep.path for keep in edge.keeps)
        yield from edge.respecifies.values()
        if edge.spent_as:
            yield f"{edge.state}.{edge.exit}"
    if protocol.interrupt:
        yield protocol.interrupt.event


def _list_paths_used_by(state: p.State) -> Iterator[str]:
    match state.actor:
        case p.Agent(ask=p.Ask() as ask, exits=exits):
            yield from (path for take in ask.takes for path in _list_input_paths(take))
            yield from (*ask.allows, *ask.denies, *ask.diff, ask.at)
            yield from (path for exit_ in exits for path in exit_.filled.values())
            # A field that is only checked by its own exit reaches nobody else.
            yield from measured_paths(state.name, exits)
        case p.Git() as git:
            yield from git.inputs
        case p.Human(shows=shows):
            yield from shows
        case p.End(shows=shows, gives=gives):
            yield from (*shows, gives)
        case p.Children(specs=specs, rework=rework):
            yield from (specs, rework)
        case _:
            return


def _list_input_paths(take: p.Take) -> Iterator[str]:
    yield from take.paths
    for part in take.parts:
        yield from _list_input_paths(part)
