"""Follows `extends` from file to file; whoever can look files up is asked for each by name."""

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.result import FetchTree
from porch.dialects.steps.file_records import StepFile, StepProtocol
from porch.dialects.steps.merge import merge_levels
from porch.dialects.steps.reader import read_step_file
from porch.errors import DefinitionError, Finding, errors_in
from porch.text.nodes import Node


class ExtendsChain(Struct, frozen=True):
    """All files of a protocol from the base up; `steps` is there if nothing is wrong with them."""

    files: tuple[StepFile, ...]
    findings: tuple[Finding, ...]
    steps: StepProtocol | None

    def demand(self) -> StepProtocol:
        if self.steps is None:
            raise DefinitionError(errors_in(self.findings))
        return self.steps


def follow_extends(root: Node, fetch: FetchTree, lenient: bool = False) -> ExtendsChain:
    """Everything that is wrong with any of the files, not the first."""
    findings: list[Finding] = []
    files = _read_files(root, fetch, findings)
    steps = None
    if files and not errors_in(findings):
        steps, more = merge_levels([file.level for file in files], lenient)
        findings += more
    is_good = not errors_in(findings)
    return ExtendsChain(tuple(files), tuple(findings), steps if is_good else None)


def _read_files(root: Node, fetch: FetchTree, findings: list[Finding]) -> list[StepFile]:
    """The base first."""
    file = read_step_file(root, findings)
    found = [file] if file else []
    names = [file.level.name] if file else []
    while file is not None and file.extends:
        if file.extends in names:
            file = _read_hidden_file(file, fetch, names, findings)
        else:
            names.append(file.extends)
            file = _read_base_file(file, fetch, names, findings)
        found += [file] if file else []
    return found[::-1]


def _read_hidden_file(
    file: StepFile, fetch: FetchTree, names: list[str], findings: list[Finding]
) -> StepFile | None:
    """A file that extends its own name means the one that it hides: ours, of the same name."""
    hidden = _fetch_hidden_tree(file, fetch, findings) if file.extends == names[-1] else None
    if hidden is None:
        if not errors_in(findings):
            findings.append(_cycle_finding(file, names))
        return None
    # Where a step comes from is told by these names; two alike would not tell.
    names.append(f"{file.extends} (packaged)")
    return read_step_file(hidden, findings, names[-1])


def _fetch_hidden_tree(file: StepFile, fetch: FetchTree, findings: list[Finding]) -> Node | None:
    try:
        root = fetch(file.extends)
    except DefinitionError as error:
        findings.extend(error.findings)
        return None
    asking = file.extends_place
    is_itself = root is not None and asking is not None and root.place.file == asking.file
    return None if is_itself else root


def _read_base_file(
    file: StepFile, fetch: FetchTree, names: list[str], findings: list[Finding]
) -> StepFile | None:
    try:
        root = fetch(file.extends)
    except DefinitionError as error:
        findings.extend(error.findings)
        return None
    if root is None:
        message = f"there is no protocol '{file.extends}' to extend: {' -> '.join(names)}"
        fix = f"write {file.extends}.yaml in the same directory, or correct `extends`"
        findings.append(Finding("base-not-found", message, file.extends_place, fix))
        return None
    base = read_step_file(root, findings)
    # The chain goes by the names of files; a wrong `name:` inside is a finding of its own.
    return replace(base, level=replace(base.level, name=file.extends)) if base else None


def _cycle_finding(file: StepFile, names: list[str]) -> Finding:
    way = " -> ".join([*names[names.index(file.extends) :], file.extends])
    message = f"protocols extend each other in a circle: {way}"
    return Finding(
        "extends-cycle", message, file.extends_place, "remove `extends` from one of them"
    )
