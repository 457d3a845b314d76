"""The README and the example of the tutorial; what all pages promise is in test_pages."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.pages import ROOT, WELL, Reader, blocks, sessions

# Stands for the packages of a project: they are installed where git does not look.
RUNNER = """\
import sys, unittest
assert sys.prefix != sys.base_prefix
unittest.main(module=None, argv=["pytest", "discover", "-s", "tests"])
"""
TEST_JS = """\
const test = require("node:test"), assert = require("node:assert");
test("greets", () => assert.equal(require("greeter"), "Hello"));
"""
EXAMPLE = ROOT / "examples" / "note"
TUTORIAL = "docs/tutorial/first-protocol.md"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    made = Reader(tmp_path)
    yield made
    made.clear()


def test_the_example_is_what_the_tutorial_makes() -> None:
    files = {str(p.relative_to(EXAMPLE)): p for p in EXAMPLE.rglob("*") if p.is_file()}
    del files["README.md"]
    written = {each.kind: each.text for each in blocks(TUTORIAL) if each.kind != "console"}
    assert written == {name: path.read_text(encoding="utf-8") for name, path in files.items()}


def test_the_commands_of_the_example_end_in_a_published_note(reader: Reader) -> None:
    shutil.copytree(EXAMPLE, reader.place, dirs_exist_ok=True)
    told = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"^    (.+)$", told, re.MULTILINE):
        printed = reader.run(command)[1]
    assert "merged into main" in printed
    assert (reader.place / "NOTES.md").read_text() == "# Kettle\n\nThe kettle is new.\n"


def test_the_readme_is_no_longer_than_a_screen_and_a_half() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_readme_names_the_two_commands_that_do_everything(target: str) -> None:
    assert f"`make {target}`" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\n{target}: setup" in (ROOT / "Makefile").read_text(encoding="utf-8")


def write_files(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def follow_readme(reader: Reader) -> None:
    """Everything that the README has one type, in a project that is there already."""
    for each in blocks("README.md"):
        if each.is_run and each.kind == "console":
            for command, promised in sessions(each.text):
                assert reader.run(command)[1] == promised
        elif each.is_run and each.kind == "sh":
            for command in each.text.splitlines():
                code, printed = reader.run(command)
                assert code in WELL, f"{command}\n{printed}"


def read_settings(reader: Reader) -> str:
    settings = (reader.place / "codev/config.toml").read_text()
    return "\n".join(line for line in settings.splitlines() if not line.startswith("#"))


def test_the_words_of_the_readme_lead_to_a_merge_in_a_python_project_with_a_venv(
    reader: Reader,
) -> None:
    write_files(
        reader.place,
        {
            "pyproject.toml": '[project]\nname = "greeter"\n[tool.pytest.ini_options]\n',
            "greeter.py": 'def greet():\n    return "Hello"\n',
            "tests/test_greeter.py": "import unittest\n\n\nclass Test(unittest.TestCase):\n"
            "    def test_greets(self):\n        import greeter\n\n        greeter.greet()\n",
            ".gitignore": ".venv/\n__pycache__/\n",
        },
    )
    make = [sys.executable, "-m", "venv", "--without-pip", ".venv"]
    subprocess.run(make, cwd=reader.place, check=True)
    (packages,) = reader.place.glob(".venv/lib/python*/site-packages")
    write_files(packages, {"pytest/__main__.py": RUNNER})
    follow_readme(reader)
    settings = read_settings(reader)
    assert 'test = ".venv/bin/python -m pytest -q"' in settings
    assert 'link = [".venv"]' in settings
    tracked = reader.run("git ls-files")[1]
    assert "work/phase_1.txt" in tracked
    assert ".venv" not in tracked


@pytest.mark.skipif(shutil.which("npm", path=os.defpath) is None, reason="node is not installed")
def test_the_words_of_the_readme_lead_to_a_merge_in_a_node_project(reader: Reader) -> None:
    package = {"scripts": {"test": "node --test"}, "dependencies": {"greeter": "1"}}
    write_files(
        reader.place,
        {
            "package.json": json.dumps(package),
            "test/greeter.test.js": TEST_JS,
            "node_modules/greeter/index.js": 'module.exports = "Hello";\n',
            ".gitignore": "node_modules/\n",
        },
    )
    follow_readme(reader)
    settings = read_settings(reader)
    assert 'test = "npm run test"' in settings
    assert 'link = ["node_modules"]' in settings
    assert "node_modules" not in reader.run("git ls-files")[1]
