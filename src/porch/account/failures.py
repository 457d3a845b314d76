"""Why a phase failed: its checks, how often it was tried, and what its agent said last."""

from msgspec import Struct

from porch.account.attempts import Attempt, find_attempt
from porch.account.phases import CheckAccount, find_phase
from porch.machine.base_commands import is_trial
from porch.machine.state import PastTurn, RunState, Standing
from porch.model.protocol import Protocol


class FailureAccount(Struct, frozen=True):
    """What failed in the phase of a question; `turn` is the latest one of its agents."""

    phase: str
    checks: tuple[CheckAccount, ...]
    attempt: Attempt
    turn: PastTurn | None = None
    is_before_work: bool = False


def find_failure(protocol: Protocol, state: RunState, standing: Standing) -> FailureAccount:
    group = protocol.states[standing.state].group
    phase = find_phase(protocol, state, standing)
    turns = [
        turn
        for (instance, name, item), turn in state.past_turns.items()
        if instance == standing.instance
        and item in ("", standing.item)
        and name in protocol.states
        and protocol.states[name].group == group
    ]
    return FailureAccount(
        group,
        phase.gaps if phase else (),
        find_attempt(protocol, state, standing),
        max(turns, key=lambda turn: turn.seq, default=None),
        is_trial(protocol, standing.state),
    )
