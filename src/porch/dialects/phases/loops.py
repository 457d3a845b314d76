"""Neighbouring phases that run for each phase of the plan are one loop over its list."""

from collections.abc import Mapping
from dataclasses import replace

from porch.dialects.nodes import Scalar
from porch.dialects.phases.draft import Draft
from porch.dialects.phases.forms import did_you_mean, stays_inside
from porch.dialects.phases.layout import Layout
from porch.dialects.phases.records import Definition
from porch.dialects.phases.targets import Atlas
from porch.errors import Finding
from porch.model.protocol import Loop, Target

DEFAULT_SOURCE = "plan.md"


def looped(layouts: Mapping[str, Layout], order: tuple[str, ...]) -> dict[str, Layout]:
    """The same layouts, knowing which loop they belong to; it is called after its first phase."""
    found: dict[str, Layout] = {}
    loop = ""
    for id_ in order:
        layout = layouts.get(id_)
        is_member = layout is not None and layout.phase.is_phased
        loop = (loop or id_) if is_member else ""
        if layout is not None:
            found[id_] = replace(layout, loop=loop)
    return {
        id_: replace(item, is_last_of_loop=_is_last(item, found)) for id_, item in found.items()
    }


def _is_last(layout: Layout, layouts: Mapping[str, Layout]) -> bool:
    members = [other.phase.id for other in layouts.values() if other.loop == layout.loop]
    return bool(layout.loop) and members[-1] == layout.phase.id


def draw_loops(draft: Draft, atlas: Atlas, definition: Definition) -> None:
    loops: dict[str, list[Layout]] = {}
    for layout in atlas.layouts.values():
        if layout.loop:
            loops.setdefault(layout.loop, []).append(layout)
        else:
            _note_without_loop(draft, layout)
    for name, members in loops.items():
        source = _source(members, atlas, draft)
        after = _after(members, atlas)
        draft.loops[name] = Loop(name, source, members[0].first, after)
    if definition.phase_completion and not loops:
        message = "'phase_completion': no phase of this protocol runs for each phase of a plan"
        place = definition.phase_completion[0].place
        draft.findings.append(Finding("no-meaning", message, place, severity="note"))


def _note_without_loop(draft: Draft, layout: Layout) -> None:
    phase = layout.phase
    for key, word in (
        ("on_all_phases_complete", phase.ways.on_all_complete),
        ("phases_from", phase.phases_from),
    ):
        if word is not None:
            message = f"'{key}': phase '{phase.id}' runs once"
            fix = 'write "phased": true if it should run for each phase of the plan'
            draft.findings.append(Finding("no-meaning", message, word.place, fix, "note"))


def _after(members: list[Layout], atlas: Atlas) -> Target:
    found = [
        atlas.way(m.phase.ways.on_all_complete, m, f"'on_all_phases_complete' of '{m.phase.id}'")
        for m in members
    ]
    said = [target for target in found if target is not None and not target.next_of]
    return said[0] if said else atlas.behind(members[-1])


def _source(members: list[Layout], atlas: Atlas, draft: Draft) -> str:
    words = [m.phase.phases_from for m in members if m.phase.phases_from is not None]
    sources = [_document(word, atlas, draft) for word in words]
    for word, source in zip(words, sources, strict=True):
        if source != sources[0]:
            message = f"'{word.text[:80]}' is another document than the loop begins with"
            draft.findings.append(Finding("said-twice", message, word.place, "name one document"))
    return sources[0] if sources else DEFAULT_SOURCE


def _document(word: Scalar, atlas: Atlas, draft: Draft) -> str:
    layout = atlas.layouts.get(word.text)
    if layout is not None:
        return layout.phase.artifacts[0] if layout.phase.artifacts else DEFAULT_SOURCE
    if "." in word.text or "/" in word.text:
        return word.text if stays_inside(word, draft.findings) else DEFAULT_SOURCE
    message = f"'phases_from' names '{word.text[:80]}', which is neither a phase nor a file"
    fix = did_you_mean(word.text, atlas.layouts)
    draft.findings.append(Finding("unknown-state", message, word.place, fix))
    return DEFAULT_SOURCE
