"""Searching the documents of a project, and keeping their index as they are now.

The imports are few on purpose: agents search often, and a cold search may cost three imports of
sqlite3. Whatever a changed document needs (YAML, git, hashing) is imported when one has changed.
"""

from __future__ import annotations

import os
import sqlite3

from porch.knowledge import index_update
from porch.knowledge.index import Index
from porch.knowledge.index_file import (
    INDEX_FILE_NAME,
    MEMORY_PATH,
    ensure_index_directory,
    make_index_trouble,
    remove_index,
)
from porch.knowledge.inlined_texts import inline_texts
from porch.knowledge.query_words import QuestionWords, make_match_query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from porch.knowledge.results import (
        FilesReindexed,
        IndexStatus,
        Reindexed,
        SearchHit,
        SearchResult,
    )
    from porch.store.where import ProjectPaths

    Answer = TypeVar("Answer")

DEFAULT_LIMIT = 10
DEFAULT_BUDGET = 5000
FULL_TEXT = "full-text"
SEMANTIC = "full-text + semantic"
_CANDIDATES = 200
# The usual constant of reciprocal rank fusion: how little the very first places weigh more.
_RANK_FUSION_CONSTANT = 60
_COUNT_METHOD = "estimate: one token for every four bytes of UTF-8"


def search_documents(
    where: ProjectPaths,
    phrases: list[str],
    *,
    limit: int = DEFAULT_LIMIT,
    budget: int = DEFAULT_BUDGET,
    metadata_only: bool = False,
) -> SearchResult:
    """The documents that fit these phrasings of one question best, fused by rank."""

    def found(index: Index, notes: list[str]) -> SearchResult:
        number = _refresh_worktree(where, index, notes)
        ranking = _DocumentRanking(index, number, phrases, notes)
        best = ranking.best(limit)
        results = [ranking.result(document, metadata_only) for document in best]
        texts = [] if metadata_only else [ranking.section_text(document) for document in best]
        inlined = list(zip(results, texts, strict=False))
        used = inline_texts(where.workspace, inlined, budget)
        return {
            "query": phrases,
            "method": ranking.method,
            "metadata_only": metadata_only,
            "results": results,
            "result_count": len(results),
            "token_budget": budget,
            "tokens_inlined": used,
            "token_count_method": _COUNT_METHOD,
            "notes": notes,
        }

    return _run_with_index(where, found)


def rebuild_index(where: ProjectPaths) -> Reindexed:
    """Throw the index away and make it again."""

    def made(index: Index, notes: list[str]) -> Reindexed:
        with index:
            known, *_ = index.worktree(where.workspace)
            if known:
                index.forget_worktree(known)
            number, changed = index_update.refresh_index(where, index, afresh=True)
            index.drop_unused_vectors()
        documents, sections, tokens = index.count(number)
        return {
            "stats": {
                "files_indexed": documents,
                "sections": sections,
                "total_tokens": tokens,
                "files_changed": len(changed),
            },
            "left_out": [{"path": path, "reason": why} for path, why in index.oddities(number)],
            "token_count_method": _COUNT_METHOD,
            "notes": notes,
        }

    return _run_with_index(where, made)


def reindex_files(where: ProjectPaths, paths: Sequence[str]) -> FilesReindexed:
    """Bring named files up to date, and look at no others."""

    def made(index: Index, notes: list[str]) -> FilesReindexed:
        with index:
            rows = index_update.refresh_documents(where, index, list(paths))
        return {
            "files": [{"path": path, "action": action} for path, action in rows],
            "file_count": len(rows),
            "notes": notes,
        }

    return _run_with_index(where, made)


def index_status(where: ProjectPaths) -> IndexStatus:
    """What the index knows, and whether it is behind; nothing is changed."""
    from porch.knowledge import embedding

    path = os.path.join(where.state_dir, INDEX_FILE_NAME)
    told: IndexStatus = {
        "index_exists": os.path.exists(path),
        "needs_reindex": True,
        "path": path,
        "method": SEMANTIC if embedding.find_model_directory() else FULL_TEXT,
        "documents": 0,
        "sections": 0,
        "total_tokens": 0,
        "changed": [],
        "left_out": [],
        "notes": [],
    }
    if told["index_exists"]:
        try:
            _look_at(where, path, told)
        except sqlite3.Error as error:
            told["notes"] = [f"the index cannot be read and will be rebuilt: {error}"]
    return told


def _look_at(where: ProjectPaths, path: str, told: IndexStatus) -> None:
    index = Index.open(path)
    try:
        number, *_ = index.worktree(where.workspace)
        counts = index.count(number)
        behind = index_update.list_changed_documents(where, index)
        told["left_out"] = [{"path": name, "reason": why} for name, why in index.oddities(number)]
    finally:
        index.close()
    told["documents"], told["sections"], told["total_tokens"] = counts
    told["needs_reindex"] = not number or bool(behind)
    told["changed"] = behind


def _refresh_worktree(where: ProjectPaths, index: Index, notes: list[str]) -> int:
    """The number of this worktree, with everything that changed indexed as far as possible."""
    number = index_update.find_current_worktree(where, index)
    if number:
        return number
    try:
        with index:
            return index_update.refresh_index(where, index)[0]
    except sqlite3.OperationalError as error:
        number, *_ = index.worktree(where.workspace)
        if make_index_trouble(error).kind != "locked" or not number:
            raise
        notes.append("another process is writing the index: the newest changes are not in it yet")
        return number


class _DocumentRanking:
    """Documents in the order of their scores; where those agree, as the lists together put them.

    A document stands where its best section stands.
    """

    def __init__(self, index: Index, worktree: int, phrases: list[str], notes: list[str]):
        from porch.knowledge import embedding

        self._index = index
        self._words = QuestionWords(index, phrases)
        # Of each section: its document, its weight in all lists, and the query that found it best.
        self._documents: dict[int, int] = {}
        self._weights: dict[int, float] = {}
        self._queries: dict[int, tuple[float, str]] = {}
        self._similar: dict[int, float] = {}
        self.method = FULL_TEXT
        matches = [make_match_query(phrase) for phrase in phrases]
        for query in matches:
            self._count(index.ranked(worktree, query, _CANDIDATES) if query else [], query)
        directory = embedding.find_model_directory()
        if directory:
            self._by_meaning(directory, worktree, dict(zip(phrases, matches, strict=True)), notes)
        self._scores = {section: self._score(section) for section in self._documents}
        self._best: dict[int, int] = {}
        for section in sorted(self._documents, key=self._place):
            self._best.setdefault(self._documents[section], section)

    def _by_meaning(
        self, directory: str, worktree: int, matches: dict[str, str], notes: list[str]
    ) -> None:
        from porch.knowledge import section_vectors

        try:
            near = section_vectors.find_nearest_sections(
                self._index, worktree, directory, list(matches)
            )
        except (ImportError, OSError, ValueError) as error:
            notes.append(f"the semantic model cannot be used: {error}")
            return
        self.method = SEMANTIC
        for query, rows in zip(matches.values(), near, strict=True):
            self._count([(section, document) for section, document, _ in rows], query)
            for section, _, similarity in rows:
                self._similar[section] = max(similarity, self._similar.get(section, 0.0))

    def _count(self, rows: list[tuple[int, int]], query: str) -> None:
        """One list more, best first."""
        for rank, (section, document) in enumerate(rows, 1):
            weight = 1 / (_RANK_FUSION_CONSTANT + rank)
            self._documents[section] = document
            self._weights[section] = self._weights.get(section, 0.0) + weight
            self._queries[section] = max(self._queries.get(section, (0.0, "")), (weight, query))

    def _score(self, section: int) -> float:
        """How far the section answers the question.

        Beside the meaning, all of the words count fully, and some of them little: a paraphrase
        shares common words with many sections that are about something else.
        """
        words = self._words.score(section)
        if self.method == FULL_TEXT:
            return round(words, 4)
        similarity = max(0.0, min(1.0, self._similar.get(section, 0.0)))
        return round(1 - (1 - words**3) * (1 - similarity), 4)

    def _place(self, section: int) -> tuple[float, float, int]:
        return -self._scores[section], -self._weights[section], section

    def best(self, limit: int) -> list[int]:
        """Documents, the one with the highest score first."""
        return list(self._best)[:limit]

    def section_text(self, document: int) -> str:
        """The section of a document that fits best."""
        return self._index.body(self._best[document])

    def result(self, document: int, metadata_only: bool) -> SearchHit:
        path, title, description, relevant, tags, tokens, _ = self._index.shown(document)
        section = self._best[document]
        headings, line = self._index.place(section)
        similarity = self._similar.get(section)
        return {
            "path": path,
            "score": self._scores[section],
            "matched_words": self._words.find_in(section),
            "similarity": None if similarity is None else round(similarity, 4),
            "title": title,
            "description": description,
            "heading": headings,
            "line": line,
            "excerpt": (
                None if metadata_only else self._index.excerpt(section, self._queries[section][1])
            ),
            "token_count": tokens,
            "relevant_files": relevant,
            "tags": tags,
            "section_text": None,
            "full_text": None,
        }


def _run_with_index(where: ProjectPaths, work: Callable[[Index, list[str]], Answer]) -> Answer:
    """Do it with the index on disk; made again if it is damaged, in memory if there is no place."""
    notes: list[str] = []
    place = _ensure_index_path(where, notes)
    for attempt in (1, 2, 3):
        try:
            index = Index.open(place)
            try:
                return work(index, notes)
            finally:
                index.close()
        except sqlite3.Error as error:
            if attempt == 3 or place == MEMORY_PATH:
                raise
            place = _recover_from_error(error, place, notes)
    raise AssertionError("the third attempt answers or raises")


def _ensure_index_path(where: ProjectPaths, notes: list[str]) -> str:
    try:
        return ensure_index_directory(where.state_dir)
    except OSError as error:
        notes.append(_describe_memory_index(where.state_dir, error.strerror or str(error)))
        return MEMORY_PATH


def _describe_memory_index(place: str, why: str) -> str:
    return f"the index was built in memory, for this call only: {place} cannot be written ({why})"


def _recover_from_error(error: sqlite3.Error, place: str, notes: list[str]) -> str:
    """Where to try again."""
    from porch.errors import BusyError, OutsideError

    known = make_index_trouble(error)
    if "fts5" in str(error) and "no such module" in str(error):
        raise OutsideError(
            "the SQLite of this Python has no full-text search (FTS5 is missing)",
            fix="use a Python whose sqlite3 has FTS5, such as those of python.org and of Linux",
            code="no-full-text",
        ) from error
    if known.kind == "locked":
        raise BusyError(
            f"another process is using the index {place}",
            fix="wait for it, then run the same command again",
            code="index-busy",
        ) from error
    if known.kind == "unwritable":
        notes.append(_describe_memory_index(place, str(error)))
        return MEMORY_PATH
    try:
        remove_index(place)
    except OSError as refused:
        notes.append(_describe_memory_index(place, refused.strerror or str(refused)))
        return MEMORY_PATH
    notes.append(f"the index has been rebuilt: {error}")
    return place
