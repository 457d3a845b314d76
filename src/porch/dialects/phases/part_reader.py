"""Gates, consultations, signals, steps and transitions, in every spelling of both generations."""

from dataclasses import dataclass, replace

from porch.dialects.nodes import Entry, ListNode, MapNode, Node, Scalar
from porch.dialects.phases.forms import (
    Findings,
    Form,
    good_entries,
    is_model,
    is_name,
    limited,
    wrong,
)
from porch.dialects.phases.records import DEFAULT_ROUNDS, Consultation, Gate, Signal, Step, Ways
from porch.errors import Finding, Place
from porch.model.protocol import EXHAUSTED, SILENT


def is_null(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.kind == "null"


@dataclass(frozen=True, slots=True)
class PanelDefaults:
    """What a consultation leaves open."""

    models: tuple[str, ...] = ()
    review: str = "generic"
    parallel: bool = True
    max_rounds: int = DEFAULT_ROUNDS


def read_panel_defaults(form: Form, base: PanelDefaults) -> PanelDefaults:
    return PanelDefaults(
        form.list_of_text("models", base.models),
        form.text("type", base.review),
        form.flag("parallel", base.parallel),
        _rounds(form, base.max_rounds),
    )


def _rounds(form: Form, default: int) -> int:
    rounds = form.whole("max_consultation_rounds", default, least=1)
    return form.whole("max_rounds", rounds, least=1)


def read_consultation(form: Form, defaults: PanelDefaults) -> Consultation | None:
    said = read_panel_defaults(form, defaults)
    on, next_ = form.word("on", "trigger"), form.word("next")
    if not form.flag("enabled", True):
        return None
    place = form.place("models")
    models = tuple(dict.fromkeys(model for model in said.models if model.strip()))
    if len(models) != len(said.models):
        message = f"{form.what} names a reviewer twice, or an empty one"
        form.report("duplicate-name", message, place, "name each reviewer once")
    if not models:
        fix = 'write \'models\', for example ["gemini", "codex", "claude"]'
        form.report("no-reviewers", f"{form.what} names no reviewers", place, fix)
    good = tuple(m for m in models if is_model(Scalar(m, place), form.what, form.findings))
    return Consultation(
        form.node.place,
        good,
        said.review or "generic",
        said.parallel,
        said.max_rounds,
        None if is_null(on) else on,
        None if is_null(next_) else next_,
    )


def read_gate(node: Node | None, what: str, findings: Findings) -> Gate | None:
    if isinstance(node, MapNode):
        return gate_of(Form(node, "gate", f"the gate of {what}", findings))
    if isinstance(node, Scalar) and node.kind == "text" and is_name(node, what, findings):
        return Gate(node.place, node.text)
    if isinstance(node, Scalar) and node.text == "true":
        return Gate(node.place)
    if node is not None and not (
        isinstance(node, Scalar) and node.kind in ("null", "text", "bool")
    ):
        wrong(node, f"the gate of {what}", "a name or a mapping", findings)
    return None


def gate_of(form: Form) -> Gate:
    kind = form.text("type", "human")
    if kind != "human":
        message = f"a gate of type '{kind[:80]}' is decided by a person all the same"
        form.report("no-meaning", message, form.place("type"), severity="note")
    name, after = form.word("name", "id"), form.word("after", "after_state")
    if name is None or is_null(name) or not is_name(name, form.what, form.findings):
        name = None
    requires = tuple(w for w in form.words("requires") if is_name(w, form.what, form.findings))
    return Gate(
        form.node.place,
        name.text if name else "",
        form.text("description"),
        requires,
        None if is_null(after) else after,
        form.word("next", "next_state"),
        form.paths("artifacts", "artifact"),
    )


def read_signals(
    node: Node | None, what: str, findings: Findings, common: bool
) -> tuple[Signal, ...]:
    if node is None or is_null(node):
        return ()
    if isinstance(node, MapNode):
        entries = good_entries(node, what, findings)
    elif isinstance(node, ListNode):
        entries = _listed(node, "signal", what, findings)
    else:
        wrong(node, what, "a mapping of signals", findings)
        return ()
    for entry in entries:
        if entry.key.text in (SILENT, EXHAUSTED):
            message = f"'{entry.key.text}' is what porch says of an agent that says nothing"
            fix = "call the signal something else"
            findings.append(Finding("reserved-name", message, entry.key.place, fix))
    return tuple(replace(_signal(entry, what, findings), common=common) for entry in entries)


def _signal(entry: Entry, what: str, findings: Findings) -> Signal:
    name, node = entry.key, entry.value
    if isinstance(node, MapNode):
        form = Form(node, "signal", f"signal '{name.text}'", findings)
        needs = _needs_reason(form)
        target = form.word("transitions_to", "next")
        return Signal(name.text, name.place, target, needs, form.text("description"))
    if isinstance(node, Scalar) and node is not name and node.kind != "bool" and node.text.strip():
        return Signal(name.text, name.place, node)
    if node is not name:
        wrong(node, f"signal '{name.text}' of {what}", "a target or a mapping", findings)
    return Signal(name.text, name.place)


def _needs_reason(form: Form) -> bool:
    needs = form.words("requires")
    for word in needs:
        if word.text != "reason":
            message = f"{form.what} requires '{word.text[:80]}', but only 'reason' can be required"
            form.report("wrong-value", message, word.place, 'write "requires": "reason"')
    return bool(needs)


def _listed(node: ListNode, kind: str, what: str, findings: Findings) -> tuple[Entry, ...]:
    """A list of names, or of mappings that carry one, as entries."""
    entries = []
    for item in node.items:
        key = _key_of(item)
        if key is None or key.kind not in ("text", "number"):
            wrong(item, f"a {kind} of {what}", "a name", findings)
        else:
            entries.append(Entry(key, item))
    kept = limited(entries, what, node.place, findings)
    return tuple(entry for entry in kept if is_name(entry.key, what, findings))


def _key_of(item: Node) -> Scalar | None:
    found = (item.get("name") or item.get("id")) if isinstance(item, MapNode) else item
    return found if isinstance(found, Scalar) else None


def read_steps(node: Node | None, phase: str, what: str, findings: Findings) -> tuple[Step, ...]:
    if node is None or is_null(node):
        return ()
    if not isinstance(node, ListNode):
        wrong(node, f"the steps of {what}", "a list of names", findings)
        return ()
    items = tuple(_without_prefix(item, phase) for item in node.items)
    entries = _listed(ListNode(items, node.place), "step", what, findings)
    steps = tuple(_step(entry, findings) for entry in entries)
    _refuse_twins(steps, what, findings)
    return tuple({step.name: step for step in steps}.values())


def _without_prefix(item: Node, phase: str) -> Node:
    if isinstance(item, Scalar):
        return replace(item, text=item.text.removeprefix(f"{phase}:"))
    return item


def _step(entry: Entry, findings: Findings) -> Step:
    name = entry.key
    if not isinstance(entry.value, MapNode):
        return Step(name.text, name.place)
    form = Form(entry.value, "step", f"step '{name.text}'", findings)
    return Step(name.text, name.place, form.path("prompt"), form.text("description"))


def _refuse_twins(steps: tuple[Step, ...], what: str, findings: Findings) -> None:
    seen: dict[str, Place] = {}
    for step in steps:
        if step.name in seen:
            message = f"{what} has two steps called '{step.name}'"
            findings.append(Finding("duplicate-name", message, step.place, "rename one"))
        seen[step.name] = step.place


def read_ways(form: Form | None) -> Ways:
    if form is None:
        return Ways()
    fail, every = form.word("on_fail"), form.word("on_all_phases_complete")
    return Ways(form.word("on_complete"), None if is_null(fail) else fail, every)
