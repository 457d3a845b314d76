"""Temporary debug lines that a branch would bring along: in what it adds, submodules included."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from porch.git import repository
from porch.git.command import read_git_bytes, run_git
from porch.plan.cleanup import source_files
from porch.plan.cleanup.debug_cleanup import judge_source
from porch.plan.cleanup.debug_markers import MARK, split_lines
from porch.plan.cleanup.source_text import DecodedSource, decode_source

# Settings of a submodule can call its changes none.
_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "-M", "--ignore-submodules=none")
_LINK, _REGULAR = "160000", ("100644", "100755")


class MarkedLine(Struct, frozen=True):
    """A marker that one commit has and another does not."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class AddedMarkers(Struct, frozen=True):
    """All of them, and what could not be looked into."""

    lines: tuple[MarkedLine, ...] = ()
    unseen: tuple[str, ...] = ()


class _Change(Struct, frozen=True):
    path: str
    mode: str
    old: str
    new: str


def find_added_markers(
    repo: str, old: str, new: str, *, checkouts: Sequence[str] = (), within: str = ""
) -> AddedMarkers:
    """The markers in the files of `new` that the same files of `old` do not have.

    The commits of a submodule are looked for where it is checked out in one of `checkouts`.
    `within` is a third commit: only what differs between it and `old` is looked at.
    """
    named = set(source_files.list_files_with(repo, MARK, new))
    touched = {each.path for each in _list_changes(repo, old, within)} if within else None
    lines: list[MarkedLine] = []
    unseen: list[str] = []
    for each in _list_changes(repo, old, new):
        if touched is not None and each.path not in touched:
            continue
        if each.mode == _LINK:
            inner = _look_into_submodule(each, checkouts)
            lines += inner.lines
            unseen += inner.unseen
        elif each.path in named and each.mode in _REGULAR:
            source = _read_blob(repo, each.new)
            lines += _list_new_markers(repo, each, source) if source else ()
            unseen += () if source else (f"{each.path} is binary or too large",)
    return AddedMarkers(tuple(lines), tuple(unseen))


def _list_changes(repo: str, old: str, new: str) -> Iterator[_Change]:
    """Paths that are in `new`, and differ; of a renamed file the old content is that it had."""
    fields = iter(run_git(repo, *_DIFF, old, new, "--").split("\0")[:-1])
    for head in fields:
        was, mode, before, after, status = head.split(" ")
        path = next(fields)
        path = next(fields) if status[0] in "RC" else path
        is_same_kind = (was == f":{_LINK}") == (mode == _LINK)
        if status != "D":
            yield _Change(path, mode, before if is_same_kind else "", after)


def _look_into_submodule(change: _Change, checkouts: Sequence[str]) -> AddedMarkers:
    for place in (os.path.join(each, change.path) for each in checkouts):
        if not os.path.lexists(os.path.join(place, ".git")):
            continue
        if not repository.resolve_commit(place, change.new):
            continue
        old = repository.resolve_commit(place, change.old) if change.old else None
        found = find_added_markers(place, old or _empty_tree(place), change.new, checkouts=[place])
        return AddedMarkers(
            tuple(MarkedLine(f"{change.path}/{each.path}", each.line) for each in found.lines),
            tuple(f"{change.path}/{each}" for each in found.unseen),
        )
    return AddedMarkers(unseen=(f"the submodule {change.path} is not checked out",))


def _empty_tree(repo: str) -> str:
    return run_git(repo, "mktree").strip()


def _read_blob(repo: str, blob: str) -> DecodedSource | None:
    if not blob.strip("0"):
        return DecodedSource("")
    data = read_git_bytes(repo, "cat-file", "blob", blob)
    return decode_source(data) if len(data) <= source_files.LARGEST else None


def _list_new_markers(repo: str, change: _Change, source: DecodedSource) -> Iterator[MarkedLine]:
    """By their whole text, so that nobody is blamed for one that only moved."""
    known = Counter(text for _, text in _list_markers(change.path, _read_blob(repo, change.old)))
    for line, text in _list_markers(change.path, source):
        if known[text] > 0:
            known[text] -= 1
        else:
            yield MarkedLine(change.path, line)


def _list_markers(path: str, source: DecodedSource | None) -> Iterator[tuple[int, str]]:
    """Each marker with its line, counted from 1, and with the lines that belong to it."""
    if source is None:
        return
    judged, lines = judge_source(path, source), split_lines(source.text)
    spans = [(block.begin, block.end) for block in judged.blocks]
    spans += [(left.line, left.line + 1) for left in judged.leftovers]
    for begin, end in sorted(spans):
        yield begin + 1, "".join(lines[begin:end])
