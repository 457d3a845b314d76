"""The commands of a project are read from its own files, and the file is named."""

import json
from pathlib import Path

import pytest

from porch.fleet.setup.project_commands import find_commands

Files = dict[str, str]
MAKE = "all: build\n\nbuild test:\n\t@true\nLINT := x\n"
SCRIPTS = json.dumps({"scripts": {"test": "vitest", "build": "vite build", "lint": "eslint ."}})
NO_TEST = json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})
SHAPES: dict[str, tuple[Files, Files]] = {
    "nothing": ({}, {}),
    "make": ({"Makefile": MAKE}, {"build": "make build", "test": "make test"}),
    "make-first": (
        {"Makefile": "test:\n", "package.json": SCRIPTS},
        {"build": "npm run build", "test": "make test", "lint": "npm run lint"},
    ),
    "just": ({"justfile": "test arg='':\n  true\n"}, {"test": "just test"}),
    "npm-default": ({"package.json": NO_TEST}, {}),
    "npm-broken": ({"package.json": "{", "go.mod": ""}, {
        "build": "go build ./...", "test": "go test ./...", "lint": "go vet ./...",
    }),
    "npm-odd": ({"package.json": '{"scripts": ["test"]}'}, {}),
    "pnpm": (
        {"package.json": SCRIPTS, "pnpm-lock.yaml": ""},
        {"build": "pnpm run build", "test": "pnpm run test", "lint": "pnpm run lint"},
    ),
    "pytest": (
        {"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n"},
        {"test": "python3 -m pytest -q", "lint": "ruff check ."},
    ),
    "pytest-by-uv": (
        {"pyproject.toml": '[dependency-groups]\ndev = ["pytest"]\n', "uv.lock": ""},
        {"test": "uv run pytest -q"},
    ),
    "pytest-ini": ({"pytest.ini": ""}, {"test": "python3 -m pytest -q"}),
    "setup-cfg": (
        {"setup.cfg": "[tool:pytest]\n[flake8]\n"},
        {"test": "python3 -m pytest -q", "lint": "flake8"},
    ),
    "tox": ({"tox.ini": "[tox]\nenvlist = py\n[testenv:x]\n"}, {"test": "tox"}),
    "tox-in-pyproject": ({"pyproject.toml": "[tool.tox]\n"}, {"test": "tox"}),
    "broken-toml": ({"pyproject.toml": "[["}, {}),
    "broken-ini": ({"setup.cfg": "no section\n", "ruff.toml": ""}, {"lint": "ruff check ."}),
    "unittest": (
        {"setup.py": "", "tests/test_a.py": ""},
        {"test": "python3 -m unittest discover -s tests"},
    ),
    "cargo": ({"Cargo.toml": ""}, {"build": "cargo build", "test": "cargo test"}),
    "gradle": ({"gradlew": ""}, {"build": "./gradlew assemble", "test": "./gradlew test"}),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_each_kind_of_project_is_known_by_its_files(tmp_path: Path, shape: str) -> None:
    files, wanted = SHAPES[shape]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = find_commands(str(tmp_path))
    assert {each.name: each.command for each in found} == wanted
    assert all((tmp_path / each.file).exists() for each in found)


def test_a_file_that_is_none_stops_nothing(tmp_path: Path) -> None:
    for name in ("Makefile", "package.json", "pyproject.toml"):
        (tmp_path / name).mkdir()
    (tmp_path / "tests").write_text("")
    assert find_commands(str(tmp_path)) == []
