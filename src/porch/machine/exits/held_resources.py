"""What an instance keeps from one state to the next: a queue's head, a worktree in the middle."""

from collections.abc import Iterable, Iterator

from porch.machine import moves as m
from porch.machine.state import HOLD, RunState, Standing
from porch.model.protocol import Protocol


def worktree_lease(instance: str, kind: str = "main") -> str:
    """The lease of a worktree of an instance."""
    return f"{HOLD}worktree:{instance}{'--tests' if kind == 'tests' else ''}"


def branch_lease(name: str) -> str:
    """The place at the head of the queue of those who move a branch."""
    return f"{HOLD}branch:{name}"


def resources_to_hold(state: RunState, instance: str, names: Iterable[str]) -> tuple[str, ...]:
    """The resources that the words of a protocol mean for one instance."""
    known = state.instances[instance]
    meant = {
        "target": (branch_lease(known.target),) if known.target else (),
        "branch": (branch_lease(known.branch),),
        "main": (worktree_lease(instance),),
    }
    return tuple(resource for name in names for resource in meant[name])


def passed_on_moves(
    protocol: Protocol, state: RunState, standing: Standing, moves: Iterable[m.Move]
) -> Iterator[m.Held]:
    """What the position that is left held goes to the first that is entered and holds it too."""
    mine = [name for name, holder in state.held.items() if holder == standing.position]
    if not mine:
        return
    for move in moves:
        if isinstance(move, m.Entered) and move.instance == standing.instance:
            wants = resources_to_hold(state, move.instance, protocol.states[move.state].holds)
            for name in [name for name in mine if name in wants]:
                mine.remove(name)
                yield m.Held(name, move.position)
