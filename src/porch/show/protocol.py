"""A protocol as people read it: its phases in order, who works in each, and where it may go."""

from collections.abc import Iterable, Iterator, Sequence

from porch.model.artifact_names import describe_name
from porch.model.protocol import Agent, Check, Edge, End, Git, Human, Panel, Protocol, State, Target


def render_protocol(protocol: Protocol, file: str, notes: Sequence[str]) -> str:
    head = f"{protocol.name} {protocol.version}".strip()
    lines = [head, protocol.description, f"file: {file}", "", *_render_states(protocol)]
    return "\n".join([*filter(None, lines[:3]), *lines[3:], *notes])


def _render_states(protocol: Protocol) -> Iterator[str]:
    group = ""
    for state in protocol.states.values():
        if state.group != group:
            group = state.group
            loop = (
                f" (once for each phase of {describe_name(protocol.loops[state.loop].source)})"
                if state.loop
                else ""
            )
            yield f"{state.title or group}{loop}"
            if state.description:
                yield f"  {state.description}"
        yield f"  {state.name}: {_describe_actor(state)}"
        for edge in protocol.edges:
            if edge.state == state.name:
                yield f"    {edge.exit} -> {_describe_edge(protocol, edge)}"


def _describe_actor(state: State) -> str:
    match state.actor:
        case Agent(artifacts=artifacts):
            return f"agent, writes {_name_files(artifacts)}" if artifacts else "agent"
        case Check(commands=commands):
            return f"checks {', '.join(command.name for command in commands)}"
        case Panel(reviewers=(), review=review):
            return f"{review} by the agents that are there when a run begins, two thirds needed"
        case Panel(reviewers=reviewers, review=review, quorum=quorum):
            return f"{review} by {', '.join(reviewers)}, at least {quorum} verdicts needed"
        case Human(name=name, description=description):
            return f"you decide {name}{': ' if description else ''}{description}"
        case Git(paths=paths):
            return f"commits {_name_files(paths)}"
        case End(outcome=outcome):
            return f"the run ends {outcome}"
        case _:
            return "children"


def _name_files(names: Iterable[str]) -> str:
    return ", ".join(map(describe_name, names))


def _describe_edge(protocol: Protocol, edge: Edge) -> str:
    way = ", ".join(_describe_target(target) for target in edge.targets)
    if edge.guards:
        way += f" if {' and '.join(f'{g.path} {g.test} {g.value}'.strip() for g in edge.guards)}"
    if edge.charges:
        limit = protocol.budgets[edge.charges].limit
        spent = ", ".join(_describe_target(target) for target in edge.spent)
        way += f" (at most {limit} times, then {spent})"
    return way


def _describe_target(target: Target) -> str:
    if target.next_of:
        return f"next item of {target.next_of}"
    return f"{target.state}:{target.item}" if target.item else target.state
