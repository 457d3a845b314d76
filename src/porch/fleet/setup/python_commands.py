"""How a Python project is tested and linted, as its own files say."""

import configparser
import os
import tomllib
from collections.abc import Iterator
from typing import Any

from porch.fleet.setup.small_files import read_small_file

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt")
# Which file says that tools are started through a manager of environments.
_MANAGERS = (("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run "))
NameCommandFile = tuple[str, str, str]


def list_python_commands(root: str) -> Iterator[NameCommandFile]:
    """Test and lint commands, each with the file that speaks for it."""
    if not any(os.path.isfile(os.path.join(root, name)) for name in _MARKS):
        return
    front = next((w for f, w in _MANAGERS if os.path.exists(os.path.join(root, f))), "")
    tools = _load_tools(root)
    if file := _find_pytest(root, tools):
        yield "test", f"{front}pytest -q" if front else "python3 -m pytest -q", file
    elif file := _find_section(root, tools, "tox", ("tox.ini", "setup.cfg")):
        yield "test", f"{front}tox", file
    elif _has_test_files(root):
        yield "test", f"{front or ''}python3 -m unittest discover -s tests", "tests"
    if "ruff" in tools or os.path.isfile(os.path.join(root, "ruff.toml")):
        yield "lint", f"{front}ruff check .", "pyproject.toml" if "ruff" in tools else "ruff.toml"
    elif file := _find_section(root, {}, "flake8", (".flake8", "setup.cfg", "tox.ini")):
        yield "lint", f"{front}flake8", file


def _load_tools(root: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(read_small_file(root, "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    tools = document.get("tool")
    return tools if isinstance(tools, dict) else {}


def _find_pytest(root: str, tools: dict[str, Any]) -> str:
    if "pytest" in tools:
        return "pyproject.toml"
    if os.path.isfile(os.path.join(root, "pytest.ini")):
        return "pytest.ini"
    for file, section in (("setup.cfg", "tool:pytest"), ("tox.ini", "pytest")):
        if section in _list_sections(root, file):
            return file
    # A dependency on it says as much as a section for it.
    named = ("pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg", "setup.py")
    return next((file for file in named if "pytest" in read_small_file(root, file)), "")


def _find_section(root: str, tools: dict[str, Any], name: str, files: tuple[str, ...]) -> str:
    if name in tools:
        return "pyproject.toml"
    return next((f for f in files if _has_section(root, f, name)), "")


def _has_section(root: str, file: str, name: str) -> bool:
    return any(each == name or each.startswith(f"{name}:") for each in _list_sections(root, file))


def _list_sections(root: str, file: str) -> list[str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(read_small_file(root, file))
    except configparser.Error:
        return []
    return parser.sections()


def _has_test_files(root: str) -> bool:
    try:
        names = os.listdir(os.path.join(root, "tests"))
    except OSError:
        return False
    return any(name.startswith("test") and name.endswith(".py") for name in names)
