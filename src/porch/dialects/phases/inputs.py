"""What agents and reviewers get to see: what their phase found, and what sent it back to them."""

from collections.abc import Iterator
from dataclasses import replace

from porch.dialects.phases.draft import Draft
from porch.model.protocol import Agent, Check, Edge, Human, Input, Panel, Protocol, State
from porch.model.remembering import said_path


def with_inputs(protocol: Protocol, draft: Draft) -> Protocol:
    incoming = _of_loops(protocol, draft)
    order = {name: number for number, name in enumerate(protocol.states)}
    for edge in protocol.edges:
        for target in edge.targets:
            if order.get(target.state, len(order)) <= order[edge.state]:
                incoming[target.state].extend(_told(protocol, edge))
    states = dict(protocol.states)
    for name, state in protocol.states.items():
        if isinstance(state.actor, Agent):
            states[name] = _informed(state, draft, incoming.get(name, []))
        elif isinstance(state.actor, Panel):
            states[name] = replace(state, inputs=tuple(_discussion(protocol, draft, state.group)))
    return replace(protocol, states=states)


def _discussion(protocol: Protocol, draft: Draft, phase: str) -> Iterator[Input]:
    """Reviewers of a later round see what was asked for before, and what was said to it."""
    asked = {
        given.path: given
        for given in draft.paths_of.get(phase, [])
        if isinstance(protocol.states[given.path.rpartition(".")[0]].actor, (Panel, Human))
    }
    yield from asked.values()
    edges = [edge for edge in protocol.edges if f"{edge.state}.{edge.exit}" in asked]
    menders = dict.fromkeys(target.state for edge in edges for target in edge.targets)
    known = {name: protocol.states[name].actor for name in menders if name in protocol.states}
    agents = [name for name, actor in known.items() if isinstance(actor, Agent)]
    yield from (Input(f"What {name} said to that", said_path(name)) for name in agents)


def _of_loops(protocol: Protocol, draft: Draft) -> dict[str, list[Input]]:
    """Whoever works in a loop sees why its item was begun again."""
    return {
        name: [
            Input("Failed at the end of the plan phase", path)
            for path in draft.completions.get(state.loop, ())
        ]
        for name, state in protocol.states.items()
    }


def _informed(state: State, draft: Draft, incoming: list[Input]) -> State:
    own = [
        Input("Answer to your question", f"blocked:{state.name}.answered"),
        Input("A person asked for another try", f"failed:{state.name}.retry"),
    ]
    paths: dict[str, Input] = {}
    for shown in (*draft.paths_of.get(state.group, []), *own, *incoming):
        paths.setdefault(shown.path, shown)
    return replace(state, inputs=tuple(paths.values()))


def _told(protocol: Protocol, edge: Edge) -> Iterator[Input]:
    """A failed check or a signal that leads back carries the reason with it."""
    path, actor = f"{edge.state}.{edge.exit}", protocol.states[edge.state].actor
    if isinstance(actor, Check) and edge.exit != "passed":
        yield Input("Failed checks", path)
    elif isinstance(actor, Agent):
        yield Input(f"Sent back by {edge.state}", path)
