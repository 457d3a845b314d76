"""`protected` and `may_write`: which files decide a measurement, and which phase may write them."""

from msgspec.structs import replace

from porch.dialects.phases.file_records import DEFAULT_RETRIES, CheckRecord, Phase
from porch.dialects.phases.mapping_reader import Findings, StrictFields
from porch.errors import Finding
from porch.model.path_globs import ALL, check_globs, matches_any
from porch.model.protection import NEVER, WORDS
from porch.model.protocol import Command
from porch.text.nodes import ScalarNode

CHECK = "protected_files"
_ABOUT = "What decides a measurement was changed only where the protocol allows it"
_WHATEVER = (ALL, "*")


def read_protected(form: StrictFields) -> tuple[str, ...] | None:
    """What the whole file protects; None where it does not say."""
    return _read_globs(form, "protected")


def read_may_write(form: StrictFields) -> tuple[str, ...] | None:
    """What of it one phase may write; None where the phase does not say."""
    globs = _read_globs(form, "may_write")
    for glob in globs or ():
        if glob not in (*_WHATEVER, *WORDS) and _names_never(glob):
            message = f"'{glob[:80]}' in 'may_write' of {form.what} can never be allowed"
            fix = "remove it: porch's settings and protocols govern other runs as well"
            form.report("wrong-value", message, form.place("may_write"), fix)
    return globs


def _names_never(glob: str) -> bool:
    samples = (_sample_path(never) for never in NEVER)
    return any(matches_any(each, (glob,)) for each in samples) or matches_any(
        _sample_path(glob), NEVER
    )


def _sample_path(glob: str) -> str:
    """Some path that a glob means."""
    return glob.strip("/").replace("**", "x").replace("*", "x")


def _read_globs(form: StrictFields, key: str) -> tuple[str, ...] | None:
    if key not in form:
        return None
    globs = form.list_of_text(key)
    plain = [glob for glob in globs if glob not in WORDS]
    form.findings.extend(check_globs(plain, f"'{key}' of {form.what}", form.place(key)))
    return globs


def add_protected_checks(
    phases: tuple[Phase, ...], is_protecting: bool, findings: Findings
) -> tuple[Phase, ...]:
    """Every phase is compared first, before its own checks prove anything."""
    if not is_protecting:
        return phases
    return tuple(phase if phase.is_end else _with_check(phase, findings) for phase in phases)


def _with_check(phase: Phase, findings: Findings) -> Phase:
    for record in phase.checks:
        if record.command.name == CHECK:
            message = f"'{CHECK}' is a name that porch uses itself"
            findings.append(Finding("reserved-name", message, record.place, "rename the check"))
    command = Command(CHECK, description=_ABOUT, protects=True)
    again = ScalarNode("retry", phase.place)
    record = CheckRecord(command, phase.place, again, DEFAULT_RETRIES, 0)
    return replace(phase, checks=(record, *phase.checks))
