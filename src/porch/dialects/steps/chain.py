"""Follows `extends` from file to file; whoever can look files up is asked for each by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from porch.dialects.nodes import Node
from porch.dialects.steps.merging import merge
from porch.dialects.steps.reader import read_file
from porch.dialects.steps.records import StepFile, Steps
from porch.errors import DefinitionError, Finding, errors_in

# The tree of the file with this name, or nothing; DefinitionError if it is no tree.
Fetch = Callable[[str], Node | None]


@dataclass(frozen=True, slots=True)
class Chain:
    """All files of a protocol from the base up; `steps` is there if nothing is wrong with them."""

    files: tuple[StepFile, ...]
    findings: tuple[Finding, ...]
    steps: Steps | None

    def demand(self) -> Steps:
        if self.steps is None:
            raise DefinitionError(errors_in(self.findings))
        return self.steps


def follow(root: Node, fetch: Fetch, lenient: bool = False) -> Chain:
    """Everything that is wrong with any of the files, not the first."""
    findings: list[Finding] = []
    files = _files(root, fetch, findings)
    steps = None
    if files and not errors_in(findings):
        steps, more = merge([file.level for file in files], lenient)
        findings += more
    is_good = not errors_in(findings)
    return Chain(tuple(files), tuple(findings), steps if is_good else None)


def _files(root: Node, fetch: Fetch, findings: list[Finding]) -> list[StepFile]:
    """The base first."""
    file = read_file(root, findings)
    found = [file] if file else []
    names = [file.level.name] if file else []
    while file is not None and file.extends:
        if file.extends in names:
            findings.append(_cycle(file, names))
            break
        names.append(file.extends)
        file = _base(file, fetch, names, findings)
        found += [file] if file else []
    return found[::-1]


def _base(
    file: StepFile, fetch: Fetch, names: list[str], findings: list[Finding]
) -> StepFile | None:
    try:
        root = fetch(file.extends)
    except DefinitionError as error:
        findings.extend(error.findings)
        return None
    if root is None:
        message = f"there is no protocol '{file.extends}' to extend: {' -> '.join(names)}"
        fix = f"write {file.extends}.yaml beside it, or mend `extends`"
        findings.append(Finding("base-not-found", message, file.extends_place, fix))
        return None
    base = read_file(root, findings)
    # The chain goes by the names of files; a wrong `name:` inside is a finding of its own.
    return replace(base, level=replace(base.level, name=file.extends)) if base else None


def _cycle(file: StepFile, names: list[str]) -> Finding:
    way = " -> ".join([*names[names.index(file.extends) :], file.extends])
    message = f"protocols extend each other in a circle: {way}"
    return Finding("extends-cycle", message, file.extends_place, "let one of them extend nothing")
