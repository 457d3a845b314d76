"""Checks as people write them: a text, a mapping with options, or a list of either.

Where porch knows the test runner that a check calls, it looks after the tests itself.
"""

from collections.abc import Mapping
from typing import cast, get_args

from msgspec import Struct, field

from porch.dialects.phases.file_records import (
    DEFAULT_DELAY_S,
    DEFAULT_RESPAWNS,
    DEFAULT_RETRIES,
    CheckRecord,
    Verification,
)
from porch.dialects.phases.mapping_reader import (
    Findings,
    StrictFields,
    did_you_mean,
    limit_entries,
    read_named_entries,
    report_wrong_type,
)
from porch.errors import Finding
from porch.model.protocol import CheckSubject, Command, IfMissing
from porch.text.fields import check_name
from porch.text.nodes import Entry, ListNode, MapNode, Node, ScalarNode

RUNNERS_LOOKED_AFTER = ("pytest",)

# How a check may measure; each has one of them.
MEANS = ("command", "setting", "net_lines_below", "changed")


def read_runner(form: StrictFields, default: str) -> str:
    text = form.text("runner", default)
    if text in ("", *RUNNERS_LOOKED_AFTER):
        return text
    message = f"'runner' must be one of {', '.join(RUNNERS_LOOKED_AFTER)}, not '{text[:80]}'"
    fix = "leave it out: then porch runs the command as it is"
    form.report("wrong-value", message, form.place("runner"), fix)
    return ""


def read_check_subject(form: StrictFields, default: CheckSubject) -> CheckSubject:
    """What a check is about: files, the form of new documents, or something outside of them."""
    text = form.text("about", default)
    for known in get_args(CheckSubject):
        if text == known:
            return cast(CheckSubject, known)
    message = f"'about' must be files, form or outside, not '{text[:80]}'"
    words = ("files", "form", "outside")
    fix = did_you_mean(text, words) or "leave it out: then the check is run again"
    form.report("wrong-value", message, form.place("about"), fix)
    return ""


def report_lonely_plugins(command: Command, form: StrictFields) -> None:
    if command.plugins and not command.runner:
        message = f"'plugins' of check '{command.name}' means nothing without 'runner'"
        fix = "write runner: pytest"
        form.report("no-meaning", message, form.place("plugins"), fix, severity="warning")


class CheckDefaults(Struct, frozen=True):
    """What a check that says little may fall back on."""

    max_retries: int = DEFAULT_RETRIES
    named: Mapping[str, CheckRecord] = field(default_factory=dict)
    is_limited: bool = False


def read_checks(
    node: Node | None, what: str, findings: Findings, defaults: CheckDefaults
) -> tuple[CheckRecord, ...]:
    records = [
        _read_check(entry, what, findings, defaults)
        for entry in _list_entries(node, what, findings)
    ]
    found = [record for record in records if record is not None]
    _report_duplicate_checks(found, what, findings)
    return tuple(found)


def _list_entries(node: Node | None, what: str, findings: Findings) -> tuple[Entry, ...]:
    """A list becomes a mapping: each item under its own name."""
    if node is None or (isinstance(node, ScalarNode) and node.kind == "null"):
        return ()
    if isinstance(node, MapNode):
        return read_named_entries(node, what, findings)
    if isinstance(node, ListNode):
        named = [_named_entry(item, number) for number, item in enumerate(node.items, 1)]
        kept = limit_entries(named, what, node.place, findings)
        return tuple(entry for entry in kept if check_name(entry.key, what, findings))
    report_wrong_type(node, what, "a mapping of names to commands", findings)
    return ()


def _named_entry(item: Node, number: int) -> Entry:
    own = item.get("name") if isinstance(item, MapNode) else item
    is_word = isinstance(own, ScalarNode) and own.kind == "text" and " " not in own.text
    if isinstance(own, ScalarNode) and (is_word or isinstance(item, MapNode)):
        return Entry(own, item)
    return Entry(ScalarNode(f"check_{number}", item.place), item)


def _read_check(
    entry: Entry, what: str, findings: Findings, defaults: CheckDefaults
) -> CheckRecord | None:
    name, node = entry.key.text, entry.value
    fallback = defaults.named.get(name)
    if isinstance(node, MapNode):
        form = StrictFields(node, "check", f"check '{name}'", findings)
        return _read_check_mapping(name, form, fallback, defaults)
    is_text = isinstance(node, ScalarNode) and node.kind == "text"
    is_named = isinstance(node, ScalarNode) and (node.kind in ("bool", "null") or node.text == name)
    if fallback is not None and is_named:
        return fallback
    if not isinstance(node, ScalarNode) or not is_text:
        report_wrong_type(node, f"check '{name}' of {what}", "a command or a mapping", findings)
        return None
    if not node.text.strip():
        findings.append(_no_command_finding(name, node))
        return None
    return CheckRecord(
        Command(name, node.text),
        entry.key.place,
        max_retries=defaults.max_retries,
        is_limited=defaults.is_limited,
    )


def _read_check_mapping(
    name: str, form: StrictFields, fallback: CheckRecord | None, defaults: CheckDefaults
) -> CheckRecord | None:
    command = _read_command(name, form, fallback)
    record = CheckRecord(
        command or Command(name),
        form.node.place,
        form.word("on_fail"),
        form.whole("max_retries", fallback.max_retries if fallback else defaults.max_retries),
        form.number("retry_delay", fallback.delay_s if fallback else DEFAULT_DELAY_S),
        "max_retries" in form or (fallback or defaults).is_limited,
    )
    return record if command else None


def _read_command(name: str, form: StrictFields, fallback: CheckRecord | None) -> Command | None:
    base = fallback.command if fallback else Command(name)
    says = [key for key in MEANS if key in form]
    if len(says) > 1:
        message = f"check '{name}' has both '{says[0]}' and '{says[1]}'"
        form.report("said-twice", message, form.place(says[1]), "keep one, or make two checks")
    command = Command(
        name,
        _read_shell(form, "" if says else base.shell),
        form.text("setting", "" if says else base.setting),
        form.whole("net_lines_below", 0 if says else base.net_lines_below, least=1),
        form.text("description", base.description),
        form.path("cwd") or base.cwd,
        _is_optional(form, base),
        _read_if_missing(form, base),
        form.seconds("timeout", base.timeout_s),
        form.flag("once", base.once),
        runner=read_runner(form, base.runner),
        plugins=form.list_of_text("plugins", base.plugins),
        changed=_is_changed_check(form, False if says else base.changed),
        rerun=form.whole("rerun", base.rerun),
        about=read_check_subject(form, base.about),
    )
    report_lonely_plugins(command, form)
    if command.shell.strip() or command.setting or command.net_lines_below or command.changed:
        return command
    form.findings.append(_no_command_finding(name, form.node))
    return None


def _read_shell(form: StrictFields, default: str) -> str:
    """Elsewhere a number is a text as it was written; no shell has a command that is a number."""
    node = form.child("command")
    if isinstance(node, ScalarNode) and node.kind == "number":
        message = f"'command' of {form.what} must be text, not the number {node.text[:80]}"
        form.report("wrong-type", message, node.place, "write the command that is to be run")
    return form.text("command", default)


def _is_changed_check(form: StrictFields, default: bool) -> bool:
    """Only true says anything: that nothing may change is what `net_lines_below` is for."""
    wanted = form.flag("changed", default)
    if "changed" in form and not wanted and isinstance(form.child("changed"), ScalarNode):
        message = "'changed' of a check must be true"
        form.report("wrong-value", message, form.place("changed"), "write true, or leave it out")
    return wanted


def _is_optional(form: StrictFields, base: Command) -> bool:
    optional = form.flag("optional", base.optional)
    return optional or not form.flag("required", True)


def _read_if_missing(form: StrictFields, base: Command) -> IfMissing:
    text = form.text("if_missing", base.if_missing)
    for known in get_args(IfMissing):
        if text == known:
            return cast(IfMissing, known)
    message = f"'if_missing' must be one of {', '.join(get_args(IfMissing))}, not '{text[:80]}'"
    form.report("wrong-value", message, form.place("if_missing"))
    return "fail"


def _no_command_finding(name: str, node: Node) -> Finding:
    fix = f"write one of {', '.join(MEANS)}"
    return Finding("no-command", f"check '{name}' has nothing to run", node.place, fix)


def _report_duplicate_checks(records: list[CheckRecord], what: str, findings: Findings) -> None:
    seen: set[str] = set()
    for record in records:
        if record.command.name in seen:
            message = f"{what} has two checks called '{record.command.name}'"
            findings.append(Finding("duplicate-name", message, record.place, "rename one"))
        seen.add(record.command.name)


def read_verification(form: StrictFields | None, defaults: CheckDefaults) -> Verification | None:
    if form is None:
        return None
    checks = read_checks(form.child("checks"), form.what, form.findings, defaults)
    if "checks" not in form:
        fix = "write 'checks' with a name and a command"
        form.report("missing-key", f"{form.what} has no 'checks'", form.node.place, fix)
    for check in checks:
        _note_ignored_on_fail(check, form)
    retries = form.whole("max_retries", DEFAULT_RESPAWNS)
    return Verification(form.node.place, checks, retries) if checks else None


def _note_ignored_on_fail(check: CheckRecord, form: StrictFields) -> None:
    if check.on_fail is not None:
        message = "'on_fail' is ignored in a verification: a failure always goes back to the agent"
        form.report("no-meaning", message, check.on_fail.place, severity="note")
