"""Globs of paths as protocols write them: `tests/**`, `test_*.py`, `/setup.cfg`.

A glob without a slash means the name of a file or directory, wherever it lies; any other begins at
the top. `*` stays inside one name, `**` does not, and a directory means all that is in it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from porch.errors import Finding, Place

ALL = "**"


def matches_any(path: str, globs: Iterable[str]) -> bool:
    return any(_compile_glob(glob).fullmatch(path) for glob in globs)


@lru_cache(maxsize=1000)
def _compile_glob(glob: str) -> re.Pattern[str]:
    anchored = glob.removeprefix("./").removesuffix("/")
    front = "" if "/" in anchored else "(?:.*/)?"
    return re.compile(front + translate_glob(anchored.removeprefix("/")) + "(?:/.*)?", re.DOTALL)


def translate_glob(glob: str) -> str:
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", glob)
    words = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(words.get(part) or re.escape(part) for part in parts)


def find_glob_problem(glob: str) -> str:
    """Why a glob means nothing here; empty if it does."""
    if not glob.strip():
        return "it is empty"
    if glob.startswith("~") or ".." in glob.split("/"):
        return "it points outside the repository"
    if any(character in glob for character in "[]{}!\\\n\0"):
        return "only *, ** and ? have a meaning"
    return ""


def check_globs(globs: Iterable[str], what: str, place: Place) -> list[Finding]:
    fix = "write paths from the top of the repository, such as tests/** or test_*.py"
    return [
        Finding("wrong-value", f"'{glob[:80]}' in {what}: {why}", place, fix)
        for glob in globs
        if (why := find_glob_problem(glob))
    ]
