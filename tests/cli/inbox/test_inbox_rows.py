"""What the inbox lists, and what cannot be read is a row of its own."""

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from porch.cli.inbox.inbox_rows import Inbox, InboxReader, InboxRow, RowPlace, lay_out_rows
from porch.cli.inbox.start import find_projects
from porch.fleet.fleet_rows import name_projects
from porch.show.board import text_width
from porch.store import where as places
from tests.cli.conftest import Desk
from tests.cli.inbox.conftest import GATED, LAST
from tests.repositories import make_repository


def read(desk: Desk) -> Inbox:
    return reader_of(desk).read()


def reader_of(desk: Desk) -> InboxReader:
    return InboxReader(name_projects(places.find_project(str(desk.root)), os.environ), os.environ)


def test_decisions_come_first_then_work_then_what_is_ready(desk: Desk) -> None:
    desk.begin_in_worktree({"id": "a"}, agents={"a": [{"write": {"n": "1\n"}}]}, code=0)
    desk.protocol("p", *GATED)
    for id_ in ("0002", "0003", "0004"):
        desk.porch("run", "p", id_, "--title", "y", "--no-claude", code=3)
    desk.porch("approve", "3")
    desk.porch("approve", "4")
    desk.porch("stop", "4")
    rows = read(desk).rows
    assert [(row.kind, row.id) for row in rows] == [
        ("decision", "0002"),
        ("alone", "0003"),
        ("paused", "0004"),
        ("ready", "0001"),
    ]
    assert [row.what for row in rows] == [
        "Approve: spec.md is ready",
        "Not running: resume it",
        "Paused: resume it",
        "Merge it, or keep it",
    ]
    desk.porch("finish", "1", "--keep")
    assert [row.id for row in read(desk).rows] == ["0002", "0003", "0004"]


def test_the_oldest_decision_is_the_first(desk: Desk) -> None:
    desk.protocol("p", *GATED)
    for id_ in ("0002", "0001"):
        desk.porch("run", "p", id_, "--title", "y", "--no-claude", code=3)
    assert [row.id for row in read(desk).rows] == ["0002", "0001"]
    assert read(desk).sentence() == "2 wait for you"


def test_a_damaged_journal_is_a_row_and_hides_no_other_run(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    desk.porch("run", "p", "0002", "--title", "y", "--no-claude", code=3)
    journal = desk.run_dir() / "journal.jsonl"
    journal.write_text(journal.read_text().replace("RunStarted", "RunStartled", 1))
    first, second = read(desk).rows
    assert (first.kind, first.id) == ("decision", "0002")
    assert second.kind == "trouble"
    assert "the journal is damaged" in second.what


def test_a_run_that_disappears_is_said_to_be_gone(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    reader = reader_of(desk)
    assert [row.kind for row in reader.read().rows] == ["decision"]
    (desk.run_dir() / "journal.jsonl").unlink()
    (row,) = reader.read().rows
    assert (row.kind, row.what) == (
        "trouble",
        "0001-x: there was a run, but its journal is gone",
    )


def test_w5_wrong_settings_of_one_repository_are_a_row_and_end_nothing(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    other = make_repository(tmp_path / "other", {"codev/config.toml": "[agent\n"})
    settings = home / ".config" / "porch" / "config.toml"
    settings.parent.mkdir(parents=True)
    gone = tmp_path / "gone"
    settings.write_text(f"[af]\nrepositories = {json.dumps([str(other), str(gone)])}\n")
    desk.begin(*GATED, code=3)
    assert list(find_projects("porch")) == ["project"]
    projects = find_projects("af")
    assert list(projects) == ["project", "other"]
    first, *others = InboxReader(projects, os.environ).read().rows
    assert (first.kind, first.project) == ("decision", "project")
    assert {row.kind for row in others} == {"trouble"}
    told = [(row.project, row.what) for row in others]
    assert (
        "other",
        "codev/config.toml:1:7: Expected ']' at the end of a table declaration. Fix this line",
    ) in told
    assert [each for each in told if f"there is no directory '{gone}'" in each[1]]
    assert len(told) == 2, "each once"


def test_outside_of_every_project_the_listed_ones_are_shown(
    desk: Desk, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = home / ".config" / "porch" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[af]\nrepositories = ["{desk.root}"]\n')
    monkeypatch.chdir(tmp_path)
    assert list(find_projects("porch")) == list(find_projects("af")) == ["project"]


def test_a_repository_that_disappears_hides_no_other(desk: Desk, tmp_path: Path) -> None:
    desk.begin(*GATED, code=3)
    other = make_repository(tmp_path / "other", {"a": "b"})
    projects = {
        "one": places.find_project(str(desk.root)),
        "two": places.find_project(str(other)),
    }
    reader = InboxReader(projects, os.environ)
    assert [row.kind for row in reader.read().rows] == ["decision"]
    other.rename(tmp_path / "elsewhere")
    kinds = {row.project: row.kind for row in reader.read().rows}
    assert kinds == {"one": "decision", "two": "trouble"}


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_narrow_lists_leave_columns_out_and_cut_no_id_and_no_time(width: int) -> None:
    rows = [
        InboxRow(
            kind="decision",
            place=RowPlace("p", str(number)),
            id=f"000{number}",
            project="some-repository",
            title="words about what was wanted, quite many of them 日本語",
            what="Approve: the specification of the whole feature is ready",
            who="spec_approval",
            cost="12.34 USD",
            time="2 h 13 min",
        )
        for number in range(3)
    ]
    lines = lay_out_rows(rows, width)
    assert all(text_width(line) <= width for line in lines)
    assert all(line.startswith(f"? 000{n}  ") for n, line in enumerate(lines))
    assert all(line.endswith("  2 h 13 min") for line in lines)
    for whole, part in (("12.34 USD", "12."), ("spec_approval", "spec_")):
        assert (whole in lines[0]) or (part not in lines[0]), "left out whole, never cut"
    assert ("12.34 USD" in lines[0]) == (width >= 120)


def test_a_journal_that_grows_quickly_is_read_from_its_end(desk: Desk) -> None:
    """10,000 records in a journal whose pictures nobody draws: no key waits for them."""
    desk.begin(LAST, code=3)
    reader = reader_of(desk)
    reader.read()
    journal = desk.run_dir() / "journal.jsonl"
    whole = journal.read_bytes()
    with journal.open("ab") as file:
        file.write(b'{"half of a record' * 10_000)
    began = time.process_time()
    for _ in range(20):
        assert len(reader.read().rows) == 1
    took = time.process_time() - began
    assert took < 2, f"20 looks took {took:.2f} s of CPU"
    journal.write_bytes(whole)
    assert [row.kind for row in reader.read().rows] == ["decision"]


def test_what_did_not_change_is_not_read_again(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    reader = reader_of(desk)
    first = reader.read().rows
    (desk.run_dir() / "row.json").write_text("{}")
    assert [row.what for row in reader.read().rows] == [row.what for row in first]


def test_a_wait_is_told_in_one_unit(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    projects = name_projects(places.find_project(str(desk.root)), os.environ)
    later = InboxReader(projects, os.environ, lambda: datetime.now(UTC) + timedelta(hours=2))
    assert later.read().rows[0].time == "2 h"
