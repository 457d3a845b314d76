"""The answers to a decision as buttons: what they are called, and what follows from each."""

from collections.abc import Iterator, Mapping
from typing import Any

from porch.machine.approvals import APPROVED
from porch.model.protocol import TRACK
from porch.show.board import describe_effect, name_answer

_LOOKS: Mapping[str, str] = {"approved": "good", "rejected": "bad", "waived": "warn"}
_TEXT_LABELS: Mapping[str, str] = {
    "approved": "Note (kept with the approval)",
    "rejected": "What must change; the agent gets this text",
    "waived": "Why it may pass although something failed",
    "answered": "Your answer",
    "skip": "Why it may be skipped",
    "retry": "Note (kept with it)",
}
KINDS: Mapping[str, str] = {
    "gate": "Gate",
    "question": "Question",
    "failure": "Failure",
    "undecided": "Decision",
}


def answer_id(answer: str) -> str:
    """The part of the decision page where this answer is given."""
    return "answer-" + "".join(c if c.isalnum() else "-" for c in answer)


def list_answers(decision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each with its button, which says the effect; the order is that of the protocol."""
    for option in decision.get("options") or ():
        answer, meaning = str(option["answer"]), str(option["meaning"])
        # Where nothing failed, to waive means that it was not needed.
        is_track = decision.get("subject") == TRACK
        is_waiver = answer == "waived" and is_track
        label = "Why it is not needed" if is_waiver else _TEXT_LABELS.get(answer)
        yield {
            "answer": answer,
            "id": answer_id(answer),
            "verb": name_answer(answer, is_track=is_track),
            "effect": describe_effect(
                answer, meaning, str(option.get("then") or ""), is_track=is_track
            ),
            "look": _LOOKS.get(answer, "plain"),
            "needs_text": bool(option.get("needs_text")),
            "is_approval": answer in APPROVED,
            "text_label": label or "Note (kept with it)",
            "command": str(option["command"]),
        }
