"""The oldest files keep gates and transitions beside the phases; here they are put into them."""

from itertools import pairwise

from msgspec.structs import replace

from porch.dialects.phases.file_records import GateRecord, Phase, PhaseTargets, SignalRecord
from porch.dialects.phases.gate_signal_reader import is_null, read_gate_mapping, read_too_complex
from porch.dialects.phases.mapping_reader import (
    MOST_PHASES,
    MOST_STEPS,
    Findings,
    StrictFields,
    did_you_mean,
    limit_entries,
    read_named_entries,
    report_wrong_type,
)
from porch.errors import Finding
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode

PhasesById = dict[str, Phase]


def fold_gates(form: StrictFields, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    table = {phase.id: phase for phase in phases}
    for entry in _list_named_entries(form, "gates"):
        if isinstance(entry.value, MapNode):
            inner = StrictFields(entry.value, "gate", f"gate '{entry.key.text}'", form.findings)
            _fold_gate(inner, entry.key, table)
        else:
            report_wrong_type(entry.value, f"gate '{entry.key.text}'", "a mapping", form.findings)
    return tuple(table.values())


def _list_named_entries(form: StrictFields, key: str) -> tuple[Entry, ...]:
    """A mapping of names, or a list of mappings that carry their name in `id` or `name`."""
    node = form.child(key)
    if node is None or is_null(node):
        return ()
    if isinstance(node, MapNode):
        return read_named_entries(node, f"'{key}'", form.findings, MOST_PHASES)
    if not isinstance(node, ListNode):
        report_wrong_type(node, f"'{key}'", "a mapping or a list", form.findings)
        return ()
    items = limit_entries(node.items, f"'{key}'", node.place, form.findings, most=MOST_PHASES)
    return tuple(Entry(_own_name(item), item) for item in items)


def _own_name(item: Node) -> ScalarNode:
    named = (item.get("name") or item.get("id")) if isinstance(item, MapNode) else None
    return named if isinstance(named, ScalarNode) else ScalarNode("", item.place)


def _fold_gate(form: StrictFields, key: ScalarNode, table: PhasesById) -> None:
    gate = read_gate_mapping(form)
    gate = replace(gate, name=gate.name or key.text, place=key.place)
    user = next((p for p in table.values() if p.gate and p.gate.name == gate.name), None)
    where = form.word("phase") or gate.after
    if user is not None and user.gate is not None:
        table[user.id] = replace(user, gate=_fill_gate(user.gate, gate))
    elif where is None or is_null(where):
        message = f"{form.what} does not come after a phase"
        fix = "write 'after' with a state, or name it in the phase's 'gate'"
        form.report("unplaced-gate", message, key.place, fix)
    else:
        _place_gate(form, gate, where, table)


def _fill_gate(own: GateRecord, common: GateRecord) -> GateRecord:
    return replace(
        own,
        description=own.description or common.description,
        requires=own.requires or common.requires,
        after=own.after or common.after,
        next=own.next or common.next,
        artifacts=own.artifacts or common.artifacts,
    )


def _place_gate(form: StrictFields, gate: GateRecord, where: ScalarNode, table: PhasesById) -> None:
    phase = _find_phase(where.text, table)
    if phase is None:
        message = f"{form.what} comes after '{where.text[:80]}', which is not a phase"
        form.report("unknown-state", message, where.place, did_you_mean(where.text, table))
    elif phase.gate is not None:
        message = f"phase '{phase.id}' already has a gate"
        form.report("said-twice", message, gate.place, "keep one gate for each phase")
    else:
        table[phase.id] = replace(phase, gate=replace(gate, after=gate.after or where))


def _find_phase(state: str, table: PhasesById) -> Phase | None:
    return table.get(state) or table.get(state.partition(":")[0])


def fold_transitions(form: StrictFields, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """Transitions of a state become its phase's ways and signals."""
    table = {phase.id: phase for phase in phases}
    for entry in _list_transitions(form):
        phase = _find_phase(entry.key.text, table)
        if phase is None:
            message = f"'transitions' starts at '{entry.key.text[:80]}', which is not a phase"
            form.report(
                "unknown-state", message, entry.key.place, did_you_mean(entry.key.text, table)
            )
        elif isinstance(entry.value, MapNode):
            what = f"transition of '{entry.key.text}'"
            inner = StrictFields(entry.value, "state_transition", what, form.findings)
            table[phase.id] = _with_transition(phase, entry.key, inner)
        elif isinstance(entry.value, ScalarNode):
            table[phase.id] = _with_next_target(phase, entry.key, entry.value, form.findings)
        else:
            report_wrong_type(entry.value, "a transition", "a target or a mapping", form.findings)
    return tuple(table.values())


def _list_transitions(form: StrictFields) -> tuple[Entry, ...]:
    node = form.child("transitions")
    if isinstance(node, MapNode):
        kept = limit_entries(
            node.entries, "'transitions'", node.place, form.findings, most=MOST_STEPS
        )
        return tuple(entry for entry in kept if not entry.key.text.startswith(("$", "_")))
    if not isinstance(node, ListNode):
        if node is not None and not is_null(node):
            report_wrong_type(node, "'transitions'", "a mapping or a list", form.findings)
        return ()
    entries = []
    for item in limit_entries(
        node.items, "'transitions'", node.place, form.findings, most=MOST_STEPS
    ):
        begin = item.get("from") if isinstance(item, MapNode) else None
        if isinstance(begin, ScalarNode) and begin.kind == "text":
            entries.append(Entry(begin, item))
        else:
            report_wrong_type(item, "a transition", "a mapping with 'from' and 'to'", form.findings)
    return tuple(entries)


def _with_transition(phase: Phase, begin: ScalarNode, form: StrictFields) -> Phase:
    form.word("from")
    form.note("wait_for", "it has no effect: a run always waits at its gates")
    signal, to = form.word("on"), form.word("to")
    if signal is not None and to is not None and signal.kind == "text":
        phase = replace(
            phase, signals=(*phase.signals, SignalRecord(signal.text, signal.place, to))
        )
    elif to is not None:
        phase = _with_next_target(phase, begin, to, form.findings)
    for key in ("default", "on_complete", "on_backpressure_pass", "on_gate_pass"):
        word = form.word(key)
        if word is not None:
            passes = key == "on_gate_pass" and phase.gate is not None
            phase = (
                _with_gate_next(phase, word)
                if passes
                else _with_next_target(phase, begin, word, form.findings)
            )
    phase = replace(phase, signals=(*phase.signals, *read_too_complex(form)))
    fail = form.word("on_fail", "on_backpressure_fail")
    every = form.word("on_all_phases_complete")
    ways = phase.ways
    return replace(
        phase,
        ways=PhaseTargets(ways.on_complete, ways.on_fail or fail, ways.on_all_complete or every),
    )


def _with_gate_next(phase: Phase, word: ScalarNode) -> Phase:
    gate = phase.gate
    return replace(phase, gate=replace(gate, next=gate.next or word)) if gate else phase


def _with_next_target(phase: Phase, begin: ScalarNode, to: ScalarNode, findings: Findings) -> Phase:
    """From one step to the next of the same phase is what the order of steps says anyway."""
    own, colon, step = to.text.partition(":")
    said = phase.ways.on_complete
    if own == phase.id and colon:
        _check_step_order(phase, begin, to, step, findings)
        return phase
    if said is not None and said.text != to.text:
        message = f"phase '{phase.id}' leads to '{said.text[:80]}' and to '{to.text[:80]}'"
        findings.append(Finding("said-twice", message, to.place, "keep one of the two"))
    return replace(phase, ways=replace(phase.ways, on_complete=said or to))


def _check_step_order(
    phase: Phase, begin: ScalarNode, to: ScalarNode, step: str, findings: Findings
) -> None:
    names = [part.name for part in phase.steps]
    here = begin.text.partition(":")[2]
    if (here, step) not in pairwise(names):
        message = f"'{to.text[:80]}' does not come right after '{begin.text[:80]}'"
        fix = "put the steps of the phase in the order in which they run"
        findings.append(Finding("step-order", message, to.place, fix))
