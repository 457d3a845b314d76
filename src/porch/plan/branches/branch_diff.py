"""What a branch adds to its base, in numbers and as text; what is uncommitted counts, too."""

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from porch.errors import FailedError, UsageError
from porch.git import repository, worktrees
from porch.git.command import run_git
from porch.git.diff_budget import FittedDiff, fit_diff
from porch.plan.branches import base_branch

CAP = 200_000
# Everything a person's settings could bend is said, so that the answer depends on files alone.
_DIFF = (
    *("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "-O/dev/null"),
    *("-M", "--no-rename-empty", "--diff-algorithm=myers"),
    *("--submodule=short", "--ignore-submodules=none"),
)
_PATCH = ("-U3", "--inter-hunk-context=0", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")
_HEADER = b"diff --git "


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file in the list of all that changed."""

    path: str
    added: int | None
    deleted: int | None
    modified: bool
    is_new: bool
    is_deleted: bool
    renamed: str | None
    binary: bool


class FileChange(Struct, frozen=True):
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

    def row(self) -> ChangedFile:
        return ChangedFile(
            path=self.path,
            added=self.added,
            deleted=self.deleted,
            modified=self.status not in ("A", "D"),
            is_new=self.status == "A",
            is_deleted=self.status == "D",
            renamed=self.renamed,
            binary=self.added is None,
        )


class BranchDiff(Struct, frozen=True):
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


def read_branch_diff(
    toplevel: str,
    base: str,
    *,
    path: str = "",
    summary: bool = False,
    cap: int = CAP,
    branch: str = "",
    is_shared: bool = False,
) -> BranchDiff:
    """What the files as they are, or the commits of a named branch, add to the base branch.

    It begins where the two parted. `path` is a literal one, seen from the top of the repository.
    Shared, the cap is divided among the files; otherwise it cuts off what comes last.
    """
    head = _require_head(toplevel, branch)
    start = _find_merge_base(toplevel, base, head)
    only = (
        *(_make_pathspec(path) or (":(top)",)),
        *(() if branch else _list_inner_worktrees(toplevel)),
    )
    with _open_diff_ends(toplevel, start, head if branch else "") as (ends, env):
        words = ("--raw", "--numstat", "-z", "--no-abbrev", *ends, "--", *only)
        files = _parse_changed_files(run_git(toplevel, *_DIFF, *words, env=env))
        if summary:
            return BranchDiff(base, start, files)
        patch = (*_PATCH, *ends, "--", *only)
        if is_shared:
            see = f"git diff {start[:12]}{f' {branch}' if branch else ''} -- "
            fitted = _read_shared_diff(toplevel, patch, env, cap=cap, see=see)
            return BranchDiff(
                base, start, files, fitted.text, fitted.total, fitted.shown, fitted.cut
            )
        shown = _read_diff_text(toplevel, patch, env, cap)
    text = shown.data.decode("utf-8", "replace")
    return BranchDiff(
        base, start, files, text, shown.total, len(shown.data), _list_cut_files(files, shown)
    )


def path_from_top(toplevel: str, directory: str, path: str) -> str:
    """A path that was given in a directory, seen from the top; the top itself is ""."""
    top, whole = os.path.realpath(toplevel), os.path.normpath(os.path.join(directory, path))
    if not path or os.path.realpath(whole) == top:
        return ""
    # The last part stays as it is: a link is a file of the repository, wherever it leads.
    place, name = os.path.split(whole)
    seen = os.path.relpath(os.path.join(os.path.realpath(place), name), top)
    _make_pathspec(seen)
    return seen


def _require_head(toplevel: str, branch: str) -> str:
    head = repository.resolve_commit(toplevel, f"refs/heads/{branch}" if branch else "HEAD")
    if head is None:
        raise FailedError(
            f"there is no branch '{branch}'" if branch else "there is no commit here yet",
            fix="see `git branch --list`" if branch else "commit something first",
            code="branch-not-found" if branch else "no-commit",
        )
    return head


def _find_merge_base(toplevel: str, base: str, head: str) -> str:
    commit = base_branch.branch_commit(toplevel, base) or repository.resolve_commit(toplevel, base)
    start = base_branch.merge_base(toplevel, commit, head) if commit else None
    if start is None:
        why = "has no commit in common with this one" if commit else "does not exist"
        raise FailedError(
            f"the base branch '{base}' {why}",
            fix=f"name another one in {base_branch.VARIABLE}, or fetch it",
            code="no-base-branch",
        )
    return start


def _make_pathspec(path: str) -> tuple[str, ...]:
    if os.path.isabs(path) or ".." in path.split("/") or "\0" in path:
        raise UsageError(
            f"{path!r} is outside the repository",
            fix="name a file or a directory of this repository",
            code="outside-path",
        )
    named = os.path.normpath(path) if path else "."
    return () if named == "." else (f":(top,literal){named}",)


@contextmanager
def _open_diff_ends(
    toplevel: str, start: str, head: str
) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """What git is to compare: two commits, or one with the files as they lie there."""
    if head:
        yield (start, head), {}
        return
    with repository.snapshot_index(toplevel, ()) as env:
        yield ("--cached", start), env


def _list_inner_worktrees(toplevel: str) -> Iterator[str]:
    """Worktrees that lie in this one: they are checkouts of other branches, not files of it."""
    top = os.path.realpath(toplevel) + os.sep
    for each in worktrees.list_worktrees(toplevel):
        path = os.path.realpath(each.path)
        if path.startswith(top):
            yield f":(top,exclude,literal){path.removeprefix(top)}"


def _parse_changed_files(out: str) -> tuple[FileChange, ...]:
    """First the states of all files, then their numbers, in the same order."""
    fields = iter(out.split("\0")[:-1])
    states: list[str] = []
    found: list[FileChange] = []
    for field in fields:
        if field.startswith(":"):
            status = field.rpartition(" ")[2][0]
            states.append(status)
            _skip_fields(fields, 2 if status == "R" else 1)
        else:
            found.append(_parse_file_change(field, fields, states[len(found)]))
    return tuple(found)


def _skip_fields(fields: Iterator[str], number: int) -> None:
    for _ in range(number):
        next(fields)


def _parse_file_change(field: str, fields: Iterator[str], status: str) -> FileChange:
    added, deleted, path = field.split("\t", 2)
    # An empty path means that two follow: the one it had, and the one it has.
    renamed = None if path else _readable_path(next(fields))
    path = path or next(fields)
    return FileChange(
        _readable_path(path), _parse_line_count(added), _parse_line_count(deleted), status, renamed
    )


def _parse_line_count(text: str) -> int | None:
    return None if text == "-" else int(text)


def _readable_path(path: str) -> str:
    """Bytes of a name that are no UTF-8 are spelled out; any program can read the answer."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class _ShownDiff(NamedTuple):
    """Whole lines from the beginning, what follows on them, and how many bytes there are."""

    data: bytes
    next: bytes
    total: int


def _read_diff_text(
    toplevel: str, words: tuple[str, ...], env: Mapping[str, str], cap: int
) -> _ShownDiff:
    with tempfile.TemporaryDirectory(prefix="porch-diff-") as room:
        # Through a file, for there may be far more of it than anybody wants in memory.
        place = os.path.join(room, "diff")
        run_git(toplevel, *_DIFF, f"--output={place}", *words, env=env)
        with open(place, "rb") as file:
            data, total = file.read(cap + len(_HEADER)), os.fstat(file.fileno()).st_size
    end = total if total <= cap else data.rfind(b"\n", 0, cap) + 1
    return _ShownDiff(data[:end], data[end:], total)


def _read_shared_diff(
    toplevel: str, words: tuple[str, ...], env: Mapping[str, str], *, cap: int, see: str
) -> FittedDiff:
    with tempfile.TemporaryDirectory(prefix="porch-diff-") as room:
        place = os.path.join(room, "diff")
        run_git(toplevel, *_DIFF, f"--output={place}", *words, env=env)
        with open(place, "rb") as file:
            return fit_diff(file, cap, lambda path: f"{see}{shlex.quote(path)}")


def _list_cut_files(files: tuple[FileChange, ...], shown: _ShownDiff) -> tuple[str, ...]:
    """The files of which some or all is missing: all but those behind which another one begins."""
    if len(shown.data) == shown.total:
        return ()
    seen = b"\n" + shown.data + shown.next[: len(_HEADER)]
    # Lines of content begin with a sign, so none can pass for a header.
    begun = seen.count(b"\n" + _HEADER)
    ends = accumulate(each.headers for each in files)
    return tuple(each.path for each, end in zip(files, ends, strict=True) if end >= begun)
