"""Rules for every file that we keep: nothing of one machine, and modules that stay readable."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 600

# Written in pieces, so that this file obeys its own rules.
MACHINE_PATHS = [re.compile(rf"(?<![\w.~-])/{top}/") for top in ("root", "work", "home")]
REGISTRIES = [re.compile(host) for host in (r"pypi\." + "org", r"files\.python" + "hosted")]
LOCK = "uv.lock"


def kept_files() -> list[str]:
    """Tracked files, and those that would be tracked next; ignored ones are nobody's text."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted({name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()})


def texts() -> Iterator[tuple[str, str]]:
    for name in kept_files():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data:
            yield name, data.decode("utf-8")


def modules() -> list[str]:
    return [name for name in kept_files() if name.endswith(".py")]


def places(patterns: list[re.Pattern[str]], skip: str = "") -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:80]}"
        for name, text in texts()
        if name != skip
        for number, line in enumerate(text.splitlines(), 1)
        if any(pattern.search(line) for pattern in patterns)
    ]


def test_the_list_of_files_is_not_empty() -> None:
    assert {"pyproject.toml", LOCK, "src/porch/errors.py"} <= set(kept_files())


def test_no_file_names_a_path_of_one_machine() -> None:
    assert places(MACHINE_PATHS, skip=LOCK) == []


def test_no_file_but_the_lock_names_a_registry() -> None:
    assert places(REGISTRIES, skip=LOCK) == []


@pytest.mark.parametrize("line", ["cd /" + "work/x", "'/" + "root/.cache'", "(/" + "home/ann)"])
def test_a_path_of_a_machine_is_recognised(line: str) -> None:
    assert any(pattern.search(line) for pattern in MACHINE_PATHS)


@pytest.mark.parametrize("line", ["~/" + "work/x", "docs/" + "work/y", "frame" + "work/z"])
def test_a_relative_path_is_left_alone(line: str) -> None:
    assert not any(pattern.search(line) for pattern in MACHINE_PATHS)


def test_every_module_begins_with_a_docstring() -> None:
    silent = [
        name
        for name in modules()
        if ast.get_docstring(ast.parse((ROOT / name).read_text(encoding="utf-8"))) is None
        or not (ROOT / name).read_text(encoding="utf-8").startswith('"""')
    ]
    assert silent == []


def test_no_module_is_longer_than_the_hard_stop() -> None:
    # Of what is delivered; a table of cases may be as long as it has cases.
    delivered = [name for name in modules() if not name.startswith("tests/")]
    lengths = {
        name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in delivered
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = re.compile(r"^(utils?|helpers?|misc|common)$")
    assert [name for name in modules() if drawers.match(Path(name).stem)] == []


# Suites of the whole, of what is not code, and of stand-ins mirror no room.
_NO_ROOMS = ("corpus", "house", "protocols", "standin", "whole")
# The pages of a room in a browser, which sees all of its packages at once.
_BROWSER = Path("web/browser")


def _suites() -> list[Path]:
    return sorted((ROOT / "tests").rglob("test_*.py"))


def test_every_suite_lies_where_a_package_of_the_sources_lies() -> None:
    places = {path.parent.relative_to(ROOT / "tests") for path in _suites()}
    rooms = {place for place in places if place.parts and place.parts[0] not in _NO_ROOMS}
    assert _BROWSER in rooms
    rooms.remove(_BROWSER)
    assert [str(room) for room in rooms if not (ROOT / "src" / "porch" / room).is_dir()] == []


def test_no_two_suites_have_one_name() -> None:
    names = Counter(path.name for path in _suites())
    assert [name for name, count in names.items() if count > 1] == []
