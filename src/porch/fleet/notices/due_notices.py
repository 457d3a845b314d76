"""What people should have been told by now, computed from the state of a run alone.

Nothing is sent twice because each notice has a key, and nothing is forgotten after a crash because
the keys of a state are the same for whoever looks next.
"""

from collections.abc import Iterator

from msgspec import Struct

from porch.account.gaps import list_gaps
from porch.machine.state import Decision, RunState
from porch.model.protocol import Protocol

_KIND_WORDS = {"gate": "waiting for your approval", "failure": "failed; you decide what follows"}
_OUTCOME_WORDS = {"complete": "complete"}


class Notice(Struct, frozen=True):
    """One message: which run, what about, in one sentence; never the contents of a file."""

    key: str
    event: str
    run: str
    name: str
    text: str


def due_notices(state: RunState, protocol: Protocol | None = None) -> tuple[Notice, ...]:
    """One for each open decision, one more if it has waited too long, one for the end.

    With the protocol the end also says what has not passed.
    """
    asked = (each for decision in state.decisions.values() for each in _about(state, decision))
    return (*asked, *_about_end(state, protocol))


def _about(state: RunState, decision: Decision) -> Iterator[Notice]:
    run, name = _describe_run(state), decision.name
    words = _KIND_WORDS.get(decision.kind, "waiting for your decision")
    event = decision.kind if decision.kind in ("gate", "question", "failure") else "decision"
    yield Notice(decision.position, event, state.run.id, name, f"{run}: {words}: {name}")
    if state.marked(decision.position, f"fired/{name}"):
        text = f"{run}: still {words}: {name}, since {decision.asked_at[:16]}Z"
        yield Notice(f"{decision.position} stale", "stale", state.run.id, name, text)


def _about_end(state: RunState, protocol: Protocol | None) -> Iterator[Notice]:
    if state.outcome:
        gaps = list_gaps(protocol, state) if protocol and state.outcome == "complete" else []
        phases = ", ".join(dict.fromkeys(gap.phase for gap in gaps))
        words = _OUTCOME_WORDS.get(state.outcome, f"ended: {state.outcome}")
        text = f"{_describe_run(state)} is {words}" + (f"; not passed: {phases}" if gaps else "")
        yield Notice(f"ended {state.outcome}", state.outcome, state.run.id, "", text)


def _describe_run(state: RunState) -> str:
    return f"{state.run.id} {state.run.title}".strip()
