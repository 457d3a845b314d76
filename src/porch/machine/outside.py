"""What changed outside the worktree while somebody worked there, and what a person is asked of it.

A person or another run may have done it, so it is only remembered and shown, until a gate has shown
it. One change is more than that: where the branch that the run is to be merged into has come to
contain commits of the run, nothing else begins before a person has said to go on.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from porch.machine import moves as m
from porch.machine.budgets import DRIVERLESS
from porch.machine.facts import Payload
from porch.machine.state import MemoryReader, RunState, Standing, position_text
from porch.model.protocol import Edge, End, Human, Option, Protocol, Target
from porch.model.protocol import State as Kind

STATE = "target_branch"
GO_ON, STOPPED = "go_on", "stopped"
# What moved outside the worktree, and what was written in it without permission.
CHANGES, UNPERMITTED = "changes", "unpermitted"
MOST_KEPT = 50
_FRONT = "outside."
_FOUND = f"{STATE}.found"
_END = f"{STATE}:stopped"


def add_outside_state(protocol: Protocol) -> Protocol:
    """The protocol as it is driven: with the question about commits that were merged early."""
    if STATE in protocol.states or protocol.subject in DRIVERLESS:
        return protocol
    title = "The target branch contains commits of this run already. Go on?"
    options = (
        Option(GO_ON, "go on where the run is; the target branch stays as it is"),
        Option(STOPPED, "stop here; the run ends as abandoned"),
    )
    asked = Human("undecided", STATE, title, options, shows=(_FOUND,))
    states = {
        **protocol.states,
        STATE: Kind(STATE, STATE, asked, "Target branch"),
        _END: Kind(_END, STATE, End("abandoned")),
    }
    edges = (Edge(STATE, GO_ON, ()), Edge(STATE, STOPPED, (Target(_END),), is_alone=True))
    return replace(protocol, states=states, edges=(*protocol.edges, *edges))


def is_open(state: RunState) -> bool:
    """Whether a person is asked; a phase of this name is none of ours."""
    here = state.positions.values()
    return any(each.state == STATE and each.because == _FOUND for each in here)


def may_begin(state: RunState, position: str) -> bool:
    """While a person is asked, nothing begins but the question itself."""
    standing = state.positions.get(position)
    return not is_open(state) or (standing is not None and standing.state == STATE)


def outside_moves(
    protocol: Protocol, state: RunState, standing: Standing, found: Payload
) -> Iterator[m.Move]:
    """What was found at the end of a turn comes to what nobody was shown yet."""
    if not found:
        return
    path = f"{_FRONT}{protocol.group_of(standing.state)}"
    known = state.memory.get((standing.instance, standing.item), {}).get(path, {})
    kept = {
        kind: list(dict.fromkeys((*known.get(kind, ()), *found.get(kind, ()))))[-MOST_KEPT:]
        for kind in (CHANGES, UNPERMITTED)
    }
    yield m.Remembered(path, kept, standing.item, standing.instance)
    yield from _question_moves(protocol, state, found.get("merged") or {})


def _question_moves(protocol: Protocol, state: RunState, merged: Payload) -> Iterator[m.Move]:
    """Once for each head of the target: who said to go on is not asked the same again."""
    if not merged or STATE not in protocol.states or find_asked_head(state) == merged["head"]:
        return
    yield m.Remembered(_FOUND, dict(merged), "", "")
    if not is_open(state):
        visit = state.visits.get(("", STATE, ""), 0) + 1
        yield m.Entered(position_text("", STATE, "", visit), STATE, visit, "", "", 0, _FOUND)


def find_asked_head(state: RunState) -> str:
    """The head of the target about which a person was asked last."""
    asked = state.memory.get(("", ""), {}).get(_FOUND, {})
    return str(asked.get("head", ""))


def shown_moves(state: RunState) -> Iterator[m.Move]:
    """Whoever answered a gate has seen what stood there."""
    for (instance, item), memory in state.memory.items():
        for path in memory:
            if path.startswith(_FRONT):
                yield m.Forgot(path, item, instance)


def list_outside_changes(state: RunState, kind: str = CHANGES) -> tuple[str, ...]:
    """All of them that no gate has shown yet, of every phase and item of the run."""
    found = (payload for _, kept in _KEPT.list_found(state) for payload in kept)
    return tuple(dict.fromkeys(str(line) for each in found for line in each.get(kind, ())))


def _read_kept(memory: Mapping[str, Payload]) -> tuple[Payload, ...]:
    return tuple(payload for path, payload in memory.items() if path.startswith(_FRONT))


_KEPT = MemoryReader(_read_kept)
