"""One phase of the file into its record, with the file's defaults filled in."""

from dataclasses import dataclass

from porch.dialects.nodes import MapNode, Node, Scalar
from porch.dialects.phases.check_reader import CheckDefaults, read_checks, read_verification
from porch.dialects.phases.forms import Findings, Form, is_name, wrong
from porch.dialects.phases.part_reader import (
    PanelDefaults,
    is_null,
    read_consultation,
    read_gate,
    read_signals,
    read_steps,
    read_ways,
)
from porch.dialects.phases.permitting import read_permissions
from porch.dialects.phases.records import CheckRecord, Consultation, Phase, Step, Ways
from porch.errors import Finding

PLAIN_TYPES = ("once", "build_verify")
PHASED = "per_plan_phase"
# States and searches are named after these, so no phase may be.
RESERVED = ("complete", "abandoned", "failed", "blocked", "undecided")
DEFAULT_ARTIFACTS = {"specify": ("spec.md",), "plan": ("plan.md",), "review": ("review.md",)}
_WORK = (
    "prompt", "build", "substates", "steps", "checks", "backpressure", "verification",
    "consultation", "verify", "signals", "gate", "phased",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Defaults:
    """The file's `defaults`, and what `config` says about the same things."""

    checks: CheckDefaults = CheckDefaults()
    panel: PanelDefaults = PanelDefaults()
    every_phase: tuple[CheckRecord, ...] = ()


def read_phase(node: Node, findings: Findings, defaults: Defaults) -> Phase | None:
    if not isinstance(node, MapNode):
        wrong(node, "a phase", "a mapping with an 'id'", findings)
        return None
    form = Form(node, "phase", f"phase {_called(node)}", findings)
    id_ = _id(form)
    is_end = form.flag("terminal") and not any(key in form for key in _WORK)
    if id_ in RESERVED and not (is_end or _is_bare_complete(id_, form)):
        message = f"'{id_}' is a name that porch uses itself"
        form.report("reserved-name", message, form.place("id"), "call the phase something else")
    phase = _phase(id_, form, defaults)
    return phase if id_ else None


def _called(node: MapNode) -> str:
    id_ = node.get("id")
    return f"'{id_.text[:80]}'" if isinstance(id_, Scalar) else "without an id"


def _id(form: Form) -> str:
    text = form.required_text("id")
    return (
        text if text and is_name(Scalar(text, form.place("id")), "'phases'", form.findings) else ""
    )


def _is_bare_complete(id_: str, form: Form) -> bool:
    return id_ == "complete" and not any(key in form for key in _WORK)


def _phase(id_: str, form: Form, defaults: Defaults) -> Phase:
    form.note("hooks", "hooks are not run")
    form.note("input", "only the 'input' of the whole protocol is looked at")
    build = form.form("build", "build")
    artifacts = _artifacts(id_, form, build)
    is_bare_end = not any(key in form for key in _WORK) and (
        form.flag("terminal") or id_ == "complete"
    )
    return Phase(
        id=id_,
        place=form.node.place,
        name=form.text("name"),
        description=form.text("description"),
        prompt=_prompt(form, build),
        prompt_place=(build or form).place("prompt"),
        artifacts=artifacts,
        steps=_steps(id_, form),
        first_step=form.word("initial_substate"),
        signals=read_signals(
            form.child("signals"), f"the signals of {form.what}", form.findings, False
        ),
        is_phased=_is_phased(form),
        phases_from=_phases_from(form),
        checks=() if is_bare_end else _checks(form, defaults),
        verification=read_verification(form.form("verification", "verification"), defaults.checks),
        consultation=_consultation(form, defaults.panel),
        gate=read_gate(form.child("gate"), form.what, form.findings),
        ways=_ways(form),
        commits=_commits(form, artifacts),
        permissions=read_permissions(form, "permissions"),
        is_end=is_bare_end,
    )


def _artifacts(id_: str, form: Form, build: Form | None) -> tuple[str, ...]:
    own = form.paths("artifact", "artifacts")
    built = build.paths("artifact", "artifacts") if build else ()
    said = tuple(dict.fromkeys(own + built))
    return said or DEFAULT_ARTIFACTS.get(id_, ())


def _prompt(form: Form, build: Form | None) -> str:
    built = build.path("prompt") if build else ""
    return form.path("prompt") or built


def _steps(id_: str, form: Form) -> tuple[Step, ...]:
    substates = read_steps(form.child("substates"), id_, form.what, form.findings)
    steps = read_steps(form.child("steps"), id_, form.what, form.findings)
    if substates and steps:
        message = f"{form.what} has both 'substates' and 'steps'"
        form.report("said-twice", message, form.place("steps"), "keep one of the two lists")
    return substates or steps


def _is_phased(form: Form) -> bool:
    type_ = form.text("type", "once")
    if type_ not in (*PLAIN_TYPES, PHASED):
        message = f"a phase of type '{type_[:80]}' runs once, like any other"
        form.report("no-meaning", message, form.place("type"), severity="note")
    return form.flag("phased", type_ == PHASED)


def _phases_from(form: Form) -> Scalar | None:
    word = form.word("phases_from")
    return None if is_null(word) else word


def _checks(form: Form, defaults: Defaults) -> tuple[CheckRecord, ...]:
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


def _consultation(form: Form, defaults: PanelDefaults) -> Consultation | None:
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
        form.note("max_iterations", "it counts rounds of review, and nobody reviews here")
        form.note("max_consultation_rounds", "nobody reviews here")
    return panel


def _ways(form: Form) -> Ways:
    ways = read_ways(form.form("transition", "transition"))
    next_ = form.word("next")
    if ways.on_complete is not None and next_ is not None and ways.on_complete.text != next_.text:
        message = f"'next' of {form.what} and 'on_complete' of its transition disagree"
        form.report("said-twice", message, form.place("next"), "keep one of the two")
    last = Scalar("complete", form.place("terminal")) if form.flag("terminal") else None
    return Ways(ways.on_complete or next_ or last, ways.on_fail, ways.on_all_complete)


def _commits(form: Form, artifacts: tuple[str, ...]) -> tuple[str, ...]:
    inner = form.form("on_complete", "on_complete")
    if inner is None:
        return ()
    inner.note("push", "porch never pushes; a person or a hook does")
    node = inner.child("commit")
    if not (isinstance(node, Scalar) and node.kind == "bool"):
        return inner.paths("commit")
    if node.text == "true" and not artifacts:
        message = (
            "'commit': no artifact says what to commit; the engine commits an agent's work anyway"
        )
        form.findings.append(Finding("no-meaning", message, node.place, severity="note"))
    return artifacts if node.text == "true" else ()
