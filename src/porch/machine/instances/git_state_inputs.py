"""What a git state is given by name; a graph pinned before it had to name it asks a person.

Such a graph says which paths a candidate reads, not which of them is the approval. The engine no
longer guesses: it refuses the candidate with the hash of the patch, a person looks at the branch,
and what they say holds for that patch.
"""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from porch.machine.path_values import look_up_path
from porch.machine.state import RunState, Standing
from porch.model.protocol import Edge, End, Git, Guard, Human, Option, Protocol, State, Target

UNNAMED = "UnnamedInputs"
CONFIRMED, STOPPED = "confirmed", "stopped"


def add_unnamed_questions(protocol: Protocol) -> Protocol:
    """The protocol as it is driven: each candidate without names has its question beside it."""
    unnamed = [name for name, state in protocol.states.items() if _is_unnamed(state.actor)]
    unnamed = [name for name in unnamed if _question_state(name) not in protocol.states]
    if not unnamed:
        return protocol
    added = {state.name: state for name in unnamed for state in _question_states(name)}
    edges = [edge for name in unnamed for edge in _question_edges(name)]
    # First, because of the edges of an exit the first whose guards hold is taken.
    return replace(protocol, states={**protocol.states, **added}, edges=(*edges, *protocol.edges))


def _is_unnamed(actor: object) -> bool:
    return isinstance(actor, Git) and actor.op == "candidate" and not actor.approved


def _question_state(name: str) -> str:
    return f"{name}:unnamed"


def _question_states(name: str) -> Iterator[State]:
    ask, end = _question_state(name), f"{_question_state(name)}:stopped"
    human = Human(
        "failure",
        ask,
        "This run began with a graph that does not name what was approved",
        (
            Option(CONFIRMED, "you have looked at the branch: merge it as it is now"),
            Option(STOPPED, "this part of the work ends as failed"),
        ),
        shows=(f"{name}.refused",),
    )
    yield State(ask, ask, human, "Look at the branch")
    yield State(end, ask, End("failed", (f"{name}.refused",)))


def _question_edges(name: str) -> Iterator[Edge]:
    ask = _question_state(name)
    guard = Guard(f"{name}.refused.reason", "equals", UNNAMED)
    yield Edge(name, "refused", (Target(ask),), (guard,))
    yield Edge(ask, CONFIRMED, (Target(name),))
    yield Edge(ask, STOPPED, (Target(f"{ask}:stopped"),), is_alone=True)


def named_values(
    protocol: Protocol, state: RunState, standing: Standing, git: Git
) -> dict[str, Any]:
    """The inputs of a move of branches by their names."""

    def look(path: str) -> Any:
        return look_up_path(protocol, state, standing, path)

    if _is_unnamed(git):
        return _confirmed_values(standing, git, look)
    own = [each for path in git.own for each in _flat_texts(look(path))]
    found = {"approved": str(look(git.approved) or "") if git.approved else "", "own": tuple(own)}
    known = git.candidate or next(iter(git.reads if git.op == "publish" else ()), "")
    return {**found, "candidate": (look(known) or {}) if known else {}}


def _confirmed_values(standing: Standing, git: Git, look: Any) -> dict[str, Any]:
    """What a person confirmed is the patch they were asked about, and nothing later."""
    asked = _question_state(standing.state)
    patch = look(f"{standing.state}.refused.patch")
    if look(f"{asked}.{CONFIRMED}") is None or not patch:
        return {"is_named": False}
    own = [each for path in git.reads for each in _flat_texts(look(path))]
    return {"approved": str(patch), "own": tuple(own), "is_named": False}


def _flat_texts(value: Any) -> list[str]:
    many = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in many if isinstance(each, str)]
