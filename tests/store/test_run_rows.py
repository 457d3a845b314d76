"""Rows of runs: believed only where they cover the journal, and never able to break a list."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from porch.show import board
from porch.store import chain, run_rows
from porch.store.view_files import seal

NAME = "0001-x"
DECISION = {
    "id": "1",
    "title": "x",
    "name": "go",
    "kind": "gate",
    "position": "one#1",
    "asked_at": "2026-01-19T10:15:00.000Z",
    "reason": "",
    "options": [{"answer": "approved", "meaning": "goes on", "command": "porch approve 1 go"}],
    "findings": [{"by": "gemini", "finding": "too vague\n\u2028"}],
    "reports": {"build": "failed"},
    "artifacts": ["spec.md"],
}

# The same in a run that another word means.
SEVENTH = {
    **DECISION,
    "options": [{"answer": "approved", "meaning": "goes on", "command": "porch approve 7 go"}],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three records with its row."""
    path = tmp_path / NAME
    path.mkdir()
    total, data = chain.START, b""
    for seq in (1, 2, 3):
        line, total = chain.render_record_line(seq, total, {"fact": {}})
        data += line
    (path / "journal.jsonl").write_bytes(data)
    drawn = {
        "v": board.PICTURE_VERSION,
        "seq": 3,
        "length": len(data),
        "sum": total,
        "row": {"id": "1", "title": 'a ",\n"decisions":[] title', "waiting": []},
        "decisions": [DECISION],
    }
    (path / run_rows.FILE).write_bytes(seal(run_rows.encode_row(drawn)))
    return path


def look(run: Path, part: "run_rows.Part" = "decisions") -> Any:
    ((name, row),) = run_rows.covering_rows(str(run.parent), [run.name], part)
    assert name == run.name
    return row


def change(run: Path, **changes: Any) -> None:
    """As somebody would who edits the file; nothing of it is laid out anew."""
    drawn = {**json.loads((run / run_rows.FILE).read_bytes()), **changes}
    del drawn["crc"]
    asked = json.dumps(drawn.pop("decisions"))
    drawn.pop("told", None)
    head = json.dumps(drawn).removesuffix("}")
    (run / run_rows.FILE).write_bytes(seal(f'{head},\n"decisions":{asked}}}\n'.encode()))


def test_a_row_is_read_back_as_it_was_drawn(run: Path) -> None:
    row = look(run)
    assert row["row"] == {"id": "1", "title": 'a ",\n"decisions":[] title', "waiting": []}
    assert row["decisions"] == [DECISION]
    assert "decisions" not in look(run, "row")
    told = look(run, "told")
    (drawn,) = told["told"]
    assert drawn[:3] == ["2026-01-19T10:15:00.000Z", "gate", "go"]
    assert (drawn[3], "7".join(drawn[4:])) == board.tell_decision(SEVENTH)
    assert json.loads((run / run_rows.FILE).read_bytes()) == {**told, **row}


def test_a_row_without_questions_or_of_a_plan_has_nothing_drawn(run: Path) -> None:
    plan = {**DECISION, "run": "plan_feature~x", "subject": "plan"}
    for asked in ([], [plan]):
        drawn = {**look(run, "row"), "decisions": asked}
        (run / run_rows.FILE).write_bytes(seal(run_rows.encode_row(drawn)))
        assert look(run, "told")["decisions"] == asked
        assert b"told" not in (run / run_rows.FILE).read_bytes()


@pytest.mark.parametrize(
    "told",
    [
        {},
        None,
        ["go"],
        [["2026", "gate", "go", "x"]],
        [["2026", "gate", "go", "x", 7]],
        [["2026", 7, "go", "x", "y"]],
        [["2026", "gate", "go", "x \x1b[2J", "y"]],
        [["2026", "gate", "go", "x", "y\r"]],
    ],
    ids=str,
)
def test_a_text_that_somebody_wrote_into_a_row_is_not_printed_if_it_moves_the_cursor(
    run: Path, told: Any
) -> None:
    assert look(run, "told") is not None
    data = b"{" + (run / run_rows.FILE).read_bytes().partition(b",")[2]
    data = data.partition(b',\n"told":')[0] + b',\n"told":' + json.dumps(told).encode() + b"}\n"
    (run / run_rows.FILE).write_bytes(seal(data))
    assert look(run, "told") is None
    assert look(run)["decisions"] == [DECISION]


def test_a_long_row_is_read_whole(run: Path) -> None:
    told = [{**DECISION, "reason": "why " * size} for size in (1, 5_000, 50_000)]
    change(run, decisions=told)
    assert look(run)["decisions"] == told


def test_a_row_covers_its_journal_or_says_nothing(run: Path) -> None:
    journal = run / "journal.jsonl"
    data = journal.read_bytes()
    line, _ = chain.render_record_line(4, data[-67:-3].decode(), {"fact": {}})
    for other in (data + line, data + b"{", data[:-1], data[:-300], b""):
        journal.write_bytes(other)
        assert look(run) is None
    journal.write_bytes(data)
    assert look(run) is not None
    journal.unlink()
    assert look(run) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"sum": "0" * 64},
        {"sum": 7},
        {"length": 1},
        {"length": -5},
        {"length": 10**30},
        {"length": "x"},
        {"length": None},
        {"row": []},
        {"row": None},
        {"decisions": {}},
        {"decisions": None},
        {"decisions": ["go"]},
        {"decisions": [{}]},
        {"decisions": [{**DECISION, "asked_at": 3}]},
        {"decisions": [{**DECISION, "reason": None}]},
        {"decisions": [{**DECISION, "options": [{}]}]},
        {"decisions": [{**DECISION, "options": 5}]},
        {"decisions": [{**DECISION, "findings": ["x"]}]},
        {"decisions": [{**DECISION, "reports": {"a": 1}}]},
        {"decisions": [{**DECISION, "reports": []}]},
    ],
    ids=str,
)
def test_a_row_that_somebody_edited_so_that_it_cannot_be_shown_says_nothing(
    run: Path, changes: dict[str, Any]
) -> None:
    change(run, **changes)
    assert look(run) is None


def test_a_row_that_was_cut_at_any_byte_says_nothing(run: Path) -> None:
    data = (run / run_rows.FILE).read_bytes()
    for cut in range(len(data) - 2):
        (run / run_rows.FILE).write_bytes(data[:cut])
        assert look(run) is None, cut
        assert look(run, "told") is None, cut


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"7,\n" * 9])
def test_garbage_says_nothing(run: Path, data: bytes) -> None:
    (run / run_rows.FILE).write_bytes(data)
    assert look(run) is None
    assert run_rows.known_seam(str(run)) is None


def test_nobody_waits_for_a_pipe_or_fails_at_a_directory(run: Path) -> None:
    (run / run_rows.FILE).unlink()
    assert look(run) is None
    os.mkfifo(run / run_rows.FILE)
    assert look(run) is None
    (run / run_rows.FILE).unlink()
    (run / run_rows.FILE).mkdir()
    assert look(run) is None
    run_rows.keep_row(
        str(run),
        {
            "v": board.PICTURE_VERSION,
            "seq": 1,
            "length": 1,
            "sum": "",
            "row": {"waiting": []},
            "decisions": [],
        },
    )


def test_a_row_knows_how_long_its_journal_was(run: Path) -> None:
    length = (run / "journal.jsonl").stat().st_size
    assert run_rows.known_seam(str(run)) == (length, look(run)["sum"])
    assert run_rows.known_seam(str(run.parent / "nobody")) is None


def test_where_there_are_no_runs_there_are_no_rows(tmp_path: Path) -> None:
    assert list(run_rows.covering_rows(str(tmp_path / "runs"), ["0001-x"], "decisions")) == []


def test_a_kept_row_is_whole_and_leaves_nothing_beside(run: Path) -> None:
    row = look(run)
    (run / run_rows.FILE).unlink()
    run_rows.keep_row(str(run), row)
    assert look(run) == row
    assert sorted(os.listdir(run)) == ["journal.jsonl", run_rows.FILE]
