"""A track that nobody attends: its confirmations wait, or are declined; never confirmed."""

import os
from collections.abc import Callable

from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.state import Decision, RunState
from porch.model.protocol import TRACK, Human, Protocol
from porch.run.settings import Settings
from porch.store import inbox

CHANNEL = "policy"
_WORDS = 'nobody is there to confirm it: [track] unattended = "deny"'


class UnattendedPolicy:
    """Declines what no script answers, the first time that it is asked; later a person is there."""

    def __init__(
        self,
        read_settings: Callable[[], Settings],
        directory: str,
        is_answered: Callable[[RunState, Decision], bool],
    ):
        self._read_settings = read_settings
        self._inbox = os.path.join(directory, "inbox")
        self._is_answered = is_answered

    def open(self, protocol: Protocol, state: RunState) -> None:
        for decision in state.decisions.values():
            self._decline(protocol, state, decision)

    def after(self, protocol: Protocol, record: JournalRecord, state: RunState) -> None:
        asked = [move.position for move in record.moves if isinstance(move, m.Asked)]
        for decision in map(state.decisions.get, asked):
            if decision is not None:
                self._decline(protocol, state, decision)

    def _decline(self, protocol: Protocol, state: RunState, decision: Decision) -> None:
        denies = protocol.subject == TRACK and self._read_settings().unattended == "deny"
        if not denies or self._is_answered(state, decision):
            return
        standing = state.positions[decision.position]
        actor = protocol.states[standing.state].actor
        options = actor.options if isinstance(actor, Human) else ()
        if standing.visit == 1 and any(option.exit == "declined" for option in options):
            wish = {
                "kind": "decide",
                "position": decision.position,
                "exit": "declined",
                "text": _WORDS,
                "channel": CHANNEL,
                "data": {"name": decision.name},
            }
            inbox.leave_wish(self._inbox, wish)
