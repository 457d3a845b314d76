"""Protocols in which `lint` found nothing: it looks again when something has changed.

To compile the templates of a graph takes most of the time of a lint, and hooks lint all files at
each commit. Kept is what each file said that was read, which files were looked for in vain, and
under which settings; with the mark of the user's own key, so that nothing that came with a checkout
is believed. Findings are not kept: whoever has some is about to change the file.
"""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import porch
from porch.errors import PorchError
from porch.run.definitions.library import GRAPH, LocatedProtocol
from porch.store import compiled_protocols
from porch.store.snapshots import user_key
from porch.system import atomic
from porch.system.regular_file import open_followed, open_regular
from porch.text.sha256 import sha256

# Of this directory every file is read.
_TEMPLATES = "templates"
_VARIABLES = ("HOME", "XDG_CONFIG_HOME")
# What reads a file has a say as well.
_LIBRARIES = ("jinja2", "yaml")
_NAME_LENGTH = 32


def is_known_clean(located: LocatedProtocol) -> bool:
    """Whether nothing was wrong with it, and nothing is different since."""
    key = user_key.read_key()
    if key is None or not _can_be_kept(located):
        return False
    try:
        with open(_record_path(located), "rb", opener=open_regular) as file:
            mark, _, body = file.read().partition(b"\n")
        if not user_key.are_equal(mark, user_key.sign_bytes(key, body).hex().encode()):
            return False
        return _is_as_it_was(json.loads(body), os.path.abspath(located.file))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def keep_clean(located: LocatedProtocol, files: Iterable[str]) -> None:
    """Keep that nothing was wrong; `files` are those that were read, or looked for in vain.

    A record that cannot be kept is nobody's problem.
    """
    from porch.run.definitions.reviewer_names import list_settings_files

    key = user_key.make_key() if _can_be_kept(located) else None
    home = located.home
    if key is None or not (home.common_dir or os.path.isdir(home.state_dir)):
        return  # outside git only a run makes a directory of ours
    read = [os.path.abspath(each) for each in (*files, *list_settings_files(home))]
    modules = (sys.modules.get(name) for name in _LIBRARIES)
    libraries = [str(each.__file__) for each in modules if each is not None]
    body = json.dumps(_describe(os.path.abspath(located.file), read, libraries)).encode()
    path = _record_path(located)
    try:
        for directory in (home.state_dir, os.path.dirname(path)):
            os.makedirs(directory, mode=0o700, exist_ok=True)
        mark = user_key.sign_bytes(key, body).hex().encode()
        atomic.replace_file(path, mark + b"\n" + body, sync=False)
    except (PorchError, OSError):
        return


def _can_be_kept(located: LocatedProtocol) -> bool:
    """Files of steps name others, which may be found in many places."""
    return located.file.endswith((GRAPH, "protocol.json"))


def _record_path(located: LocatedProtocol) -> str:
    whole = os.path.abspath(located.file).encode("utf-8", "surrogateescape")
    name = f"clean-{sha256(whole).hexdigest()[:_NAME_LENGTH]}.json"
    return os.path.join(located.home.state_dir, "cache", name)


def _describe(file: str, read: list[str], libraries: list[str]) -> dict[str, Any]:
    return {
        "release": porch.__version__,
        "file": file,
        "variables": [os.environ.get(name) for name in _VARIABLES],
        "files": {path: _digest_file(path) for path in read},
        "templates": _list_names(os.path.join(os.path.dirname(file), _TEMPLATES)),
        "libraries": compiled_protocols.stamp_files(libraries),
    }


def _is_as_it_was(told: dict[str, Any], file: str) -> bool:
    libraries = [path for path, _, _ in told["libraries"]]
    return told == _describe(file, list(told["files"]), libraries)


def _digest_file(path: str) -> str:
    try:
        with open(path, "rb", opener=open_followed) as file:
            return sha256(file.read()).hexdigest()
    except OSError:
        return ""


def _list_names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
