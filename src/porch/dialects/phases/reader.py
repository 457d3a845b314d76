"""The whole file into one definition; everything that is wrong is noted, and reading goes on."""

from typing import cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.phases.artifact_reader import names_shared_directories
from porch.dialects.phases.check_reader import CheckDefaults, read_checks
from porch.dialects.phases.file_checks import add_file_check
from porch.dialects.phases.file_records import DEFAULT_RETRIES, DEFAULT_ROUNDS, Phase, PhasesFile
from porch.dialects.phases.gate_signal_reader import (
    PanelDefaults,
    is_null,
    read_panel_defaults,
    read_signals,
)
from porch.dialects.phases.mapping_reader import (
    MOST_PHASES,
    Findings,
    StrictFields,
    did_you_mean,
    limit_entries,
    read_named_entries,
)
from porch.dialects.phases.old_format import fold_gates, fold_transitions
from porch.dialects.phases.permissions import read_permissions
from porch.dialects.phases.phase_reader import PhaseDefaults, read_phase
from porch.dialects.phases.protection import add_protected_checks, read_protected
from porch.errors import Place
from porch.model.protection import WORDS
from porch.model.protocol import Finish, Limits
from porch.text.fields import Fields, check_name
from porch.text.nodes import MapNode, Node, ScalarNode

SUBJECTS = {
    "spec": "project", "project": "project", "issue": "issue", "github-issue": "issue",
    "amendment": "amendment", "protocol": "none", "task": "none", "none": "none",
}  # fmt: skip


class ConfigBlock(Struct, frozen=True):
    """What `config` says, before `defaults` is asked."""

    limits: Limits = Limits()
    max_rounds: int = DEFAULT_ROUNDS
    max_retries: int = DEFAULT_RETRIES
    prompts_dir: str = "prompts"
    is_limited: bool = False


def read_definition(root: MapNode, findings: Findings) -> tuple[PhasesFile, str]:
    """The definition, and the directory in which its prompts lie."""
    form = StrictFields(root, "protocol", "the protocol", findings)
    form.note("alias", "a protocol is found by its own name only")
    form.note("hooks", "hooks are not run")
    config = _read_config(form.form("config", "config"))
    defaults = _read_defaults(form.form("defaults", "defaults"), config)
    defaults = replace(defaults, is_shared=names_shared_directories(root))
    ends = _read_ends(form)
    phases = _read_phases(form, defaults)
    phases = fold_gates(form, phases)
    phases = fold_transitions(form, phases)
    phases = _with_permissions(form, phases)
    phases = tuple(map(add_file_check, phases))
    protected = read_protected(form)
    is_protecting = protected is not None or any(p.may_write is not None for p in phases)
    definition = PhasesFile(
        name=_read_name(form),
        place=root.place,
        finish_place=form.place("finish"),
        phases=add_protected_checks(
            tuple(
                replace(phase, is_end=True) if phase.id in ends and _is_idle(phase) else phase
                for phase in phases
            ),
            is_protecting,
            findings,
        ),
        version=form.text("version"),
        description=form.text("description"),
        subject=_read_subject(form),
        initial=form.word("initial", "initial_state"),
        signals=read_signals(form.child("signals"), "'signals'", findings, common=True),
        phase_completion=read_checks(
            form.child("phase_completion"), "'phase_completion'", findings, defaults.checks
        ),
        limits=config.limits,
        ends=ends,
        protected=WORDS if protected is None and is_protecting else protected or (),
        is_protecting=is_protecting,
        finish=_read_finish(form),
    )
    return definition, config.prompts_dir


def _read_name(form: StrictFields) -> str:
    text = form.required_text("name")
    named = text and check_name(ScalarNode(text, form.place("name")), "'name'", form.findings)
    return text if named else ""


def _read_subject(form: StrictFields) -> str:
    input_ = form.form("input", "input")
    said = ""
    if input_ is not None:
        said = SUBJECTS.get(input_.text("type"), "")
        if not said:
            input_.note("type", "this type of input is unknown; it is read as a project")
        input_.note("required", "'subject' says whether a subject is needed")
        input_.note("default_for", "command line options are the same for all protocols")
    return form.text("subject") or said or "project"


def _read_finish(form: StrictFields) -> Finish:
    text = form.text("finish")
    for known in get_args(Finish):
        if text == known:
            return cast(Finish, known)
    message = f"'finish' must be merge or squash, not '{text[:80]}'"
    form.report("wrong-value", message, form.place("finish"))
    return ""


def _read_config(form: StrictFields | None) -> ConfigBlock:
    if form is None:
        return ConfigBlock()
    form.note("max_iterations", "runs are limited by rounds and retries, not by turns")
    poll = form.number("poll_interval")
    return ConfigBlock(
        Limits(
            form.seconds("claude_timeout"),
            form.seconds("consultation_timeout"),
            form.number("gate_poll_interval", poll),
            form.number("max_gate_wait"),
        ),
        form.whole("max_consultation_rounds", DEFAULT_ROUNDS, least=1),
        form.whole("max_retries", DEFAULT_RETRIES),
        form.path("prompts_dir") or "prompts",
        "max_retries" in form,
    )


def _read_defaults(form: StrictFields | None, config: ConfigBlock) -> PhaseDefaults:
    panel = PanelDefaults(max_rounds=config.max_rounds)
    if form is None:
        return PhaseDefaults(CheckDefaults(config.max_retries, is_limited=config.is_limited), panel)
    form.note("mode", "there is only one mode: every check and gate counts")
    retries = form.whole("max_retries", config.max_retries)
    rounds = form.whole("max_iterations", panel.max_rounds, least=1)
    panel = PanelDefaults(max_rounds=form.whole("max_consultation_rounds", rounds, least=1))
    for key in ("consultation", "verify"):
        inner = form.form(key, "consultation")
        if inner is not None:
            panel = read_panel_defaults(inner, panel)
            for word in ("on", "trigger", "next", "enabled"):
                inner.note(word, "write this in each phase")
    bare = CheckDefaults(retries, is_limited=config.is_limited or "max_retries" in form)
    checks = read_checks(form.child("checks"), f"'checks' of {form.what}", form.findings, bare)
    named = {record.command.name: record for record in checks}
    return PhaseDefaults(replace(bare, named=named), panel, checks)


def _read_ends(form: StrictFields) -> dict[str, Place]:
    return {
        word.text: word.place
        for word in form.words("terminal")
        if check_name(word, "'terminal'", form.findings)
    }


def _is_idle(phase: Phase) -> bool:
    """Nothing in it that anybody could work on."""
    works = (phase.prompt, phase.steps, phase.signals, phase.verification, phase.consultation)
    return not any((*works, phase.gate, phase.is_phased))


def _read_phases(form: StrictFields, defaults: PhaseDefaults) -> tuple[Phase, ...]:
    nodes = _phase_nodes(form)
    kept = limit_entries(nodes, "'phases'", form.place("phases"), form.findings, most=MOST_PHASES)
    read = [read_phase(node, form.findings, defaults) for node in kept]
    phases = [phase for phase in read if phase is not None]
    known: dict[str, Phase] = {}
    for phase in phases:
        if phase.id in known:
            message = f"two phases are called '{phase.id}'"
            form.report("duplicate-name", message, phase.place, "rename one")
        known.setdefault(phase.id, phase)
    return tuple(known.values())


def _phase_nodes(form: StrictFields) -> tuple[Node, ...]:
    node = form.child("phases")
    if node is None or is_null(node):
        fix = "write 'phases' with a list of phases"
        form.report("missing-key", "the protocol has no 'phases'", form.place("phases"), fix)
        return ()
    nodes = form.list_of_nodes("phases")
    if not nodes and not isinstance(node, (MapNode, ScalarNode)):
        form.report("missing-key", "'phases' is empty", node.place, "write at least one phase")
    return nodes


def _with_permissions(form: StrictFields, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """`permissions` names what agents may do, for each phase or for all of them."""
    node = form.child("permissions")
    if not isinstance(node, MapNode):
        every = read_permissions(form, "permissions")
        return tuple(replace(phase, permissions=phase.permissions or every) for phase in phases)
    table = Fields(node, "'permissions'", form.findings)
    ids = [phase.id for phase in phases]
    given: dict[str, tuple[str, ...]] = {}
    for entry in read_named_entries(node, table.what, form.findings, MOST_PHASES):
        if entry.key.text in ids:
            given[entry.key.text] = read_permissions(table, entry.key.text)
        else:
            message = f"'permissions' names '{entry.key.text}', which is not a phase"
            fix = did_you_mean(entry.key.text, ids) or f"phases: {', '.join(ids[:20])}"
            form.report("unknown-state", message, entry.key.place, fix)
    return tuple(
        replace(phase, permissions=given.get(phase.id, phase.permissions)) for phase in phases
    )
