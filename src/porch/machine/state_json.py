"""The folded state as JSON and back, whole: what a snapshot of a run can be made of."""

from typing import Any

from porch.machine import state as s
from porch.machine.facts import Item
from porch.model.tagged import TaggedJson

_FORM = TaggedJson(
    (
        *(s.RunState, s.Run, s.Standing, s.Decision, s.InHand),
        *(s.Cost, s.LoopItems, s.GateStatus, s.Instance, s.Approval, Item),
        *(s.Delivery, s.PastVisit, s.PastCheck, s.PastVerdict, s.PastTurn, s.PastAnswer),
    )
)


def encode_state(state: s.RunState) -> dict[str, Any]:
    raw: dict[str, Any] = _FORM.encode(state)
    return raw


def decode_state(raw: dict[str, Any]) -> s.RunState:
    state: s.RunState = _FORM.decode(raw)
    return state
