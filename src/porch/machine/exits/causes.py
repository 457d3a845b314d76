"""The cause of a failure decides what a retry repeats and what is charged for it.

A person is asked in a state that serves a whole phase, whatever went wrong in it. The position of
that question remembers the exit that led to it, and the exit tells the cause. Only the work, a
failing check included, is done again with new budgets. A check that could not be measured, a commit
that git refused and an agent that could not be run say nothing about the work. There `retry` enters
the state that failed: nobody else is paid, no gate is asked again, and the budgets of the work
stay as they are. The same holds for reviewers that could not answer: they are asked again, and the
rounds that were used stay used. Such a repetition is bounded, because a person decides each time.
"""

from typing import Literal

from porch.machine.state import Standing
from porch.model.protocol import EXHAUSTED, Agent, Check, Git, Human, Panel, Protocol

Cause = Literal["work", "measurement", "environment", "git", "reviewer"]
RETRY = "retry"


def failure_cause(protocol: Protocol, standing: Standing) -> Cause:
    """Why a person is asked at a position."""
    source, _, exit_ = standing.because.rpartition(".")
    kind = protocol.states.get(source)
    match kind.actor if kind else None:
        case Check() if exit_ == "unmeasured":
            return "measurement"
        case Git():
            return "git"
        case Agent() if exit_ == EXHAUSTED:
            return "environment"
        case Panel() if exit_ == "undecided":
            return "reviewer"
        case _:
            return "work"


def repeated_state(protocol: Protocol, standing: Standing) -> str:
    """The state that `retry` enters again; empty where the edges of the protocol decide.

    A graph says by itself where each of its answers leads.
    """
    actor = protocol.states[standing.state].actor
    kinds = ("failure", "undecided")
    is_failure = isinstance(actor, Human) and actor.kind in kinds and not protocol.spec
    if is_failure and failure_cause(protocol, standing) != "work":
        return standing.because.rpartition(".")[0]
    return ""
