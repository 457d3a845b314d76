"""Neighbouring phases that run for each phase of the plan are one loop over its list."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from porch.dialects.phases.artifact_reader import list_default_files, read_file_name
from porch.dialects.phases.compiler.protocol_draft import ProtocolDraft
from porch.dialects.phases.compiler.stages import PhaseLayout
from porch.dialects.phases.compiler.targets import PhaseLookup
from porch.dialects.phases.file_records import PhasesFile
from porch.dialects.phases.mapping_reader import did_you_mean
from porch.errors import Finding
from porch.model.artifact_names import require_file
from porch.model.protocol import Loop, Target
from porch.text.late_pattern import late_pattern
from porch.text.nodes import ScalarNode

PLAN_PHASE = "plan"
_PLAN = late_pattern(r"(?<![a-z])plans?(?![a-z])", re.IGNORECASE)
(DEFAULT_PLAN_FILE,) = list_default_files(PLAN_PHASE, is_shared=False)


def assign_loops(
    layouts: Mapping[str, PhaseLayout], order: tuple[str, ...]
) -> dict[str, PhaseLayout]:
    """The same layouts, knowing which loop they belong to; it is called after its first phase."""
    found: dict[str, PhaseLayout] = {}
    loop = ""
    for id_ in order:
        layout = layouts.get(id_)
        is_member = layout is not None and layout.phase.is_phased
        loop = (loop or id_) if is_member else ""
        if layout is not None:
            found[id_] = replace(layout, loop=loop)
    return {
        id_: replace(item, is_last_of_loop=_is_last_of_loop(item, found))
        for id_, item in found.items()
    }


def _is_last_of_loop(layout: PhaseLayout, layouts: Mapping[str, PhaseLayout]) -> bool:
    members = [other.phase.id for other in layouts.values() if other.loop == layout.loop]
    return bool(layout.loop) and members[-1] == layout.phase.id


def draw_loops(draft: ProtocolDraft, atlas: PhaseLookup, definition: PhasesFile) -> None:
    loops: dict[str, list[PhaseLayout]] = {}
    for layout in atlas.layouts.values():
        if layout.loop:
            loops.setdefault(layout.loop, []).append(layout)
        else:
            _note_without_loop(draft, layout)
    for name, members in loops.items():
        source = _find_loop_source(members, atlas, draft)
        after = loop_exit_target(members, atlas)
        draft.loops[name] = Loop(name, source, members[0].first, after)
    if definition.phase_completion and not loops:
        message = "'phase_completion': no phase of this protocol runs for each phase of a plan"
        place = definition.phase_completion[0].place
        draft.findings.append(Finding("no-meaning", message, place, severity="note"))


def _note_without_loop(draft: ProtocolDraft, layout: PhaseLayout) -> None:
    phase = layout.phase
    for key, word in (
        ("on_all_phases_complete", phase.ways.on_all_complete),
        ("phases_from", phase.phases_from),
    ):
        if word is not None:
            message = f"'{key}' has no effect: phase '{phase.id}' runs only once"
            fix = 'write "phased": true if it should run for each phase of the plan'
            draft.findings.append(Finding("no-meaning", message, word.place, fix, "note"))


def loop_exit_target(members: list[PhaseLayout], atlas: PhaseLookup) -> Target:
    found = [
        atlas.way(m.phase.ways.on_all_complete, m, f"'on_all_phases_complete' of '{m.phase.id}'")
        for m in members
    ]
    said = [target for target in found if target is not None and not target.next_of]
    last = atlas.declared_way(members[-1])
    if not said and last is not None and atlas.is_beyond_loop(last, members[-1]):
        return last
    return said[0] if said else atlas.behind(members[-1])


def _find_loop_source(members: list[PhaseLayout], atlas: PhaseLookup, draft: ProtocolDraft) -> str:
    words = [m.phase.phases_from for m in members if m.phase.phases_from is not None]
    sources = [_find_source_document(word, atlas, draft) for word in words]
    for word, source in zip(words, sources, strict=True):
        if source != sources[0]:
            message = f"'{word.text[:80]}' is not the document that the loop starts with"
            draft.findings.append(Finding("said-twice", message, word.place, "name one document"))
    return sources[0] if sources else find_plan_file(atlas)


def find_plan_file(atlas: PhaseLookup) -> str:
    """What the phase called plan writes; else what another phase calls a plan; else the default."""
    layout = atlas.layouts.get(PLAN_PHASE)
    own = layout.phase.artifacts if layout else ()
    once = [each.phase for each in atlas.layouts.values() if not each.loop]
    named = [name for phase in once for name in phase.artifacts if _PLAN.search(name)]
    found = next((name for name in own if _PLAN.search(name)), "")
    return found or next(iter((*own, *named)), DEFAULT_PLAN_FILE)


def _find_source_document(word: ScalarNode, atlas: PhaseLookup, draft: ProtocolDraft) -> str:
    layout = atlas.layouts.get(word.text)
    if layout is not None:
        names = layout.phase.artifacts
        return require_file(names[0]) if names else DEFAULT_PLAN_FILE
    if "." in word.text or "/" in word.text:
        return read_file_name(word, draft.findings) or DEFAULT_PLAN_FILE
    message = f"'phases_from' names '{word.text[:80]}', which is neither a phase nor a file"
    fix = did_you_mean(word.text, atlas.layouts)
    draft.findings.append(Finding("unknown-state", message, word.place, fix))
    return DEFAULT_PLAN_FILE
