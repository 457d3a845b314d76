"""Searching the documents of a project, and keeping their index as they are now.

The imports are few on purpose: agents search often, and a cold search may cost three imports of
sqlite3. Whatever a changed document needs (YAML, git, hashing) is imported when one has changed.
"""

from __future__ import annotations

import os
import sqlite3

from porch.adapters.knowledge import files, indexing
from porch.adapters.knowledge.index import Index
from porch.adapters.knowledge.place import MEMORY, NAME, make_place, remove, trouble
from porch.adapters.knowledge.words import match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from porch.adapters.where import Where

    Answer = TypeVar("Answer")

LIMIT = 10
BUDGET = 5000
FULL_TEXT = "full-text"
SEMANTIC = "full-text + semantic"
_CANDIDATES = 200
# The usual constant of reciprocal rank fusion: how little the very first places weigh more.
_FLATTEN = 60
_ESTIMATE = "estimate: one token for every four bytes of UTF-8"


def search(
    where: Where,
    phrases: list[str],
    *,
    limit: int = LIMIT,
    budget: int = BUDGET,
    metadata_only: bool = False,
) -> dict[str, Any]:
    """The documents that fit these phrasings of one question best, fused by rank."""

    def found(index: Index, notes: list[str]) -> dict[str, Any]:
        number = _refreshed(where, index, notes)
        ranking = _Ranking(index, number, phrases, notes)
        best = ranking.best(limit)
        results = [ranking.result(document, score, metadata_only) for document, score in best]
        used = 0 if metadata_only else _inline(where, results, budget)
        return {
            "query": phrases,
            "method": ranking.method,
            "metadata_only": metadata_only,
            "results": results,
            "result_count": len(results),
            "token_budget": budget,
            "tokens_inlined": used,
            "token_count_method": _ESTIMATE,
            "notes": notes,
        }

    return _with_index(where, found)


def reindex(where: Where) -> dict[str, Any]:
    """Throw the index away and make it again."""

    def made(index: Index, notes: list[str]) -> dict[str, Any]:
        with index:
            known, *_ = index.worktree(where.workspace)
            if known:
                index.forget_worktree(known)
            number, changed = indexing.refresh(where, index, afresh=True)
            index.drop_unused_vectors()
        documents, sections, tokens = index.count(number)
        stats = {"files_indexed": documents, "sections": sections, "total_tokens": tokens}
        left_out = [{"path": path, "reason": why} for path, why in index.oddities(number)]
        return {
            "stats": stats | {"files_changed": len(changed)},
            "left_out": left_out,
            "token_count_method": _ESTIMATE,
            "notes": notes,
        }

    return _with_index(where, made)


def reindex_from_changes(where: Where, changes: list[dict[str, Any]]) -> dict[str, Any]:
    """Bring named files up to date, and look at no others."""
    paths = [str(change["path"]) for change in changes]

    def made(index: Index, notes: list[str]) -> dict[str, Any]:
        with index:
            rows = indexing.refresh_only(where, index, paths)
        told = [{"path": path, "action": action} for path, action in rows]
        return {"files": told, "file_count": len(told), "notes": notes}

    return _with_index(where, made)


def status(where: Where) -> dict[str, Any]:
    """What the index knows, and whether it is behind; nothing is changed."""
    from porch.adapters.knowledge import semantic

    path = os.path.join(where.state_dir, NAME)
    told: dict[str, Any] = {
        "index_exists": os.path.exists(path),
        "needs_reindex": True,
        "path": path,
        "method": SEMANTIC if semantic.place() else FULL_TEXT,
        "documents": 0,
        "sections": 0,
        "total_tokens": 0,
        "changed": [],
        "left_out": [],
        "notes": [],
    }
    if told["index_exists"]:
        try:
            told |= _looked_at(where, path)
        except sqlite3.Error as error:
            told["notes"] = [f"the index cannot be read and will be made again: {error}"]
    return told


def _looked_at(where: Where, path: str) -> dict[str, Any]:
    index = Index.open(path)
    try:
        number, *_ = index.worktree(where.workspace)
        documents, sections, tokens = index.count(number)
        behind = indexing.changed(where, index)
        left_out = [{"path": name, "reason": why} for name, why in index.oddities(number)]
    finally:
        index.close()
    return {
        "needs_reindex": not number or bool(behind),
        "documents": documents,
        "sections": sections,
        "total_tokens": tokens,
        "changed": behind,
        "left_out": left_out,
    }


def _refreshed(where: Where, index: Index, notes: list[str]) -> int:
    """The number of this worktree, with everything that changed indexed as far as possible."""
    number = indexing.current(where, index)
    if number:
        return number
    try:
        with index:
            return indexing.refresh(where, index)[0]
    except sqlite3.OperationalError as error:
        number, *_ = index.worktree(where.workspace)
        if trouble(error).kind != "locked" or not number:
            raise
        notes.append("another process is writing the index: the newest changes are not in it yet")
        return number


class _Ranking:
    """Documents in the order in which several lists together put them."""

    def __init__(self, index: Index, worktree: int, phrases: list[str], notes: list[str]):
        from porch.adapters.knowledge import semantic

        self._index = index
        self._matches = [match(phrase) for phrase in phrases]
        self._scores: dict[int, float] = {}
        self._sections: dict[int, tuple[float, int, str]] = {}
        self._similar: dict[int, float] = {}
        self._lists = 0
        self.method = FULL_TEXT
        for query in self._matches:
            self._count(index.ranked(worktree, query, _CANDIDATES) if query else [], query)
        directory = semantic.place()
        if directory:
            self._by_meaning(directory, worktree, phrases, notes)

    def _by_meaning(
        self, directory: str, worktree: int, phrases: list[str], notes: list[str]
    ) -> None:
        from porch.adapters.knowledge import meaning

        try:
            near = meaning.nearest(self._index, worktree, directory, phrases, _CANDIDATES)
        except (ImportError, OSError, ValueError) as error:
            notes.append(f"the semantic model cannot be used: {error}")
            return
        self.method = SEMANTIC
        for query, rows in zip(self._matches, near, strict=True):
            self._count([(section, document) for section, document, _ in rows], query)
            for _, document, similarity in rows:
                self._similar[document] = max(similarity, self._similar.get(document, 0.0))

    def _count(self, rows: list[tuple[int, int]], query: str) -> None:
        """One list more: a document stands where its best section stands."""
        self._lists += 1
        best: dict[int, int] = {}
        for section, document in rows:
            best.setdefault(document, section)
        for rank, (document, section) in enumerate(best.items(), 1):
            weight = 1 / (_FLATTEN + rank)
            self._scores[document] = self._scores.get(document, 0.0) + weight
            if weight > self._sections.get(document, (0.0, 0, ""))[0]:
                self._sections[document] = (weight, section, query)

    def best(self, limit: int) -> list[tuple[int, float]]:
        """Documents with their scores; 1 is the first place in every list."""
        highest = self._lists / (_FLATTEN + 1)
        order = sorted(self._scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(document, round(score / highest, 4)) for document, score in order[:limit]]

    def result(self, document: int, score: float, metadata_only: bool) -> dict[str, Any]:
        path, title, description, relevant, tags, tokens, _ = self._index.shown(document)
        _, section, query = self._sections[document]
        headings, line = self._index.place(section)
        similarity = self._similar.get(document)
        return {
            "path": path,
            "score": score,
            "similarity": None if similarity is None else round(similarity, 4),
            "title": title,
            "description": description,
            "heading": headings,
            "line": line,
            "excerpt": None if metadata_only else self._index.excerpt(section, query),
            "token_count": tokens,
            "relevant_files": relevant,
            "tags": tags,
            "full_text": None,
        }


def _inline(where: Where, results: list[dict[str, Any]], budget: int) -> int:
    """Whole texts in order of rank, as far as the budget goes; a smaller one may still fit."""
    used = 0
    for result in results:
        if used + result["token_count"] <= budget:
            data, why = files.content(where.workspace, result["path"], indexing.LARGEST)
            if not why:
                result["full_text"] = data.decode("utf-8", "replace")
                used += result["token_count"]
    return used


def _with_index(where: Where, work: Callable[[Index, list[str]], Answer]) -> Answer:
    """Do it with the index on disk; made again if it is damaged, in memory if there is no place."""
    notes: list[str] = []
    place = _place(where, notes)
    for attempt in (1, 2, 3):
        try:
            index = Index.open(place)
            try:
                return work(index, notes)
            finally:
                index.close()
        except sqlite3.Error as error:
            if attempt == 3 or place == MEMORY:
                raise
            place = _after(error, place, notes)
    raise AssertionError("the third attempt answers or raises")


def _place(where: Where, notes: list[str]) -> str:
    try:
        return make_place(where.state_dir)
    except OSError as error:
        notes.append(_in_memory(where.state_dir, error.strerror or str(error)))
        return MEMORY


def _in_memory(place: str, why: str) -> str:
    return f"the index was made in memory for this call only: {place} cannot be written ({why})"


def _after(error: sqlite3.Error, place: str, notes: list[str]) -> str:
    """Where to try again."""
    from porch.errors import BusyError, OutsideError

    known = trouble(error)
    if "fts5" in str(error) and "no such module" in str(error):
        raise OutsideError(
            "the SQLite of this Python cannot search full text (it lacks FTS5)",
            fix="use a Python whose sqlite3 has FTS5; those of python.org and of Linux have it",
            code="no-full-text",
        ) from error
    if known.kind == "locked":
        raise BusyError(
            f"another process holds the index {place}",
            fix="wait for it and run the same command again",
            code="index-busy",
        ) from error
    if known.kind == "unwritable":
        notes.append(_in_memory(place, str(error)))
        return MEMORY
    try:
        remove(place)
    except OSError as refused:
        notes.append(_in_memory(place, refused.strerror or str(refused)))
        return MEMORY
    notes.append(f"the index was damaged and has been made again ({error})")
    return place
