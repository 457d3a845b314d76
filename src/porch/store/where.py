"""Where we stand: repository and state directory, found with os alone: every command asks."""

from __future__ import annotations

import os

from porch.system.regular_file import open_followed, open_regular

# The plan of a track, the newest first where there are several.
PLAN_FILES = ("plan.xml", "track.xml", "tasks.xml")
_PIECE = 1 << 12


class ProjectPaths:
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

    @property
    def top(self) -> str:
        """Below it lie the worktrees: the main checkout, or the directory of a bare repository."""
        return os.path.dirname(self.base) if self.is_bare else self.root

    def run_dir(self, name: str) -> str:
        return os.path.join(self.state_dir, "runs", name)

    def names(self) -> list[str]:
        """The names of all directories of runs; of a few the first record was never written."""
        try:
            return sorted(os.listdir(os.path.join(self.state_dir, "runs")))
        except OSError:
            return []

    def has_begun(self, name: str) -> bool:
        """A crash before the first record was whole leaves a file, but no run."""
        return _has_a_line(os.path.join(self.run_dir(name), "journal.jsonl"))

    def runs(self) -> list[str]:
        """The names of all runs whose journal holds a first record."""
        return [name for name in self.names() if self.has_begun(name)]


def _has_a_line(path: str) -> bool:
    try:
        fd = open_regular(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # There is something that cannot be read; whoever reads it properly says why.
        return True
    try:
        piece = os.read(fd, _PIECE)
        while piece and b"\n" not in piece:
            piece = os.read(fd, _PIECE)
        return bool(piece)
    except OSError:
        return True
    finally:
        os.close(fd)


def find_project(start: str) -> ProjectPaths:
    """Walk up to a repository; outside one the directory with `codev/`, else the start itself."""
    here = os.path.abspath(start)
    for directory in _parent_directories(here):
        dot = os.path.join(directory, ".git")
        if os.path.isdir(dot):
            return ProjectPaths(directory, directory, dot, os.path.join(dot, "porch"))
        if os.path.isfile(dot):
            return _find_linked_project(directory, dot)
        if _is_bare_repository(directory):
            return ProjectPaths(directory, directory, directory, os.path.join(directory, "porch"))
    root = next(
        (d for d in _parent_directories(here) if os.path.isdir(os.path.join(d, "codev"))), here
    )
    return ProjectPaths(root, root, "", os.path.join(root, "codev", ".porch"))


def _parent_directories(here: str) -> list[str]:
    found = [here]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found


def _find_linked_project(directory: str, dot: str) -> ProjectPaths:
    """A linked worktree: its git directory names the one that all worktrees share."""
    git_dir = os.path.join(directory, _read_first_line(dot).removeprefix("gitdir:").strip())
    if not os.path.lexists(git_dir):
        git_dir = _find_moved_repository(directory, os.path.basename(git_dir)) or git_dir
    shared = _read_first_line(os.path.join(git_dir, "commondir"))
    common = os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir
    state = os.path.join(common, "porch")
    if os.path.basename(common) == ".git":
        return ProjectPaths(os.path.dirname(common), directory, common, state)
    # A submodule has no other worktrees; a bare repository has nothing else.
    return ProjectPaths(directory, directory, common, state, base=common if shared else "")


def _find_moved_repository(directory: str, id_: str) -> str:
    """The project was moved as a whole: the repository above still knows the worktree by its id."""
    above = _parent_directories(os.path.dirname(directory))
    known = (os.path.join(each, ".git", "worktrees", id_) for each in above)
    return next(filter(os.path.isdir, known), "")


def _is_bare_repository(directory: str) -> bool:
    return all(os.path.exists(os.path.join(directory, n)) for n in ("HEAD", "objects", "refs"))


def _read_first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", opener=open_followed) as file:
            return file.readline().strip()
    except OSError:
        return ""
