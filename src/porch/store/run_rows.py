"""One small file per run with what `porch status` and `porch pending` print of it.

They look at every run there is, so this is all that they read where it covers the journal: with
os alone, three calls of the system for a row and three for the end of its journal. Nothing is
decided from a row. One that is old, damaged or missing says nothing, and its run alone is read in
another way.
"""

from __future__ import annotations

import os

from porch.show.board import PICTURE_VERSION
from porch.store.view_files import check_sealed, seal
from porch.text.quick_json import parse_first_value, parse_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Literal

    from porch.show.shapes import RunRowShape, ToldDecision

    Row = RunRowShape
    # How much of a row: of what people are asked nothing, all of it, or only how it is printed.
    Part = Literal["row", "decisions", "told"]

FILE = "row.json"
_JOURNAL = "/journal.jsonl"
_FRAME = ("v", "seq", "length", "sum", "row")
# Strings of JSON hold no raw line break, so this cannot stand inside of one.
_BETWEEN = b',\n"decisions":'
_PRINTED = b',\n"told":'
_END = b"}\n"
_NONE_ASKED = b"[]"
_SHOWN = ("id", "title", "name", "kind", "position", "asked_at", "reason")
_TOLD = ("asked_at", "kind", "name")
_SEAM = b'%b"}\n'
_SEAM_LENGTH = 67
# Nobody waits for a pipe that lies where a row should.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_PIECE = 1 << 14
# The stamps of a row in which files and budgets had no say yet: whoever reads it measures them.
NOT_MEASURED: list[list[object]] = [["", 0]]


def encode_row(picture: Mapping[str, Any]) -> bytes:
    """JSON in lines: who lists runs need not take apart the second, what people are asked.

    The third is the same as people read it, so that nobody has to lay it out again. A plan has
    none, because what is wrong with the files of its answers is looked up when it is shown.
    """
    from porch.store.chain import encode_json as encode  # who only lists runs does without

    head = encode({key: picture[key] for key in (*_FRAME, "stamps") if key in picture})
    if not picture["decisions"]:
        return head[:-1] + _BETWEEN + _NONE_ASKED + _END
    lines = head[:-1] + _BETWEEN + encode(picture["decisions"])
    if not _is_plan(picture["decisions"]):
        lines += _PRINTED + encode([_draw_decision(each) for each in picture["decisions"]])
    return lines + _END


def _draw_decision(decision: Mapping[str, Any]) -> ToldDecision:
    """Cut where its commands name the run, for which another word may be needed later."""
    from porch.show.board import one_line, tell_decision
    from porch.store.run_names import split_at_names

    front, behind = tell_decision(decision)
    head = [one_line(decision[key]) for key in _TOLD]
    return *head, front, *split_at_names(behind, str(decision["id"]))


def draw_decisions(row: Mapping[str, Any]) -> list[ToldDecision]:
    """Of a row what was drawn with it; one that was folded just now has nothing drawn."""
    told: list[ToldDecision] = row.get("told") or [_draw_decision(d) for d in row["decisions"]]
    return told


def list_asked(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """When each question of a row was asked, and its name."""
    if "told" in row:
        return [(told[0], told[2]) for told in row["told"]]
    return [(each["asked_at"], each["name"]) for each in row["decisions"]]


def list_decision_kinds(row: Mapping[str, Any]) -> list[str]:
    """Of each question of a row what kind it is."""
    if "told" in row:
        return [told[1] for told in row["told"]]
    return [each["kind"] for each in row["decisions"]]


def _is_plan(decisions: list[Mapping[str, Any]]) -> bool:
    return any(each.get("subject") == "plan" for each in decisions)


def keep_row(run: str, row: Mapping[str, Any]) -> None:
    """For whoever looks next; without the lock, so the row may be older than one drawn meanwhile.

    Then it covers less, which readers notice. A row that cannot be kept is nobody's problem.
    """
    path = os.path.join(run, FILE)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(fd, "wb") as file:
            file.write(seal(encode_row(row)))
        os.replace(temporary, path)
    except OSError:
        return


def covering_rows(runs: str, names: list[str], part: Part) -> Iterator[tuple[str, Row | None]]:
    """Each name with its row; None where the row does not cover the journal as it is now."""
    try:
        # Names under it are looked up more quickly than whole paths.
        directory = os.open(runs, _FLAGS | os.O_DIRECTORY)
    except OSError:
        return
    try:
        for name in names:
            yield name, _read_covering_row(directory, name, part)
    finally:
        os.close(directory)


def known_seam(run: str) -> tuple[int, str] | None:
    """How long the journal of a run was when its row was drawn, and its sum then."""
    try:
        directory = os.open(run, _FLAGS | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        row = parse_value(_read_row_file(directory, ".").decode())
        return int(row["length"]), str(row["sum"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(directory)


def _read_covering_row(directory: int, name: str, part: Part) -> Row | None:
    """The row that was drawn, else the one that was announced by who died before drawing it."""
    row = _parse_covering_row(_read_row_file, directory, name, part)
    if row is None:
        from porch.store.coming_row import read_coming_row

        row = _parse_covering_row(read_coming_row, directory, name, part)
    return row


def _parse_covering_row(
    read: Callable[[int, str], bytes], directory: int, name: str, part: Part
) -> Row | None:
    try:
        head, _, rest = read(directory, name).partition(_BETWEEN)
        row: Row = parse_first_value(head.decode() + "}")
        length, total = row["length"], row["sum"].encode()
        if (
            row["v"] != PICTURE_VERSION
            or not _is_board_row(row["row"])
            or _read_journal_end(directory, name, length) != _SEAM % total
            or not rest.endswith(_END)
            or has_old_stamps(row)
        ):
            return None
        if part != "row":
            _add_questions(row, rest[: -len(_END)], part)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
    return row


def stamp_file(path: str) -> tuple[int, ...]:
    """Another one as soon as the file is written; nothing if there is none."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return ()
    return (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def has_old_stamps(row: Any) -> bool:
    """Whether a file was written that had a say in what answers do."""
    return any(tuple(now) != stamp_file(path) for path, *now in row.get("stamps") or ())


def _is_board_row(row: Any) -> bool:
    return type(row["waiting"]) is list and all(type(each["on"]) is str for each in row["waiting"])


def _add_questions(row: Row, rest: bytes, part: Part) -> None:
    """ValueError if these are none that can be shown: anybody may have written them."""
    asked, _, printed = rest.partition(_PRINTED)
    if asked == _NONE_ASKED:
        row["decisions"] = []
    elif printed and part == "told":
        row["told"] = _parse_told(printed)
    else:
        row["decisions"] = _parse_decisions(asked)


def _parse_told(printed: bytes) -> list[ToldDecision]:
    told: list[ToldDecision] = parse_value(printed.decode())
    if type(told) is not list or not all(map(_can_be_printed, told)):
        raise ValueError(FILE)
    return told


def _can_be_printed(told: Any) -> bool:
    """Texts in lines, with nothing in them that moves a cursor."""
    return type(told) is list and len(told) > 4 and "".join(told).replace("\n", "").isprintable()


def _parse_decisions(asked: bytes) -> list[Any]:
    found = parse_value(asked.decode())
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
        pieces = [os.read(fd, _PIECE)]
        # A piece that is not full is the last one: this is a file.
        while len(pieces[-1]) == _PIECE:
            pieces.append(os.read(fd, _PIECE))
        return check_sealed(b"".join(pieces))
    finally:
        os.close(fd)


def _read_journal_end(directory: int, name: str, length: int) -> bytes:
    """The end of a journal that has this length; one byte more would come out of a longer one."""
    fd = os.open(name + _JOURNAL, _FLAGS, dir_fd=directory)
    try:
        return os.pread(fd, _SEAM_LENGTH + 1, length - _SEAM_LENGTH)
    finally:
        os.close(fd)
