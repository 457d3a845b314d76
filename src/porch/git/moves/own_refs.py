"""Refs that only porch writes, as git keeps them: one small file each, without a process.

Written like git does, beside and renamed. Whatever is not plainly so is left to git: refs that lie
packed or in a table, and names that are in each other's way.
"""

import contextlib
import os
from collections.abc import Iterable

from porch.errors import OutsideError
from porch.git import git_directory
from porch.git.command import run_git
from porch.system import atomic

OWN = "refs/porch/"


def set_own_ref(repo: str, ref: str, commit: str, *, sync: bool = True) -> None:
    """Have a ref of ours name a commit; without `sync` a power cut may take it back."""
    path = _find_loose_file(repo, ref)
    if path is None or not _write_ref(path, commit, sync):
        run_git(repo, "update-ref", ref, commit)


def write_loose_ref(git_dir: str, ref: str, id_: str) -> bool:
    """Whether a ref of ours in a git directory names this object now; if not, ask git."""
    is_plain = ref.startswith(OWN) and git_directory.is_plain_ref(ref)
    return is_plain and _write_ref(os.path.join(git_dir, ref), id_, sync=True)


def _write_ref(path: str, commit: str, sync: bool) -> bool:
    if not git_directory.is_whole_hash(commit):
        return False
    # The name that git takes for its lock. Only one of us writes a ref, so what lies there is left
    # by a process that was killed.
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = f"{commit}\n".encode("ascii")
        atomic.publish_file(f"{path}.lock", path, data, sync=sync, mode=0o666)
    except (OSError, OutsideError):
        return False
    return True


def delete_own_refs(repo: str, refs: Iterable[str]) -> None:
    """Have none of these refs of ours any more; those that are not there are no obstacle."""
    left = [ref for ref in refs if not _delete_loose_ref(repo, ref)]
    if left:
        run_git(repo, "update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for ref in left))


def _delete_loose_ref(repo: str, ref: str) -> bool:
    path = _find_loose_file(repo, ref)
    if path is None or git_directory.is_packed_ref(repo, ref):
        return False
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    _remove_empty_directories(os.path.dirname(path))
    return True


def _remove_empty_directories(directory: str) -> None:
    """An empty directory would be in the way of a ref of that name."""
    while not f"{directory}/".endswith(OWN) and atomic.try_os_call(os.rmdir, directory):
        directory = os.path.dirname(directory)


def _find_loose_file(repo: str, ref: str) -> str | None:
    found = git_directory.find_git_directory(repo)
    is_ours = ref.startswith(OWN) and git_directory.is_plain_ref(ref)
    if found is None or not is_ours or os.path.isdir(os.path.join(found.common, "reftable")):
        return None
    return os.path.join(found.common, ref)
