"""The row of the next record: there before the record, believed once that is in the journal."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.show.board import PICTURE_VERSION
from porch.store import chain, coming_row, run_rows

NAME = "0001-x"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    path.mkdir()
    return path


def append(run: Path, records: int = 1) -> tuple[int, str]:
    """So many records more; returns how long the journal is then, and its sum."""
    journal = run / "journal.jsonl"
    before = journal.read_bytes() if journal.exists() else b""
    data, total = grow(before, records)
    journal.write_bytes(data)
    return len(data), total


def grow(data: bytes, records: int = 1) -> tuple[bytes, str]:
    found, _ = chain.parse_records(data)
    total = found.sum
    for seq in range(found.seq + 1, found.seq + records + 1):
        line, total = chain.render_record_line(seq, total, {"fact": {}})
        data += line
    return data, total


def announce(run: Path, length: int, total: str, title: str = "x") -> None:
    row = {
        "v": PICTURE_VERSION,
        "seq": 1,
        "length": length,
        "sum": total,
        "row": {"title": title, "waiting": []},
    }
    coming = coming_row.ComingRow(str(run))
    try:
        coming.write(run_rows.encode_row({**row, "decisions": []}))
    finally:
        coming.close()


def look(run: Path) -> Any:
    ((_, row),) = run_rows.covering_rows(str(run.parent), [run.name], "decisions")
    return row


def test_a_row_that_was_announced_is_believed_from_its_record_on_and_no_longer(run: Path) -> None:
    append(run)
    data, total = grow((run / "journal.jsonl").read_bytes())
    announce(run, len(data), total)
    assert look(run) is None
    (run / "journal.jsonl").write_bytes(data)
    assert look(run)["row"]["title"] == "x"
    append(run)
    assert look(run) is None


def test_a_row_that_was_drawn_comes_first(run: Path) -> None:
    length, total = append(run)
    announce(run, length, total, "announced")
    drawn = {
        "v": PICTURE_VERSION,
        "seq": 1,
        "length": length,
        "sum": total,
        "row": {"title": "drawn", "waiting": []},
    }
    run_rows.keep_row(str(run), {**drawn, "decisions": []})
    assert look(run)["row"]["title"] == "drawn"


def test_a_short_row_after_a_long_one_is_read_alone(run: Path) -> None:
    for title in ("x" * 100_000, "short", "y" * 5000, ""):
        announce(run, *append(run), title)
        assert look(run)["row"]["title"] == title


def test_a_row_that_is_half_written_says_nothing(run: Path) -> None:
    append(run, 2)
    announce(run, *append(run), "first")
    file = run / coming_row.FILE
    before = file.read_bytes()
    announce(run, *append(run), "other")
    whole = file.read_bytes()
    assert len(before) == len(whole)
    for at in range(len(whole)):
        for torn in (whole[:at] + before[at:], before[:at] + whole[at:], whole[:at]):
            file.write_bytes(torn)
            assert (look(run) is None) == (torn != whole), at


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"ffffffff 00000000\n", b"0 0\n", b"a\nb"])
def test_garbage_says_nothing(run: Path, data: bytes) -> None:
    append(run)
    (run / coming_row.FILE).write_bytes(data)
    assert look(run) is None


def test_what_somebody_put_in_its_place_is_neither_followed_nor_waited_for(
    run: Path, tmp_path: Path
) -> None:
    length, total = append(run)
    file, other = run / coming_row.FILE, tmp_path / "other"
    other.write_text("mine")
    puts: list[Callable[[], None]] = [
        lambda: os.symlink(other, file),
        lambda: os.mkfifo(file),
        file.mkdir,
    ]
    for put in puts:
        put()
        with pytest.raises(OSError, match=coming_row.FILE):
            announce(run, length, total)
        assert look(run) is None
        if file.is_dir():
            file.rmdir()
        else:
            file.unlink()
    assert other.read_text() == "mine"
