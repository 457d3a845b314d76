"""How phases and runs end: the commit on the way out, the two ends, no cycle without a limit."""

from dataclasses import replace

from porch.dialects.phases.bench import Bench
from porch.dialects.phases.draft import Draft, DrawnEdge
from porch.dialects.phases.records import DEFAULT_RETRIES, Definition
from porch.dialects.phases.targets import Atlas
from porch.model.protocol import Agent, End, Git, State, Target
from porch.model.validate import free_steps, knots


def draw_commit(bench: Bench) -> None:
    if not bench.commit:
        return
    phase, agent = bench.phase, bench.layout.mender(None)
    message = f"{bench.definition.name}: {phase.title} {', '.join(phase.commits)}"
    bench.add(bench.commit, Git(phase.commits, message), phase.place)
    refusals = tuple(f"{bench.commit}.{exit_}" for exit_ in ("refused", "conflict"))
    bench.leave(bench.commit, "clean", forgets=refusals)
    for exit_ in ("refused", "conflict"):
        bench.edge(bench.commit, exit_, bench.failed(agent))


def draw_ends(draft: Draft, definition: Definition) -> None:
    draft.add(State("abandoned", "abandoned", End("abandoned"), "Abandoned"), definition.place)
    draft.add(State("complete", "complete", End("complete"), "Complete"), definition.place)


def bound_cycles(draft: Draft, atlas: Atlas) -> None:
    """The file cannot say how often a signal may lead back; three times, then a person decides."""
    order = {name: number for number, name in enumerate(draft.states)}
    edges = [drawn.edge for drawn in draft.edges]
    knot_of = knots(free_steps(draft.states, edges, draft.loops))
    for drawn in draft.edges:
        here = drawn.edge.state
        for target in drawn.edge.targets:
            there = draft.loops[target.next_of].after.state if target.next_of else target.state
            is_back = order.get(there, len(order)) <= order[here]
            if (
                is_back
                and not drawn.edge.charges
                and knot_of.get(here, -1) == knot_of.get(there, -2)
            ):
                _charge(draft, drawn, atlas)


def _charge(draft: Draft, drawn: DrawnEdge, atlas: Atlas) -> None:
    edge = drawn.edge
    budget = draft.budget(drawn.phase, f"{edge.state}.{edge.exit}", DEFAULT_RETRIES)
    is_agent = isinstance(draft.states[edge.state].actor, Agent)
    agent = edge.state if is_agent else atlas.layouts[drawn.phase].mender(None).state
    drawn.edge = replace(edge, charges=budget, spent=(Target(f"failed:{agent}"),))
