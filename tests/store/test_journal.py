"""The journal on the disk: killed, filled up, raced and repaired."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import porch
from porch.errors import OutsideError, StateError
from porch.store import chain, journal
from porch.store.journal import Journal
from porch.system import crash_points
from porch.testing import MemoryJournal, kill_python_at, unmeasured


def body(number: int) -> dict[str, Any]:
    return {"at": "2025-11-15T10:04:05Z", "fact": {"number": number}, "moves": [], "begun": []}


def fill(path: Path, count: int) -> None:
    opened, found = Journal.open(str(path))
    with opened:
        for seq in range(found.seq + 1, found.seq + count + 1):
            opened.append(seq, body(seq))


def numbers(path: Path) -> list[int]:
    return [record["fact"]["number"] for record in journal.scan_journal(str(path)).records]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "0073" / "journal.jsonl"


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, env=unmeasured(), capture_output=True, check=False)


APPEND = """
import sys
from porch.store.journal import Journal
opened, found = Journal.open(sys.argv[1])
opened.append(found.seq + 1, {"fact": {"number": found.seq + 1}})
"""


def test_a_journal_that_is_not_there_has_no_records_and_reading_does_not_make_it(
    path: Path,
) -> None:
    found = journal.scan_journal(str(path))
    assert (found.records, found.seq, found.length, found.sum) == ([], 0, 0, chain.START)
    assert not path.parent.exists()


def test_records_are_read_back_in_order_by_another_reader(path: Path) -> None:
    fill(path, 3)
    fill(path, 2)
    assert numbers(path) == [1, 2, 3, 4, 5]
    assert path.stat().st_mode & 0o777 == 0o600


def test_both_journals_write_the_same_bytes_and_refuse_the_same(path: Path) -> None:
    memory = MemoryJournal()
    opened, _ = Journal.open(str(path))
    with opened:
        for each in (opened, memory):
            for seq in (1, 2):
                each.append(seq, body(seq))
            for wrong in (0, 2, 4):
                with pytest.raises(StateError, match="cannot come next"):
                    each.append(wrong, body(wrong))
        assert (opened.seq, opened.length, opened.sum) == (memory.seq, memory.length, memory.sum)
    assert path.read_bytes() == memory.data
    assert memory.scan().records == journal.scan_journal(str(path)).records
    memory.close()


def test_a_reader_never_cuts_a_torn_tail_and_the_holder_does(path: Path) -> None:
    fill(path, 2)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"v":1,"seq":3,"fa')
    assert journal.scan_journal(str(path)).torn == b'{"v":1,"seq":3,"fa'
    assert path.read_bytes() != whole
    opened, found = Journal.open(str(path))
    opened.close()
    opened.close()
    assert path.read_bytes() == whole
    assert found.torn == b'{"v":1,"seq":3,"fa'


def test_a_journal_cut_at_any_byte_is_opened_cut_and_written_on(path: Path) -> None:
    fill(path, 2)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        fill(path, 1)
        assert numbers(path) == [*range(1, kept + 1), kept + 1]


def test_damage_in_the_middle_names_file_line_and_the_repair(path: Path) -> None:
    fill(path, 3)
    path.write_bytes(path.read_bytes().replace(b'"number":2', b'"number":7'))
    damaged = path.read_bytes()
    for read in (journal.scan_journal, Journal.open):
        with pytest.raises(StateError) as caught:
            read(str(path))
        (finding,) = caught.value.findings
        assert caught.value.exit_code == 5
        assert finding.code == "journal-damaged"
        assert str(finding.place) == f"{path}:2:1"
        assert "porch repair" in finding.fix
    assert path.read_bytes() == damaged


def test_damage_is_believed_when_a_second_look_shows_it_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path, 2)
    sound = path.read_bytes()
    looks: list[str] = []
    later = [sound]

    def moving(name: str, *arguments: Any, **settings: Any) -> Any:
        looks.append(name)
        if len(looks) > 1:
            path.write_bytes(later.pop(0))
        return io.open(name, *arguments, **settings)  # noqa: UP020 - the other name is patched

    monkeypatch.setattr("builtins.open", moving)
    path.write_bytes(sound + b"{}\n")
    assert journal.scan_journal(str(path)).seq == 2
    assert len(looks) == 2
    looks.clear()
    path.write_bytes(sound + b"{}\n")
    later = [sound + b"{}\n" * count for count in range(2, 9)]
    with pytest.raises(StateError, match="damaged"):
        journal.scan_journal(str(path))


def newer(path: Path) -> None:
    fill(path, 1)
    first = journal.scan_journal(str(path))
    text = b'{"v":4,"seq":2}'
    total = chain._chain_sum(first.sum.encode(), text)
    with path.open("ab") as file:
        file.write(text[:-1] + b',"sum":"' + total + b'"}\n')


def test_a_journal_of_a_newer_release_is_refused_and_not_repaired(path: Path) -> None:
    newer(path)
    before = path.read_bytes()
    for read in (journal.scan_journal, Journal.open, journal.repair_journal):
        with pytest.raises(StateError, match="newer version") as caught:
            read(str(path))
        assert caught.value.findings[0].code == "journal-newer"
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_only_the_rest_is_read_behind_a_place_that_the_journal_has(path: Path) -> None:
    fill(path, 4)
    whole = journal.scan_journal(str(path))
    two, _ = chain.parse_records(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    rest = journal.scan_journal_from(str(path), two.length, two.seq, two.sum)
    assert rest is not None
    assert two.records + rest.records == whole.records
    assert (rest.seq, rest.sum, rest.length) == (whole.seq, whole.sum, whole.length)
    none = journal.scan_journal_from(str(path), whole.length, whole.seq, whole.sum)
    assert none is not None
    assert (none.records, none.length) == ([], whole.length)
    everything = journal.scan_journal_from(str(path), 0, 0, chain.START)
    assert everything is not None
    assert everything.records == whole.records


def test_a_place_that_the_journal_does_not_have_is_not_read_from(path: Path) -> None:
    fill(path, 2)
    found = journal.scan_journal(str(path))
    for offset, total in (
        (found.length, "f" * 64),
        (found.length - 1, found.sum),
        (found.length + 1, found.sum),
        (10, found.sum),
    ):
        assert journal.scan_journal_from(str(path), offset, 2, total) is None
    path.unlink()
    assert journal.scan_journal_from(str(path), found.length, 2, found.sum) is None


def test_damage_behind_the_place_is_counted_in_lines_of_the_whole_file(path: Path) -> None:
    fill(path, 2)
    found = journal.scan_journal(str(path))
    fill(path, 2)
    path.write_bytes(path.read_bytes().replace(b'"number":3', b'"number":8'))
    with pytest.raises(StateError) as caught:
        journal.scan_journal_from(str(path), found.length, found.seq, found.sum)
    assert str(caught.value.findings[0].place) == f"{path}:3:1"


def test_a_second_writer_is_noticed_by_the_first(path: Path) -> None:
    first, _ = Journal.open(str(path))
    with first:
        fill(path, 1)
        with pytest.raises(StateError, match="another process") as caught:
            first.append(1, body(1))
    assert caught.value.findings[0].code == "journal-moved"
    assert numbers(path) == [1]


def test_a_journal_that_was_removed_is_not_written_into_the_void(path: Path) -> None:
    opened, _ = Journal.open(str(path))
    with opened:
        path.unlink()
        with pytest.raises(StateError, match="removed"):
            opened.append(1, body(1))


def test_what_cannot_be_encoded_leaves_the_journal_as_it_was(path: Path) -> None:
    opened, _ = Journal.open(str(path))
    with opened:
        with pytest.raises(ValueError, match="float"):
            opened.append(1, {"fact": float("nan")})
        opened.append(1, body(1))
    assert numbers(path) == [1]


@pytest.mark.req("P-199")
@pytest.mark.parametrize("point", [p for p in crash_points.POINTS if p.startswith("journal.")])
def test_a_writer_killed_at_any_point_leaves_the_journal_before_or_after(
    path: Path, point: str
) -> None:
    is_first = point == "journal.after-create"
    if not is_first:
        fill(path, 2)
    if "cut" in point:
        with path.open("ab") as file:
            file.write(b'{"v":1,"seq":3,"fact":{"num')
    assert kill_python_at(point, APPEND, str(path)).returncode == -signal.SIGKILL
    # A kill spares what the kernel has; from the write on the record is there.
    written = point in ("journal.after-write", "journal.after-sync")
    before = [] if is_first else [1, 2]
    assert numbers(path) == before + [3] * written
    assert run(APPEND, path).returncode == 0
    after = numbers(path)
    assert after == list(range(1, len(after) + 1))


def test_a_full_disk_refuses_the_record_cuts_it_off_and_the_next_one_fits(path: Path) -> None:
    script = """
import resource, sys
from porch.store.journal import Journal
from porch.errors import OutsideError
opened, found = Journal.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (found.length + 100, resource.RLIM_INFINITY))
try:
    opened.append(3, {"fact": {"number": "x" * 500}})
except OutsideError as error:
    print(error.findings[0].code, error.findings[0].message)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(open(sys.argv[1], "rb").read()[-1:] == b"\\n")
opened.append(3, {"fact": {"number": 3}})
"""
    fill(path, 2)
    done = run(script, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"disk-full could not write " + os.fsencode(path))
    assert done.stdout.endswith(b"\nTrue\n")
    assert numbers(path) == [1, 2, 3]


def test_a_half_record_that_cannot_be_cut_stops_the_next_append_and_is_torn(path: Path) -> None:
    script = """
import errno, os, resource, sys
from porch.store.journal import Journal
from porch.errors import OutsideError, StateError
opened, found = Journal.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (found.length + 100, resource.RLIM_INFINITY))
def fail(fd, length):
    raise OSError(errno.EIO, "Input/output error")
os.ftruncate = fail
for number in range(2):
    try:
        opened.append(3, {"fact": {"number": "x" * 500}})
    except (OutsideError, StateError) as error:
        print(error.findings[0].code)
"""
    fill(path, 2)
    assert run(script, path).stdout == b"disk-full\njournal-moved\n"
    assert len(journal.scan_journal(str(path)).torn) == 100
    fill(path, 1)
    assert numbers(path) == [1, 2, 3]


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_failed_fsync_ends_the_process_at_once(path: Path, call: str) -> None:
    script = f"""
import errno, os, sys
from porch.store.journal import Journal
def fail(fd):
    raise OSError(errno.EIO, "Input/output error")
os.{call} = fail
try:
    opened, found = Journal.open(sys.argv[1])
    opened.append(found.seq + 1, {{}})
finally:
    print("went on")
"""
    done = run(script, path)
    assert done.returncode == 6
    assert done.stdout == b""
    assert b"error[disk-sync]" in done.stderr


def test_a_journal_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    path = str(tmp_path / "runs" / "journal.jsonl")
    for use in (Journal.open, journal.scan_journal):
        with pytest.raises(OutsideError, match=r"runs/journal\.jsonl"):
            use(path)


def test_a_journal_that_is_a_directory_is_refused_by_name(path: Path) -> None:
    path.mkdir(parents=True)
    for use in (Journal.open, journal.scan_journal):
        with pytest.raises(StateError, match=r"journal\.jsonl is not a regular file"):
            use(str(path))


def test_a_torn_tail_that_cannot_be_cut_is_an_outside_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, length: int) -> None:
        raise OSError(30, "Read-only file system")

    fill(path, 1)
    with path.open("ab") as file:
        file.write(b"{")
    monkeypatch.setattr(os, "ftruncate", refuse)
    with pytest.raises(OutsideError, match="could not cut"):
        Journal.open(str(path))


def damage(path: Path) -> bytes:
    fill(path, 4)
    path.write_bytes(path.read_bytes().replace(b'"number":3', b'"number":9'))
    return path.read_bytes()


def noted(repaired: journal.RepairResult) -> dict[str, Any]:
    return {"fact": {"number": [repaired.kept, repaired.lost_bytes, Path(repaired.aside).name]}}


def test_a_repair_keeps_the_good_head_and_the_whole_file_aside(path: Path) -> None:
    damaged = damage(path)
    repaired = journal.repair_journal(str(path))
    aside = path.parent / "journal.broken-1.jsonl"
    assert (repaired.kept, repaired.aside) == (2, str(aside))
    assert repaired.lost_bytes == len(damaged) - path.stat().st_size
    assert aside.read_bytes() == damaged
    assert numbers(path) == [1, 2]
    assert damaged.startswith(path.read_bytes())
    fill(path, 1)
    assert numbers(path) == [1, 2, 3]


def test_a_repair_writes_its_note_in_the_same_rename(path: Path) -> None:
    repaired = journal.repair_journal(str(path), noted)
    assert (repaired.kept, repaired.lost_bytes, repaired.aside) == (0, 0, "")
    damaged = damage(path)
    journal.repair_journal(str(path), noted)
    lost = len(damaged) - len(b"".join(damaged.splitlines(keepends=True)[:2]))
    assert numbers(path) == [1, 2, [2, lost, "journal.broken-1.jsonl"]]


def test_a_sound_or_merely_torn_journal_is_not_touched_by_a_repair(path: Path) -> None:
    fill(path, 2)
    for rest in (b"", b'{"v":1,'):
        path.write_bytes(path.read_bytes() + rest)
        before = path.read_bytes()
        assert journal.repair_journal(str(path), noted).aside == ""
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]


def test_every_repair_has_its_own_file_aside(path: Path) -> None:
    damage(path)
    journal.repair_journal(str(path))
    path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":5'))
    repaired = journal.repair_journal(str(path))
    assert (repaired.kept, Path(repaired.aside).name) == (0, "journal.broken-2.jsonl")
    assert numbers(path) == []


REPAIR = """
import sys
from porch.store import journal
journal.repair_journal(sys.argv[1], lambda repaired: {"fact": {"number": repaired.kept}})
"""


@pytest.mark.parametrize(
    "point",
    [p for p in crash_points.POINTS if p.startswith(("repair.", "atomic."))]
    + [f"{p}:2" for p in crash_points.POINTS if p.startswith("atomic.")],
)
def test_a_repair_killed_at_any_point_is_finished_by_the_next_one(path: Path, point: str) -> None:
    damaged = damage(path)
    assert kill_python_at(point, REPAIR, str(path)).returncode == -signal.SIGKILL
    if path.read_bytes() != damaged:
        assert numbers(path) == [1, 2, 2]
    assert run(REPAIR, path).returncode == 0
    assert numbers(path) == [1, 2, 2]
    aside = path.parent / "journal.broken-1.jsonl"
    assert aside.read_bytes() == damaged
    assert [name for name in os.listdir(path.parent) if "broken-2" in name] == []


TEAR_AND_GO_ON = """
import sys, time
from porch.store.journal import Journal
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    with open(sys.argv[1], "ab") as file:
        file.write(b'{"v":1,"seq":7,"fact":{"number":1234')
    opened, found = Journal.open(sys.argv[1])
    opened.append(found.seq + 1, {"fact": {"number": found.seq + 1}})
    opened.close()
"""


def test_readers_beside_a_writer_that_tears_and_cuts_see_a_growing_whole(path: Path) -> None:
    fill(path, 1)
    command = [sys.executable, "-c", TEAR_AND_GO_ON, str(path), "0.7"]
    with subprocess.Popen(command, env=unmeasured()) as writer:
        seen = 0
        while writer.poll() is None:
            found = numbers(path)
            assert found == list(range(1, len(found) + 1))
            assert len(found) >= seen
            seen = len(found)
            time.sleep(0.001)
    assert writer.returncode == 0
    assert seen > 3


def test_reading_where_the_picture_covers_everything_loads_nothing_slow(path: Path) -> None:
    fill(path, 2)
    found = journal.scan_journal(str(path))
    script = """
import sys
sys.path.insert(0, sys.argv[1])
from porch.store import inbox, journal, lock, payloads
rest = journal.scan_journal_from(sys.argv[2], int(sys.argv[3]), 2, sys.argv[4])
assert rest is not None and rest.seq == 2
assert lock.read_lock_holder(sys.argv[2] + ".lock") is None
slow = {"typing", "dataclasses", "hashlib", "contextlib", "subprocess", "asyncio", "datetime"}
sys.exit(" ".join(sorted(slow & set(sys.modules))))
"""
    source = str(Path(porch.__file__).parent.parent)
    command = [sys.executable, "-S", "-E", "-c", script, source, path, found.length, found.sum]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert (done.stderr.strip(), done.returncode) == ("", 1)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.dictionaries(st.just("fact"), st.text() | st.integers()), max_size=4))
def test_whatever_is_appended_to_a_file_is_read_back(bodies: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "journal.jsonl")
        opened, _ = Journal.open(path)
        with opened:
            for seq, each in enumerate(bodies, 1):
                opened.append(seq, each)
        for record, each in zip(journal.scan_journal(path).records, bodies, strict=True):
            assert {**each, "v": 1, "seq": record["seq"], "sum": record["sum"]} == record
