"""Where we stand: repository and state directory, found with os alone: every command asks."""

from __future__ import annotations

import os


class Where:
    """The places of one project; `root` is the main checkout, `workspace` the one we stand in.

    Worktrees are named relative to `base`, which is the same from wherever one looks: the main
    checkout, or a bare repository, which has none.
    """

    __slots__ = ("base", "common_dir", "root", "state_dir", "workspace")

    def __init__(self, root: str, workspace: str, common_dir: str, state_dir: str, base: str = ""):
        self.base = base or root
        self.root = root
        self.workspace = workspace
        self.common_dir = common_dir
        self.state_dir = state_dir

    @property
    def is_bare(self) -> bool:
        return bool(self.common_dir) and self.base == self.common_dir

    def run_dir(self, name: str) -> str:
        return os.path.join(self.state_dir, "runs", name)

    def runs(self) -> list[str]:
        """The names of all runs whose journal holds a first record."""
        try:
            names = sorted(os.listdir(os.path.join(self.state_dir, "runs")))
        except OSError:
            return []
        return [n for n in names if _has_begun(os.path.join(self.run_dir(n), "journal.jsonl"))]


def _has_begun(journal: str) -> bool:
    """A crash before the first record was whole leaves a file, but no run."""
    try:
        with open(journal, "rb") as file:
            return file.readline().endswith(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # There is something that cannot be read; whoever reads it properly says why.
        return True


def find(start: str) -> Where:
    """Walk up to a repository; outside one the directory with `codev/`, else the start itself."""
    here = os.path.abspath(start)
    for directory in _upwards(here):
        dot = os.path.join(directory, ".git")
        if os.path.isdir(dot):
            return Where(directory, directory, dot, os.path.join(dot, "porch"))
        if os.path.isfile(dot):
            return _linked(directory, dot)
        if _is_bare(directory):
            return Where(directory, directory, directory, os.path.join(directory, "porch"))
    root = next((d for d in _upwards(here) if os.path.isdir(os.path.join(d, "codev"))), here)
    return Where(root, root, "", os.path.join(root, "codev", ".porch"))


def _upwards(here: str) -> list[str]:
    found = [here]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found


def _linked(directory: str, dot: str) -> Where:
    """A linked worktree: its git directory names the one that all worktrees share."""
    git_dir = os.path.join(directory, _first_line(dot).removeprefix("gitdir:").strip())
    shared = _first_line(os.path.join(git_dir, "commondir"))
    common = os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir
    state = os.path.join(common, "porch")
    if os.path.basename(common) == ".git":
        return Where(os.path.dirname(common), directory, common, state)
    # A submodule has no other worktrees; a bare repository has nothing else.
    return Where(directory, directory, common, state, base=common if shared else "")


def _is_bare(directory: str) -> bool:
    return all(os.path.exists(os.path.join(directory, n)) for n in ("HEAD", "objects", "refs"))


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""
