"""Whether a checkout is exactly as its commit says, where git would have to read all its files.

Git compares whole seconds. So it reads each file again that is as young as the index, and the files
of a checkout that was made within a second stay that young. Here exact times are compared instead.

By the index all files are those of the commit. None was touched since the index was written. And
there are as many files as the index has; one that git ignores is one too many. Whoever is told no
asks git.
"""

import os

from porch.git import git_directory, repository
from porch.git.fresh.touched_files import SECOND_NS, FileClock, find_touched
from porch.git.index.raw_index import NotPlainError, iterate_plain_entries, read_root_tree

# With fewer that are as young as the index git is as quick; each is dated twice there.
_YOUNG = 2 * 500


def is_young_and_as_committed(toplevel: str) -> bool:
    """Whether nothing is changed, staged, new or ignored there; False if git can tell as well."""
    found, head = git_directory.find_git_directory(toplevel), repository.read_head(toplevel)
    if found is None or head is None:
        return False
    try:
        with open(os.path.join(found.own, "index"), "rb") as file:
            data, written = file.read(), os.fstat(file.fileno())
        # Git looked at each file before it wrote the index.
        since = FileClock(written.st_mtime_ns, written.st_dev)
        second = (since.ns // SECOND_NS).to_bytes(4, "big")
        if data.count(second) < _YOUNG:
            return False
        tree = repository.read_commit_tree(toplevel, head)
        return _holds_exactly(toplevel, data, tree, since)
    except OSError:
        return False


def _holds_exactly(toplevel: str, data: bytes, tree: str, since: FileClock) -> bool:
    id_bytes = len(tree) // 2
    try:
        entries = list(iterate_plain_entries(data, id_bytes))
    except NotPlainError:
        return False
    if not entries or read_root_tree(data, id_bytes, entries[-1]) != tree:
        return False
    return _has_files(toplevel, len(entries)) and not find_touched(toplevel, data, entries, since)


def _has_files(toplevel: str, count: int) -> bool:
    """Whether so many files lie there, besides the one of git at the top."""
    left, ahead = count + 1, [toplevel]
    while ahead and left >= 0:
        with os.scandir(ahead.pop()) as inside:
            for entry in inside:
                if entry.is_dir(follow_symlinks=False):
                    ahead.append(entry.path)
                else:
                    left -= 1
    return left == 0
