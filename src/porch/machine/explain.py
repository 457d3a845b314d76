"""Why a run stands where it stands and what would move it, in a sentence per position."""

from collections.abc import Mapping

from porch.machine.state import Standing, State
from porch.model.protocol import Agent, Check, Children, End, Git, Human, Join, Panel, Protocol


def explain(protocol: Protocol, state: State) -> tuple[str, ...]:
    """One sentence for each position, or one for a run that stands nowhere."""
    if state.outcome:
        return (f"The run is over: it ended {state.outcome}.",)
    if not state.positions:
        return ("The run has not begun.",)
    sentences = tuple(_sentence(protocol, state, s) for s in state.positions.values())
    if state.paused:
        front = "The run was stopped; `porch resume` goes on from here."
        return (front, *sentences)
    return sentences


def _sentence(protocol: Protocol, state: State, standing: Standing) -> str:
    why = f", entered because of {standing.because}" if standing.because else ""
    return f"It stands at {standing.position}{why}; {_mover(protocol, state, standing)}."


def _mover(protocol: Protocol, state: State, standing: Standing) -> str:
    kind = protocol.states[standing.state]
    missing = [path for path in kind.waits_for if state.recall(standing, path) is None]
    if missing:
        return f"it waits until there is {', '.join(missing)}"
    if kind.loop and not standing.item:
        return f"the list of '{kind.loop}' has to be read from {protocol.loops[kind.loop].source}"
    match kind.actor:
        case Agent(exits=exits):
            names = ", ".join(exit_.name for exit_ in exits)
            return f"an agent works on it and moves it by one of {names}{_trouble(state, standing)}"
        case Check(commands=commands):
            names = ", ".join(command.name for command in commands)
            return f"the checks {names} decide where it goes"
        case Panel(reviewers=reviewers, quorum=quorum):
            return f"{quorum} of {', '.join(reviewers)} must give a verdict"
        case Human() as human:
            return f"a person must decide {human.name}: {_answers(human)}"
        case Git(op=op):
            done = "commit its artifacts" if op == "commit" else f"{op} the branch"
            return f"git has to {done}"
        case actor:
            return _WAITS[type(actor)]


_WAITS: Mapping[type, str] = {
    Children: "its children have to be over: merged, failed or cancelled",
    Join: "it waits until everything it needs is there",
    End: "nothing moves it",
}


def _answers(human: Human) -> str:
    return "; ".join(f"{option.exit} - {option.meaning}" for option in human.options)


def _trouble(state: State, standing: Standing) -> str:
    failure = state.marked(standing.position, "failure")
    return f" (its last try failed: {failure})" if failure else ""
