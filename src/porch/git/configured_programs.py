"""Programs that a repository configures for git to run: our own calls of git run none of them.

Whoever can write into `.git` could name any program there: as a filter, as a driver of merges. What
a person configured for all their repositories still counts, such as `git lfs install`. So a file
with a filter that only the repository configures is committed as it lies there.
"""

from __future__ import annotations

import os
import re

from porch.git import git_directory
from porch.text.late_pattern import late_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    class _SaidText(Protocol):
        stdout: str

    AskGit = Callable[[str, Sequence[str], Mapping[str, str]], _SaidText]

# A merge of texts, as git does it where no driver is named.
_PLAIN_MERGE = "git merge-file --marker-size=%L %A %O %B"
_NEUTRAL = {
    late_pattern(r"filter\..*\.(?:clean|smudge|process)", re.DOTALL): "",
    late_pattern(r"filter\..*\.required", re.DOTALL): "false",
    late_pattern(r"merge\..*\.driver", re.DOTALL): _PLAIN_MERGE,
}
_ASKED = r"^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$"
# Without one of these words no file can name such a program.
_WORDS = (b"filter", b"driver", b"include")
_OWN = ("local", "worktree")
_known: dict[tuple[str, bytes], dict[str, str]] = {}


def disarm_environment(directory: str, ask_git: AskGit) -> dict[str, str]:
    """Variables by which git runs no program that only this repository configures."""
    found = _find_git_directory(directory)
    if found is None:
        return {}
    files = {os.path.join(found.common, "config"), os.path.join(found.own, "config.worktree")}
    text = b"\0".join(_read_bytes(path) for path in sorted(files))
    if not any(word in text.lower() for word in _WORDS):
        return {}
    # A file that is included may change without a change here.
    key = (found.own, text)
    if key not in _known or b"include" in text.lower():
        _known[key] = _make_environment(_list_programs(directory, ask_git))
    return _known[key]


def _make_environment(rows: list[tuple[str, str, str]]) -> dict[str, str]:
    own = {key for scope, key, _ in rows if scope in _OWN}
    general = {key: value for scope, key, value in rows if scope not in _OWN}
    values = [(key, general.get(key, _neutral_value(key))) for key in sorted(own)]
    numbered = enumerate(values)
    pairs = {
        name: text
        for number, (key, value) in numbered
        for name, text in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", value))
    }
    return {"GIT_CONFIG_COUNT": str(len(values)), **pairs} if values else {}


def _neutral_value(key: str) -> str:
    return next(value for pattern, value in _NEUTRAL.items() if pattern.fullmatch(key))


def _list_programs(directory: str, ask_git: AskGit) -> list[tuple[str, str, str]]:
    """Scope, key and value of everything that could be run."""
    words = ("config", "--show-scope", "-z", "--get-regexp", _ASKED)
    parts = ask_git(directory, words, {}).stdout.split("\0")
    rows = zip(parts[0::2], parts[1::2], strict=False)
    return [(scope, *_split_entry(entry)) for scope, entry in rows]


def _split_entry(entry: str) -> tuple[str, str]:
    key, _, value = entry.partition("\n")
    return key, value


def _find_git_directory(directory: str) -> git_directory.GitDirectory | None:
    here = os.path.abspath(directory)
    while True:
        found = git_directory.find_git_directory(here)
        if found is not None:
            return found
        if os.path.isfile(os.path.join(here, "HEAD")) and os.path.isfile(
            os.path.join(here, "config")
        ):
            return git_directory.GitDirectory(here, here)
        if os.path.dirname(here) == here:
            return None
        here = os.path.dirname(here)


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
