"""In which languages a project is written, as far as its files at the top say."""

import os
from collections.abc import Iterator

from porch.fleet.setup.project_commands import list_parts

_FILES = (
    ("Python", ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini")),
    ("TypeScript", ("tsconfig.json",)),
    ("JavaScript", ("package.json",)),
    ("Rust", ("Cargo.toml",)),
    ("Go", ("go.mod",)),
    ("Java or Kotlin", ("pom.xml", "build.gradle", "build.gradle.kts")),
    ("C or C++", ("CMakeLists.txt",)),
    ("Elixir", ("mix.exs",)),
    ("Swift", ("Package.swift",)),
    ("Ruby", ("Gemfile",)),
    ("PHP", ("composer.json",)),
)


def find_languages(root: str) -> dict[str, str]:
    """Each language with the file that says so; those of the parts only if the top names none."""
    at_top = dict(_find_in(root, ""))
    if at_top:
        return at_top
    in_parts = [each for part in list_parts(root) for each in _find_in(root, part)]
    return dict(reversed(in_parts))


def _find_in(root: str, part: str) -> Iterator[tuple[str, str]]:
    found: set[str] = set()
    for language, files in _FILES:
        paths = (os.path.join(part, file) for file in files)
        there = next((p for p in paths if os.path.isfile(os.path.join(root, p))), "")
        # Nearly every project of TypeScript has a package of JavaScript, too.
        if there and not (language == "JavaScript" and "TypeScript" in found):
            found.add(language)
            yield language, there
