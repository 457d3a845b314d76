"""Gates, consultations, signals, steps and transitions, in every spelling of both generations."""

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.phases.artifact_reader import read_gate_files
from porch.dialects.phases.file_records import (
    DEFAULT_ROUNDS,
    TOO_COMPLEX,
    Consultation,
    GateRecord,
    PhaseTargets,
    SignalRecord,
    StepRecord,
)
from porch.dialects.phases.mapping_reader import (
    Findings,
    StrictFields,
    check_model_name,
    limit_entries,
    read_named_entries,
    report_wrong_type,
)
from porch.errors import Finding, Place
from porch.model.protocol import EXHAUSTED, SILENT
from porch.text.fields import check_name
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode


def is_null(node: Node | None) -> bool:
    return isinstance(node, ScalarNode) and node.kind == "null"


class PanelDefaults(Struct, frozen=True):
    """What a consultation leaves open; without models, the default panel reviews."""

    models: tuple[str, ...] | None = None
    review: str = "generic"
    parallel: bool = True
    max_rounds: int = DEFAULT_ROUNDS
    max_reviewers: int = 0


def read_panel_defaults(form: StrictFields, base: PanelDefaults) -> PanelDefaults:
    named = form.child("models")
    is_open = named is None or is_null(named)
    return PanelDefaults(
        base.models if is_open else form.list_of_text("models"),
        form.text("type", base.review),
        form.flag("parallel", base.parallel),
        _read_max_rounds(form, base.max_rounds),
        form.whole("max_reviewers", base.max_reviewers, least=1),
    )


def _read_max_rounds(form: StrictFields, default: int) -> int:
    rounds = form.whole("max_consultation_rounds", default, least=1)
    return form.whole("max_rounds", rounds, least=1)


def read_consultation(form: StrictFields, defaults: PanelDefaults) -> Consultation | None:
    said = read_panel_defaults(form, defaults)
    on, next_ = form.word("on", "trigger"), form.word("next")
    if not form.flag("enabled", True):
        return None
    place = form.place("models")
    written = said.models or ()
    models = tuple(dict.fromkeys(model for model in written if model.strip()))
    if len(models) != len(written):
        message = f"{form.what} names a reviewer twice, or an empty one"
        form.report("duplicate-name", message, place, "name each reviewer once")
    if not models and said.models is not None:
        fix = "name them in 'models', or remove 'models': then the agents that are there review"
        form.report("no-reviewers", f"{form.what} has no reviewers", place, fix)
    good = tuple(
        m for m in models if check_model_name(ScalarNode(m, place), form.what, form.findings)
    )
    return Consultation(
        form.node.place,
        good,
        said.review or "generic",
        said.parallel,
        said.max_rounds,
        None if is_null(on) else on,
        None if is_null(next_) else next_,
        place,
        form.place("type"),
        said.max_reviewers,
    )


def read_gate(node: Node | None, what: str, findings: Findings) -> GateRecord | None:
    if isinstance(node, MapNode):
        return read_gate_mapping(StrictFields(node, "gate", f"the gate of {what}", findings))
    if isinstance(node, ScalarNode) and node.kind == "text" and check_name(node, what, findings):
        return GateRecord(node.place, node.text)
    if isinstance(node, ScalarNode) and node.text == "true":
        return GateRecord(node.place)
    if node is not None and not (
        isinstance(node, ScalarNode) and node.kind in ("null", "text", "bool")
    ):
        report_wrong_type(node, f"the gate of {what}", "a name or a mapping", findings)
    return None


def read_gate_mapping(form: StrictFields) -> GateRecord:
    kind = form.text("type", "human")
    if kind != "human":
        message = f"a gate of type '{kind[:80]}' is also decided by a person"
        form.report("no-meaning", message, form.place("type"), severity="note")
    name, after = form.word("name", "id"), form.word("after", "after_state")
    if name is None or is_null(name) or not check_name(name, form.what, form.findings):
        name = None
    requires = tuple(w for w in form.words("requires") if check_name(w, form.what, form.findings))
    return GateRecord(
        form.node.place,
        name.text if name else "",
        form.text("description"),
        requires,
        None if is_null(after) else after,
        form.word("next", "next_state"),
        read_gate_files(form, "artifacts", "artifact"),
    )


def read_signals(
    node: Node | None, what: str, findings: Findings, common: bool
) -> tuple[SignalRecord, ...]:
    if node is None or is_null(node):
        return ()
    if isinstance(node, MapNode):
        entries = read_named_entries(node, what, findings)
    elif isinstance(node, ListNode):
        entries = _list_entries(node, "signal", what, findings)
    else:
        report_wrong_type(node, what, "a mapping of signals", findings)
        return ()
    for entry in entries:
        if entry.key.text in (SILENT, EXHAUSTED):
            message = f"'{entry.key.text}' is what porch itself uses when an agent gives no signal"
            fix = "choose another name for the signal"
            findings.append(Finding("reserved-name", message, entry.key.place, fix))
    return tuple(replace(_read_signal(entry, what, findings), common=common) for entry in entries)


def _read_signal(entry: Entry, what: str, findings: Findings) -> SignalRecord:
    name, node = entry.key, entry.value
    if isinstance(node, MapNode):
        form = StrictFields(node, "signal", f"signal '{name.text}'", findings)
        needs = _needs_reason(form)
        target = form.word("transitions_to", "next")
        return SignalRecord(name.text, name.place, target, needs, form.text("description"))
    if (
        isinstance(node, ScalarNode)
        and node is not name
        and node.kind != "bool"
        and node.text.strip()
    ):
        return SignalRecord(name.text, name.place, node)
    if node is not name:
        report_wrong_type(
            node, f"signal '{name.text}' of {what}", "a target or a mapping", findings
        )
    return SignalRecord(name.text, name.place)


def read_too_complex(form: StrictFields) -> tuple[SignalRecord, ...]:
    """The signal with which an agent says that the work is too big for this protocol."""
    word = form.word("on_too_complex")
    if word is None or is_null(word):
        return ()
    about = "The work is too big for this protocol; say why"
    return (SignalRecord(TOO_COMPLEX, word.place, word, True, about, common=True),)


def _needs_reason(form: StrictFields) -> bool:
    needs = form.words("requires")
    for word in needs:
        if word.text != "reason":
            message = f"{form.what} requires '{word.text[:80]}', but only 'reason' can be required"
            form.report("wrong-value", message, word.place, 'write "requires": "reason"')
    return bool(needs)


def _list_entries(node: ListNode, kind: str, what: str, findings: Findings) -> tuple[Entry, ...]:
    """A list of names, or of mappings that carry one, as entries."""
    entries = []
    for item in node.items:
        key = _entry_key(item)
        if key is None or key.kind not in ("text", "number"):
            report_wrong_type(item, f"a {kind} of {what}", "a name", findings)
        else:
            entries.append(Entry(key, item))
    kept = limit_entries(entries, what, node.place, findings)
    return tuple(entry for entry in kept if check_name(entry.key, what, findings))


def _entry_key(item: Node) -> ScalarNode | None:
    found = (item.get("name") or item.get("id")) if isinstance(item, MapNode) else item
    return found if isinstance(found, ScalarNode) else None


def read_steps(
    node: Node | None, phase: str, what: str, findings: Findings
) -> tuple[StepRecord, ...]:
    if node is None or is_null(node):
        return ()
    if not isinstance(node, ListNode):
        report_wrong_type(node, f"the steps of {what}", "a list of names", findings)
        return ()
    items = tuple(_without_phase_prefix(item, phase) for item in node.items)
    entries = _list_entries(ListNode(items, node.place), "step", what, findings)
    steps = tuple(_read_step(entry, findings) for entry in entries)
    _report_duplicate_steps(steps, what, findings)
    return tuple({step.name: step for step in steps}.values())


def _without_phase_prefix(item: Node, phase: str) -> Node:
    if isinstance(item, ScalarNode):
        return replace(item, text=item.text.removeprefix(f"{phase}:"))
    return item


def _read_step(entry: Entry, findings: Findings) -> StepRecord:
    name = entry.key
    if not isinstance(entry.value, MapNode):
        return StepRecord(name.text, name.place)
    form = StrictFields(entry.value, "step", f"step '{name.text}'", findings)
    return StepRecord(name.text, name.place, form.path("prompt"), form.text("description"))


def _report_duplicate_steps(steps: tuple[StepRecord, ...], what: str, findings: Findings) -> None:
    seen: dict[str, Place] = {}
    for step in steps:
        if step.name in seen:
            message = f"{what} has two steps called '{step.name}'"
            findings.append(Finding("duplicate-name", message, step.place, "rename one"))
        seen[step.name] = step.place


def read_phase_targets(form: StrictFields | None) -> PhaseTargets:
    if form is None:
        return PhaseTargets()
    fail, every = form.word("on_fail"), form.word("on_all_phases_complete")
    return PhaseTargets(form.word("on_complete"), None if is_null(fail) else fail, every)
