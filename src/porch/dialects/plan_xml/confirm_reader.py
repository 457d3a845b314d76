"""Confirm elements: who is asked, when, and what is wrong with the way that is written."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from porch.dialects.plan_xml.elements import (
    PlanNotes,
    attribute_entry,
    attribute_place,
    attribute_text,
    children_named,
    first_child,
    local_name,
)
from porch.dialects.plan_xml.status_words import find_status_mark, read_status
from porch.dialects.plan_xml.track_plan import PlanConfirm
from porch.model.track_names import GateKind, Moment
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:
    from porch.text.nodes import ElementNode

PROTOCOLS: Mapping[str, GateKind] = {
    "yield-human-confirm": "human",
    "yield-ai-confirm": "ai",
    "yield-gap-loop": "gap",
}
MOMENTS: Mapping[str, tuple[Moment, ...]] = {
    "before": ("before",),
    "after": ("after",),
    "both": ("before", "after"),
}
# As the settings call agents: the name becomes part of the names of files.
_AGENT = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HOOKS: Mapping[str, GateKind] = {"HumanConfirm": "human", "GapLoop": "gap"}


def read_confirms(node: "ElementNode", what: str, notes: PlanNotes) -> tuple[PlanConfirm, ...]:
    """Those directly under a phase or a task, in the order of the file."""
    found = [_read_confirm(each, what, notes) for each in children_named(node, "confirm")]
    return refuse_repeats((each for each in found if each is not None), what, notes)


def _read_confirm(element: "ElementNode", what: str, notes: PlanNotes) -> PlanConfirm | None:
    about = f"the confirm of {what}"
    kind = _read_kind(element, about, notes)
    moments = _read_moments(element, about, notes)
    agent = attribute_text(element, "ai-agent")
    if kind == "ai" and not _AGENT.fullmatch(agent):
        told = f"names '{agent[:40]}', which is no name of an agent"
        message = f"{about} {told if agent else 'does not say which agent reviews'}"
        notes.add("confirm-agent", message, element.place, 'write ai-agent="NAME"')
    mark = find_status_mark(element)
    status = read_status(mark, about, notes)
    if kind is None or not moments:
        return None
    return PlanConfirm(
        kind=kind, moments=moments, status=status, mark=mark, place=element.place, agent=agent
    )


def _read_kind(element: "ElementNode", about: str, notes: PlanNotes) -> GateKind | None:
    said = attribute_text(element, "protocol")
    kind = PROTOCOLS.get(said.lower())
    if kind is None:
        message = f"{about} names the unknown protocol '{said[:40]}'"
        if not said:
            message = f"{about} names no protocol"
        place = attribute_place(element, "protocol")
        notes.add("confirm-protocol", message, place, f"use one of: {', '.join(PROTOCOLS)}")
    return kind


def _read_moments(element: "ElementNode", about: str, notes: PlanNotes) -> tuple[Moment, ...]:
    """No default: whoever meant `before` must not get `after` without a word."""
    said = attribute_text(element, "when")
    moments = MOMENTS.get(said.lower(), ())
    if not moments:
        message = f"{about} has the unknown moment '{said[:40]}'"
        if not said:
            message = f"{about} does not say when it is asked"
        place = attribute_place(element, "when")
        notes.add("confirm-when", message, place, f"write when= and one of: {', '.join(MOMENTS)}")
    return moments


def refuse_repeats(
    confirms: Iterable[PlanConfirm], what: str, notes: PlanNotes
) -> tuple[PlanConfirm, ...]:
    """Several confirms are fine as long as each of them is another question."""
    kept: list[PlanConfirm] = []
    seen: set[tuple[GateKind, Moment]] = set()
    for each in confirms:
        pairs = {(each.kind, moment) for moment in each.moments}
        if pairs & seen:
            message = f"{what} is confirmed twice by the same protocol at the same moment"
            notes.add("confirm-twice", message, each.place, "keep one of the two")
            continue
        seen |= pairs
        kept.append(each)
    return tuple(kept)


def read_hooks(
    node: "ElementNode", level: str, what: str, notes: PlanNotes
) -> tuple[PlanConfirm, ...]:
    """The hooks of track.xml: each is one question at one moment."""
    hooks = first_child(node, "Hooks")
    found = [
        _read_hook(each, level, what, notes)
        for each in (children_named(hooks, "Hook") if hooks else ())
    ]
    return refuse_repeats((each for each in found if each is not None), what, notes)


def _read_hook(
    element: "ElementNode", level: str, what: str, notes: PlanNotes
) -> PlanConfirm | None:
    said = attribute_text(element, "on")
    moments = MOMENTS.get(said.removeprefix(f"{level}:"), ())
    about = f"a hook of {what}"
    if len(moments) != 1:
        message = f"{about} has the unknown moment '{said[:40]}'"
        notes.add("confirm-when", message, element.place, f"write {level}:before or {level}:after")
        return None
    inside = [local_name(child.name) for child in element.children]
    kind = next((_HOOKS[name] for name in inside if name in _HOOKS), None)
    if kind is None:
        told = ", ".join(inside) or "nothing"
        notes.warn("plan-unread", f"{about} holds {told}, which porch does not walk", element.place)
        return None
    has_status = attribute_entry(element, "status") is not None
    mark = find_status_mark(element) if has_status else None
    status = read_status(mark, about, notes) if mark else "TODO"
    return PlanConfirm(kind=kind, moments=moments, status=status, mark=mark, place=element.place)
