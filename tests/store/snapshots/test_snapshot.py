"""A snapshot is the fold of the records before it, or it is as if there were none."""

import hmac
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.machine import state as s
from porch.machine.evolve import fold_records
from porch.machine.facts import Item
from porch.machine.records import decode_records
from porch.machine.state import RunState
from porch.run.engine.folded_journal import JournalReader
from porch.store import chain, journal
from porch.store.journal import scan_journal
from porch.store.snapshots import snapshot, user_key
from porch.testing import kill_python_at
from tests.corpus.run_dump import Kept, names
from tests.torture import choose_some

many = settings(max_examples=60, suppress_health_check=list(HealthCheck))
kept = cache(Kept)


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the key of this test's own user lies."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "porch" / user_key.FILE


class Place:
    """The directory of a run whose journal is one of the corpus, cut behind some record."""

    def __init__(self, directory: Path, name: str):
        self.directory = directory
        self.run = kept(name)
        self.name = self.run.state.run.name
        directory.mkdir(parents=True, exist_ok=True)
        self.cut(len(self.run.lines))

    def cut(self, records: int) -> None:
        data = b"".join(self.run.lines[:records])
        (self.directory / "journal.jsonl").write_bytes(data)

    def keep(self, records: int) -> RunState:
        """The snapshot that a holder of this journal would leave behind so many records."""
        state = fold_records(RunState(), self.run.records[:records])
        length = sum(map(len, self.run.lines[:records]))
        snapshot.keep_snapshot(
            str(self.directory), state, length, self.run.scan.records[records - 1]["sum"]
        )
        return state

    @property
    def file(self) -> Path:
        return self.directory / snapshot.FILE

    def began(self) -> int:
        """Behind which record a short command begins to read; it comes to the right state."""
        folded = JournalReader(str(self.directory), self.name).fold()
        found = scan_journal(str(self.directory / "journal.jsonl"))
        assert folded.state == fold_records(RunState(), decode_records(found.records))
        assert (folded.found.length, folded.found.sum) == (found.length, found.sum)
        return folded.began.seq


@pytest.mark.parametrize("name", names())
def test_a_snapshot_at_any_record_and_the_rest_are_the_whole_journal(
    tmp_path: Path, key: Path, name: str
) -> None:
    place = Place(tmp_path / "run", name)
    assert place.began() == 0
    for records in range(1, len(place.run.lines) + 1):
        place.keep(records)
        assert place.began() == records


@many
@given(st.data())
def test_one_changed_bit_and_the_whole_journal_is_read(
    tmp_path: Path, key: Path, data: st.DataObject
) -> None:
    place = Place(tmp_path / "run", data.draw(st.sampled_from(names())))
    place.keep(data.draw(st.integers(1, len(place.run.lines))))
    whole = bytearray(place.file.read_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    place.file.write_bytes(whole)
    assert place.began() == 0


@many
@given(st.data())
def test_any_cut_of_a_snapshot_is_none(tmp_path: Path, key: Path, data: st.DataObject) -> None:
    place = Place(tmp_path / "run", data.draw(st.sampled_from(names())))
    place.keep(len(place.run.lines))
    whole = place.file.read_bytes()
    place.file.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert place.began() == 0


@many
@given(st.data())
def test_a_snapshot_counts_only_where_the_journal_carries_its_sum(
    tmp_path: Path, key: Path, data: st.DataObject
) -> None:
    """A journal that was cut, repaired or replaced is read whole."""
    place = Place(tmp_path / "run", data.draw(st.sampled_from(names())))
    records = data.draw(st.integers(1, len(place.run.lines)))
    place.keep(records)
    left = data.draw(st.integers(0, len(place.run.lines)))
    place.cut(left)
    assert place.began() == (records if left >= records else 0)


def test_of_a_journal_that_is_too_long_to_be_hashed_the_sum_in_front_of_the_rest_is_compared(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SHORT", 0)
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    assert place.began() == 5
    place.cut(3)
    assert place.began() == 0


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=300))
def test_the_mark_is_the_hmac_of_the_standard_library(key_: bytes, data: bytes) -> None:
    assert user_key.sign_bytes(key_, data) == hmac.digest(key_, data, "sha256")


def test_a_snapshot_of_another_run_is_none(tmp_path: Path, key: Path) -> None:
    """Also under its own journal, if that lies where another run should."""
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    assert snapshot.read_snapshot(str(place.directory), place.name) is not None
    assert snapshot.read_snapshot(str(place.directory), "0002-other") is None


def test_who_drives_a_run_looks_at_no_snapshot(tmp_path: Path, key: Path) -> None:
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    assert JournalReader(str(place.directory), place.name, is_whole=True).fold().began.seq == 0


def test_damage_behind_a_snapshot_is_told_as_if_there_were_none(tmp_path: Path, key: Path) -> None:
    place = Place(tmp_path / "run", "spider")
    lines = [*place.run.lines]
    lines[2], lines[9] = lines[2][:40] + b"x" + lines[2][41:], b"damage\n"
    (place.directory / "journal.jsonl").write_bytes(b"".join(lines))
    place.keep(5)
    with pytest.raises(Exception, match="line 3 of"):
        JournalReader(str(place.directory), place.name).fold()


def _gone(key: Path) -> Path:
    key.unlink()
    return key


SPOILED: dict[str, Callable[[Path], object]] = {
    "missing": lambda key: key.unlink(),
    "changed": lambda key: key.write_bytes(os.urandom(32)),
    "readable by others": lambda key: key.chmod(0o644),
    "readable by the group": lambda key: key.chmod(0o640),
    "short": lambda key: key.write_bytes(b"x" * 31),
    "long": lambda key: key.write_bytes(key.read_bytes() + b"x"),
    "a link": lambda key: key.symlink_to(key.rename(key.with_name("k"))),
    "a pipe": lambda key: os.mkfifo(_gone(key), 0o600),
    "a directory": lambda key: _gone(key).mkdir(),
}


@pytest.mark.parametrize("how", SPOILED)
def test_without_the_key_that_marked_it_a_snapshot_is_none(
    tmp_path: Path, key: Path, how: str
) -> None:
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    assert place.began() == 5
    SPOILED[how](key)
    assert place.began() == 0


@pytest.mark.parametrize("how", sorted(SPOILED.keys() - {"missing", "changed"}))
def test_a_key_that_others_may_know_marks_nothing_and_is_left_alone(
    tmp_path: Path, key: Path, how: str
) -> None:
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    SPOILED[how](key)
    before = os.lstat(key)
    place.file.unlink()
    place.keep(5)
    assert not place.file.exists()
    assert os.lstat(key) == before


def test_a_key_of_somebody_else_is_none(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert place.began() == 0
    key.unlink()
    place.keep(5)
    assert not key.exists(), "made with borrowed rights it would shut out its owner"


def test_the_key_is_for_the_user_alone_and_made_once(tmp_path: Path, key: Path) -> None:
    place = Place(tmp_path / "run", "spider")
    assert user_key.read_key() is None
    assert not key.exists(), "reading makes none"
    place.keep(5)
    first = key.read_bytes()
    assert (len(first), key.stat().st_mode & 0o777) == (32, 0o600)
    place.keep(6)
    assert key.read_bytes() == first
    assert os.listdir(key.parent) == [user_key.FILE]
    assert first not in place.file.read_bytes()


@pytest.mark.parametrize(
    "home, state, where",
    [
        ("/anna", "", "/anna/.local/state/porch/snapshot.key"),
        ("/anna", "/state", "/state/porch/snapshot.key"),
        ("/anna", "relative", "/anna/.local/state/porch/snapshot.key"),
        ("", "", ""),
        ("relative", "", ""),
    ],
)
def test_where_the_key_lies(
    monkeypatch: pytest.MonkeyPatch, home: str, state: str, where: str
) -> None:
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_STATE_HOME", state)
    assert user_key._key_path() == where


def test_without_a_home_there_is_no_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    assert not place.file.exists()
    assert place.began() == 0


def test_a_home_that_cannot_be_written_to_keeps_nobody_from_anything(
    tmp_path: Path, key: Path
) -> None:
    key.parent.parent.write_text("a file where the directory should be")
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    assert place.began() == 0


def test_a_snapshot_of_another_release_is_none(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one may fold the same records to something else."""
    place = Place(tmp_path / "run", "spider")
    place.keep(5)
    with monkeypatch.context() as other:
        other.setattr(snapshot, "__version__", "99.0")
        assert place.began() == 0
    with monkeypatch.context() as other:
        other.setattr(snapshot, "FORM", snapshot.FORM + 1)
        assert place.began() == 0
    assert place.began() == 5


def test_a_state_that_is_not_what_its_place_says_is_none(tmp_path: Path, key: Path) -> None:
    place = Place(tmp_path / "run", "spider")
    state = place.keep(5)
    length, total = sum(map(len, place.run.lines[:6])), place.run.scan.records[5]["sum"]
    for wrong in (
        replace(state, seq=5, run=replace(state.run, name="0002-x")),
        replace(state, usd=float("nan")),
    ):
        snapshot.keep_snapshot(str(place.directory), wrong, length, total)
        assert place.began() in (0, 5)


KEEP = """
import sys
from pathlib import Path
from tests.store.snapshots.test_snapshot import Place
place = Place(Path(sys.argv[1]), "spider")
place.keep(5)
place.keep(9)
"""
POINTS = [
    *(f"snapshot.{point}:{nth}" for point in ("before-write", "after-rename") for nth in (1, 2)),
    *(f"atomic.{point}:{nth}" for point in ("before-write", "after-write") for nth in (1, 2)),
    *(f"atomic.{point}:{nth}" for point in ("before-rename", "after-rename") for nth in (1, 2)),
]


@pytest.mark.torture
@pytest.mark.parametrize("point", choose_some(POINTS, 3))
def test_a_kill_at_any_point_leaves_the_old_snapshot_or_the_new_one(
    tmp_path: Path, key: Path, point: str
) -> None:
    directory = tmp_path / "run"
    assert kill_python_at(point, KEEP, str(directory)).returncode == -signal.SIGKILL
    place = Place(directory, "spider")
    assert place.began() in (0, 5, 9)
    place.keep(7)
    assert place.began() == 7


def test_a_whole_directory_put_back_from_a_copy_is_read_as_it_was(
    tmp_path: Path, key: Path
) -> None:
    place = Place(tmp_path / "run", "spider")
    place.cut(9)
    place.keep(9)
    shutil.copytree(place.directory, tmp_path / "copy")
    place.cut(len(place.run.lines))
    place.keep(20)
    shutil.copyfile(tmp_path / "copy" / "journal.jsonl", place.directory / "journal.jsonl")
    assert place.began() == 0
    shutil.copyfile(tmp_path / "copy" / snapshot.FILE, place.file)
    assert place.began() == 9


def test_the_depth_of_what_came_from_records_is_not_measured_again(
    tmp_path: Path, key: Path
) -> None:
    place, walks = Place(tmp_path / "run", "spider"), list[str]()
    memory = {(f"m{number}", ""): {"a.b": {"files": ["x"]}} for number in range(300)}
    state = replace(place.keep(9), memory=memory)

    def note(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code is chain.nesting_depth.__code__:
            walks.append(event)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        snapshot.keep_snapshot(str(place.directory), state, 1, "0" * 64)
    finally:
        sys.setprofile(before)
    assert walks == []


def test_a_state_as_deep_as_a_record_can_make_it_is_read_back(tmp_path: Path, key: Path) -> None:
    place = Place(tmp_path / "run", "spider")
    payload: dict[str, object] = {}
    for _ in range(chain.MAX_DEPTH):
        payload = {"inside": payload}
    state = replace(place.keep(9), memory={("", ""): {"a.b": payload}})
    snapshot.keep_snapshot(str(place.directory), state, 1, "0" * 64)
    found = snapshot.read_snapshot(str(place.directory), place.name)
    assert found is not None
    assert found.state.memory == state.memory


# If one of these changes, or what folding makes of them, snapshot.FORM counts up.
PARTS = {
    "RunState": 31, "Run": 24, "Standing": 8, "Decision": 6, "InHand": 6,
    "Cost": 4, "LoopItems": 3, "GateStatus": 4, "Instance": 12, "Item": 5,
    "Approval": 4, "Delivery": 6, "PastVisit": 9, "PastCheck": 7, "PastVerdict": 4,
    "PastTurn": 5, "PastAnswer": 5,
}  # fmt: skip


def test_a_state_with_other_parts_counts_up_the_form_of_snapshots() -> None:
    kinds = (s.RunState, s.Run, s.Standing, s.Decision, s.InHand)
    more = (s.Cost, s.LoopItems, s.GateStatus, s.Instance, Item, s.Approval, s.Delivery)
    past = (s.PastVisit, s.PastCheck, s.PastVerdict, s.PastTurn, s.PastAnswer)
    found = {each.__name__: len(each.__struct_fields__) for each in (*kinds, *more, *past)}
    assert (snapshot.FORM, found) == (9, PARTS)
