"""Files of a measured tree: what they hold, and a copy of all of them beside the worktree."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from porch.git.command import read_git_bytes, run_exact_git, run_git
from porch.git.measured_tree import find_toplevel, own_environment
from porch.git.own_git_directory import ensure_own_git_directory

_AT_ONCE = 200
# As many as an operating system follows.
_MOST_LINKS = 40
_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard")


def list_ignored_paths(worktree: str) -> list[str]:
    """What git overlooks in a worktree now, from the top; a directory of nothing else has a /."""
    return [path for path in run_git(worktree, *_IGNORED, "--directory").split("\0") if path]


def list_ignored_files(worktree: str, directory: str) -> list[str]:
    """The same inside one directory, each file by its name."""
    out = run_git(worktree, *_IGNORED, "--", f":(literal){directory}")
    return [path for path in out.split("\0") if path]


def read_entries(worktree: str, tree: str, paths: Sequence[str]) -> dict[str, str]:
    """Mode and id of some paths of a tree, as one text; those it does not have are left out."""
    found: dict[str, str] = {}
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        out = run_own_git(worktree, "ls-tree", "-z", "--full-tree", tree, "--", *some)
        rows = (row.split("\t", 1) for row in out.split("\0") if row)
        # mode, kind and id; of these the kind says nothing that the mode does not.
        found |= {path: " ".join(front.split(" ")[::2]) for front, path in rows}
    return found


def read_tree_text(worktree: str, entry: str) -> str:
    """The content of an entry as text; what is not UTF-8 is replaced."""
    return run_own_git(worktree, "cat-file", "blob", entry.split(" ")[1])


def read_tree_bytes(worktree: str, entry: str) -> bytes:
    """The same, byte for byte."""
    toplevel = find_toplevel(worktree)
    env = own_environment(toplevel, ensure_own_git_directory(toplevel))
    return read_git_bytes(toplevel, "cat-file", "blob", entry.split(" ")[1], env=env)


@lru_cache(maxsize=32)
def list_links(worktree: str, tree: str) -> Mapping[str, str]:
    """The links of a tree, with the path of the repository they lead to; others are left out."""
    out = run_own_git(worktree, "ls-tree", "-r", "-z", "--full-tree", tree)
    rows = (row.split("\t", 1) for row in out.split("\0") if row.startswith("120000 "))
    targets = {
        path: run_own_git(worktree, "cat-file", "blob", front.split(" ")[2]) for front, path in rows
    }
    ends = {path: _follow_link(path, targets) for path in targets}
    return {path: end for path, end in ends.items() if end}


def _follow_link(path: str, targets: Mapping[str, str]) -> str:
    """Where it leads in the end; empty if that is outside, or nowhere."""
    for _ in range(_MOST_LINKS):
        if path not in targets:
            return path
        path = os.path.normpath(os.path.join(os.path.dirname(path), targets[path]))
        if path.startswith(("/", "..")):
            return ""
    return ""


def write_mixed_tree(
    worktree: str, tree: str, entries: Mapping[str, str], *, gone: Iterable[str], index: str
) -> str:
    """A tree with other entries at some paths and without others; `index` is a file for scratch."""
    rows = [f"0 {'0' * len(tree)}\t{path}\0" for path in gone]
    rows += [f"{entry}\t{path}\0" for path, entry in entries.items()]
    run_own_git(worktree, "read-tree", tree, index=index)
    if rows:
        words = ("update-index", "-z", "--index-info")
        run_own_git(worktree, *words, stdin="".join(rows), index=index)
    return run_own_git(worktree, "write-tree", index=index).strip()


def copy_tree(worktree: str, tree: str, place: str, index: str) -> None:
    """The files of a tree in a new directory, byte for byte; nothing is converted."""
    run_own_git(worktree, "read-tree", tree, index=index)
    os.makedirs(place, exist_ok=True)
    words = ("checkout-index", "-a", "-f", f"--prefix={os.path.abspath(place)}/")
    run_own_git(worktree, *words, index=index)


def write_out_files(worktree: str, tree: str, paths: Sequence[str], index: str) -> None:
    """Some files of a tree into the worktree, byte for byte, over what lies there."""
    run_own_git(worktree, "read-tree", tree, index=index)
    listed = "".join(f"{path}\0" for path in paths)
    words = ("checkout-index", "-f", "-z", "--stdin")
    run_own_git(worktree, *words, stdin=listed, index=index)
    os.unlink(index)


def run_own_git(worktree: str, *words: str, stdin: str = "", index: str = "") -> str:
    toplevel = find_toplevel(worktree)
    env = own_environment(toplevel, ensure_own_git_directory(toplevel))
    if index:
        env["GIT_INDEX_FILE"] = index
    return run_exact_git(toplevel, *words, stdin=stdin, env=env)
