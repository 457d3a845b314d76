"""A way out of a loop while plan phases are unfinished: a person is asked before it is taken."""

from msgspec.structs import replace

from porch.dialects.phases.compiler.loops import loop_exit_target
from porch.dialects.phases.compiler.phase_draft import PhaseDraft
from porch.dialects.phases.compiler.protocol_draft import ABANDONED, DrawnEdge
from porch.model.protocol import Edge, Guard, Human, Option, Target


def draw_unfinished(bench: PhaseDraft) -> None:
    """Behind everything else of its phase: by then all its ways out are drawn."""
    ways: dict[Target, list[DrawnEdge]] = {}
    for drawn in bench.draft.edges:
        if drawn.phase == bench.phase.id:
            for target in drawn.edge.targets:
                if bench.atlas.is_beyond_loop(target, bench.layout):
                    ways.setdefault(target, []).append(drawn)
    for target, early in ways.items():
        # One question for each, so that it can say where the run would go.
        ending = f":{target.state}" if len(ways) > 1 else ""
        _draw_question(bench, f"unfinished:{bench.phase.id}{ending}", target, early)


def _draw_question(bench: PhaseDraft, state: str, target: Target, early: list[DrawnEdge]) -> None:
    shown = tuple(dict.fromkeys(path for drawn in early for path in _telling_paths(drawn.edge)))
    for drawn in early:
        if bench.layout.is_last_of_loop:
            _ask_if_others_are_open(bench, drawn, state)
        else:
            # The plan phase that the run is in is not finished either.
            drawn.edge = replace(drawn.edge, targets=(Target(state),))
            drawn.leaves = False
    bench.add(state, _make_question(bench, state, target, shown), bench.phase.place)
    more = bench.outside(bench.atlas.following(bench.layout))
    bench.edge(state, "retry", more, leaves=True)
    bench.edge(state, "skip", target, leaves=True)
    bench.edge(state, "stopped", ABANDONED)


def _telling_paths(edge: Edge) -> tuple[str, ...]:
    """What led here: the signal, which may have been given before checks and a gate."""
    return tuple(guard.path for guard in edge.guards) or (f"{edge.state}.{edge.exit}",)


def _ask_if_others_are_open(bench: PhaseDraft, drawn: DrawnEdge, state: str) -> None:
    edge, edges = drawn.edge, bench.draft.edges
    open_ = Guard(bench.layout.loop, "unfinished")
    asking = replace(edge, targets=(Target(state),), guards=(*edge.guards, open_), delay_s=0)
    at = next(number for number, each in enumerate(edges) if each is drawn)
    edges.insert(at, DrawnEdge(asking, drawn.phase))
    if drawn.leaves and edge.targets == (_loop_exit(bench),):
        # The same place, and the last plan phase is called finished.
        onward = bench.outside(Target(next_of=bench.layout.loop))
        drawn.edge = replace(edge, targets=(onward,))


def _loop_exit(bench: PhaseDraft) -> Target:
    layouts = bench.atlas.layouts.values()
    members = [each for each in layouts if each.loop == bench.layout.loop]
    return loop_exit_target(members, bench.atlas)


def _make_question(bench: PhaseDraft, state: str, target: Target, shown: tuple[str, ...]) -> Human:
    more = "call this phase of the plan finished and work on the next one"
    if not bench.layout.is_last_of_loop:
        more = "continue with this phase of the plan"
    return Human(
        "failure",
        state,
        f"{bench.phase.title}: not all phases of the plan are finished",
        (
            Option("retry", more),
            Option("skip", f"go to {target.state} and leave them unfinished", needs_text=True),
            Option("stopped", "end the run"),
        ),
        f"The agent wants to go on to {target.state}.",
        bench.phase.artifacts,
        shown,
    )
