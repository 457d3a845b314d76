"""What reviewers of a track noted without stopping it: issues that did not block, until its end."""

from collections.abc import Iterator

from msgspec import Struct

from porch.claims.issue_reports import MINOR
from porch.machine.state import PastVisit, RunState, Standing
from porch.model.protocol import Human, Panel, Protocol
from porch.text.printable import describe_text

_APPROVED = "approved"


class ReviewNote(Struct, frozen=True):
    """One issue that did not block, of the last report with which a reviewer confirmed."""

    gate: str  # as people call it
    state: str
    by: str
    text: str

    @property
    def line(self) -> str:
        return f"noted by {self.by} at {self.gate}: {self.text}"


def list_review_notes(protocol: Protocol, state: RunState) -> Iterator[ReviewNote]:
    """In the order of the walk."""
    memory = state.memory.get(("", ""), {})
    for name, kind in protocol.states.items():
        payload = memory.get(f"{name}.{_APPROVED}", {}) if isinstance(kind.actor, Panel) else {}
        for found in payload.get("findings") or ():
            text = describe_text(found["finding"])
            if text.startswith(MINOR):
                by = str(found["by"]).removesuffix(f" ({_APPROVED})")
                told = " ".join(text.removeprefix(MINOR).split())
                yield ReviewNote(kind.title, name, by, told)


def list_open_notes(
    protocol: Protocol, state: RunState, standing: Standing, human: Human
) -> Iterator[ReviewNote]:
    """Those of the phase that a person is asked about, and those since the last answer.

    What the question shows by itself is left out.
    """
    answered = max((past.left for past in _list_answers(protocol, state)), default=0)
    here = protocol.states[standing.state].description
    for note in list_review_notes(protocol, state):
        reviewed = state.past_visits.get(("", note.state, ""), PastVisit(0, 0))
        is_near = protocol.states[note.state].description == here or reviewed.left > answered
        if is_near and f"{note.state}.{_APPROVED}" not in human.shows:
            yield note


def _list_answers(protocol: Protocol, state: RunState) -> Iterator[PastVisit]:
    for (_, name, _), past in state.past_visits.items():
        kind = protocol.states.get(name)
        if kind is not None and isinstance(kind.actor, Human):
            yield past
