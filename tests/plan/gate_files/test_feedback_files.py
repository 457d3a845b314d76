"""A person and a gate write one file: what the person saved last is what is there."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.errors import DefinitionError, OutsideError
from porch.plan.gate_files import feedback_files, file_versions
from porch.plan.gate_files.feedback_files import (
    archive_files,
    ensure_feedback_file,
    estimate_tokens,
    read_feedback_file,
    replace_if_unchanged,
    wait_until_settled,
)
from porch.system import atomic, swap


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "user_feedback" / "gate.yaml"
    file.parent.mkdir()
    file.write_text("done: false\n")
    return file


@pytest.fixture(params=["exchange", "gap"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "gap":
        monkeypatch.setattr(swap, "_known", [swap._cannot_swap])
    return str(request.param)


def read(path: Path) -> feedback_files.FileContent:
    found = read_feedback_file(str(path))
    assert found is not None
    return found


def asides(path: Path) -> list[str]:
    return [name for name in os.listdir(path.parent) if name != path.name]


# Made once


def test_a_file_is_made_with_its_directories(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "gate.yaml"
    assert ensure_feedback_file(str(file), "done: false\r\n")
    assert file.read_bytes() == b"done: false\r\n"
    assert os.listdir(file.parent) == ["gate.yaml"]


def test_what_a_person_typed_is_never_written_over(path: Path) -> None:
    path.write_text("mine")
    assert not ensure_feedback_file(str(path), "template")
    assert path.read_text() == "mine"
    assert not asides(path)


def test_a_link_that_leads_nowhere_is_not_written_through(path: Path, tmp_path: Path) -> None:
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    assert not ensure_feedback_file(str(path), "template")
    assert not (tmp_path / "elsewhere").exists()


def test_of_two_who_make_a_file_at_once_one_has_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gate.yaml"
    write_new = file_versions.write_new

    def and_then_another(draft: str, data: bytes, mode: int) -> file_versions.FileStamp:
        file.write_text("of another")
        return write_new(draft, data, mode)

    monkeypatch.setattr(file_versions, "write_new", and_then_another)
    assert not ensure_feedback_file(str(file), "template")
    assert file.read_text() == "of another"
    assert not asides(file)


def test_a_file_system_without_links_makes_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(_one: str, _other: str) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    file = tmp_path / "gate.yaml"
    assert ensure_feedback_file(str(file), "template")
    assert file.read_text() == "template"
    draft = tmp_path / "draft"
    draft.write_text("other")
    assert not file_versions.give_name(str(draft), str(file))
    assert file.read_text() == "template"


def test_a_directory_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_one: str, _other: str) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(os, "link", denied)
    with pytest.raises(OutsideError):
        ensure_feedback_file(str(tmp_path / "gate.yaml"), "template")
    assert not os.listdir(tmp_path)


# Read whole


def test_no_file_is_no_content(tmp_path: Path) -> None:
    assert read_feedback_file(str(tmp_path / "gate.yaml")) is None


def test_bytes_are_kept_whatever_they_are(path: Path) -> None:
    data = b"\xef\xbb\xbfthoughts: caf\xe9\r\ndone: true"
    path.write_bytes(data)
    found = read(path)
    assert found.text == "\ufeffthoughts: caf\udce9\r\ndone: true"
    assert replace_if_unchanged(str(path), found.stamp, "# x\n" + found.text)
    assert path.read_bytes() == b"# x\n" + data


def a_link(path: Path) -> None:
    path.symlink_to(path.parent.parent)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_directory(path: Path) -> None:
    path.mkdir()


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(path.parent)
        server.bind(path.name)


@pytest.mark.parametrize("make", [a_link, a_pipe, a_directory, a_socket])
def test_only_regular_files_are_read(
    path: Path, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = read(path).stamp
    path.unlink()
    monkeypatch.chdir(path.parent)
    make(path)
    with pytest.raises(DefinitionError) as caught:
        read_feedback_file(str(path))
    assert [finding.code for finding in caught.value.findings] == ["not-a-file"]
    assert not replace_if_unchanged(str(path), stamp, "x")


def test_a_file_beyond_the_limit_is_not_read(path: Path) -> None:
    path.write_bytes(b"x" * 1025)
    with pytest.raises(DefinitionError) as caught:
        read_feedback_file(str(path), 1024)
    assert [finding.code for finding in caught.value.findings] == ["too-large"]
    path.write_bytes(b"x" * 1024)
    assert read_feedback_file(str(path), 1024) is not None


def test_a_part_of_the_path_that_is_a_file_is_told(path: Path) -> None:
    with pytest.raises(OutsideError):
        read_feedback_file(str(path / "gate.yaml"))


def test_a_file_that_changes_while_it_is_read_has_the_stamp_of_no_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = feedback_files._read_bytes

    def and_a_saving(fd: int, largest: int) -> bytes:
        data = once(fd, largest)
        with open(path, "a", encoding="utf-8") as file:
            file.write("more\n")
        return data

    monkeypatch.setattr(feedback_files, "_read_bytes", and_a_saving)
    found = read(path)
    assert found.text == "done: false\nmore\nmore\n"
    assert not replace_if_unchanged(str(path), found.stamp, "ours")
    assert path.read_text() == "done: false\n" + "more\n" * 3


def test_a_disk_that_cannot_be_read_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sick(_fd: int, _largest: int) -> bytes:
        raise OSError(5, "input/output error")

    monkeypatch.setattr(feedback_files, "_read_bytes", sick)
    with pytest.raises(OutsideError):
        read_feedback_file(str(path))


# Replaced, if nobody was quicker


def test_the_version_that_was_read_is_replaced(path: Path, way: str) -> None:
    path.chmod(0o640)
    assert replace_if_unchanged(str(path), read(path).stamp, "ours")
    assert path.read_text() == "ours"
    assert path.stat().st_mode & 0o777 == 0o640
    assert not asides(path)


def saved_in_place(path: Path) -> None:
    path.write_text("mine")


def saved_by_renaming(path: Path) -> None:
    new = path.with_name("new")
    new.write_text("mine")
    new.rename(path)


def saved_in_the_same_tick(path: Path) -> None:
    found = path.stat()
    path.write_text(path.read_text().swapcase())
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


SAVINGS = [saved_in_place, saved_by_renaming, saved_in_the_same_tick]


@pytest.mark.parametrize("save", SAVINGS)
def test_a_later_version_stays(path: Path, way: str, save: Callable[[Path], None]) -> None:
    stamp = read(path).stamp
    save(path)
    saved = path.read_bytes()
    assert not replace_if_unchanged(str(path), stamp, "ours")
    assert path.read_bytes() == saved
    assert not asides(path)


@pytest.mark.parametrize("save", SAVINGS)
def test_what_is_saved_at_the_last_moment_stays(
    path: Path, way: str, save: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_last_moment(monkeypatch, lambda: save(path))
    stamp = read(path).stamp
    assert not replace_if_unchanged(str(path), stamp, "ours")
    assert path.read_text() in ("mine", "DONE: FALSE\n")
    assert not asides(path)


def at_the_last_moment(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Between looking at the file and exchanging it."""
    write_new = file_versions.write_new

    def and_act(draft: str, data: bytes, mode: int) -> file_versions.FileStamp:
        act()
        return write_new(draft, data, mode)

    monkeypatch.setattr(file_versions, "write_new", and_act)


def test_a_file_that_is_removed_at_the_last_moment_stays_removed(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_last_moment(monkeypatch, path.unlink)
    assert not replace_if_unchanged(str(path), read(path).stamp, "ours")
    assert not os.listdir(path.parent)


def test_a_file_that_goes_before_its_mode_is_known_stays_away(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = file_versions._file_mode

    def gone(place: str) -> int:
        path.unlink()
        return mode(place)

    monkeypatch.setattr(file_versions, "_file_mode", gone)
    assert not replace_if_unchanged(str(path), read(path).stamp, "ours")
    assert not os.listdir(path.parent)


def test_a_file_that_somebody_is_writing_to_is_left_to_them(path: Path, way: str) -> None:
    stamp = read(path).stamp
    with open(path, "r+", encoding="utf-8") as editor:
        assert not replace_if_unchanged(str(path), stamp, "ours")
        editor.write("mine")
    assert path.read_text() == "mine: false\n"
    assert not asides(path)


def test_who_opens_the_file_at_the_last_moment_writes_into_it(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = read(path).stamp
    with open(path, "rb") as spare:
        editors = []
        at_the_last_moment(monkeypatch, lambda: editors.append(os.open(path, os.O_WRONLY)))
        assert not replace_if_unchanged(str(path), stamp, "ours")
        os.write(editors[0], b"mine")
        os.close(editors[0])
        assert spare.read() == path.read_bytes() == b"mine: false\n"
    assert not asides(path)


def test_who_only_reads_the_file_is_no_hindrance(path: Path, way: str) -> None:
    with open(path, "rb") as reader:
        assert replace_if_unchanged(str(path), read(path).stamp, "ours")
        assert reader.read() == b"done: false\n"


def test_where_nobody_can_tell_who_writes_the_old_version_is_kept(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_versions, "_LEASE", None)
    assert replace_if_unchanged(str(path), read(path).stamp, "ours")
    assert path.read_text() == "ours"
    (kept,) = asides(path)
    assert (path.parent / kept).read_text() == "done: false\n"


def test_a_file_system_without_leases_keeps_the_old_version_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_versions, "_LEASE", -1)
    assert replace_if_unchanged(str(path), read(path).stamp, "ours")
    assert len(asides(path)) == 1


class Exchanges:
    """Somebody saves between our exchanges, as often as they are told to."""

    def __init__(self, path: Path, saves: dict[int, Callable[[Path], object]]):
        self.path = path
        self.saves = saves
        self.made = 0
        self.swap: Callable[[bytes, bytes], bool] = swap._load_swap_call()

    def __call__(self, one: bytes, other: bytes) -> bool:
        if self.made in self.saves:
            self.saves[self.made](self.path)
        self.made += 1
        return self.swap(one, other)


def saved(text: str) -> Callable[[Path], object]:
    def save(path: Path) -> object:
        new = path.with_name("new")
        new.write_text(text)
        return new.rename(path)

    return save


@pytest.mark.parametrize(
    "saves, there, aside",
    [
        ({0: saved("1")}, "1", []),
        ({0: saved("1"), 1: saved("2")}, "2", ["1"]),
        ({0: saved("1"), 1: saved("2"), 2: saved("3")}, "3", ["2"]),
        ({0: saved("1"), 1: lambda path: path.write_text("into ours")}, "into ours", ["1"]),
        ({0: saved("1"), 1: lambda path: path.unlink()}, "1", []),
    ],
)
def test_whatever_is_saved_between_exchanges_the_last_is_there(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    saves: dict[int, Callable[[Path], object]],
    there: str,
    aside: list[str],
) -> None:
    stamp = read(path).stamp
    monkeypatch.setattr(swap, "_known", [Exchanges(path, saves)])
    assert not replace_if_unchanged(str(path), stamp, "ours")
    assert path.read_text() == there
    assert [(path.parent / name).read_text() for name in asides(path)] == aside


def test_who_saves_without_end_finds_the_last_two_savings(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = read(path).stamp
    exchanges = Exchanges(path, {number: saved(str(number)) for number in range(50)})
    monkeypatch.setattr(swap, "_known", [exchanges])
    assert not replace_if_unchanged(str(path), stamp, "ours")
    texts = {(path.parent / name).read_text() for name in os.listdir(path.parent)}
    assert texts == {str(exchanges.made - 1), str(exchanges.made - 2)}


def test_who_saves_into_the_gap_wins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "_known", [swap._cannot_swap])
    give_name = file_versions.give_name

    def after_a_saving(draft: str, place: str) -> bool:
        path.write_text("mine")
        return give_name(draft, place)

    monkeypatch.setattr(file_versions, "give_name", after_a_saving)
    assert not replace_if_unchanged(str(path), read(path).stamp, "ours")
    assert path.read_text() == "mine"
    assert not asides(path)


def test_a_disk_that_refuses_the_new_version_leaves_the_old_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int, _data: bytes) -> None:
        raise OSError(28, "no space left")

    stamp = read(path).stamp
    monkeypatch.setattr(atomic, "write_all", full)
    with pytest.raises(OutsideError) as caught:
        replace_if_unchanged(str(path), stamp, "ours")
    assert caught.value.findings[0].code == "disk-full"
    assert path.read_text() == "done: false\n"
    assert not asides(path)


WRITER = """
import glob, os, random, sys, time
path, how, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(7)

def in_place(text):
    with open(path, "w") as file:
        file.write(text[:9])
        file.flush()
        time.sleep(chance.random() / 1000)
        file.write(text[9:])

def renamed(text):
    with open(path + "~", "w") as file:
        file.write(text)
    os.replace(path + "~", path)

def is_there(line, how):
    for _ in range(2000):
        asides = glob.glob(os.path.dirname(path) + "/.*.aside")
        for name in [path, *(asides if how == "aside" else ())]:
            try:
                with open(name) as file:
                    if line in file.read():
                        return True
            except FileNotFoundError:
                pass
        time.sleep(0.001)
    return False

for number in range(times):
    line = f"thoughts: saving {number}.\\n"
    chance.choice([in_place, renamed])(line + "done: true\\n")
    time.sleep(chance.random() / 500)
    if not is_there(line, how):
        sys.exit(f"lost: {line}")
    # However busy the machine is, the gate gets its turn now and then: it has written over this
    # saving, for what lies aside may be of an earlier one.
    if number % 10 == 9 and not is_there("# gate", "path"):
        sys.exit("the gate never wrote")
"""


@pytest.mark.parametrize("can_tell_writers", [True, False])
def test_of_200_savings_beside_a_gate_that_writes_all_the_time_none_is_lost(
    path: Path, way: str, can_tell_writers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_tell_writers:
        monkeypatch.setattr(file_versions, "_LEASE", None)
    where = "path" if can_tell_writers else "aside"
    words = [sys.executable, "-I", "-c", WRITER, str(path), where, "200"]
    replaced = 0
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as writer:
        while writer.poll() is None:
            found = read_feedback_file(str(path))
            if found is not None and not found.text.startswith("# gate"):
                replaced += replace_if_unchanged(str(path), found.stamp, "# gate\n" + found.text)
        assert writer.stderr is not None
        assert (writer.returncode, writer.stderr.read()) == (0, "")
    assert "saving 199.\n" in path.read_text()
    assert replaced >= 20


# Archived


def test_what_was_answered_is_moved_under_a_name_of_its_own(path: Path) -> None:
    logs = path.with_name("2_A_testing_logs.md")
    logs.write_bytes(b"\xff\r\n")
    directory = path.parent / "_archive"
    paths = [str(path), str(path.with_name("missing")), str(logs)]
    names = archive_files(paths, str(directory), "20250102T030405Z")
    assert names == ["20250102T030405Z_gate.yaml", "20250102T030405Z_2_A_testing_logs.md"]
    assert [(directory / name).read_bytes() for name in names] == [b"done: false\n", b"\xff\r\n"]
    assert os.listdir(path.parent) == ["_archive"]
    assert sorted(os.listdir(directory)) == sorted(names)


def test_an_archive_never_writes_over_what_it_has(path: Path) -> None:
    directory = path.parent / "_archive"
    found = []
    for number in range(3):
        path.write_text(str(number))
        found += archive_files([str(path)], str(directory), "now")
    assert found == ["now_gate.yaml", "now-2_gate.yaml", "now-3_gate.yaml"]
    assert [(directory / name).read_text() for name in found] == ["0", "1", "2"]


def test_what_cannot_be_archived_stays_where_it_is(path: Path) -> None:
    path.unlink()
    path.mkdir()
    directory = path.parent / "_archive"
    with pytest.raises(OutsideError):
        archive_files([str(path)], str(directory), "now")
    assert path.is_dir()
    assert not os.listdir(directory)


# Settled


def test_a_quiet_file_settles_soon(path: Path) -> None:
    started = time.monotonic()
    assert wait_until_settled(str(path))
    assert 0.1 <= time.monotonic() - started < 1.5


def test_a_file_that_is_saved_in_steps_settles_after_the_last(path: Path) -> None:
    def save() -> None:
        for _ in range(4):
            time.sleep(0.04)
            path.unlink(missing_ok=True)
            time.sleep(0.04)
            path.write_text("mine")

    saving = threading.Thread(target=save)
    saving.start()
    assert wait_until_settled(str(path), quiet_s=0.4)
    assert not saving.is_alive()
    assert path.read_text() == "mine"


def test_a_file_that_never_rests_is_not_waited_for(path: Path) -> None:
    stop = threading.Event()

    def save() -> None:
        while not stop.wait(0.005):
            path.write_text("x" * (path.stat().st_size + 1))

    saving = threading.Thread(target=save)
    saving.start()
    try:
        started = time.monotonic()
        assert not wait_until_settled(str(path), quiet_s=0.5, at_most_s=0.6)
        assert 0.6 <= time.monotonic() - started < 5
    finally:
        stop.set()
        saving.join()


@pytest.mark.parametrize("text, tokens", [("", 0), ("abc", 1), ("\udce9" * 8, 2), ("é" * 8, 4)])
def test_tokens_are_estimated_as_elsewhere(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
