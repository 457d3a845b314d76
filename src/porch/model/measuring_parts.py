"""Files that many things share: only the part that decides a measurement is protected.

A dependency that somebody adds to pyproject.toml is work; a line under [tool.pytest] is not.
"""

from collections.abc import Callable, Mapping
from typing import Any

# Tables and keys by which test runners are told what to do.
_TOML_TOOLS = ("pytest", "coverage", "tox", "nox", "hatch", "pdm", "poe", "taskipy")
_INI_SECTIONS = ("tool:pytest", "coverage:", "unittest", "aliases", "nosetests")
_JSON_KEYS = ("jest", "vitest", "scripts", "babel", "mocha", "ava", "c8", "nyc")


def has_measuring_part(path: str) -> bool:
    return path.rpartition("/")[2] in _PARTS


def is_same_measuring_part(path: str, old: str, new: str) -> bool:
    """Whether two contents of such a file tell a test runner the same; unreadable ones do not."""
    part = _PARTS[path.rpartition("/")[2]]
    try:
        return part(old) == part(new)
    except (ValueError, TypeError, RecursionError):
        return False


def _read_toml_part(text: str) -> Mapping[str, Any]:
    import tomllib

    tools = tomllib.loads(text).get("tool", {})
    return {name: value for name, value in tools.items() if name in _TOML_TOOLS}


def _read_ini_part(text: str) -> Mapping[str, Any]:
    import configparser

    reader = configparser.RawConfigParser(strict=False)
    try:
        reader.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return {name: dict(reader[name]) for name in reader if name.startswith(_INI_SECTIONS)}


def _read_json_part(text: str) -> Mapping[str, Any]:
    import json

    whole = json.loads(text or "{}")
    if not isinstance(whole, dict):
        raise TypeError
    return {name: value for name, value in whole.items() if name in _JSON_KEYS}


_PARTS: Mapping[str, Callable[[str], Mapping[str, Any]]] = {
    "pyproject.toml": _read_toml_part,
    "setup.cfg": _read_ini_part,
    "package.json": _read_json_part,
}
