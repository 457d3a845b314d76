"""A git directory of our own beside the repository: its objects are known there, its words not.

What it says is compared at every use, so that a word that somebody added does not stay.
"""

import os
import re
import sys
from typing import Final

from msgspec import Struct

from porch.git import repository
from porch.system import atomic
from porch.text.late_pattern import late_pattern

PLACE: Final = os.path.join("porch", "tree.git")
# Replaced objects, the person's settings and those of the machine have no say here either.
OWN_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
# Read before every .gitattributes. `!diff`: text or binary is told from the content.
_ATTRIBUTES = "* -text -eol -crlf -ident -filter -working-tree-encoding !diff !merge !whitespace\n"
_CONFIG = """\
[core]
	repositoryformatversion = {format_version}
	bare = false
	filemode = true
	symlinks = true
	ignorecase = {is_mac}
	precomposeunicode = {is_mac}
	trustctime = true
	checkstat = default
	autocrlf = false
	attributesfile = /dev/null
	logallrefupdates = false
	untrackedcache = false
	splitindex = false
	sparsecheckout = false
[index]
	version = 2
	sparse = false
	skipHash = false
[feature]
	manyFiles = false
[diff]
	algorithm = myers
	indentHeuristic = true
	ignoreSubmodules = none
[pack]
	writeBitmapHashCache = false
"""
_SHA256 = late_pattern(r"^\s*objectformat\s*=\s*\"?sha256", re.IGNORECASE | re.MULTILINE)


class OwnGitDirectory(Struct, frozen=True):
    """Where it lies, and how many bytes the ids of its objects have."""

    path: str
    id_bytes: int


def ensure_own_git_directory(toplevel: str) -> OwnGitDirectory:
    """The git directory of ours for a repository, made or put right where needed."""
    common = repository.find_common_directory(toplevel)
    place = os.path.join(common, PLACE)
    is_sha256 = bool(_SHA256.search(_read_text(os.path.join(common, "config"))))
    is_mac = str(sys.platform == "darwin").lower()
    config = _CONFIG.format(format_version=int(is_sha256), is_mac=is_mac)
    if is_sha256:
        config += "[extensions]\n\tobjectformat = sha256\n"
    _ensure_file(place, "config", config)
    _ensure_file(place, os.path.join("info", "attributes"), _ATTRIBUTES)
    _ensure_file(place, os.path.join("info", "exclude"), "")
    # Relative, so that a repository may be moved.
    _ensure_file(place, os.path.join("objects", "info", "alternates"), "../../../objects\n")
    _ensure_file(place, os.path.join("refs", "README"), "Trees that runs of porch began with.\n")
    # Last: by this file git knows a git directory.
    _ensure_file(place, "HEAD", "ref: refs/heads/none\n")
    return OwnGitDirectory(place, 32 if is_sha256 else 20)


def _ensure_file(place: str, name: str, text: str) -> None:
    path = os.path.join(place, name)
    if os.path.islink(path) or _read_text(path) != text or not os.path.exists(path):
        atomic.ensure_directory(os.path.dirname(path))
        # Two processes may come to this at once.
        atomic.publish_file(f"{path}.{os.getpid()}", path, text.encode(), sync=False)


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
