"""What crosses the border of a room says what it holds."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.scratch import ROOT

PACKAGE = ROOT / "src" / "porch"
# What may stay: records, facts and states as tagged JSON, wishes, and JSON Schemas.
MOST = 20
Function = ast.FunctionDef | ast.AsyncFunctionDef
UNTYPED = re.compile(r"\bdict\[str, (?:Any|object)\]")


def read_rooms(package: Path) -> dict[str, ast.Module]:
    """Every module by its dotted name under the package."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return found


def list_untyped(modules: dict[str, ast.Module]) -> Iterator[str]:
    """Public functions and methods with an untyped object that another room can call."""
    crossing = {
        (module, name)
        for user, code in modules.items()
        for module, name in _used_names(code)
        if _room(module) != _room(user)
    }
    aliases = _find_aliases(modules)
    for module, code in modules.items():
        for name, function in _public_functions(code):
            if (module, name.partition(".")[0]) in crossing and _is_untyped(
                function, aliases[module]
            ):
                yield f"{module}.{name}"


@cache
def _list_nodes(code: ast.Module) -> list[ast.AST]:
    """Asked four times of each module, and going through it takes longest."""
    return list(ast.walk(code))


def _room(module: str) -> str:
    return module.partition(".")[0]


def _imports(code: ast.Module) -> Iterator[tuple[str, str, str]]:
    """The name that a module has for it, the module that it comes from, and its name there."""
    for node in _list_nodes(code):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("porch"):
            source = (node.module or "").partition(".")[2]
            for each in node.names:
                yield each.asname or each.name, source, each.name


def _used_names(code: ast.Module) -> Iterator[tuple[str, str]]:
    known = {called: f"{source}.{name}".strip(".") for called, source, name in _imports(code)}
    yield from ((source, name) for _, source, name in _imports(code))
    for node in _list_nodes(code):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield known.get(node.value.id, ""), node.attr


def _find_aliases(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """By module, the names that only hide an untyped object."""
    aliases = {
        module: {
            target.id
            for node in _list_nodes(code)
            if isinstance(node, ast.Assign) and UNTYPED.fullmatch(ast.unparse(node.value))
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for module, code in modules.items()
    }
    given = {name: set(known) for name, known in aliases.items()}
    for module, code in modules.items():
        aliases[module] |= {
            called for called, source, name in _imports(code) if name in given.get(source, ())
        }
    return aliases


def _public_functions(code: ast.Module) -> Iterator[tuple[str, Function]]:
    for node in code.body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def _is_untyped(function: Function, aliases: set[str]) -> bool:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    notes = [each.annotation for each in every] + [function.returns]
    told = [ast.unparse(note).strip("'\"") for note in notes if note is not None]
    hidden = [rf"\b{alias}\b" for alias in aliases]
    return any(UNTYPED.search(text) or any(re.search(h, text) for h in hidden) for text in told)


def test_few_functions_pass_an_untyped_object_into_another_room() -> None:
    found = list(list_untyped(read_rooms(PACKAGE)))
    assert len(found) <= MOST, "give these a type:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "function",
    [
        "def told() -> dict[str, Any]: ...",
        "def told(given: 'list[dict[str, object]]') -> None: ...",
        "Raw = dict[str, Any]\ndef told(*, given: Raw) -> None: ...",
    ],
)
def test_an_untyped_object_is_seen_also_behind_another_name(function: str) -> None:
    modules = {"low.rows": ast.parse(function), "high": ast.parse("from porch.low import rows")}
    assert list(list_untyped(modules)) == []
    modules["high"] = ast.parse("from porch.low import rows\nrows.told()")
    assert list(list_untyped(modules)) == ["low.rows.told"]
    modules["high"] = ast.parse("from porch.low.rows import told")
    assert list(list_untyped(modules)) == ["low.rows.told"]
