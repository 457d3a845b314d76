"""What searching and indexing answer: the keys of their JSON, in its order.

Plain dictionaries that only the type checker knows more about: a cold search may cost three
imports of sqlite3, and making classes costs more. Nothing imports this while it runs.
"""

from typing import TypedDict


class SearchHit(TypedDict):
    """A document that fits, and the section of it that fits best."""

    path: str
    score: float
    matched_words: list[str]
    similarity: float | None
    title: str
    description: str
    heading: str
    line: int
    excerpt: str | None
    token_count: int
    relevant_files: list[str]
    tags: list[str]
    section_text: str | None
    full_text: str | None


class SearchResult(TypedDict):
    """The documents that fit a question."""

    query: list[str]
    method: str
    metadata_only: bool
    results: list[SearchHit]
    result_count: int
    token_budget: int
    tokens_inlined: int
    token_count_method: str
    notes: list[str]


class LeftOut(TypedDict):
    """A document that is not in the index, and why."""

    path: str
    reason: str


class IndexStats(TypedDict):
    """How much is in the index."""

    files_indexed: int
    sections: int
    total_tokens: int
    files_changed: int


class Reindexed(TypedDict):
    """An index that was made again."""

    stats: IndexStats
    left_out: list[LeftOut]
    token_count_method: str
    notes: list[str]


class IndexedFile(TypedDict):
    """What became of a file that was named."""

    path: str
    action: str


class FilesReindexed(TypedDict):
    """Named files that were brought up to date."""

    files: list[IndexedFile]
    file_count: int
    notes: list[str]


class IndexStatus(TypedDict):
    """What the index knows, and whether it is behind."""

    index_exists: bool
    needs_reindex: bool
    path: str
    method: str
    documents: int
    sections: int
    total_tokens: int
    changed: list[str]
    left_out: list[LeftOut]
    notes: list[str]
