"""Statuses as files write them, and as the engine means them; doubtful ones are never consent."""

from collections.abc import Mapping

from porch.dialects.plan_xml.elements import (
    PlanNotes,
    attribute_entry,
    attribute_place,
    first_child,
)
from porch.dialects.plan_xml.track_plan import STATUSES, StatusMark
from porch.text.nodes import ElementNode, ScalarNode

# What generation 3 writes; blocked has no word of its own there, only an attribute beside it.
TRACK_WORDS: Mapping[str, str] = {
    "NOT_STARTED": "TODO",
    "ACTIVE": "IN_PROGRESS",
    "DELEGATED": "IN_PROGRESS",
    "FORWARDED": "IN_PROGRESS",
    "REFUSED": "BLOCKED",
    "ABANDONED": "CANCELLED",
}
_WRITTEN: Mapping[str, str] = {
    "TODO": "NOT_STARTED",
    "IN_PROGRESS": "ACTIVE",
    "BLOCKED": "ACTIVE",
    "CANCELLED": "ABANDONED",
}


def written_status(words: str, status: str) -> str:
    """A status in the words of its file."""
    return _WRITTEN.get(status, status) if words == "track" else status


def find_status_mark(element: ElementNode) -> StatusMark:
    """Where the status of an element stands; where it is missing, where it would stand."""
    entry, child = attribute_entry(element, "status"), first_child(element, "status")
    if entry is not None and isinstance(entry.value, ScalarNode):
        return StatusMark(element, entry.key.text, entry.value.text.strip())
    if child is not None and not child.children:
        return StatusMark(child, "", child.text.strip())
    return StatusMark(element, "status", "")


def read_status(mark: StatusMark, what: str, notes: PlanNotes) -> str:
    """One of the five; a missing or unknown one counts as TODO, and is said."""
    said, upper = mark.value, mark.value.upper()
    place = attribute_place(mark.element, "status") if mark.attribute else mark.element.place
    if not said:
        notes.warn("plan-status", f"{what} has no status", place, 'write status="TODO"')
        return "TODO"
    known = TRACK_WORDS.get(upper, upper)
    if known not in STATUSES:
        message = f"{what} has the unknown status '{said[:40]}', which counts as TODO"
        notes.warn("plan-status", message, place, f"use one of: {', '.join(STATUSES)}")
        return "TODO"
    if upper != said:
        notes.warn("plan-status", f"the status '{said}' of {what} is not in capitals", place)
    return known
