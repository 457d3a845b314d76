"""How a Python project is tested and linted, as its own files say."""

import configparser
import os
import shutil
import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from porch.fleet.setup.small_files import read_small_file

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt")
# Which file says that tools are started through a manager of environments.
_MANAGERS = (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"))
_VIRTUALENVS = (".venv", "venv")
NameCommandFile = tuple[str, str, str]


def list_python_commands(root: str) -> Iterator[NameCommandFile]:
    """Test and lint commands, each with the file that speaks for it."""
    tests = _find_test_files(root)
    is_marked = any(os.path.isfile(os.path.join(root, name)) for name in _MARKS)
    if not (is_marked or (tests and find_virtualenv(root))):
        return
    starts = _find_starts(root)
    tools = _load_tools(root)
    if file := _find_pytest(root, tools):
        yield "test", starts.module("pytest -q"), file
    elif file := _find_section(root, tools, "tox", ("tox.ini", "setup.cfg")):
        yield "test", starts.tool("tox"), file
    elif tests and (file := starts.find_own("pytest")):
        yield "test", starts.module("pytest -q"), file
    elif tests:
        words = " -s tests" if tests == "tests" else ""
        yield "test", starts.python(f"-m unittest discover{words}"), tests
    if "ruff" in tools or os.path.isfile(os.path.join(root, "ruff.toml")):
        file = "pyproject.toml" if "ruff" in tools else "ruff.toml"
        yield "lint", starts.tool("ruff", "check ."), file
    elif file := _find_section(root, {}, "flake8", (".flake8", "setup.cfg", "tox.ini")):
        yield "lint", starts.tool("flake8"), file


def find_virtualenv(root: str) -> str:
    """The directory of the environment that lies in the project; nothing where there is none."""
    return next((name for name in _VIRTUALENVS if _is_virtualenv(os.path.join(root, name))), "")


def _is_virtualenv(path: str) -> bool:
    has_python = os.path.lexists(os.path.join(path, "bin", "python"))
    return has_python and os.path.isfile(os.path.join(path, "pyvenv.cfg"))


class _Starts(Struct, frozen=True):
    """How the programs of a Python project are started: by a manager, or in its environment."""

    root: str
    manager: str
    virtualenv: str

    def module(self, words: str) -> str:
        """A module that has a program of the same name."""
        return f"{self.manager} run {words}" if self.manager else self.python(f"-m {words}")

    def python(self, words: str) -> str:
        if self.manager:
            return f"{self.manager} run python3 {words}"
        if self.virtualenv:
            return f"{self._path_of_sources()}{self.virtualenv}/bin/python {words}"
        return f"python3 {words}"

    def tool(self, name: str, words: str = "") -> str:
        front = f"{self.manager} run " if self.manager else ""
        return f"{front}{self.find_own(name) or name} {words}".rstrip()

    def find_own(self, name: str) -> str:
        """A tool that is installed in the environment of the project."""
        own = f"{self.virtualenv}/bin/{name}"
        has_own = self.virtualenv and os.path.lexists(os.path.join(self.root, own))
        return own if has_own else ""

    def _path_of_sources(self) -> str:
        """An installed project leads to one checkout; the sources of the place go first."""
        return "PYTHONPATH=src " if os.path.isdir(os.path.join(self.root, "src")) else ""


def _find_starts(root: str) -> _Starts:
    """An environment that is there is used as it is; uv keeps one for each directory by itself."""
    virtualenv = find_virtualenv(root)
    locks = (name for file, name in _MANAGERS if os.path.exists(os.path.join(root, file)))
    manager = next(locks, "")
    if virtualenv and not (manager == "uv" and shutil.which("uv")):
        manager = ""
    return _Starts(root, manager, "" if manager else virtualenv)


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


def _find_test_files(root: str) -> str:
    """The directory `tests`, or a file of tests at the top; nothing where there are none."""
    if _list_test_files(os.path.join(root, "tests"), "test"):
        return "tests"
    return next(iter(_list_test_files(root, "test_")), "")


def _list_test_files(directory: str, front: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(front) and name.endswith(".py"))
