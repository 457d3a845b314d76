"""One phase of the file into its record, with the file's defaults filled in."""

from msgspec import Struct

from porch.dialects.phases.artifact_reader import list_default_files, read_files
from porch.dialects.phases.check_reader import CheckDefaults, read_checks, read_verification
from porch.dialects.phases.file_records import (
    TOO_COMPLEX,
    CheckRecord,
    Consultation,
    Phase,
    PhaseTargets,
    SignalRecord,
    StepRecord,
)
from porch.dialects.phases.gate_signal_reader import (
    PanelDefaults,
    is_null,
    read_consultation,
    read_gate,
    read_phase_targets,
    read_signals,
    read_steps,
    read_too_complex,
)
from porch.dialects.phases.mapping_reader import (
    Findings,
    StrictFields,
    did_you_mean,
    report_wrong_type,
)
from porch.dialects.phases.permissions import read_permissions
from porch.dialects.phases.protection import read_may_write
from porch.errors import Finding
from porch.model.memory_paths import RUN_QUESTIONS
from porch.text.fields import check_name
from porch.text.nodes import MapNode, Node, ScalarNode

PLAIN_TYPES = ("once", "build_verify")
PER_PLAN_PHASE = "per_plan_phase"
SWITCH_WORDS = ("yes", "no", "true", "false", "on", "off", "y", "n")
# States and searches are named after these, so no phase may be.
RESERVED_IDS = (
    *("complete", "abandoned", "failed", "blocked", "undecided"),
    *RUN_QUESTIONS,
)
_WORK_KEYS = (
    "prompt", "build", "substates", "steps", "checks", "backpressure", "verification",
    "consultation", "verify", "signals", "gate", "phased",
)  # fmt: skip


class PhaseDefaults(Struct, frozen=True):
    """The file's `defaults`, and what `config` says about the same things."""

    checks: CheckDefaults = CheckDefaults()
    panel: PanelDefaults = PanelDefaults()
    every_phase: tuple[CheckRecord, ...] = ()
    is_shared: bool = False  # its documents lie in codev/specs and its like


def read_phase(node: Node, findings: Findings, defaults: PhaseDefaults) -> Phase | None:
    if not isinstance(node, MapNode):
        report_wrong_type(node, "a phase", "a mapping with an 'id'", findings)
        return None
    form = StrictFields(node, "phase", f"phase {_describe_phase(node)}", findings)
    id_ = _read_id(form)
    is_end = form.flag("terminal") and not any(key in form for key in _WORK_KEYS)
    if id_ in RESERVED_IDS and not (is_end or _is_bare_complete(id_, form)):
        message = f"'{id_}' is a name that porch uses itself"
        form.report("reserved-name", message, form.place("id"), "choose another name for the phase")
    phase = _read_phase_record(id_, form, defaults)
    return phase if id_ else None


def _describe_phase(node: MapNode) -> str:
    id_ = node.get("id")
    return f"'{id_.text[:80]}'" if isinstance(id_, ScalarNode) else "without an id"


def _read_id(form: StrictFields) -> str:
    text = form.required_text("id")
    return (
        text
        if text and check_name(ScalarNode(text, form.place("id")), "'phases'", form.findings)
        else ""
    )


def _is_bare_complete(id_: str, form: StrictFields) -> bool:
    return id_ == "complete" and not any(key in form for key in _WORK_KEYS)


def _read_phase_record(id_: str, form: StrictFields, defaults: PhaseDefaults) -> Phase:
    form.note("hooks", "hooks are not run")
    form.note("input", "only the 'input' of the whole protocol is used")
    build = form.form("build", "build")
    artifacts = _read_artifacts(form, build) or list_default_files(id_, defaults.is_shared)
    is_bare_end = not any(key in form for key in _WORK_KEYS) and (
        form.flag("terminal") or id_ == "complete"
    )
    return Phase(
        id=id_,
        place=form.node.place,
        name=form.text("name"),
        description=form.text("description"),
        prompt=_read_prompt(form, build),
        prompt_place=(build or form).place("prompt"),
        artifacts=artifacts,
        steps=_read_phase_steps(id_, form),
        first_step=form.word("initial_substate"),
        signals=_read_phase_signals(form),
        is_phased=_is_phased(form),
        phases_from=_read_phases_from(form),
        checks=() if is_bare_end else _read_phase_checks(form, defaults),
        verification=read_verification(form.form("verification", "verification"), defaults.checks),
        consultation=_read_phase_consultation(form, defaults.panel),
        gate=read_gate(form.child("gate"), form.what, form.findings),
        ways=_read_all_targets(form),
        commits=_read_commits(form, artifacts),
        permissions=read_permissions(form, "permissions"),
        is_end=is_bare_end,
        may_write=read_may_write(form),
    )


def _read_phase_signals(form: StrictFields) -> tuple[SignalRecord, ...]:
    own = read_signals(form.child("signals"), f"the signals of {form.what}", form.findings, False)
    transition = form.form("transition", "transition")
    added = (*read_too_complex(form), *(read_too_complex(transition) if transition else ()))
    if added and TOO_COMPLEX in [signal.name for signal in (*own, *added[1:])]:
        message = f"{form.what} says twice where {TOO_COMPLEX} leads"
        fix = "keep 'on_too_complex', or the signal"
        form.report("said-twice", message, added[0].place, fix)
    return (*own, *added)


def _read_artifacts(form: StrictFields, build: StrictFields | None) -> tuple[str, ...]:
    own = read_files(form, "artifact", "artifacts")
    built = read_files(build, "artifact", "artifacts") if build else ()
    return tuple(dict.fromkeys(own + built))


def _read_prompt(form: StrictFields, build: StrictFields | None) -> str:
    built = build.path("prompt") if build else ""
    return form.path("prompt") or built


def _read_phase_steps(id_: str, form: StrictFields) -> tuple[StepRecord, ...]:
    substates = read_steps(form.child("substates"), id_, form.what, form.findings)
    steps = read_steps(form.child("steps"), id_, form.what, form.findings)
    if substates and steps:
        message = f"{form.what} has both 'substates' and 'steps'"
        form.report("said-twice", message, form.place("steps"), "keep one of the two lists")
    return substates or steps


def _is_phased(form: StrictFields) -> bool:
    type_ = form.text("type", "once")
    known = (*PLAIN_TYPES, PER_PLAN_PHASE)
    if type_ not in known:
        message = f"'type' of {form.what} must be one of {', '.join(known)}, not '{type_[:80]}'"
        form.report("wrong-value", message, form.place("type"), did_you_mean(type_, known))
    return form.flag("phased", type_ == PER_PLAN_PHASE)


def _read_phases_from(form: StrictFields) -> ScalarNode | None:
    word = form.word("phases_from")
    return None if is_null(word) else word


def _read_phase_checks(form: StrictFields, defaults: PhaseDefaults) -> tuple[CheckRecord, ...]:
    if "checks" not in form and "backpressure" not in form:
        return defaults.every_phase
    found: list[CheckRecord] = []
    for key in ("checks", "backpressure"):
        what = f"'{key}' of {form.what}"
        found += read_checks(form.child(key), what, form.findings, defaults.checks)
    names = [record.command.name for record in found]
    for record in found:
        if names.count(record.command.name) > 1 and "backpressure" in form and "checks" in form:
            message = f"{form.what} has two checks called '{record.command.name}'"
            form.report("duplicate-name", message, record.place, "rename one")
    return tuple({record.command.name: record for record in found}.values())


def _read_phase_consultation(form: StrictFields, defaults: PanelDefaults) -> Consultation | None:
    said = "max_iterations" in form or "max_consultation_rounds" in form
    rounds = form.whole("max_consultation_rounds", defaults.max_rounds, least=1)
    rounds = form.whole("max_iterations", rounds, least=1)
    filled = PanelDefaults(defaults.models, defaults.review, defaults.parallel, rounds)
    found = [
        read_consultation(inner, filled)
        for inner in (
            form.form("consultation", "consultation"),
            form.form("verify", "consultation"),
        )
        if inner is not None
    ]
    if len(found) > 1:
        message = f"{form.what} has both 'consultation' and 'verify'"
        form.report("said-twice", message, form.place("verify"), "keep one of the two")
    panel = found[0] if found else None
    if said and panel is None:
        form.note("max_iterations", "it limits review rounds, and this phase has no reviewers")
        form.note("max_consultation_rounds", "this phase has no reviewers")
    return panel


def _read_all_targets(form: StrictFields) -> PhaseTargets:
    ways = read_phase_targets(form.form("transition", "transition"))
    next_ = form.word("next")
    if ways.on_complete is not None and next_ is not None and ways.on_complete.text != next_.text:
        message = f"'next' of {form.what} and 'on_complete' of its transition disagree"
        form.report("said-twice", message, form.place("next"), "keep one of the two")
    last = ScalarNode("complete", form.place("terminal")) if form.flag("terminal") else None
    return PhaseTargets(ways.on_complete or next_ or last, ways.on_fail, ways.on_all_complete)


def _is_switch(node: ScalarNode) -> bool:
    """A word for yes or no that would be taken for the path of a file."""
    return node.kind == "number" or (node.kind == "text" and node.text.lower() in SWITCH_WORDS)


def _read_commits(form: StrictFields, artifacts: tuple[str, ...]) -> tuple[str, ...]:
    inner = form.form("on_complete", "on_complete")
    if inner is None:
        return ()
    inner.note("push", "porch never pushes; a person or a hook does")
    node = inner.child("commit")
    if isinstance(node, ScalarNode) and _is_switch(node):
        message = f"'commit' must be true, false or paths, not '{node.text[:80]}'"
        inner.report("wrong-type", message, node.place, "write true or false, without quotes")
        return ()
    if not (isinstance(node, ScalarNode) and node.kind == "bool"):
        return read_files(inner, "commit", directories=True)
    if node.text == "true" and not artifacts:
        message = "'commit' names no artifact to commit; porch commits an agent's work anyway"
        form.findings.append(Finding("no-meaning", message, node.place, severity="note"))
    return artifacts if node.text == "true" else ()
