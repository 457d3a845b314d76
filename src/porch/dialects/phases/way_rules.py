"""Ways of phases that no author can have meant: round and round, nowhere, or out too early."""

from collections.abc import Iterator

from porch.dialects.phases.compiler.loops import PLAN_PHASE, find_plan_file
from porch.dialects.phases.compiler.signal_exits import COMPLETION_SIGNALS, leads_on
from porch.dialects.phases.compiler.stages import PhaseLayout
from porch.dialects.phases.compiler.targets import VERIFY, PhaseLookup, ResolvedTarget
from porch.dialects.phases.file_records import PhasesFile, SignalRecord
from porch.errors import Finding
from porch.model.artifact_names import describe_name
from porch.model.protocol import BLOCKED, Target
from porch.text.nodes import ScalarNode


def find_way_findings(definition: PhasesFile, atlas: PhaseLookup) -> Iterator[Finding]:
    for layout in atlas.layouts.values():
        _resolve_on_fail(layout, atlas)
        yield from _closed_phase_findings(layout, definition, atlas)
        yield from _early_exit_findings(layout, definition, atlas)
        yield from _own_bound_findings(layout, atlas)
        if layout.loop == layout.phase.id:
            yield from _missing_plan_findings(layout, atlas)
    yield from _common_word_findings(definition, atlas)


def _common_word_findings(definition: PhasesFile, atlas: PhaseLookup) -> Iterator[Finding]:
    """A word for 'done' at the top of a file leads no phase to another place."""
    for signal in definition.signals:
        word = signal.target if signal.name in COMPLETION_SIGNALS else None
        if word is not None and word.text != VERIFY and atlas.find_goal(word, None) is not None:
            message = (
                f"'{signal.name}' at the top of the file means that a phase is done: each phase "
                f"then leads where it leads by itself, and not always to '{word.text}'"
            )
            fix = f"write 'next_phase', or give the signal in the phase that leads to '{word.text}'"
            yield Finding("no-meaning", message, word.place, fix, "note")


def _resolve_on_fail(layout: PhaseLayout, atlas: PhaseLookup) -> None:
    """Only a check that fails would look where it leads; a phase may have none."""
    word = layout.phase.ways.on_fail
    if word is not None:
        atlas.goal(word, layout, f"'on_fail' in '{layout.phase.id}'")


def _closed_phase_findings(
    layout: PhaseLayout, definition: PhasesFile, atlas: PhaseLookup
) -> Iterator[Finding]:
    """All declared ways lead back to the beginning of the phase, so nothing leaves it."""
    phase = layout.phase
    signals = [s for s in phase.signals if s.name != BLOCKED]
    ways = [*_declared_words(layout, atlas), *(s.target for s in signals if s.target is not None)]
    common = [s for s in definition.signals if s.name != BLOCKED]
    if not ways or any(_can_leave(s, layout, atlas) for s in (*signals, *common)):
        return
    if any(not _leads_to_start(word, layout, atlas) for word in ways):
        return
    message = f"phase '{phase.id}' can never be left: {_name_ways(ways)} leads back to it"
    fix = "name the next phase, 'next_phase' or 'complete'"
    yield Finding("no-way-out", message, ways[0].place, fix)


def _name_ways(ways: list[ScalarNode]) -> str:
    return "its only way" if len(ways) == 1 else f"each of its {len(ways)} ways"


def _declared_words(layout: PhaseLayout, atlas: PhaseLookup) -> Iterator[ScalarNode]:
    """What the file says about where the phase leads when it is done."""
    gate, ways = layout.phase.gate, layout.phase.ways
    if gate is not None and gate.next is not None and atlas.inner_next(layout) is None:
        yield gate.next
    elif ways.on_complete is not None:
        yield ways.on_complete


def _can_leave(signal: SignalRecord, layout: PhaseLayout, atlas: PhaseLookup) -> bool:
    """A signal that leads onward goes where the phase leads."""
    out = next(_declared_words(layout, atlas), None)
    is_open = out is None or not _leads_to_start(out, layout, atlas)
    if signal.target is None or leads_on(signal, layout):
        return is_open
    goal = atlas.find_goal(signal.target, layout)
    if goal is None:
        return True
    is_inside = goal.onward or goal.phase == layout.index
    return is_open and not _is_start(goal, layout) if is_inside else True


def _leads_to_start(word: ScalarNode, layout: PhaseLayout, atlas: PhaseLookup) -> bool:
    goal = atlas.find_goal(word, layout)
    return goal is not None and _is_start(goal, layout)


def _is_start(goal: ResolvedTarget, layout: PhaseLayout) -> bool:
    """The last phase of a loop that leads to the loop's beginning means the next item."""
    is_next_item = layout.is_last_of_loop and layout.loop == layout.phase.id
    return goal.target == Target(layout.first) and not goal.onward and not is_next_item


def _early_exit_findings(
    layout: PhaseLayout, definition: PhasesFile, atlas: PhaseLookup
) -> Iterator[Finding]:
    for signal in (*layout.phase.signals, *definition.signals):
        if leads_on(signal, layout):
            continue
        goal = atlas.find_goal(signal.target, layout) if signal.target is not None else None
        if goal is not None and atlas.is_beyond_loop(goal.target, layout):
            yield _early_exit_finding(layout, f"signal '{signal.name}'", goal.target, signal.target)
    out = atlas.declared_way(layout)
    if not layout.is_last_of_loop and out is not None and atlas.is_beyond_loop(out, layout):
        yield _early_exit_finding(
            layout, "the way", out, next(_declared_words(layout, atlas), None)
        )


def _early_exit_finding(
    layout: PhaseLayout, what: str, target: Target, word: ScalarNode | None
) -> Finding:
    message = (
        f"{what} of phase '{layout.phase.id}' leads to '{target.state}', also while phases of the "
        "plan are not finished; then a person is asked"
    )
    fix = "write 'next_phase_or_review' to work on the next phase of the plan first"
    place = word.place if word is not None else layout.phase.place
    return Finding("early-exit", message, place, fix, "warning")


def _own_bound_findings(layout: PhaseLayout, atlas: PhaseLookup) -> Iterator[Finding]:
    """A failed check that sends the run to an earlier phase goes round; how often, is unsaid."""
    for check in layout.phase.checks:
        word = check.on_fail or layout.phase.ways.on_fail
        goal = atlas.find_goal(word, layout) if word is not None else None
        if goal is not None and 0 <= goal.phase < layout.index and not check.is_limited:
            message = (
                f"check '{check.command.name}' of phase '{layout.phase.id}' leads back to "
                f"'{atlas.order[goal.phase]}', and nothing in the file says how often: porch "
                f"allows it {check.max_retries} times, then a person decides"
            )
            fix = "write 'max_retries' for this check"
            yield Finding("own-bound", message, check.place, fix, "note")


def _missing_plan_findings(first: PhaseLayout, atlas: PhaseLookup) -> Iterator[Finding]:
    """A document that is named as a file may be a person's; a phase has to come before."""
    members = [each for each in atlas.layouts.values() if each.loop == first.loop]
    words = [m.phase.phases_from for m in members if m.phase.phases_from is not None]
    if any(word.text not in atlas.layouts for word in words):
        return
    before = [each.phase for each in atlas.layouts.values() if each.index < first.index]
    names = {word.text for word in words} or {PLAN_PHASE}
    plan = find_plan_file(atlas)
    if any(p.id in names or (not words and plan in p.artifacts) for p in before):
        return
    message = (
        f"phase '{first.phase.id}' runs for each phase of the plan, and no phase before it "
        f"writes {describe_name(plan) if not words else 'that plan'}"
    )
    fix = "add a phase that writes the plan, or name the document in 'phases_from'"
    place = words[0].place if words else first.phase.place
    yield Finding("unwritten-plan", message, place, fix, "warning")
