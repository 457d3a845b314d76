"""When new tests have to fail: one rule, for the page that an agent gets and for its answer.

A new test must fail on the commit without an implementation, or it proves nothing about the work
that follows. That commit may hold work all the same: of an earlier plan of this instance, of
children that merged, or of the child that this instance does again. A test of that work passes, and
where the tests of before prove all of it, there is nothing to add.
"""

from msgspec import Struct

from porch.machine.state import RunState
from porch.model.memory_paths import FAULT_QUESTION, name_question_state
from porch.model.protocol import Agent, Protocol


class RedRule(Struct, frozen=True):
    """Whether a new test may pass, and whether the tests may stay as they are."""

    may_pass: bool = False
    may_stay: bool = False


def find_red_rule(protocol: Protocol, state: RunState, instance: str, name: str) -> RedRule:
    """For the state with this name, which asks for tests."""
    may_pass = _has_earlier_work(protocol, state, instance)
    # Planned anew with the tests of before: whoever wants another one asks for it in a review.
    return RedRule(may_pass, may_pass or _count_tries(state, instance, name) > 1)


def _has_earlier_work(protocol: Protocol, state: RunState, mine: str) -> bool:
    """Planned anew, or a child done again; in a later round of the same plan there is none."""
    own = state.instances.get(mine)
    if own is not None and mine:
        others = (known for name, known in state.instances.items() if name != mine)
        if any((k.parent, k.key) == (own.parent, own.key) and k.merged for k in others):
            return True
    planner = protocol.epoch.state if protocol.epoch else protocol.initial.state
    if _count_tries(state, mine, planner) < 2:
        return False
    judged = (name for name, kind in protocol.states.items() if _is_judged(kind.actor))
    is_begun = any(state.visits.get((mine, name, "")) for name in judged)
    return is_begun or any(k.parent == mine and k.merged for n, k in state.instances.items() if n)


def _count_tries(state: RunState, instance: str, name: str) -> int:
    """How often a state was entered for its work; who came to a fault there has done none."""
    faults = state.visits.get((instance, name_question_state(name, FAULT_QUESTION), ""), 0)
    return state.visits.get((instance, name, ""), 0) - faults


def _is_judged(actor: object) -> bool:
    exits = actor.exits if isinstance(actor, Agent) else ()
    return any(each.name == "green" for exit_ in exits for each in exit_.measures)
