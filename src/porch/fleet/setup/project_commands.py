"""The commands that build, test and lint a project, read from the files in which it says so.

Nothing is executed. The first file that names a command wins: what people wrote down as targets or
scripts comes before what is only usual for a language.
"""

import json
import os
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from porch.fleet.setup.python_commands import list_python_commands
from porch.fleet.setup.small_files import read_small_file

NAMES = ("build", "test", "lint")
_TARGET = re.compile(r"^([A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*)[ \t]*::?(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z0-9_-]+)(?:[ \t]+[^:\n]*)?:(?!=)", re.MULTILINE)
# What `npm init` writes where nobody has a test yet.
_NO_TEST = "no test specified"
_PACKAGE_MANAGERS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
)


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
    """At most one for each of build, test and lint, in this order."""
    found: dict[str, FoundCommand] = {}
    for read in _READERS:
        for each in read(root):
            found.setdefault(each.name, each)
    return [found[name] for name in NAMES if name in found]


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
    scripts = _load_scripts(read_small_file(root, "package.json"))
    locks = (name for file, name in _PACKAGE_MANAGERS if os.path.exists(os.path.join(root, file)))
    manager = next(locks, "npm")
    for name in NAMES:
        text = scripts.get(name)
        if isinstance(text, str) and text.strip() and _NO_TEST not in text:
            yield FoundCommand(name, f"{manager} run {name}", "package.json")


def _load_scripts(text: str) -> dict[str, object]:
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    scripts = document.get("scripts") if isinstance(document, dict) else None
    return scripts if isinstance(scripts, dict) else {}


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
