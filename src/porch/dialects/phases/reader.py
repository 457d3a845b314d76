"""The whole file into one definition; everything that is wrong is noted, and reading goes on."""

from dataclasses import dataclass, replace

from porch.dialects.fields import Fields
from porch.dialects.nodes import MapNode, Node, Scalar
from porch.dialects.phases.check_reader import CheckDefaults, read_checks
from porch.dialects.phases.folding import fold_gates, fold_transitions
from porch.dialects.phases.forms import (
    MOST_PHASES,
    Findings,
    Form,
    did_you_mean,
    good_entries,
    is_name,
    limited,
)
from porch.dialects.phases.part_reader import (
    PanelDefaults,
    is_null,
    read_panel_defaults,
    read_signals,
)
from porch.dialects.phases.permitting import read_permissions
from porch.dialects.phases.phase_reader import Defaults, read_phase
from porch.dialects.phases.records import DEFAULT_RETRIES, DEFAULT_ROUNDS, Definition, Phase
from porch.errors import Place
from porch.model.protocol import Limits

SUBJECTS = {
    "spec": "project", "project": "project", "issue": "issue", "github-issue": "issue",
    "amendment": "amendment", "protocol": "none", "task": "none", "none": "none",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Config:
    """What `config` says, before `defaults` is asked."""

    limits: Limits = Limits()
    max_rounds: int = DEFAULT_ROUNDS
    max_retries: int = DEFAULT_RETRIES
    prompts_dir: str = "prompts"


def read_definition(root: MapNode, findings: Findings) -> tuple[Definition, str]:
    """The definition, and the directory in which its prompts lie."""
    form = Form(root, "protocol", "the protocol", findings)
    form.note("alias", "a protocol is found by its own name only")
    form.note("hooks", "hooks are not run")
    config = _config(form.form("config", "config"))
    defaults = _defaults(form.form("defaults", "defaults"), config)
    ends = _ends(form)
    phases = _phases(form, defaults)
    phases = fold_gates(form, phases)
    phases = fold_transitions(form, phases)
    phases = _permitted(form, phases)
    definition = Definition(
        name=_name(form),
        place=root.place,
        phases=tuple(
            replace(phase, is_end=True) if phase.id in ends and _is_idle(phase) else phase
            for phase in phases
        ),
        version=form.text("version"),
        description=form.text("description"),
        subject=_subject(form),
        initial=form.word("initial", "initial_state"),
        signals=read_signals(form.child("signals"), "'signals'", findings, common=True),
        phase_completion=read_checks(
            form.child("phase_completion"), "'phase_completion'", findings, defaults.checks
        ),
        limits=config.limits,
        ends=ends,
    )
    return definition, config.prompts_dir


def _name(form: Form) -> str:
    text = form.required_text("name")
    named = text and is_name(Scalar(text, form.place("name")), "'name'", form.findings)
    return text if named else ""


def _subject(form: Form) -> str:
    input_ = form.form("input", "input")
    said = ""
    if input_ is not None:
        said = SUBJECTS.get(input_.text("type"), "")
        if not said:
            input_.note("type", "this type of input is not known here; it is taken as a project")
        input_.note("required", "whether a subject is needed follows from 'subject'")
        input_.note("default_for", "command line options are the same for all protocols")
    return form.text("subject") or said or "project"


def _config(form: Form | None) -> Config:
    if form is None:
        return Config()
    form.note("max_iterations", "runs are limited by rounds and retries, not by turns")
    poll = form.number("poll_interval")
    return Config(
        Limits(
            form.number("claude_timeout"),
            form.number("consultation_timeout"),
            form.number("gate_poll_interval", poll),
            form.number("max_gate_wait"),
        ),
        form.whole("max_consultation_rounds", DEFAULT_ROUNDS, least=1),
        form.whole("max_retries", DEFAULT_RETRIES),
        form.path("prompts_dir") or "prompts",
    )


def _defaults(form: Form | None, config: Config) -> Defaults:
    panel = PanelDefaults(max_rounds=config.max_rounds)
    if form is None:
        return Defaults(CheckDefaults(config.max_retries), panel)
    form.note("mode", "there is one mode: every check and gate counts")
    retries = form.whole("max_retries", config.max_retries)
    rounds = form.whole("max_iterations", panel.max_rounds, least=1)
    panel = PanelDefaults(max_rounds=form.whole("max_consultation_rounds", rounds, least=1))
    for key in ("consultation", "verify"):
        inner = form.form(key, "consultation")
        if inner is not None:
            panel = read_panel_defaults(inner, panel)
            for word in ("on", "trigger", "next", "enabled"):
                inner.note(word, "a phase says this for itself")
    checks = read_checks(
        form.child("checks"), f"'checks' of {form.what}", form.findings, CheckDefaults(retries)
    )
    named = {record.command.name: record for record in checks}
    return Defaults(CheckDefaults(retries, named), panel, checks)


def _ends(form: Form) -> dict[str, Place]:
    return {
        word.text: word.place
        for word in form.words("terminal")
        if is_name(word, "'terminal'", form.findings)
    }


def _is_idle(phase: Phase) -> bool:
    """Nothing in it that anybody could work on."""
    works = (phase.prompt, phase.steps, phase.signals, phase.verification, phase.consultation)
    return not any((*works, phase.gate, phase.is_phased))


def _phases(form: Form, defaults: Defaults) -> tuple[Phase, ...]:
    nodes = _phase_nodes(form)
    kept = limited(nodes, "'phases'", form.place("phases"), form.findings, MOST_PHASES)
    read = [read_phase(node, form.findings, defaults) for node in kept]
    phases = [phase for phase in read if phase is not None]
    known: dict[str, Phase] = {}
    for phase in phases:
        if phase.id in known:
            message = f"two phases are called '{phase.id}'"
            form.report("duplicate-name", message, phase.place, "rename one")
        known.setdefault(phase.id, phase)
    return tuple(known.values())


def _phase_nodes(form: Form) -> tuple[Node, ...]:
    node = form.child("phases")
    if node is None or is_null(node):
        fix = "write 'phases' with a list of phases"
        form.report("missing-key", "the protocol has no 'phases'", form.place("phases"), fix)
        return ()
    nodes = form.list_of_nodes("phases")
    if not nodes and not isinstance(node, (MapNode, Scalar)):
        form.report("missing-key", "'phases' is empty", node.place, "write at least one phase")
    return nodes


def _permitted(form: Form, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """`permissions` names what agents may do, for each phase or for all of them."""
    node = form.child("permissions")
    if not isinstance(node, MapNode):
        every = read_permissions(form, "permissions")
        return tuple(replace(phase, permissions=phase.permissions or every) for phase in phases)
    table = Fields(node, "'permissions'", form.findings)
    ids = [phase.id for phase in phases]
    given: dict[str, tuple[str, ...]] = {}
    for entry in good_entries(node, table.what, form.findings, MOST_PHASES):
        if entry.key.text in ids:
            given[entry.key.text] = read_permissions(table, entry.key.text)
        else:
            message = f"'permissions' names '{entry.key.text}', which is not a phase"
            fix = did_you_mean(entry.key.text, ids) or f"phases: {', '.join(ids[:20])}"
            form.report("unknown-state", message, entry.key.place, fix)
    return tuple(
        replace(phase, permissions=given.get(phase.id, phase.permissions)) for phase in phases
    )
