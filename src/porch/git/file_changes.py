"""Two measured trees file by file: how much changed, how large it is, and each patch for itself."""

import os
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from porch.git.tree_changes import compare_trees, count_changed_lines
from porch.git.tree_files import run_own_git

_LINK, _INNER = "120000", "160000"
_NOTHING = "0"
_HEADER = "diff --git "


class ChangedContent(Struct, frozen=True, kw_only=True):
    """One file; `added` is None if its lines cannot be counted. A blob is empty where none is."""

    path: str
    status: str  # A, M, D or T: its type changed
    old: str
    new: str
    added: int | None
    removed: int | None
    old_size: int = 0
    new_size: int = 0
    is_link: bool = False
    is_repository: bool = False

    @property
    def size(self) -> int:
        return max(self.old_size, self.new_size)


def list_changed_contents(
    worktree: str, old: str, new: str, exclude: Sequence[str] = ()
) -> list[ChangedContent]:
    """Every file that differs, in the order in which git shows them; a rename is two of them."""
    raw = compare_trees(worktree, ("--raw", "-z", "--no-abbrev"), old, new, exclude=exclude)
    fields = raw.split("\0")
    rows = [(row.split(" "), path) for row, path in zip(fields[0::2], fields[1::2], strict=False)]
    sizes = measure_blobs(worktree, [blob for row, _ in rows for blob in row[2:4]])
    lines = {path: (a, r) for a, r, path in count_changed_lines(worktree, old, new, exclude)}
    return [_make_content(row, path, sizes, lines.get(path, ("-", "-"))) for row, path in rows]


def _make_content(
    row: list[str], path: str, sizes: Mapping[str, int], lines: tuple[str, str]
) -> ChangedContent:
    before, after, old, new, status = row
    added, removed = (int(each) if each.isdigit() else None for each in lines)
    mode = before.removeprefix(":") if status == "D" else after
    return ChangedContent(
        path=path,
        status=status,
        old="" if not old.strip(_NOTHING) else old,
        new="" if not new.strip(_NOTHING) else new,
        added=added,
        removed=removed,
        old_size=sizes.get(old, 0),
        new_size=sizes.get(new, 0),
        is_link=mode == _LINK,
        is_repository=mode == _INNER,
    )


def measure_blobs(worktree: str, blobs: Sequence[str]) -> dict[str, int]:
    """How many bytes each has; of what is no blob here there is no row."""
    asked = [blob for blob in dict.fromkeys(blobs) if blob.strip(_NOTHING)]
    if not asked:
        return {}
    words = ("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
    told = run_own_git(worktree, *words, stdin="".join(f"{blob}\n" for blob in asked))
    rows = (line.split(" ") for line in told.splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) == 3 and row[1] == "blob"}


def read_blob(worktree: str, blob: str) -> bytes:
    """Its bytes as they were measured; whoever asks knows how many they are."""
    told = run_own_git(worktree, "cat-file", "blob", blob)
    return told.encode("utf-8", "surrogateescape")


def read_patches(
    worktree: str, old: str, new: str, files: Sequence[ChangedContent]
) -> dict[str, str]:
    """The patch of each of these files, without its heading; what git calls binary has none."""
    if not files:
        return {}
    files = sorted(files, key=lambda each: os.fsencode(each.path))  # git's own order
    words = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "-U3")
    paths = [f":(top,literal){file.path}" for file in files]
    text = run_own_git(worktree, *words, "--submodule=short", old, new, "--", *paths)
    parts = [_cut_heading(part) for part in f"\n{text}".split(f"\n{_HEADER}")[1:]]
    # A file that became a link, or the other way, is shown as removed and made again.
    ends = [*accumulate(2 if file.status == "T" else 1 for file in files)]
    begins = [0, *ends]
    return {
        file.path: "\n".join(filter(None, parts[begin:end]))
        for file, begin, end in zip(files, begins, ends, strict=False)
    }


def _cut_heading(part: str) -> str:
    """From the first place on; names and modes are told otherwise."""
    lines = part.split("\n")
    first = next((n for n, line in enumerate(lines) if line.startswith("@@ ")), None)
    return "" if first is None else "\n".join(lines[first:]).removesuffix("\n")
