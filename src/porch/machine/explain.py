"""Why a run stands where it stands and what would move it, in a sentence per position."""

from collections.abc import Mapping

from porch.machine.budgets import ASK, DRIVERLESS
from porch.machine.exits.evidence import due_commands
from porch.machine.state import RunState, Standing
from porch.machine.wishes import shows_failure
from porch.model.protocol import (
    TRACK,
    Agent,
    Check,
    Children,
    End,
    Git,
    Human,
    Join,
    Panel,
    Protocol,
)


def explain_positions(
    protocol: Protocol, state: RunState, is_driven: bool = True
) -> tuple[str, ...]:
    """One sentence for each position, or one for a run that stands nowhere."""
    if state.outcome:
        return (f"The run is over: {state.outcome}.",)
    if not state.positions:
        return ("The run has not started yet.",)
    is_moving = is_driven and not state.paused
    sentences = tuple(
        _describe_position(protocol, state, s, is_moving)
        for s in state.positions.values()
        # Who has come to the end of a wave waits for those who are told of anyway.
        if protocol.subject not in (TRACK, ASK)
        or not isinstance(protocol.states[s.state].actor, Join)
    )
    if state.paused:
        front = "The run is stopped. Continue with `porch resume`."
        return (front, *sentences)
    return sentences


def _describe_position(
    protocol: Protocol, state: RunState, standing: Standing, is_moving: bool
) -> str:
    why = f" (came from {standing.because})" if standing.because else ""
    mover = _describe_next_mover(protocol, state, standing, is_moving)
    return f"It is at {standing.position}{why}: {mover}."


def _describe_next_mover(
    protocol: Protocol, state: RunState, standing: Standing, is_moving: bool
) -> str:
    kind = protocol.states[standing.state]
    missing = [path for path in kind.waits_for if state.recall(standing, path) is None]
    if missing:
        return f"waiting for {', '.join(missing)}"
    if kind.loop and not standing.item:
        return (
            f"porch must first read the list '{kind.loop}' from {protocol.loops[kind.loop].source}"
        )
    match kind.actor:
        case Agent(exits=exits):
            names = ", ".join(exit_.name for exit_ in exits)
            last = _describe_last_failure(state, standing)
            works = (
                "an agent works on it and" if is_moving else "an agent must continue the work and"
            )
            return f"{works} must end with one of: {names}{last}"
        case Check() as check:
            names = ", ".join(command.name for command in due_commands(state, standing, check))
            return f"the next step depends on these checks: {names}"
        case Panel(reviewers=reviewers, quorum=quorum):
            return (
                f"at least {quorum} of these reviewers must give a verdict: {', '.join(reviewers)}"
            )
        case Human(name=name) if _is_unasked(protocol, state, standing):
            return f"porch must first ask you: {name}"
        case Human() as human:
            has_failed = shows_failure(state, standing, human)
            return f"waiting for your decision {human.name}: {_describe_options(human, has_failed)}"
        case Git(op=op):
            done = "commit the documents" if op == "commit" else f"{op} the branch"
            return f"git must {done}"
        case actor:
            return _WAITS[type(actor)]


def _is_unasked(protocol: Protocol, state: RunState, standing: Standing) -> bool:
    return standing.position not in state.decisions and protocol.subject not in DRIVERLESS


_WAITS: Mapping[type, str] = {
    Children: "waiting for its children to be merged, failed or cancelled",
    Join: "waiting until everything it needs is ready",
    End: "this is the end",
}


def _describe_options(human: Human, has_failed: bool) -> str:
    offered = [option for option in human.options if has_failed or not option.needs_failure]
    return "; ".join(f"{option.exit} - {option.meaning}" for option in offered)


def _describe_last_failure(state: RunState, standing: Standing) -> str:
    failure = state.marked(standing.position, "failure")
    return f" (the last attempt failed: {failure})" if failure else ""
