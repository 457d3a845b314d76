"""A copy of the project in which something is added, and what the project's own tools say to it."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    *("src", "tests", "tools", "docs", "examples", "skeleton"),
    *("pyproject.toml", "CONTRIBUTING.md"),
)


@dataclass(frozen=True)
class Answer:
    """How a tool ended, and all that it said."""

    code: int
    text: str


@dataclass(frozen=True)
class Scratch:
    """`cache` is shared by copies: the checker compares files by their times and contents."""

    root: Path
    cache: Path

    def path(self, name: str) -> Path:
        return self.root / name

    def write(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """A text that stands there once; a trial whose place has moved must say so."""
        text = self.path(name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.write(name, text.replace(old, new))

    def append(self, name: str, text: str) -> None:
        self.write(name, self.path(name).read_text(encoding="utf-8") + text)

    def python(self, *words: str) -> Answer:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "PYTEST"))}
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env={**environ, "PYTHONPATH": str(self.root / "src")},
            check=False,
            capture_output=True,
            text=True,
        )
        return Answer(done.returncode, done.stdout + done.stderr)

    def pytest(self, *words: str) -> Answer:
        plain = ("-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=short")
        return self.python("-m", "pytest", *plain, *words)

    def mypy(self, *paths: str) -> Answer:
        return self.python("-m", "mypy", f"--cache-dir={self.cache}", *paths)


def copy_project(into: Path, cache: Path) -> Scratch:
    """With what was compiled before: times of files are kept, so that nothing is compiled again."""
    into.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, into / name)
        else:
            shutil.copy2(source, into / name)
    return Scratch(into, cache)
