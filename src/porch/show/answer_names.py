"""What answers are called where people read them, the same on the terminal and on pages."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES: Mapping[str, str] = {
    "approved": "Approve",
    "rejected": "Send back",
    "waived": "Approve anyway",
    "answered": "Answer",
    "retry": "Try again",
    "skip": "Skip",
    "declined": "Decline",
    "restart": "Start over",
    "stopped": "Stop the run",
}


def name_answer(answer: str, *, is_track: bool = False) -> str:
    """Nothing failed where a track is asked; to waive means there that it was not needed."""
    if is_track and answer == "waived":
        return "Waive"
    return _NAMES.get(answer) or answer.replace("_", " ").capitalize()


def describe_effect(answer: str, meaning: str, then: str, *, is_track: bool) -> str:
    """What comes next; with what the answer counts as, where its name does not say it."""
    if then and (is_track or answer not in ("approved", "rejected")):
        return f"{meaning} ({then})"
    return then or meaning


def has_name(answer: str) -> bool:
    """The other answers are options of a question, in the words of whoever asked it."""
    return answer in _NAMES
