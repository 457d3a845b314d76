"""The README and the example of the tutorial; what all pages promise is in test_pages."""

import re
import shutil
from pathlib import Path

import pytest

from tests.house.pages import ROOT, Reader, blocks

EXAMPLE = ROOT / "examples" / "note"
TUTORIAL = "docs/tutorial/first-protocol.md"


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


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
