"""What happened in a run, as text: its last lines, or all of it piece by piece. Loads little."""

from __future__ import annotations

import os

from porch.show.place_words import PlaceWords
from porch.show.records import log_text
from porch.show.records.log_text import LINES_SHOWN
from porch.store import journal_tail, picture_cache, run_rows
from porch.system.regular_file import open_regular

_JOURNAL = "journal.jsonl"
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from porch.machine.records import RawRecord
    from porch.show.shapes import PlaceNames
    from porch.show.terminal_style import TerminalStyle
    from porch.store.where import ProjectPaths

__all__ = [
    "LINES_SHOWN",
    "is_drawn_whole",
    "iterate_log_pieces",
    "read_last_records",
    "read_numbered_records",
    "render_last_lines",
    "words_of",
]


def read_last_records(where: ProjectPaths, name: str, count: int) -> journal_tail.Tail | None:
    """None if the journal has to be read whole to say what is wrong with it."""
    directory = where.run_dir(name)
    known = run_rows.known_seam(directory)
    return journal_tail.read_tail(os.path.join(directory, _JOURNAL), count, known)


def read_numbered_records(
    where: ProjectPaths, name: str, first: int, last: int
) -> list[RawRecord] | None:
    """The records with these numbers, and no others; None if the journal has to be read whole."""
    directory = where.run_dir(name)
    known = run_rows.known_seam(directory)
    return journal_tail.read_window(os.path.join(directory, _JOURNAL), first, last, known)


def is_drawn_whole(where: ProjectPaths, name: str) -> bool:
    """Whether all of the journal was understood when the run was drawn; else somebody has to look.

    Lines are printed from records as they are, and a record may be chained and still malformed.
    """
    directory = where.run_dir(name)
    known = run_rows.known_seam(directory)
    try:
        size = os.stat(os.path.join(directory, _JOURNAL)).st_size
    except OSError:
        return False
    return known is not None and known[0] == size


def words_of(where: ProjectPaths, name: str, verbose: bool = False) -> PlaceWords:
    """How lines of this run name its places; titles and counts were kept with its picture."""
    if verbose:
        return PlaceWords(verbose=True)
    return PlaceWords(picture_cache.kept_names(where.run_dir(name)) or _read_names(where, name))


def _read_names(where: ProjectPaths, name: str) -> PlaceNames:
    """The same from the journal; of one that cannot be read, the lines that are left are plain."""
    from porch.errors import PorchError
    from porch.run.verbs.read_run import read_run
    from porch.show.status import names_of

    try:
        run = read_run(where, name)
    except PorchError:
        return {}
    return names_of(run.definition.protocol, run.state)


def render_last_lines(
    where: ProjectPaths,
    name: str,
    word: str,
    count: int,
    *,
    words: PlaceWords,
    look: TerminalStyle | None = None,
) -> str | None:
    """Under a line that says how many stand before them; `word` is what the run was called by."""
    tail = read_last_records(where, name, count)
    if tail is None:
        return None
    return log_text.tail_text(word, tail.records, tail.earlier, words, look=look)


def read_lost_records(where: ProjectPaths, name: str) -> list[RawRecord]:
    """What repairs of the journal could not keep and can still be read, the oldest repair first."""
    from porch.store import chain
    from porch.store.journal import scan_journal

    directory, lost = where.run_dir(name), []
    facts = [each["fact"] for each in scan_journal(os.path.join(directory, _JOURNAL)).records]
    for fact in facts:
        path = os.path.join(directory, os.path.basename(str(fact.get("aside"))))
        if fact["is"] == "JournalRepaired" and os.path.isfile(path):
            with open(path, "rb", opener=open_regular) as file:
                lost += chain.list_later_records(file.read(), fact["kept"])
    return lost


def iterate_log_pieces(
    where: ProjectPaths,
    name: str,
    as_json: bool,
    words: PlaceWords,
    *,
    look: TerminalStyle | None = None,
) -> Iterator[str] | None:
    """All of it; None if a record cannot be believed."""
    pieces = journal_tail.read_pieces(os.path.join(where.run_dir(name), _JOURNAL))
    if pieces is None:
        return None
    if not as_json:
        return log_text.text_pieces(pieces, words, look)
    import json

    write = json.JSONEncoder(ensure_ascii=False, indent=2).encode
    return log_text.json_pieces(name, pieces, write)
