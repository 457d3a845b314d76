"""Lists the classes that cross a room's border in `docs/reference/words.md`, with their meanings.

A room is a package or module directly under `src/porch`. A class crosses a border if a module of
another room imports it. Its meaning is the first paragraph of its docstring.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "porch"
PAGE = ROOT / "docs" / "reference" / "words.md"
BEGIN = "<!-- The table below is written by tools/word_list.py --write. -->"
HEAD = "| class | module | what it is |\n|---|---|---|\n"


@dataclass(frozen=True, slots=True)
class Module:
    """One module of the package: its dotted name, its code, and whether it is an `__init__`."""

    name: str
    code: ast.Module
    is_package: bool

    def source_of(self, statement: ast.ImportFrom) -> str:
        """The module that a `from ... import` names, also where it is relative."""
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        kept = len(parts) - statement.level + (1 if self.is_package else 0)
        return ".".join([*parts[:kept], *([statement.module] if statement.module else [])])


@dataclass(frozen=True, slots=True, order=True)
class BorderClass:
    """A class that a module of another room uses."""

    name: str
    module: str
    meaning: str


Modules = dict[str, Module]
Place = tuple[str, str]  # a module and a name in it; a module itself has an empty name
Imports = dict[str, dict[str, Place]]


def read_modules(package: Path) -> Modules:
    return {module.name: module for module in _modules(package)}


def _modules(package: Path) -> Iterator[Module]:
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        yield Module(name, ast.parse(file.read_text(encoding="utf-8"), str(file)), is_package)


def border_classes(modules: Modules) -> list[BorderClass]:
    imports = {name: _imports(module, modules) for name, module in modules.items()}
    used = {
        place
        for module in modules.values()
        for place in _used_names(module, imports)
        if _room(place[0]) != _room(module.name)
    }
    classes = {
        (module.name, node.name): node
        for module in modules.values()
        for node in module.code.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    return sorted(
        BorderClass(name, module.partition(".")[2], _meaning(classes[module, name]))
        for module, name in used & classes.keys()
    )


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _used_names(module: Module, imports: Imports) -> Iterator[Place]:
    """What a module imports by name, and what it takes as an attribute of an imported module."""
    imported = imports[module.name]
    yield from (_definition(*place, imports) for place in imported.values() if place[1])
    for node in ast.walk(module.code):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source, name = imported.get(node.value.id, ("", ""))
            if source and not name:
                yield _definition(source, node.attr, imports)


def _imports(module: Module, modules: Modules) -> dict[str, Place]:
    """The names that a module imports, each with the place that it stands for."""
    found: dict[str, Place] = {}
    for node in ast.walk(module.code):
        if isinstance(node, ast.ImportFrom):
            source = module.source_of(node)
            for each in node.names:
                whole = f"{source}.{each.name}"
                place = (whole, "") if whole in modules else (source, each.name)
                found[each.asname or each.name] = place
        elif isinstance(node, ast.Import):
            found |= {a.asname: (a.name, "") for a in node.names if a.asname and a.name in modules}
    return found


def _definition(source: str, name: str, imports: Imports) -> Place:
    """Where a name is defined: a module may only pass on what it imported itself."""
    seen: set[Place] = set()
    while (source, name) not in seen:
        seen.add((source, name))
        passed_on = imports.get(source, {}).get(name)
        if passed_on is None or not passed_on[1]:
            break
        source, name = passed_on
    return source, name


def _meaning(node: ast.ClassDef) -> str:
    paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def render_table(classes: list[BorderClass]) -> str:
    rows = (f"| `{each.name}` | `{each.module}` | {each.meaning} |\n" for each in classes)
    return HEAD + "".join(rows)


def render_page(page: str, package: Path) -> str:
    """The page as it should be: the text by hand up to the mark, then the table."""
    by_hand = page.partition(BEGIN)[0]
    return f"{by_hand}{BEGIN}\n\n{render_table(border_classes(read_modules(package)))}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into words.md")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = render_page(page, PACKAGE)
    if arguments.write:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        print(f"{PAGE.relative_to(ROOT)} is out of date. Run: python tools/word_list.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
