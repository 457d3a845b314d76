"""Every session that a page shows really happens, word for word but for times, pids and paths."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from porch.testing import unmeasured

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "note"
TUTORIAL = "docs/tutorial/first-protocol.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([^`\n]+)`:\n\n$")
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"(?<=since )(?:\d{4}-\d\d-\d\d )?\d\d:\d\d\b"), "TIME"),
    (re.compile(r"pid \d+ on [^)\s]+"), "pid N on HOST"),
    (re.compile(r"in \d+\.\d s"), "in N s"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
)


def masked(text: str) -> str:
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


class Reader:
    """Somebody who does what a page says, in a directory of their own."""

    def __init__(self, home: Path):
        self.home = home
        self.place = home / "kitchen"
        self.place.mkdir()

    def follow(self, page: str) -> list[tuple[str, str, str]]:
        """What each command was promised to print, and what it printed."""
        seen: list[tuple[str, str, str]] = []
        for name, text in blocks(page):
            if name == "console":
                seen += [(c, promised, self.run(c)) for c, promised in commands(text)]
            else:
                self._write(name, text)
        return seen

    def _write(self, name: str, text: str) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, command: str) -> str:
        agents = ("CLAUDECODE", "GEMINI_CLI", "PORCH_MARK", "CODEX_")
        environ = {k: v for k, v in unmeasured().items() if not k.startswith(agents)}
        environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
        environ["HOME"] = str(self.home)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.place,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout.replace(str(self.home), "~")


def blocks(page: str) -> list[tuple[str, str]]:
    """The sessions of a page, and the files that it has its reader write, by their names."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[tuple[str, str]] = []
    for block in _FENCE.finditer(text):
        named = _FILE.search(text[: block.start()])
        if block[1] == "console":
            found.append(("console", block[2]))
        elif named:
            found.append((named[1], block[2]))
    return found


def commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_the_session_of_the_readme_really_happens(reader: Reader) -> None:
    shutil.copytree(EXAMPLE, reader.place, dirs_exist_ok=True)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=reader.place, check=True)
    seen = reader.follow("README.md")
    assert len(seen) == 3
    for command, promised, printed in seen:
        assert (command, masked(printed)) == (command, masked(promised))


def test_the_tutorial_leads_where_it_says(reader: Reader) -> None:
    seen = reader.follow(TUTORIAL)
    assert len(seen) == 9
    for command, promised, printed in seen:
        assert (command, masked(printed)) == (command, masked(promised))


def test_the_example_is_what_the_tutorial_makes() -> None:
    files = {str(p.relative_to(EXAMPLE)): p for p in EXAMPLE.rglob("*") if p.is_file()}
    del files["README.md"]
    written = {name: text for name, text in blocks(TUTORIAL) if name != "console"}
    assert written == {name: path.read_text(encoding="utf-8") for name, path in files.items()}


def test_the_commands_of_the_example_end_in_a_published_note(reader: Reader) -> None:
    shutil.copytree(EXAMPLE, reader.place, dirs_exist_ok=True)
    told = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"^    (.+)$", told, re.MULTILINE):
        printed = reader.run(command)
    assert "is complete" in printed
    assert (reader.place / "NOTES.md").read_text() == "# Kettle\n\nThe kettle is new.\n"


def test_the_readme_is_no_longer_than_a_screen_and_a_half() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_a_page_that_promises_something_else_is_noticed() -> None:
    assert commands("$ a\nb\n$ c\n") == [("a", "b\n"), ("c", "")]
    assert masked("2026-11-15 22:11:25Z ok") == masked("2027-01-01 00:00:00Z ok")
    assert masked("passed in 0.1 s") != masked("failed in 0.1 s")
