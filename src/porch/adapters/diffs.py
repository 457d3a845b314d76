"""What a branch adds to its base, in numbers and as text; what is uncommitted counts, too."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from porch.adapters import base_branch, git, worktrees
from porch.adapters.git_command import ask
from porch.errors import FailedError, UsageError

CAP = 200_000
# Everything a person's settings could bend is said, so that the answer depends on files alone.
_DIFF = (
    *("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "-O/dev/null"),
    *("-M", "--no-rename-empty", "--diff-algorithm=myers"),
    *("--submodule=short", "--ignore-submodules=none"),
)
_PATCH = ("-U3", "--inter-hunk-context=0", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")
_HEADER = b"diff --git "


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file; of a binary one no lines are known. `renamed` is the path it had in the base."""

    path: str
    added: int | None
    deleted: int | None
    status: str
    renamed: str | None = None

    @property
    def headers(self) -> int:
        """A file that became a link, or the other way, is shown as removed and made again."""
        return 2 if self.status == "T" else 1

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "added": self.added,
            "deleted": self.deleted,
            "modified": self.status not in ("A", "D"),
            "is_new": self.status == "A",
            "is_deleted": self.status == "D",
            "renamed": self.renamed,
            "binary": self.added is None,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """Since `merge_base`. Bytes are those of git; without a text their total is not known."""

    base: str
    merge_base: str
    files: tuple[FileChange, ...]
    text: str = ""
    bytes_total: int | None = None
    bytes_shown: int = 0
    cut_files: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        return bool(self.bytes_total and self.bytes_shown < self.bytes_total)

    def as_json(self) -> dict[str, Any]:
        return {
            "base_branch": self.base,
            "merge_base": self.merge_base,
            "changed_files": [each.as_json() for each in self.files],
            "added": sum(each.added or 0 for each in self.files),
            "deleted": sum(each.deleted or 0 for each in self.files),
            "diff": self.text,
            "truncated": self.truncated,
            "bytes_total": self.bytes_total,
            "bytes_shown": self.bytes_shown,
            "truncated_files": list(self.cut_files),
        }


def against(
    toplevel: str,
    base: str,
    *,
    path: str = "",
    summary: bool = False,
    cap: int = CAP,
    branch: str = "",
) -> Diff:
    """What the files as they are, or the commits of a named branch, add to the base branch.

    It begins where the two parted. `path` is a literal one, seen from the top of the repository.
    """
    head = _head(toplevel, branch)
    start = _start(toplevel, base, head)
    only = (*(_pathspec(path) or (":(top)",)), *(() if branch else _inner(toplevel)))
    with _ends(toplevel, start, head if branch else "") as (ends, env):
        words = ("--raw", "--numstat", "-z", "--no-abbrev", *ends, "--", *only)
        files = _files(ask(toplevel, *_DIFF, *words, env=env))
        if summary:
            return Diff(base, start, files)
        shown = _text(toplevel, (*_PATCH, *ends, "--", *only), env, cap)
    text = shown.data.decode("utf-8", "replace")
    return Diff(base, start, files, text, shown.total, len(shown.data), _cut(files, shown))


def inside(toplevel: str, directory: str, path: str) -> str:
    """A path that was given in a directory, seen from the top; the top itself is ""."""
    top, whole = os.path.realpath(toplevel), os.path.normpath(os.path.join(directory, path))
    if not path or os.path.realpath(whole) == top:
        return ""
    # The last part stays as it is: a link is a file of the repository, wherever it leads.
    place, name = os.path.split(whole)
    seen = os.path.relpath(os.path.join(os.path.realpath(place), name), top)
    _pathspec(seen)
    return seen


def _head(toplevel: str, branch: str) -> str:
    head = git.resolve(toplevel, f"refs/heads/{branch}" if branch else "HEAD")
    if head is None:
        raise FailedError(
            f"there is no branch '{branch}'" if branch else "there is no commit here yet",
            fix="see `git branch --list`" if branch else "commit something first",
            code="branch-not-found" if branch else "no-commit",
        )
    return head


def _start(toplevel: str, base: str, head: str) -> str:
    commit = base_branch.commit_of(toplevel, base) or git.resolve(toplevel, base)
    start = base_branch.merge_base(toplevel, commit, head) if commit else None
    if start is None:
        why = "has no commit in common with this one" if commit else "does not exist"
        raise FailedError(
            f"the base branch '{base}' {why}",
            fix=f"name another one in {base_branch.VARIABLE}, or fetch it",
            code="no-base-branch",
        )
    return start


def _pathspec(path: str) -> tuple[str, ...]:
    if os.path.isabs(path) or ".." in path.split("/") or "\0" in path:
        raise UsageError(
            f"{path!r} leads out of the repository",
            fix="name a file or a directory of this repository",
            code="outside-path",
        )
    named = os.path.normpath(path) if path else "."
    return () if named == "." else (f":(top,literal){named}",)


@contextmanager
def _ends(toplevel: str, start: str, head: str) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """What git is to compare: two commits, or one with the files as they lie there."""
    if head:
        yield (start, head), {}
        return
    with git.snapshot(toplevel, ()) as env:
        yield ("--cached", start), env


def _inner(toplevel: str) -> Iterator[str]:
    """Worktrees that lie in this one: they are checkouts of other branches, not files of it."""
    top = os.path.realpath(toplevel) + os.sep
    for each in worktrees.registered(toplevel):
        path = os.path.realpath(each.path)
        if path.startswith(top):
            yield f":(top,exclude,literal){path.removeprefix(top)}"


def _files(out: str) -> tuple[FileChange, ...]:
    """First the states of all files, then their numbers, in the same order."""
    fields = iter(out.split("\0")[:-1])
    states: list[str] = []
    found: list[FileChange] = []
    for field in fields:
        if field.startswith(":"):
            status = field.rpartition(" ")[2][0]
            states.append(status)
            _skip(fields, 2 if status == "R" else 1)
        else:
            found.append(_counted(field, fields, states[len(found)]))
    return tuple(found)


def _skip(fields: Iterator[str], number: int) -> None:
    for _ in range(number):
        next(fields)


def _counted(field: str, fields: Iterator[str], status: str) -> FileChange:
    added, deleted, path = field.split("\t", 2)
    # An empty path means that two follow: the one it had, and the one it has.
    renamed = None if path else _readable(next(fields))
    path = path or next(fields)
    return FileChange(_readable(path), _number(added), _number(deleted), status, renamed)


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def _readable(path: str) -> str:
    """Bytes of a name that are no UTF-8 are spelled out; any program can read the answer."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class _Shown(NamedTuple):
    """Whole lines from the beginning, what follows on them, and how many bytes there are."""

    data: bytes
    next: bytes
    total: int


def _text(toplevel: str, words: tuple[str, ...], env: Mapping[str, str], cap: int) -> _Shown:
    with tempfile.TemporaryDirectory(prefix="porch-diff-") as room:
        # Through a file, for there may be far more of it than anybody wants in memory.
        place = os.path.join(room, "diff")
        ask(toplevel, *_DIFF, f"--output={place}", *words, env=env)
        with open(place, "rb") as file:
            data, total = file.read(cap + len(_HEADER)), os.fstat(file.fileno()).st_size
    end = total if total <= cap else data.rfind(b"\n", 0, cap) + 1
    return _Shown(data[:end], data[end:], total)


def _cut(files: tuple[FileChange, ...], shown: _Shown) -> tuple[str, ...]:
    """The files of which some or all is missing: all but those behind which another one begins."""
    if len(shown.data) == shown.total:
        return ()
    seen = b"\n" + shown.data + shown.next[: len(_HEADER)]
    # Lines of content begin with a sign, so none can pass for a header.
    begun = seen.count(b"\n" + _HEADER)
    ends = accumulate(each.headers for each in files)
    return tuple(each.path for each, end in zip(files, ends, strict=True) if end >= begun)
