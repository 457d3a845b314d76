"""Finds every code that a finding or error can carry, and those that no page explains.

A code is a literal wherever a parameter named `code` is given one: to Finding, to an error, to
any function of ours that passes it on; as that parameter's default; or as the class attribute
`code` of an error.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "errors.md"
HEADING = re.compile(r"^## `?([a-z0-9-]+)`?\s*$", re.MULTILINE)
CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

Place = tuple[str, int]
Takers = dict[str, set[int]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse(folder: Path) -> dict[str, ast.Module]:
    files = sorted(folder.rglob("*.py"))
    return {str(file.relative_to(ROOT)): ast.parse(file.read_text(), str(file)) for file in files}


def takers(modules: dict[str, ast.Module]) -> Takers:
    """Callables by name, and at which positions each of them takes a code."""
    found: Takers = {"Finding": {0}, "Condition": {0}}
    for tree in modules.values():
        for owner in ast.walk(tree):
            if isinstance(owner, ast.ClassDef):
                _note_class(owner, found)
            elif isinstance(owner, ast.Module):
                for function in owner.body:
                    if isinstance(function, Function):
                        _note(function.name, function, 0, found)
    return _with_heirs(modules, found)


def _note_class(owner: ast.ClassDef, found: Takers) -> None:
    for function in owner.body:
        if isinstance(function, Function):
            name = owner.name if function.name == "__init__" else function.name
            _note(name, function, 0 if _is_static(function) else 1, found)


def _is_static(function: Function) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)


def _note(name: str, function: Function, skipped: int, found: Takers) -> None:
    names = [argument.arg for argument in function.args.posonlyargs + function.args.args][skipped:]
    if "code" in names:
        found.setdefault(name, set()).add(names.index("code"))


def _with_heirs(modules: dict[str, ast.Module], found: Takers) -> Takers:
    """A subclass takes what its base takes; several rounds, since files come in any order."""
    classes = [
        n for tree in modules.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)
    ]
    for _ in classes:
        before = len(found)
        for owner in classes:
            for base in owner.bases:
                if isinstance(base, ast.Name) and base.id in found and not _has_init(owner):
                    found.setdefault(owner.name, set()).update(found[base.id])
        if len(found) == before:
            break
    return found


def _has_init(owner: ast.ClassDef) -> bool:
    return any(isinstance(member, Function) and member.name == "__init__" for member in owner.body)


def codes(modules: dict[str, ast.Module]) -> dict[str, Place]:
    known = takers(modules)
    found: dict[str, Place] = {}
    for file, tree in modules.items():
        for node in ast.walk(tree):
            for expression in _codes_in(node, known):
                for code, line in _literals(expression):
                    found.setdefault(code, (file, line))
    return found


def _codes_in(node: ast.AST, known: Takers) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        yield from (word.value for word in node.keywords if word.arg == "code")
        positions = known.get(_called(node.func), set())
        # A starred argument hides which position is which.
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            yield from (node.args[at] for at in positions if at < len(node.args))
    elif isinstance(node, Function):
        yield from _default_of_code(node.args)
    elif isinstance(node, ast.ClassDef):
        yield from _class_code(node)


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _default_of_code(arguments: ast.arguments) -> Iterator[ast.expr]:
    positional = arguments.posonlyargs + arguments.args
    defaulted = positional[len(positional) - len(arguments.defaults) :]
    yield from (
        default
        for argument, default in zip(defaulted, arguments.defaults, strict=True)
        if argument.arg == "code"
    )
    yield from (
        default
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if argument.arg == "code" and default is not None
    )


def _class_code(owner: ast.ClassDef) -> Iterator[ast.expr]:
    for member in owner.body:
        match member:
            case ast.Assign(targets=[ast.Name(id="code")], value=value):
                yield value
            case ast.AnnAssign(target=ast.Name(id="code"), value=ast.expr() as value):
                yield value
            case _:
                pass


def _literals(expression: ast.expr) -> Iterator[tuple[str, int]]:
    """Also both arms of a conditional, and what stands behind an `or`."""
    match expression:
        case ast.Constant(value=str(text)) if CODE.fullmatch(text):
            yield text, expression.lineno
        case ast.IfExp(body=body, orelse=orelse):
            yield from _literals(body)
            yield from _literals(orelse)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _literals(value)
        case _:
            pass


def main() -> int:
    found = codes(parse(ROOT / "src" / "porch"))
    explained = HEADING.findall(PAGE.read_text())
    complaints = [
        f"{file}:{line}: code '{code}' has no heading '## {code}' in {PAGE.relative_to(ROOT)}"
        for code, (file, line) in sorted(found.items())
        if code not in explained
    ]
    complaints += [
        f"'{code}' is explained twice" for code in explained if explained.count(code) > 1
    ]
    print("\n".join(complaints) or f"{len(found)} codes, each with a paragraph")
    # Codes are permanent, so a page may know one that the code no longer gives; it is only said.
    gone = sorted(set(explained) - set(found))
    if gone:
        print("explained but given nowhere: " + ", ".join(gone))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
