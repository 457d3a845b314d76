"""Two files that take turns, seen by those who read while they do."""

import os
import sys
from pathlib import Path

import pytest

from porch.adapters import redraw, swap


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "ours").mkdir()
    return tmp_path


def draw(place: Path, data: bytes) -> os.stat_result:
    return redraw.redraw(str(place / "ours/spare"), str(place / "picture"), data)


def test_each_drawing_is_what_is_read_whatever_its_length(place: Path) -> None:
    for data in (b"first", b"a longer second", b"3rd", b"", b"fifth"):
        written = draw(place, data)
        assert (place / "picture").read_bytes() == data
        assert os.stat(place / "picture").st_ino == written.st_ino
        assert written.st_size == len(data)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether a file is open")
def test_two_files_take_turns(place: Path) -> None:
    numbers = [draw(place, str(n).encode()).st_ino for n in range(7)]
    assert len(set(numbers[1:])) == 2


def test_who_has_a_picture_open_goes_on_reading_that_one(place: Path) -> None:
    draw(place, b"0" * 100)
    open_ones = []
    for number in range(1, 6):
        draw(place, str(number).encode() * 100)
        open_ones.append((number, os.open(place / "picture", os.O_RDONLY)))
    for number in range(6, 10):
        draw(place, str(number).encode() * 100)
    for number, fd in open_ones:
        assert os.read(fd, 200) == str(number).encode() * 100
        os.close(fd)


def test_who_linked_a_picture_keeps_it(place: Path) -> None:
    for number in range(4):
        draw(place, str(number).encode())
        os.link(place / "picture", place / f"kept-{number}")
    draw(place, b"later")
    draw(place, b"last")
    assert [(place / f"kept-{n}").read_bytes() for n in range(4)] == [b"0", b"1", b"2", b"3"]


def test_nothing_that_lies_at_the_spare_name_is_written_through(place: Path) -> None:
    victim, spare = place / "victim", place / "ours/spare"
    victim.write_bytes(b"precious")
    for number, plant in enumerate((victim_link, fifo, directory)):
        spare.unlink(missing_ok=True)
        plant(spare, victim)
        draw(place, str(number).encode())
        assert (place / "picture").read_bytes() == str(number).encode()
    assert victim.read_bytes() == b"precious"


def victim_link(spare: Path, victim: Path) -> None:
    spare.symlink_to(victim)


def fifo(spare: Path, _: Path) -> None:
    os.mkfifo(spare)


def directory(spare: Path, _: Path) -> None:
    spare.mkdir()


@pytest.mark.parametrize("missing", ["lease", "swap"])
def test_where_the_system_lacks_something_it_is_drawn_the_plain_way(
    place: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing == "lease":
        monkeypatch.setattr(redraw, "_LEASE", None)
    else:
        monkeypatch.setattr(swap, "_known", [lambda _one, _other: False])
    for data in (b"one", b"two", b"three"):
        draw(place, data)
        assert (place / "picture").read_bytes() == data
    assert sorted(os.listdir(place)) == ["ours", "picture"]
