"""Two thousand documents: a cold search, and what one changed document costs to index again."""

import random
import shlex
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.cold import _call, _installed, _run
from bench.measure import Result, of_times, ratio, seconds
from porch.knowledge import search
from porch.store import where as places

DOCUMENTS = 2000
ROUNDS = 41
CHANGES = 120
_SYLLABLES = [a + b for a in "bcdfgklmnprstv" for b in ("a", "e", "i", "o", "u", "al", "er", "in")]
_INSERT = """\
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
with database:
    database.execute("insert into texts values (?)", (open(sys.argv[2]).read(),))
"""


def results(place: Path) -> list[Result]:
    root = place / "repository"
    texts = _repository(root)
    python, porch = _installed(place)
    envoy = porch.with_name("envoy")
    phrase = texts.phrase()
    _call([str(envoy), "knowledge", "search", "docs", phrase], root)
    _answers(envoy, phrase, root)
    return [
        _cold(python, envoy, phrase, root),
        _changed_cold(python, envoy, texts, place),
        _changed(texts, place),
    ]


class Texts:
    """Documents out of made-up words, some of them in every other document, most in few."""

    def __init__(self, root: Path):
        self.root = root
        self._random = random.Random(20261116)
        self._words = [self._word() for _ in range(4000)]

    def _word(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=self._random.randint(2, 4)))

    def words(self, count: int) -> str:
        picks = (int(self._random.expovariate(1 / 500)) for _ in range(count))
        return " ".join(self._words[min(pick, 3999)] for pick in picks)

    def phrase(self) -> str:
        return f"how does the {self._words[300]} {self._words[3]} work in {self._words[900]}"

    def text(self) -> str:
        front = f"---\ntitle: {self.words(4)}\ndescription: {self.words(10)}\n---\n"
        parts = [f"## {self.words(3)}\n\n{self.words(70)}\n" for _ in range(4)]
        return f"{front}# {self.words(4)}\n\n{self.words(60)}\n\n" + "\n".join(parts)

    def path(self, number: int) -> Path:
        return self.root / "docs" / f"part{number % 40:02}" / f"document{number:04}.md"

    def change(self, number: int) -> Path:
        path = self.path(number)
        path.write_text(self.text())
        return path


def _repository(root: Path) -> Texts:
    root.mkdir(parents=True)
    _run("git", "init", "--quiet", root)
    texts = Texts(root)
    for number in range(DOCUMENTS):
        texts.path(number).parent.mkdir(parents=True, exist_ok=True)
        texts.change(number)
    return texts


def _answers(envoy: Path, phrase: str, root: Path) -> None:
    """A quick answer must be one."""
    words = " ".join(map(shlex.quote, [str(envoy), "knowledge", "search", "docs", phrase]))
    _run("sh", "-c", f"cd {shlex.quote(str(root))} && {words} | grep -q '\"result_count\": 10'")


def _cold(python: Path, envoy: Path, phrase: str, root: Path) -> Result:
    mine = [str(envoy), "knowledge", "search", "docs", phrase]
    bare = [str(python), "-I", "-c", "import sqlite3"]
    name = "search of 2,000 documents / python -I -c 'import sqlite3'"
    return ratio(name, 3.0, lambda: _call(mine, root), lambda: _call(bare, root), ROUNDS)


def _bare(path: Path) -> sqlite3.Connection:
    """A plain table with the same journal and the same syncing as the index."""
    database = sqlite3.connect(path)
    database.execute("pragma journal_mode = wal")
    database.execute("create table if not exists texts (body text)")
    return database


def _changed_cold(python: Path, envoy: Path, texts: Texts, place: Path) -> Result:
    """A search that finds one document changed, against a process that inserts its text."""
    _bare(place / "bare-cold.sqlite3").close()
    mine = [str(envoy), "knowledge", "search", "docs", texts.phrase()]
    bare = [str(python), "-I", "-c", _INSERT, str(place / "bare-cold.sqlite3")]

    def both(number: int) -> tuple[float, float]:
        path = texts.change(number * 7)
        first = seconds(lambda: _call(mine, texts.root))
        return first, seconds(lambda: _call([*bare, str(path)], texts.root))

    name = "search with 1 of 2,000 changed / a process that inserts it"
    return of_times(name, 5.0, [both(number) for number in range(ROUNDS)])


def _changed(texts: Texts, place: Path) -> Result:
    """One named document indexed again, against its text inserted; both open, write and close."""
    where = places.find_project(str(texts.root))
    search.search_documents(where, [texts.phrase()])

    def insert(path: Path) -> None:
        database = _bare(place / "bare.sqlite3")
        with database:
            database.execute("insert into texts values (?)", (path.read_text(),))
        database.close()

    def rounds() -> Iterator[tuple[float, float]]:
        for number in range(CHANGES):
            path = texts.change(number * 11)
            change = [str(path.relative_to(texts.root))]
            index = partial(search.reindex_files, where, change)
            later = seconds(partial(insert, path)) if number % 2 else 0.0
            yield seconds(index), later or seconds(partial(insert, path))

    return of_times("1 of 2,000 indexed again / bare insert of its text", 5.0, list(rounds()))
