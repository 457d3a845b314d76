"""The project: its settings, its commands, its protocols, its hook, and whether it is migrated."""

import json
import os
import re
import shutil
from collections.abc import Iterator

from porch.errors import DefinitionError, Finding, OutsideError, Place, PorchError, errors_in
from porch.fleet.health import command_health
from porch.fleet.setup import project_commands
from porch.fleet.setup.claude_settings import HOOK, SETTINGS_FILE, has_hook
from porch.fleet.setup.small_files import read_small_file
from porch.run import settings
from porch.run.definitions import library
from porch.run.verbs import run_list
from porch.show.fleet.doctor_line import DoctorLine
from porch.store.where import ProjectPaths

SETUP_FILES = "write the missing files of the set-up"
HOOK_MODE = f"chmod +x {HOOK}"
_NEED_TESTS = "not spider, change, tick, bugfix or v3: they need [commands] test"
_OLD_SPEC = re.compile(r"[0-9]+-.+\.md")


def examine_project(
    where: ProjectPaths, known: settings.Settings, tell: command_health.Tell | None = None
) -> Iterator[DoctorLine]:
    yield from _check_commands(where, known)
    yield from command_health.examine_commands(where, known, tell)
    yield from _check_protocols(where)
    yield from _check_hook(where)
    yield from _check_old_shape(where)
    yield from _check_runs(where)


def load_known_settings(where: ProjectPaths) -> tuple[settings.Settings, list[Finding]]:
    """Settings that cannot be read are reported, and the rest is looked at without them."""
    try:
        known = settings.load_settings(where.root)
    except (DefinitionError, OutsideError) as error:
        return settings.Settings(), list(error.findings)
    return known, list(known.notes)


def examine_settings(where: ProjectPaths, findings: list[Finding]) -> Iterator[DoctorLine]:
    own = os.path.join(settings.user_directory(os.environ), settings.USER_FILE)
    for name, path in ((settings.PROJECT_FILE, ""), (own, own)):
        mine = [each for each in findings if each.place is not None and each.place.file == name]
        if mine:
            yield from map(_describe_finding, mine)
        elif os.path.exists(path or os.path.join(where.root, name)):
            yield DoctorLine("ok", f"settings {name}")
        else:
            yield DoctorLine("ok", f"settings {name}: no file, the defaults are used")
    yield from (_describe_finding(each) for each in findings if each.place is None)


def examine_trust(known: settings.Settings) -> Iterator[DoctorLine]:
    """Settings that do not count: no run begins before a person has decided about them."""
    for each in known.untrusted:
        keys = ", ".join(setting.key for setting in each.settings)
        note = f"; {each.note}" if each.note else ""
        what = f"settings {each.file}: nobody has trusted {keys}{note}"
        yield DoctorLine("missing", what, "run `porch trust`, which shows them", stops=True)


def _describe_finding(finding: Finding) -> DoctorLine:
    """Of settings with an error nothing counts, and no run begins."""
    place = finding.place or Place("")
    what = f"settings {place}: {finding.message}" if finding.place else finding.message
    if finding.severity == "note":
        return DoctorLine("ok", what)
    fix = finding.fix or "fix that line; `porch settings` shows the rest"
    return DoctorLine("warning", what, fix, stops=finding.severity == "error")


def _check_commands(where: ProjectPaths, known: settings.Settings) -> Iterator[DoctorLine]:
    if "test" in known.commands:
        return
    found = {each.name: each for each in project_commands.find_commands(where.root)}
    what = "[commands] test is not set"
    file = settings.PROJECT_FILE
    has_file = os.path.lexists(os.path.join(where.root, file))
    if "test" in found and not has_file:
        fix = f"run `codev adopt`; it would write: {found['test'].command}"
        yield DoctorLine("missing", what, fix, limit=_NEED_TESTS, repair=SETUP_FILES)
        return
    guess = found["test"].command if "test" in found else "your command"
    fix = f'write into {file}, below [commands]: test = "{guess}"'
    yield DoctorLine("missing", what, fix, limit=_NEED_TESTS)


def _check_protocols(where: ProjectPaths) -> Iterator[DoctorLine]:
    """The project's own; nothing is kept of it, since a look shall leave nothing behind."""
    for each in library.list_protocols(where):
        faults = errors_in(_lint_protocol(where, each)) if each.source != "packaged" else []
        if faults:
            what = f"protocol {each.name} has errors: {faults[0].message}"
            fix = f"run `porch protocols lint {each.name}`, which lists all of them"
            yield DoctorLine("warning", what, fix, limit=f"not {each.name}: it has errors")


def _lint_protocol(where: ProjectPaths, found: library.FoundProtocol) -> list[Finding]:
    try:
        return list(library.load_protocol(found.file, where).findings)
    except PorchError as error:
        return list(error.findings)


def _check_hook(where: ProjectPaths) -> Iterator[DoctorLine]:
    """Only where somebody has asked for it."""
    if not has_part_of_hook(where.root):
        return
    hook = os.path.join(where.root, HOOK)
    text = read_small_file(where.root, SETTINGS_FILE)
    adopt = "run `codev adopt --with hooks`"
    if not os.path.isfile(hook):
        yield DoctorLine("warning", f"the hook {HOOK} is missing", adopt, repair=SETUP_FILES)
    elif not os.access(hook, os.X_OK):
        what = f"the hook {HOOK} is not executable"
        yield DoctorLine("warning", what, f"run `{HOOK_MODE}`", repair=HOOK_MODE)
    if fault := _find_json_fault(text):
        what = f"{SETTINGS_FILE} cannot be read: {fault}"
        yield DoctorLine("warning", what, f"fix it by hand, then {adopt}")
    elif not has_hook(text):
        what = f"{SETTINGS_FILE} does not register the hook {HOOK}"
        yield DoctorLine("warning", what, adopt, repair=SETUP_FILES)
    if shutil.which("porch") is None:
        yield DoctorLine("warning", "`porch` is not on PATH; the hook says nothing without it",
                         "add the directory in which porch was installed to PATH")  # fmt: skip


def has_part_of_hook(root: str) -> bool:
    """The script, or an entry that names it."""
    is_there = os.path.isfile(os.path.join(root, HOOK))
    return is_there or HOOK in read_small_file(root, SETTINGS_FILE)


def _find_json_fault(text: str) -> str:
    try:
        json.loads(text or "{}")
    except ValueError as error:
        return str(error)
    return ""


def _check_old_shape(where: ProjectPaths) -> Iterator[DoctorLine]:
    old = [".builders"] if os.path.isdir(os.path.join(where.root, ".builders")) else []
    try:
        names = os.listdir(os.path.join(where.root, "codev", "specs"))
    except OSError:
        names = []
    old += ["codev/specs"] if any(map(_OLD_SPEC.fullmatch, names)) else []
    if old:
        what = f"the project has files of the old shape: {', '.join(old)}"
        yield DoctorLine("warning", what, "run `codev migrate --dry-run`, then `codev migrate`")


def _check_runs(where: ProjectPaths) -> Iterator[DoctorLine]:
    try:
        troubles = run_list.every_row(where).troubles
    except PorchError as error:
        troubles = [error]
    for each in troubles:
        finding = each.findings[0]
        fix = finding.fix or "`porch status` says more"
        yield DoctorLine("warning", finding.message, fix, limit=f"not with: {finding.message}")
