"""One small file per run with what `porch status` and `porch pending` print of it.

They look at every run there is, so this is all that they read where it covers the journal: with
os and json only, three calls of the system for a row and three for the end of its journal. Nothing
is decided from a row. One that is old, damaged or missing says nothing, and its run alone is read
in another way.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from porch.show.shapes import RunRowShape

    Row = RunRowShape
    Parse = Callable[[str], tuple[Any, int]]

FILE = "row.json"
_JOURNAL = "/journal.jsonl"
_FRAME = ("v", "seq", "length", "sum", "row")
# Strings of JSON hold no raw line break, so this cannot stand inside of one.
_BETWEEN = b',\n"decisions":'
_NONE_ASKED = b"[]}\n"
_SHOWN = ("id", "title", "name", "kind", "position", "asked_at", "reason")
_SEAM = b'%b"}\n'
_SEAM_LENGTH = 67
# Nobody waits for a pipe that lies where a row should.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_PIECE = 1 << 14


def encode_row(picture: Mapping[str, Any]) -> bytes:
    """JSON in two lines: who lists runs need not take apart the second, what people are asked."""
    import json

    head = json.dumps({key: picture[key] for key in _FRAME}, separators=(",", ":")).encode()
    asked = json.dumps(picture["decisions"], separators=(",", ":")).encode()
    return head[:-1] + _BETWEEN + asked + b"}\n"


def keep_row(run: str, row: Mapping[str, Any]) -> None:
    """For whoever looks next; without the lock, so the row may be older than one drawn meanwhile.

    Then it covers less, which readers notice. A row that cannot be kept is nobody's problem.
    """
    path = os.path.join(run, FILE)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(fd, "wb") as file:
            file.write(encode_row(row))
        os.replace(temporary, path)
    except OSError:
        return


def covering_rows(
    runs: str, names: list[str], with_decisions: bool
) -> Iterator[tuple[str, Row | None]]:
    """Each name with its row; None where the row does not cover the journal as it is now."""
    import json

    parse = json.JSONDecoder().raw_decode
    try:
        # Names under it are looked up more quickly than whole paths.
        directory = os.open(runs, _FLAGS | os.O_DIRECTORY)
    except OSError:
        return
    try:
        for name in names:
            yield name, _read_covering_row(directory, name, parse, with_decisions)
    finally:
        os.close(directory)


def known_seam(run: str) -> tuple[int, str] | None:
    """How long the journal of a run was when its row was drawn, and its sum then."""
    import json

    try:
        directory = os.open(run, _FLAGS | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        row = json.loads(_read_row_file(directory, "."))
        return int(row["length"]), str(row["sum"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(directory)


def _read_covering_row(directory: int, name: str, parse: Parse, with_decisions: bool) -> Row | None:
    try:
        head, _, asked = _read_row_file(directory, name).partition(_BETWEEN)
        row = parse(head.decode() + "}")[0]
        length, total = row["length"], row["sum"].encode()
        if (
            type(row["row"]) is not dict
            or _read_journal_end(directory, name, length) != _SEAM % total
        ):
            return None
        if with_decisions:
            row["decisions"] = _parse_decisions(asked, parse)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
    return row if asked else None


def _parse_decisions(asked: bytes, parse: Parse) -> list[Any]:
    """ValueError if these are none that can be shown: anybody may have written them."""
    if asked == _NONE_ASKED:
        return []
    found = parse(asked.decode())[0]
    if type(found) is not list or not all(map(_can_be_shown, found)):
        raise ValueError(FILE)
    return found


def _can_be_shown(decision: Any) -> bool:
    lists = [decision.get(key, ()) for key in ("options", "findings", "artifacts")]
    reports = decision.get("reports", {})
    return (
        all(type(decision[key]) is str for key in _SHOWN)
        and all(type(each) is list for each in lists)
        and all(_has_texts(option, "answer", "meaning", "command") for option in lists[0])
        and all(_has_texts(finding, "by", "finding") for finding in lists[1])
        and all(type(report) is str for report in reports.values())
    )


def _has_texts(value: Any, *keys: str) -> bool:
    return all(type(value[key]) is str for key in keys)


def _read_row_file(directory: int, name: str) -> bytes:
    fd = os.open(f"{name}/{FILE}", _FLAGS, dir_fd=directory)
    try:
        data = piece = os.read(fd, _PIECE)
        while len(piece) == _PIECE:
            piece = os.read(fd, _PIECE)
            data += piece
        return data
    finally:
        os.close(fd)


def _read_journal_end(directory: int, name: str, length: int) -> bytes:
    """The end of a journal that has this length; one byte more would come out of a longer one."""
    fd = os.open(name + _JOURNAL, _FLAGS, dir_fd=directory)
    try:
        return os.pread(fd, _SEAM_LENGTH + 1, length - _SEAM_LENGTH)
    finally:
        os.close(fd)
