"""What differs between two measured trees; nothing of the repository has a say in that either."""

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from porch.git import repository
from porch.git.command import read_git_bytes, run_exact_git
from porch.git.git_directory import is_whole_hash
from porch.git.measured_tree import find_toplevel, own_environment
from porch.git.moves.own_refs import write_loose_ref
from porch.git.own_git_directory import ensure_own_git_directory
from porch.text.late_pattern import late_pattern

if TYPE_CHECKING:  # who only keeps a tree compares none
    from porch.git.changed_paths import ChangedPath

_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index")
_HUNK = late_pattern(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", re.MULTILINE)
REFS = "refs/porch/"
_RAW = ("--raw", "-z", "--no-abbrev")


def list_changed_paths(
    worktree: str, old: str, new: str, exclude: Sequence[str] = ()
) -> "list[ChangedPath]":
    """Every path that differs, with A, M, D or T; a rename is a D and an A."""
    from porch.git.changed_paths import parse_raw_diff

    raw = compare_trees(worktree, _RAW, old, new, exclude=exclude)
    return parse_raw_diff(raw, lambda blob: _run_own_git(worktree, "cat-file", "blob", blob))


def read_patch(repo: str, old: str, new: str, exclude: Sequence[str] = ()) -> bytes:
    """Every difference of two trees as text; of what has no lines, the names of both contents."""
    toplevel = find_toplevel(repo)
    env = own_environment(toplevel, ensure_own_git_directory(toplevel))
    return read_git_bytes(toplevel, "diff", *_PLAIN, old, new, *_without(exclude), env=env)


def count_changed_lines(
    worktree: str, old: str, new: str, exclude: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    """Lines added, lines removed and path; of a file that is binary there stands a `-`."""
    out = compare_trees(worktree, ("--numstat", "-z"), old, new, exclude=exclude)
    parts = (row.split("\t", 2) for row in out.split("\0") if row)
    return [(added, removed, path) for added, removed, path in parts]


def count_net_lines(
    worktree: str, old: str, new: str, exclude: Sequence[str] = ()
) -> tuple[int, int]:
    """Lines added and removed; everything is counted as text, also what looks binary."""
    rows = count_changed_lines(worktree, old, new, exclude)
    pairs = [(int(added), int(removed)) for added, removed, _ in rows if added != "-"]
    binary = [f":(top,literal){path}" for added, _, path in rows if added == "-"]
    if binary:
        text = _run_own_git(worktree, "diff", "--text", "-U0", old, new, "--", *binary)
        # Content cannot forge one of these, for its lines begin with a sign.
        pairs += [(int(new_ or 1), int(old_ or 1)) for old_, new_ in _HUNK.findall(text)]
    return sum(added for added, _ in pairs), sum(removed for _, removed in pairs)


def keep_tree(worktree: str, name: str, tree: str) -> None:
    """Keep a tree under a ref of our own git directory, where nobody else cleans up."""
    own = ensure_own_git_directory(find_toplevel(worktree))
    if not write_loose_ref(own.path, f"{REFS}{name}", tree):
        _run_own_git(worktree, "update-ref", f"{REFS}{name}", tree)


def compare_trees(
    worktree: str, words: tuple[str, ...], old: str, new: str, *, exclude: Sequence[str] = ()
) -> str:
    """What git prints of two trees; what they hold never changes, so it is not asked twice."""
    if old == new:
        return ""
    is_fixed = is_whole_hash(old) and is_whole_hash(new)
    ask = _ask_difference if is_fixed else _ask_difference.__wrapped__
    return ask(worktree, (*words, old, new, *_without(exclude)))


@lru_cache(maxsize=32)
def _ask_difference(worktree: str, words: tuple[str, ...]) -> str:
    found = _read_difference(worktree, words)
    return _run_own_git(worktree, "diff", *words) if found is None else found


def _read_difference(worktree: str, words: tuple[str, ...]) -> str | None:
    """The same of two trees that are new, where all of them is asked for."""
    if words[: len(_RAW)] != _RAW or words[-2:] != ("--", ":/"):
        return None
    from porch.git.objects.loose_trees import compare_loose_trees

    own = ensure_own_git_directory(find_toplevel(worktree))
    shared = os.path.join(repository.find_common_directory(worktree), "objects")
    stores = (os.path.join(own.path, "objects"), shared)
    return compare_loose_trees(stores, *words[len(_RAW) : -2])


def _without(exclude: Sequence[str]) -> tuple[str, ...]:
    return ("--", ":/", *(f":(top,exclude,glob){pattern}" for pattern in exclude))


def _run_own_git(worktree: str, *words: str) -> str:
    toplevel = find_toplevel(worktree)
    env = own_environment(toplevel, ensure_own_git_directory(toplevel))
    front = (words[0], *_PLAIN) if words[0].startswith("diff") else (words[0],)
    return run_exact_git(toplevel, *front, *words[1:], env=env)
