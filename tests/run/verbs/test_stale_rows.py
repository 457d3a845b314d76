"""A row is followed only from what is believed when a run is folded, and never beyond it."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from porch.machine.evolve import fold_records
from porch.machine.state import RunState
from porch.run.verbs import stale_rows
from porch.run.verbs.read_run import read_run
from porch.run.verbs.stale_rows import StaleRows
from porch.store.snapshots import snapshot, user_key
from porch.store.where import ProjectPaths
from tests.corpus.run_dump import PAYLOADS, Kept

kept = cache(Kept)
SNAPPED = 9


class Shelf:
    """A project with one run of the corpus, with a snapshot behind some of its records."""

    def __init__(self, root: Path, name: str = "spider") -> None:
        self.kept = kept(name)
        self.name = self.kept.state.run.name
        self.where = ProjectPaths(str(root), str(root), str(root), str(root / "porch"))
        self.directory = Path(self.where.run_dir(self.name))
        self.directory.mkdir(parents=True)
        (self.directory / "payloads").symlink_to(PAYLOADS)
        self.journal = self.directory / "journal.jsonl"
        self.journal.write_bytes(self.kept.data)
        state = fold_records(RunState(), self.kept.records[:SNAPPED])
        length = sum(map(len, self.kept.lines[:SNAPPED]))
        total = self.kept.scan.records[SNAPPED - 1]["sum"]
        snapshot.keep_snapshot(str(self.directory), state, length, total)

    def followed(self) -> dict[str, Any] | None:
        return StaleRows(self.where).make_row(self.name)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Shelf(tmp_path / "project")


def test_the_row_is_that_of_the_whole_journal_wherever_it_ends(shelf: Shelf) -> None:
    for count in range(SNAPPED, len(shelf.kept.lines) + 1):
        shelf.journal.write_bytes(b"".join(shelf.kept.lines[:count]))
        folded = read_run(shelf.where, shelf.name).row()["row"]
        followed = shelf.followed()
        assert followed is not None
        assert followed["row"] == folded


def test_a_journal_that_is_not_what_the_snapshot_saw_is_not_followed(shelf: Shelf) -> None:
    lines = shelf.kept.lines
    for data in (
        b"".join(lines[: SNAPPED - 1]),
        b"".join(lines[:SNAPPED])[:-1],
        b"".join(lines)[:-1],
        b"".join(lines) + b'{"half',
        b"".join(lines) + b"damage\n",
        b"".join([*lines[:SNAPPED], *lines[SNAPPED + 1 :]]),
        b"".join(lines[SNAPPED:]),
        b"",
    ):
        shelf.journal.write_bytes(data)
        assert shelf.followed() is None
    shelf.journal.unlink()
    assert shelf.followed() is None


def test_one_changed_byte_behind_the_snapshot_is_noticed(shelf: Shelf) -> None:
    data, start = shelf.kept.data, sum(map(len, shelf.kept.lines[:SNAPPED]))
    for at in range(start, len(data), 997):
        shelf.journal.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert shelf.followed() is None


def test_a_snapshot_without_our_mark_is_not_followed(shelf: Shelf, tmp_path: Path) -> None:
    file = shelf.directory / snapshot.FILE
    data = file.read_bytes()
    for wrong in (data.replace(b"spider", b"spidex"), data[:-1], b"{}\n{}", b"", data[5:]):
        file.write_bytes(wrong)
        assert shelf.followed() is None
    file.write_bytes(data)
    assert shelf.followed() is not None
    key = tmp_path / "state" / "porch" / user_key.FILE
    key.write_bytes(bytes(user_key.SIZE))
    assert shelf.followed() is None


def test_a_definition_that_is_not_the_pinned_one_is_not_believed(shelf: Shelf) -> None:
    place = shelf.directory / "payloads"
    place.unlink()
    assert shelf.followed() is None
    place.mkdir()
    (place / shelf.kept.state.run.digest).write_bytes(b'{"protocol":{"states":{}}}')
    assert shelf.followed() is None


def test_a_record_of_a_newer_form_is_left_to_those_who_can_say_so(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stale_rows, "_VERSIONS", ())
    assert shelf.followed() is None


def test_very_many_are_folded_for_then_their_rows_are_kept(shelf: Shelf) -> None:
    rows = StaleRows(shelf.where)
    found = [rows.make_row(shelf.name) for _ in range(stale_rows.MOST + 2)]
    assert found.count(None) == 2
    assert found[-1] is None
