"""What the engine asks a person at a merge: of commits that were removed, and of a clash.

A graph cannot foresee either. Commits that somebody has removed from the target would come back
with the branch that stands on them. A clash with the target is nothing that another round of work
solves, unless the graph has a state that is given the merge to finish.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.machine.path_values import look_up_path
from porch.machine.state import RunState, Standing
from porch.model.memory_paths import CLASH_QUESTION, REMOVED_QUESTION, name_question_state
from porch.model.protocol import (
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
from porch.model.protocol_parts import part_of_name

REMOVED, CLASH = "RemovedCommits", "TargetClash"
BRING_BACK, RETRY, STOPPED = "bring_back", "retry", "stopped"
_STOP = Option(STOPPED, "this part of the work ends as failed")


class TargetQuestion(Struct, frozen=True):
    """A question beside a git state: at which exit, with which reason, and what can be said."""

    word: str
    exit: str
    reason: str
    title: str
    options: tuple[Option, ...]

    def state_of(self, name: str) -> str:
        return name_question_state(name, self.word)


_REMOVED = TargetQuestion(
    REMOVED_QUESTION,
    "refused",
    REMOVED,
    "Commits on which this work stands were removed from its target",
    (
        Option(BRING_BACK, "merge the branch as it is: what was removed comes back"),
        Option(RETRY, "you have taken them out of the branch: look again"),
        _STOP,
    ),
)
_CLASH = TargetQuestion(
    CLASH_QUESTION,
    "conflict",
    CLASH,
    "The work clashes with what its target has become",
    (Option(RETRY, "you have merged the target into the branch: go on"), _STOP),
)


def add_target_questions(protocol: Protocol) -> Protocol:
    """The protocol as it is driven: each move of branches with the questions that it may need."""
    found = [
        (name, each)
        for name, state in protocol.states.items()
        for each in _list_questions(protocol, state)
        if each.state_of(name) not in protocol.states
    ]
    if not found:
        return protocol
    added = {state.name: state for name, each in found for state in _question_states(name, each)}
    edges = [edge for name, each in found for edge in _question_edges(name, each)]
    # First, because of the edges of an exit the first whose guards hold is taken.
    return replace(protocol, states={**protocol.states, **added}, edges=(*edges, *protocol.edges))


def _list_questions(protocol: Protocol, state: State) -> Iterator[TargetQuestion]:
    if isinstance(state.actor, Git):
        if state.actor.op == "candidate":
            yield _REMOVED
        if asks_of_clash(protocol, state):
            yield _CLASH


def asks_of_clash(protocol: Protocol, state: State) -> bool:
    """Whether a clash is a person's: no state of the graph is given the merge to finish it.

    Before a candidate that no update precedes, the engine takes in the target by itself.
    """
    match state.actor:
        case Git(op="candidate"):
            return not state.is_interruptible
        case Git(op="update"):
            part = part_of_name(state.name)
            mine = (each for each in protocol.states.values() if part_of_name(each.name) == part)
            return not any(_is_given_merges(each.actor) for each in mine)
        case _:
            return False


def _is_given_merges(actor: object) -> bool:
    return isinstance(actor, Agent) and actor.ask is not None and actor.ask.mechanical


def _question_states(name: str, each: TargetQuestion) -> Iterator[State]:
    ask, shows = each.state_of(name), (f"{name}.{each.exit}",)
    human = Human("failure", ask, each.title, each.options, shows=shows)
    yield State(ask, ask, human, each.title)
    yield State(f"{ask}:stopped", ask, End("failed", shows))


def _question_edges(name: str, each: TargetQuestion) -> Iterator[Edge]:
    ask = each.state_of(name)
    guard = Guard(f"{name}.{each.exit}.reason", "equals", each.reason)
    # What was said at an earlier time holds for that time.
    earlier = tuple(f"{ask}.{option.exit}" for option in each.options)
    yield Edge(name, each.exit, (Target(ask),), (guard,), forgets=earlier)
    for option in each.options:
        is_end = option.exit == STOPPED
        to = Target(f"{ask}:stopped" if is_end else name)
        yield Edge(ask, option.exit, (to,), is_alone=is_end)


def confirmed_commits(protocol: Protocol, state: RunState, standing: Standing) -> str:
    """Which removed commits a person lets come back: those of which they were asked."""

    def look(path: str) -> Any:
        return look_up_path(protocol, state, standing, path)

    asked = _REMOVED.state_of(standing.state)
    if look(f"{asked}.{BRING_BACK}") is None:
        return ""
    return str(look(f"{standing.state}.refused.removed") or "")
