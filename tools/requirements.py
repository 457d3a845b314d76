"""Says which requirements of resolved issues no test names, so that no promise is forgotten."""

import ast
import csv
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "requirements.tsv"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row of the list; an issue of `-` is asked by nobody yet."""

    id: str
    issue: str
    text: str
    proof: str


@dataclass(frozen=True, slots=True)
class Mark:
    """An id that a test claims to prove, and where."""

    id: str
    file: str
    line: int


def read_list(path: Path) -> list[Requirement]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return [Requirement(*row) for row in rows]


def resolved_issues(pyproject: Path) -> set[str]:
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    return {str(issue) for issue in settings["tool"]["porch"]["resolved_issues"]}


def marks_in(folder: Path, root: Path) -> Iterator[Mark]:
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_mark(node.func):
                name = str(file.relative_to(root))
                yield from (Mark(id_, name, line) for id_, line in _texts(node))


def _is_mark(function: ast.expr) -> bool:
    """`pytest.mark.req(...)`, and `mark.req(...)` where mark was imported by itself."""
    match function:
        case ast.Attribute(attr="req", value=ast.Attribute(attr="mark") | ast.Name(id="mark")):
            return True
        case _:
            return False


def _texts(call: ast.Call) -> Iterator[tuple[str, int]]:
    """Every text among the arguments with its line: one id, several, a list, a starred list."""
    for argument in [*call.args, *(word.value for word in call.keywords)]:
        for node in ast.walk(argument):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value, node.lineno


def complaints(wanted: list[Requirement], resolved: set[str], marks: list[Mark]) -> list[str]:
    known = {requirement.id for requirement in wanted}
    named = {mark.id for mark in marks}
    unknown = [
        f"{mark.file}:{mark.line}: no requirement is called '{mark.id}'"
        for mark in marks
        if mark.id not in known
    ]
    unproved = [
        f"{requirement.id} (issue {requirement.issue}): {requirement.text} [{requirement.proof}]"
        for requirement in wanted
        if requirement.issue in resolved and requirement.id not in named
    ]
    return unknown + unproved


def malformed(wanted: list[Requirement]) -> list[str]:
    ids = [requirement.id for requirement in wanted]
    return [f"{id_} is in the list twice" for id_ in sorted(set(ids)) if ids.count(id_) > 1]


def main() -> int:
    wanted = read_list(LIST)
    resolved = resolved_issues(ROOT / "pyproject.toml")
    found = malformed(wanted) + complaints(wanted, resolved, list(marks_in(ROOT / "tests", ROOT)))
    count = sum(requirement.issue in resolved for requirement in wanted)
    print("\n".join(found) or f"each of {count} requirements is named by a test")
    if found:
        print(f"{len(found)} to mend, of {count} requirements of issues {sorted(resolved)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
