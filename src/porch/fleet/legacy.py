"""The way before porch: claude alone in a worktree, with the text of a protocol and no engine."""

import os
import shutil
import subprocess

from msgspec import Struct

from porch.errors import OutsideError, UsageError
from porch.git import repository
from porch.git.command import run_git
from porch.run.definitions.current_definition import load_current_definition
from porch.store.where import ProjectPaths
from porch.system.regular_file import open_followed

DIRECTORY = ".builders"
_MOST = 64 * 1024


class LegacyBuilder(Struct, frozen=True):
    """Where claude worked, and how it ended."""

    path: str
    branch: str
    code: int


def start_legacy_builder(where: ProjectPaths, id_: str, protocol: str, title: str) -> LegacyBuilder:
    """Make or reuse the worktree of this id, and give claude the protocol's own text."""
    if not id_.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"'{id_}' is not an id", fix="use letters, digits, '-' and '_'")
    program = shutil.which("claude")
    if program is None:
        raise OutsideError(
            "there is no `claude` here", fix="install Claude Code, or leave out --legacy"
        )
    text = _read_protocol_text(where, protocol)
    path, branch = os.path.join(where.root, DIRECTORY, id_), f"builder-{id_}"
    if not os.path.isdir(path):
        _make_worktree(where, path, branch)
    told = f"Project {id_}{f': {title}' if title else ''}. Follow this protocol:\n\n{text}"
    return LegacyBuilder(path, branch, subprocess.call([program, told], cwd=path))


def _read_protocol_text(where: ProjectPaths, protocol: str) -> str:
    first = load_current_definition(where, protocol).files[0]
    path = os.path.join(os.path.dirname(first), "protocol.md")
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_followed) as file:
            return file.read(_MOST)
    except OSError as error:
        raise UsageError(
            f"{protocol} has no protocol.md that can be read ({error.strerror})",
            fix="choose another one: --protocol spider",
        ) from error


def _make_worktree(where: ProjectPaths, path: str, branch: str) -> None:
    if not where.common_dir:
        raise UsageError("this is not a git repository", fix="run `git init` and commit first")
    repository.add_local_excludes(where.common_dir, (f"/{DIRECTORY}/",))
    is_there = repository.resolve_commit(where.root, f"refs/heads/{branch}") is not None
    words = (path, branch) if is_there else ("-b", branch, path)
    run_git(where.root, "worktree", "add", "-q", *words)
