"""Committing exactly what a run changed in somebody's own checkout.

The person may have edited files before the run began, even the same ones. So the change of the run,
from the files with which it began to those of now, is put on top of HEAD, as a cherry-pick would.
What the person edited stays uncommitted.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence

from porch.errors import FailedError
from porch.git import repository
from porch.git.command import run_exact_git, run_git
from porch.git.measured_tree import own_environment
from porch.git.merge import Conflict, cherry_pick_tree
from porch.git.own_git_directory import ensure_own_git_directory

Entry = tuple[str, str]  # mode and blob
_LINKS = ("120000", "160000")


def write_run_tree(workspace: str, base: str, paths: Sequence[str], head: str | None) -> str:
    """The tree of HEAD with what the run changed at these paths."""
    with tempfile.TemporaryDirectory(prefix="porch-finish-") as room:
        index = os.path.join(room, "index")
        now = repository.write_tree_of_paths(workspace, paths, head, index)
        before = _write_tree_before(workspace, base, paths, head, index)
    head_tree = repository.read_commit_tree(workspace, head)
    if before == head_tree:
        return now
    env = repository.read_commit_identity(workspace)
    began = run_git(workspace, "commit-tree", before, "-m", "began", env=env).strip()
    ended = run_git(workspace, "commit-tree", now, "-p", began, "-m", "ended", env=env).strip()
    tree = cherry_pick_tree(workspace, head_tree, ended)
    if isinstance(tree, Conflict):
        raise _mixed_edits_error(tree.files)
    return tree


def _mixed_edits_error(files: Sequence[str]) -> FailedError:
    return FailedError(
        f"you and the run changed the same lines, and yours are not committed: {', '.join(files)}",
        fix="commit these files yourself, then finish again; `porch finish ID --keep` leaves all",
        code="finish-mixed-edits",
    )


def _write_tree_before(
    workspace: str, base: str, paths: Sequence[str], head: str | None, index: str
) -> str:
    """HEAD, but with these paths as they were when the run began."""
    env = {"GIT_INDEX_FILE": index}
    run_git(workspace, "read-tree", head or "--empty", env=env)
    known = _read_entries(run_git(workspace, "ls-files", "-s", "-z", env=env), has_stage=True)
    began = _read_base(workspace, base)
    rows = []
    for path in paths:
        entry = began.get(path)
        if entry is None:
            rows.append(f"0 {'0' * len(base)}\t{path}\0")
        elif known.get(path) != entry:
            rows.append(f"{entry[0]} {_bring_blob(workspace, path, entry)}\t{path}\0")
    run_git(workspace, "update-index", "-z", "--index-info", env=env, stdin="".join(rows))
    return run_git(workspace, "write-tree", env=env).strip()


def _read_base(workspace: str, base: str) -> Mapping[str, Entry]:
    own = own_environment(workspace, ensure_own_git_directory(workspace))
    return _read_entries(run_exact_git(workspace, "ls-tree", "-r", "-z", base, env=own))


def _read_entries(listing: str, has_stage: bool = False) -> dict[str, Entry]:
    found = {}
    for row in filter(None, listing.split("\0")):
        front, _, path = row.partition("\t")
        parts = front.split(" ")
        found[path] = (parts[0], parts[1] if has_stage else parts[2])
    return found


def _bring_blob(workspace: str, path: str, entry: Entry) -> str:
    """What was measured is raw; what is committed went through the filters of its path."""
    mode, blob = entry
    if mode == "160000":
        return blob
    own = own_environment(workspace, ensure_own_git_directory(workspace))
    text = run_exact_git(workspace, "cat-file", "blob", blob, env=own)
    named = () if mode in _LINKS else ("--path", path)
    return run_git(workspace, "hash-object", "-w", "--stdin", *named, stdin=text).strip()
