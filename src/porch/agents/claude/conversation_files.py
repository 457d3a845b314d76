"""Where claude keeps its conversations, and how one is continued from another directory.

`claude --resume ID` looks only in one folder below `projects`, which is named after the directory
in which claude is started. Given the path of the file it takes it from anywhere, begins a new
conversation with all of it, and leaves the file as it is. Other versions may keep it elsewhere:
then it is not found, and who asks has to begin without it.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping

from porch.text.late_pattern import late_pattern

# What is longer than this is no conversation that any model takes in.
LARGEST = 64 << 20
_SESSION = late_pattern(r"[0-9a-fA-F-]{36}")
# A longer name of a folder is cut, and something is put behind it.
_NAME_KEPT = 200


def find_conversation(session: str, environ: Mapping[str, str]) -> str:
    """The path of its file; empty if there is none that may be used.

    Whatever agents can write to may hold a link: none is followed below claude's own directory.
    """
    if not _SESSION.fullmatch(session):
        return ""
    home = environ.get("HOME") or os.path.expanduser("~")
    own = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    try:
        found = _iterate_files(os.path.join(own, "projects"), f"{session}.jsonl")
        # Of copies that somebody made, the one in which the conversation went on.
        return max(found, key=os.path.getmtime, default="")
    except OSError:
        # Gone meanwhile, or not for us to read.
        return ""


def find_elsewhere(session: str, workspace: str, environ: Mapping[str, str]) -> str:
    """The same, but empty where claude finds it by its name."""
    path = find_conversation(session, environ)
    folder = os.path.basename(os.path.dirname(path))
    name = re.sub(r"[^a-zA-Z0-9]", "-", os.path.realpath(workspace))
    return "" if folder[:_NAME_KEPT] == name[:_NAME_KEPT] else path


def _iterate_files(projects: str, name: str) -> Iterator[str]:
    folders = os.listdir(projects) if _is_directory(projects) else ()
    for folder in sorted(folders):
        path = os.path.join(projects, folder, name)
        if _is_directory(os.path.dirname(path)) and _is_usable_file(path):
            yield path


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_usable_file(path: str) -> bool:
    try:
        entry = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(entry.st_mode) and entry.st_size <= LARGEST
