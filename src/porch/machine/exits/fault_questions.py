"""What the engine asks a person where work in a tree cannot even begin: only they can fix it.

A template that cannot be rendered, an agent that is not there or a full disk is nothing that
another plan changes. A child that ended because of it would have its parent plan anew, which is
paid for and leads to the same fault. So whoever meets it waits, and goes on where it stood. The
same is true of an answer that one rule has refused in two tries, although the agent was told why.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from porch.errors import (
    BusyError,
    DefinitionError,
    OutsideError,
    PorchError,
    StateError,
    UsageError,
)
from porch.machine.state import RunState, Standing
from porch.model.memory_paths import FAULT, FAULT_QUESTION, name_question_state
from porch.model.protocol import (
    EXHAUSTED,
    Agent,
    Edge,
    End,
    Git,
    Guard,
    Human,
    Option,
    Protocol,
    State,
    Target,
)

RETRY, STOPPED = "retry", "stopped"
# Porch itself could not do its part; or the agent's command line says that a person has to act.
_ENGINE = (PorchError, DefinitionError, UsageError, BusyError, StateError, OutsideError)
_REFUSED_REQUEST = "bad_request"
_WHYS = frozenset((*(kind.code for kind in _ENGINE), "auth", _REFUSED_REQUEST))
_TITLE = "Porch cannot go on here until somebody fixes what is wrong"
_OPTIONS = (
    Option(
        RETRY,
        "it is fixed: try again here (`porch upgrade` takes in a changed protocol); what you "
        "write with this answer is told to the agent",
    ),
    Option(STOPPED, "this part of the work ends as failed"),
)


def is_fault(why: str) -> bool:
    """Whether a failed effect says nothing about the work, so that no other plan could help."""
    return why in _WHYS


def is_conversation_refused(state: RunState, standing: Standing) -> bool:
    """Whether an agent's command line would not go on: in the same conversation it never will."""
    asked = name_question_state(standing.state, FAULT_QUESTION)
    if standing.because != f"{asked}.{RETRY}":
        return False
    last = state.recall(standing, f"{standing.state}.{EXHAUSTED}") or {}
    return last.get(FAULT) == _REFUSED_REQUEST


def add_fault_questions(protocol: Protocol) -> Protocol:
    """The protocol as it is driven: each state of a tree that works has its question beside it."""
    found = [
        (state, exit_)
        for state in protocol.states.values()
        if (exit_ := _fault_exit(state.actor)) and _question_state(state) not in protocol.states
    ]
    if not protocol.spec or not found:
        return protocol
    added = {each.name: each for state, exit_ in found for each in _question_states(state, exit_)}
    edges = [edge for state, exit_ in found for edge in _question_edges(state, exit_)]
    # First, because of the edges of an exit the first whose guards hold is taken.
    return replace(protocol, states={**protocol.states, **added}, edges=(*edges, *protocol.edges))


def _fault_exit(actor: object) -> str:
    """The exit by which a state says that it could not; nothing where it asks by itself."""
    match actor:
        case Agent(ask=ask) if ask is not None:
            return EXHAUSTED
        case Git(op=op) if op != "commit":
            return "refused"
        case _:
            return ""


def _question_state(state: State) -> str:
    return name_question_state(state.name, FAULT_QUESTION)


def _question_states(state: State, exit_: str) -> Iterator[State]:
    ask, shows = _question_state(state), (f"{state.name}.{exit_}",)
    human = Human("failure", ask, _TITLE, _OPTIONS, shows=shows)
    # What is half done in its own worktree stays untouched; the queue of others does not wait.
    holds = tuple(each for each in state.holds if each != "target")
    yield State(ask, ask, human, _TITLE, holds=holds)
    yield State(f"{ask}:stopped", ask, End("failed", shows))


def _question_edges(state: State, exit_: str) -> Iterator[Edge]:
    ask = _question_state(state)
    guard = Guard(f"{state.name}.{exit_}.{FAULT}", "filled")
    yield Edge(state.name, exit_, (Target(ask),), (guard,))
    yield Edge(ask, RETRY, (Target(state.name),))
    yield Edge(ask, STOPPED, (Target(f"{ask}:stopped"),), is_alone=True)
