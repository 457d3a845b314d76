"""What a run changed, as a page: each file with its lines, folded where there is much of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.git.diff_budget import is_generated_name
from porch.git.file_changes import ChangedContent
from porch.text.printable import make_printable
from porch.text.sha256 import sha256
from porch.web.pages.page_words import count_of, describe_size

FILES_ON_PAGE = 40
LINES_ON_PAGE = 2_000
# Larger files are named, and shown on a page of their own as far as that has room.
LARGEST_BESIDE = 400_000
MOST_LINES_BESIDE = 1_500
LARGEST_ALONE = 4_000_000
_OPEN_LINES = 150
_OPEN_IN_ALL = 1_200
_LONGEST_LINE = 1_000
_WORDS = {"A": "new", "D": "deleted", "M": "changed", "T": "another type"}
_LOOKS = {"A": "good", "D": "bad"}
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@")
# Kind, number before, number now, sign, text.
PatchLine = tuple[str, str, str, str, str]


def make_file_key(path: str) -> str:
    """How an address names a file: no path stands in one, so none can lead elsewhere."""
    return sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:20]


def is_shown_beside(file: ChangedContent) -> bool:
    """Whether its patch stands on the page of all files."""
    lines = (file.added or 0) + (file.removed or 0)
    return is_text(file) and file.size <= LARGEST_BESIDE and lines <= MOST_LINES_BESIDE


def is_text(file: ChangedContent) -> bool:
    return file.added is not None and not file.is_repository


def describe_total(files: Sequence[ChangedContent]) -> dict[str, Any]:
    return {
        "files": count_of(len(files), "file"),
        "added": sum(file.added or 0 for file in files),
        "removed": sum(file.removed or 0 for file in files),
    }


def make_files(
    files: Sequence[ChangedContent], patches: Mapping[str, str], address: str
) -> list[dict[str, Any]]:
    """`patches` has those of files that are shown here."""
    shown, told = 0, []
    for file in files:
        row = make_file(file, patches.get(file.path), address)
        lines = len(row["lines"])
        is_short = lines <= _OPEN_LINES and shown + lines <= _OPEN_IN_ALL
        row["is_open"] = is_short and file.status != "D" and not is_generated_name(file.path)
        shown += lines if row["is_open"] else 0
        told.append(row)
    return told


def make_file(
    file: ChangedContent, patch: str | None, address: str, begin: int = 0
) -> dict[str, Any]:
    """One file; of a long patch the lines of one page, from `begin` on."""
    key = make_file_key(file.path)
    lines = list(number_lines(patch or ""))
    return {
        "path": file.path,
        "key": key,
        "status": _WORDS.get(file.status, "changed"),
        "look": _LOOKS.get(file.status, "plain"),
        "added": file.added,
        "removed": file.removed,
        "lines": lines[begin : begin + LINES_ON_PAGE],
        "total": len(lines),
        "why": _describe_absence(file, patch),
        "address": f"{address}?file={key}",
        "is_alone": patch is None and is_text(file) and file.size <= LARGEST_ALONE,
        "is_open": True,
    }


def _describe_absence(file: ChangedContent, patch: str | None) -> str:
    if file.is_repository:
        return "This is a repository in the repository. Only its commit is compared."
    if file.added is None:
        return f"Binary file, {describe_size(file.new_size or file.old_size)}. It has no lines."
    if patch is None and file.size > LARGEST_ALONE:
        return f"Huge file, {describe_size(file.size)}. Look at it with git diff."
    if patch is None:
        lines = count_of((file.added or 0) + (file.removed or 0), "line")
        return f"Large: {lines} in a file of {describe_size(file.size)}."
    return "" if patch else "No line is different: only its name, its mode or its last line break."


def number_lines(patch: str) -> Iterator[PatchLine]:
    """Each line with its number before and now; what is said about the file has none."""
    before = now = 0
    for raw in patch.split("\n") if patch else ():
        found = _HUNK.match(raw)
        sign, text = raw[:1], _cut_line(raw[1:])
        if found:
            before, now = int(found[1]), int(found[2])
            yield "where", "", "", "", make_printable(_cut_line(raw))
        elif sign == "+":
            yield "added", "", str(now), "+", text
            now += 1
        elif sign == "-":
            yield "removed", str(before), "", "-", text
            before += 1
        elif sign == " ":
            yield "same", str(before), str(now), " ", text
            before, now = before + 1, now + 1
        else:
            yield "where", "", "", "", make_printable(_cut_line(raw.removeprefix("\\ ")))


def _cut_line(text: str) -> str:
    """One line of a hostile file must not be a page of its own."""
    left = len(text) - _LONGEST_LINE
    shown = make_printable(text[:_LONGEST_LINE])
    return f"{shown} ({count_of(left, 'more character')})" if left > 0 else shown
