"""The commands that build, test and lint a project, read from the files in which it says so.

Nothing is executed. The first file that names a command wins: what people wrote down as targets or
scripts comes before what is only usual for a language.
"""

import os
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from porch.fleet.setup import node_packages
from porch.fleet.setup.python_commands import list_python_commands
from porch.fleet.setup.small_files import read_small_file

NAMES = ("build", "test", "lint")
_TARGET = re.compile(r"^([A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*)[ \t]*::?(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z0-9_-]+)(?:[ \t]+[^:\n]*)?:(?!=)", re.MULTILINE)
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
# What `npm init` writes where nobody has a test yet.
_NO_TEST = "no test specified"
# Directories that hold no part of the project with tests of its own.
_NO_PARTS = (
    *("codev", "doc", "docs", "example", "examples", "fixtures", "node_modules", "test", "tests"),
    *("third_party", "vendor", "venv", "worktrees"),
)
_MOST_PARTS = 8


class KnownBuilder(Struct, frozen=True):
    """A tool that always has the same commands, wherever its file lies at the root."""

    file: str
    commands: dict[str, str]


KNOWN_BUILDERS = (
    KnownBuilder("Cargo.toml", {"build": "cargo build", "test": "cargo test"}),
    KnownBuilder(
        "go.mod", {"build": "go build ./...", "test": "go test ./...", "lint": "go vet ./..."}
    ),
    KnownBuilder("gradlew", {"build": "./gradlew assemble", "test": "./gradlew test"}),
    KnownBuilder("build.gradle.kts", {"build": "gradle assemble", "test": "gradle test"}),
    KnownBuilder("build.gradle", {"build": "gradle assemble", "test": "gradle test"}),
    KnownBuilder("mvnw", {"build": "./mvnw -q -DskipTests package", "test": "./mvnw -q test"}),
    KnownBuilder("pom.xml", {"build": "mvn -q -DskipTests package", "test": "mvn -q test"}),
    KnownBuilder(
        "mix.exs",
        {"build": "mix compile", "test": "mix test", "lint": "mix format --check-formatted"},
    ),
    KnownBuilder("Package.swift", {"build": "swift build", "test": "swift test"}),
    KnownBuilder(
        "CMakeLists.txt",
        {
            "build": "cmake -S . -B build && cmake --build build",
            "test": "ctest --test-dir build --output-on-failure",
        },
    ),
)


class FoundCommand(Struct, frozen=True):
    """A command of the project, and the file that says so."""

    name: str
    command: str
    file: str


def find_commands(root: str) -> list[FoundCommand]:
    """At most one for each of build, test and lint, in this order.

    A project that says at its top how it is tested says it for all of its parts.
    """
    found = _find_in(root)
    if "test" not in found:
        found = {**_find_in_parts(root), **found}
    return [found[name] for name in NAMES if name in found]


def list_parts(root: str) -> list[str]:
    """The directories at the top that may be projects themselves, as in a monorepo."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    likely = [name for name in names if _PART.fullmatch(name) and name not in _NO_PARTS]
    paths = {name: os.path.join(root, name) for name in likely}
    return [n for n, path in paths.items() if os.path.isdir(path) and not os.path.islink(path)]


def _find_in(root: str) -> dict[str, FoundCommand]:
    found: dict[str, FoundCommand] = {}
    for read in _READERS:
        for each in read(root):
            found.setdefault(each.name, each)
    return found


def _find_in_parts(root: str) -> dict[str, FoundCommand]:
    """One after the other; a project of very many parts has its own way."""
    by_part = {part: _find_in(os.path.join(root, part)) for part in list_parts(root)}
    tested = {part: found for part, found in by_part.items() if "test" in found}
    if len(tested) > _MOST_PARTS:
        return {}
    joined: dict[str, FoundCommand] = {}
    for name in NAMES:
        steps = {part: found[name] for part, found in tested.items() if name in found}
        if steps:
            texts = [f"(cd {part} && {each.command})" for part, each in steps.items()]
            files = ", ".join(f"{part}/{each.file}" for part, each in steps.items())
            joined[name] = FoundCommand(name, " && ".join(texts), files)
    return joined


def _read_makefile(root: str) -> Iterator[FoundCommand]:
    for file in ("GNUmakefile", "makefile", "Makefile"):
        text = read_small_file(root, file)
        if text:
            targets = {word for line in _TARGET.findall(text) for word in line.split()}
            yield from (FoundCommand(n, f"make {n}", file) for n in NAMES if n in targets)
            return


def _read_justfile(root: str) -> Iterator[FoundCommand]:
    for file in ("justfile", "Justfile", ".justfile"):
        recipes = set(_RECIPE.findall(read_small_file(root, file)))
        yield from (FoundCommand(n, f"just {n}", file) for n in NAMES if n in recipes)


def _read_package_scripts(root: str) -> Iterator[FoundCommand]:
    scripts = node_packages.read_package(root).get("scripts")
    manager = node_packages.find_manager(root) or "npm"
    for name in NAMES:
        text = scripts.get(name) if isinstance(scripts, dict) else None
        if isinstance(text, str) and text.strip() and _NO_TEST not in text:
            yield FoundCommand(name, f"{manager} run {name}", node_packages.FILE)


def _read_python_files(root: str) -> Iterator[FoundCommand]:
    yield from (FoundCommand(*each) for each in list_python_commands(root))


def _read_known_builders(root: str) -> Iterator[FoundCommand]:
    for tool in KNOWN_BUILDERS:
        if os.path.isfile(os.path.join(root, tool.file)):
            yield from (FoundCommand(n, c, tool.file) for n, c in tool.commands.items())


_READERS: tuple[Callable[[str], Iterator[FoundCommand]], ...] = (
    _read_makefile,
    _read_justfile,
    _read_package_scripts,
    _read_python_files,
    _read_known_builders,
)
