"""Whether git writes files into a worktree exactly as they are committed.

It does not where attributes name a filter or a conversion, or where line ends are converted in
general. Then nothing that git notes of a file on the way is true of its bytes on the disk.
"""

import os
from functools import cache

from porch.git.command import try_git
from porch.git.git_directory import GitDirectory

EXCLUDES = "core.excludesfile"
_ATTRIBUTES = "core.attributesfile"
_LINE_ENDS = "core.autocrlf"
_OF_A_TREE = "attr.tree"
_ASKED = r"^(core\.(excludesfile|attributesfile|autocrlf)|attr\.tree)$"
_NONE_SET = 1
_OFF = ("false", "no", "off", "0")
_NAME = b".gitattributes"


@cache
def read_file_settings(toplevel: str) -> dict[str, str]:
    """What git was told about files that it overlooks or converts, by the keys in small letters."""
    words = ("config", "--type=path", "-z")
    done = try_git(toplevel, *words, "--get-regexp", _ASKED)
    if done.returncode > _NONE_SET:
        # One is no path, or has no value. Only git knows what that means to it.
        told = try_git(toplevel, *words, "--get", EXCLUDES).stdout.removesuffix("\0")
        return {EXCLUDES: told, _LINE_ENDS: "unknown"}
    parts = (entry.partition("\n") for entry in done.stdout.split("\0") if entry)
    return {key: value for key, _, value in parts}


def writes_plain_files(toplevel: str, found: GitDirectory, index: bytes) -> bool:
    """Whether no attribute and no setting can have changed a byte of the files in this index.

    If one is overlooked, files count as changed that are not; none that is changed is missed.
    """
    if _NAME in index:
        return False
    known = read_file_settings(toplevel)
    if known.get(_LINE_ENDS, "false").lower() not in _OFF or known.get(_OF_A_TREE):
        return False
    return not any(map(_says_anything, _list_attribute_files(toplevel, found, known)))


def _list_attribute_files(toplevel: str, found: GitDirectory, known: dict[str, str]) -> list[str]:
    """Those outside of the files that are committed."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    told = known.get(_ATTRIBUTES)
    mine = os.path.join(toplevel, told) if told else os.path.join(home, "git", "attributes")
    shared = os.path.join(found.common, "info", "attributes")
    return [mine, shared, *_list_machine_files()]


def _list_machine_files() -> list[str]:
    """Where the machine's own may lie: beside git, or where all settings of a machine are."""
    places = {os.path.dirname(os.path.realpath(d)) for d in os.get_exec_path() if _has_git(d)}
    return [os.path.join(place, "etc", "gitattributes") for place in ("/", *sorted(places))]


def _has_git(directory: str) -> bool:
    return os.path.exists(os.path.join(directory, "git"))


def _says_anything(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False
