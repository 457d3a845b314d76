"""The index of documents in one SQLite file for all worktrees; it can be made again at any time.

A document is one path with one content, so worktrees that agree share it and those that differ do
not push each other out. Two processes may search and index at once: readers see the last whole
state (WAL), writers wait for each other.
"""

from __future__ import annotations

import sqlite3

from porch.knowledge.unspaced_text import join_characters, separate_characters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from porch.knowledge.sections import Document

WAIT_S = 10.0
# Of the tables and of what stands in them; an index with another one is made again.
_VERSION = 2
_SCHEMA = """
create table worktrees (
    id integer primary key, path text not null unique, paths text not null default '',
    pruned text not null default '', settings text not null default '',
    listing text not null default '', picture text not null default '');
create table documents (
    id integer primary key, path text not null, hash text not null, title text not null,
    description text not null, relevant_files text not null, tags text not null,
    tokens integer not null, problem text not null, unique (path, hash));
create table seen (
    worktree integer not null, path text not null, stamp text not null, document integer,
    why text not null default '', primary key (worktree, path)) without rowid;
create index seen_document on seen (document, worktree);
create table sections (
    id integer primary key, document integer not null, headings text not null,
    line integer not null, digest text not null default '');
create index section_document on sections (document);
create virtual table words using fts5 (
    title, headings, description, body, tokenize = 'porter unicode61 remove_diacritics 2');
insert into words (words, rank) values ('rank', 'bm25(10.0, 6.0, 4.0, 1.0)');
create table vectors (
    digest text not null, model text not null, vector blob not null,
    primary key (digest, model)) without rowid;
"""
# The best are chosen inside, where FTS5 sorts by itself; behind the join SQLite would do it twice.
_RANKED_QUERY = """
select best.rowid, sections.document from
    (select rowid, rank from words where words match ? order by rank limit ?) as best
join sections on sections.id = best.rowid
join seen on seen.document = sections.document and seen.worktree = ?
order by best.rank, best.rowid limit ?
"""
_SHOWN_QUERY = """
select path, title, description, relevant_files, tags, tokens, problem from documents where id = ?
"""
_EXCERPT_QUERY = """
select snippet(words, 3, '', '', ' … ', 48) from words where words match ? and rowid = ?
"""


class Index:
    """An open index; methods raise sqlite3.Error, and `place.trouble` says what that means."""

    __slots__ = ("database", "path")

    def __init__(self, path: str):
        self.path = path
        self.database = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)

    @classmethod
    def open(cls, path: str) -> Index:
        index = cls(path)
        try:
            index._prepare()
        except BaseException:
            index.close()
            raise
        return index

    def _prepare(self) -> None:
        (version,) = self._one("pragma user_version")
        if version == _VERSION:
            return
        if version:
            raise sqlite3.DatabaseError("it was made by another release")
        self.database.execute("pragma journal_mode = wal")
        with self:
            # Another process may have been quicker.
            if self._one("pragma user_version") == (0,):
                for statement in _SCHEMA.split(";\n"):
                    self.database.execute(statement)
                self.database.execute(f"pragma user_version = {_VERSION}")

    def __enter__(self) -> Index:
        self.database.execute("begin immediate")
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.database.execute("rollback" if kind else "commit")

    def close(self) -> None:
        self.database.close()

    def _one(self, statement: str, *values: object) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self.database.execute(statement, values).fetchone() or ()
        return row

    def worktree(self, path: str) -> tuple[int, str, str, str, str, str]:
        """Number, paths, pruned, settings, listing and picture of a worktree; empty at first."""
        row = self._one(
            "select id, paths, pruned, settings, listing, picture from worktrees where path = ?",
            path,
        )
        number, *texts = row or (0, "", "", "", "", "")
        return (number, texts[0], texts[1], texts[2], texts[3], texts[4])

    def keep_worktree(self, path: str, texts: tuple[str, str, str, str, str]) -> int:
        (number,) = self._one(
            "insert into worktrees (path, paths, pruned, settings, listing, picture)"
            " values (?, ?, ?, ?, ?, ?) on conflict (path) do update set paths = excluded.paths,"
            " pruned = excluded.pruned, settings = excluded.settings,"
            " listing = excluded.listing, picture = excluded.picture returning id",
            path,
            *texts,
        )
        return int(number)

    def keep_picture(self, number: int, picture: str) -> None:
        self.database.execute("update worktrees set picture = ? where id = ?", (picture, number))

    def other_worktrees(self, number: int) -> list[tuple[int, str]]:
        return self.database.execute(
            "select id, path from worktrees where id != ?", (number,)
        ).fetchall()

    def forget_worktree(self, number: int) -> None:
        for path in list(self.stamps(number)):
            self.forget(number, path)
        self.database.execute("delete from worktrees where id = ?", (number,))

    def stamps(self, worktree: int) -> dict[str, str]:
        return dict(
            self.database.execute("select path, stamp from seen where worktree = ?", (worktree,))
        )

    def known(self, path: str, hash_: str) -> int | None:
        row = self._one("select id from documents where path = ? and hash = ?", path, hash_)
        return int(row[0]) if row else None

    def add(self, path: str, hash_: str, document: Document, tokens: int) -> int:
        """Index a content that is not there yet."""
        told = (document.title, document.description, "\n".join(document.relevant_files))
        number = self.database.execute(
            "insert into documents (path, hash, title, description, relevant_files, tags, tokens,"
            " problem) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (path, hash_, *told, "\n".join(document.tags), tokens, document.problem),
        ).lastrowid
        named = " ".join([document.description, *document.tags])
        above = separate_characters(document.title), separate_characters(named)
        for section in document.sections:
            row = self.database.execute(
                "insert into sections (document, headings, line) values (?, ?, ?)",
                (number, section.headings, section.line),
            ).lastrowid
            self.database.execute(
                "insert into words (rowid, title, headings, description, body)"
                " values (?, ?, ?, ?, ?)",
                (
                    row,
                    above[0],
                    separate_characters(section.headings),
                    above[1],
                    separate_characters(section.body),
                ),
            )
        return int(number or 0)

    def stamp(self, worktree: int, path: str) -> str | None:
        row = self._one("select stamp from seen where worktree = ? and path = ?", worktree, path)
        return str(row[0]) if row else None

    def see(self, worktree: int, path: str, stamp: str, document: int | None, why: str) -> bool:
        """This worktree now has that document at the path; whether it had another, or none.

        The one before goes if no worktree has it any more.
        """
        before = self._one(
            "select document from seen where worktree = ? and path = ?", worktree, path
        )
        self.database.execute(
            "insert or replace into seen (worktree, path, stamp, document, why)"
            " values (?, ?, ?, ?, ?)",
            (worktree, path, stamp, document, why),
        )
        if before == (document,):
            return False
        if before:
            self._drop_unseen(before[0])
        return True

    def forget(self, worktree: int, path: str) -> bool:
        """Whether there was anything to forget."""
        before = self._one(
            "delete from seen where worktree = ? and path = ? returning document", worktree, path
        )
        if before:
            self._drop_unseen(before[0])
        return bool(before)

    def _drop_unseen(self, document: int | None) -> None:
        if document is None or self._one("select 1 from seen where document = ?", document):
            return
        for table, column in (("words", "rowid"), ("sections", "id")):
            self.database.execute(
                f"delete from {table} where {column} in"  # noqa: S608 - two names written here
                " (select id from sections where document = ?)",
                (document,),
            )
        self.database.execute("delete from documents where id = ?", (document,))

    def ranked(self, worktree: int, match: str, most: int) -> list[tuple[int, int]]:
        """Section and document of the best matches, best first."""
        (worktrees,) = self._one("select count(*) from worktrees")
        return self.database.execute(
            _RANKED_QUERY, (match, most * int(worktrees), worktree, most)
        ).fetchall()

    def shown(self, document: int) -> tuple[str, str, str, list[str], list[str], int, str]:
        """Path, title, description, relevant files, tags, tokens and problem."""
        path, title, description, files, tags, tokens, problem = self._one(_SHOWN_QUERY, document)
        return path, title, description, files.splitlines(), tags.splitlines(), tokens, problem

    def place(self, section: int) -> tuple[str, int]:
        """Heading path and line."""
        headings, line = self._one("select headings, line from sections where id = ?", section)
        return headings, line

    def excerpt(self, section: int, match: str) -> str:
        """The part of a section around the words; its beginning where they are not in it."""
        row = self._one(_EXCERPT_QUERY, match, section) if match else ()
        if row:
            return join_characters(row[0])
        return self.body(section)[:300]

    def body(self, section: int) -> str:
        """The text of a section, without its heading."""
        (body,) = self._one("select body from words where rowid = ?", section)
        return join_characters(body)

    def sections_with(self, term: str) -> set[int]:
        """In their text, their headings, or what the document says of itself; of all worktrees."""
        rows = self.database.execute("select rowid from words where words match ?", (term,))
        return {row for (row,) in rows}

    def count_all_sections(self) -> int:
        (count,) = self._one("select count(*) from sections")
        return int(count)

    def count(self, worktree: int) -> tuple[int, int, int]:
        """Documents, sections and tokens of a worktree."""
        documents, tokens = self._one(
            "select count(*), coalesce(sum(tokens), 0) from seen"
            " join documents on documents.id = seen.document where worktree = ?",
            worktree,
        )
        (sections,) = self._one(
            "select count(*) from seen join sections on sections.document = seen.document"
            " where worktree = ?",
            worktree,
        )
        return documents, sections, tokens

    def oddities(self, worktree: int) -> list[tuple[str, str]]:
        """Files that are left out, and documents whose front matter is; each with its reason."""
        return self.database.execute(
            "select seen.path, coalesce(nullif(why, ''), problem) from seen"
            " left join documents on documents.id = seen.document"
            " where worktree = ? and (why != '' or problem != '') order by seen.path",
            (worktree,),
        ).fetchall()

    def texts_without_vector(self, worktree: int, model: str) -> Iterator[tuple[int, str]]:
        """Section and text of what has no vector of this model yet; a title counts once in it."""
        rows = self.database.execute(
            "select sections.id, case when instr(words.headings, words.title) = 1 then ''"
            " else words.title || '. ' end || words.headings || '. '"
            " || words.description || ' ' || words.body from seen"
            " join sections on sections.document = seen.document"
            " join words on words.rowid = sections.id where seen.worktree = ? and not exists"
            " (select 1 from vectors where digest = sections.digest and model = ?)",
            (worktree, model),
        )
        for section, text in rows:
            yield section, join_characters(text)

    def has_vector(self, digest: str, model: str) -> bool:
        return bool(
            self._one("select 1 from vectors where digest = ? and model = ?", digest, model)
        )

    def keep_vectors(self, model: str, rows: Iterable[tuple[int, str, bytes | None]]) -> None:
        """Section, digest of its text, and the vector of that unless it is there already."""
        for section, digest, vector in rows:
            self.database.execute("update sections set digest = ? where id = ?", (digest, section))
            if vector is not None:
                self.database.execute(
                    "insert or ignore into vectors values (?, ?, ?)", (digest, model, vector)
                )

    def vectors(self, worktree: int, model: str) -> list[tuple[int, int, bytes]]:
        """Section, document and vector of everything that this worktree has."""
        return self.database.execute(
            "select sections.id, sections.document, vectors.vector from seen"
            " join sections on sections.document = seen.document"
            " join vectors on vectors.digest = sections.digest and vectors.model = ?"
            " where seen.worktree = ?",
            (model, worktree),
        ).fetchall()

    def drop_unused_vectors(self) -> None:
        self.database.execute(
            "delete from vectors where digest not in (select digest from sections)"
        )
